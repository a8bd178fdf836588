extension QueryReader {
    /// `(5)`, `(A=1,B='x')`, `(@key)`.
    mutating func key() throws(QueryParsingError) -> [ResourcePath.KeyPart] {
        try expect("(")
        let start = index
        // A name with `=` behind it begins a key of several properties, or one that says its property's name.
        let isNamed = isAtName && byteBehindWord == 0x3D
        guard isNamed else {
            let value = try keyValue()
            try expect(")")
            return [ResourcePath.KeyPart(value)]
        }
        var names: Set<String> = []
        let parts = try list { reader throws(QueryParsingError) in
            let name = try reader.name("the name of a key property")
            guard names.insert(name).inserted else { throw reader.expected("a key property that isn't there yet", at: start) }
            try reader.expect("=")
            return ResourcePath.KeyPart(name: name, try reader.keyValue())
        }
        try expect(")")
        return parts
    }

    private mutating func keyValue() throws(QueryParsingError) -> ResourcePath.KeyPart.Value {
        if skip("@") { return .alias(try name("the name of a parameter alias")) }
        let start = index
        let value = try literal()
        switch value {
        case .null, .spatial: throw expected("a key's value", at: start)
        case .binary where version != .v2: throw expected("a key's value", at: start)
        case .double(let number) where number.isFinite == false: throw expected("a key's value", at: start)
        default: return .literal(value)
        }
    }

    /// A literal and nothing else.
    mutating func literal() throws(QueryParsingError) -> EdmValue {
        let start = index
        guard let next = byte() else { throw expected("a literal") }
        switch next {
        case UInt8(ascii: "'"): return .string(try string())
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"): return try numberLike()
        default: break
        }
        if let guid = guid() { return guid }
        guard isAtName, let name = try? qualifiedName("a literal") else { throw expected("a literal", at: start) }
        if isNext("'") { return try prefixed(name, at: start) }
        switch name {
        case "null": return .null
        case "INF": return .double(.infinity)
        case "NaN": return .double(.nan)
        default:
            switch name.lowercased() {
            case "true": return .boolean(true)
            case "false": return .boolean(false)
            default: throw expected("a literal", at: start)
            }
        }
    }

    /// `(name=value,…)` of a function in a path: literals and aliases only.
    mutating func arguments() throws(QueryParsingError) -> [QueryPath.Parameter] {
        try expect("(")
        skipBlanks()
        if skip(")") { return [] }
        let items = try list { reader throws(QueryParsingError) in
            let name = try reader.name("the name of a parameter")
            try reader.expect("=")
            if reader.skip("@") {
                let alias = try reader.name("the name of a parameter alias")
                return QueryPath.Parameter(name, .path(QueryPath(root: .alias(alias), segments: [])))
            }
            return QueryPath.Parameter(name, .literal(try reader.literal()))
        }
        skipBlanks()
        try expect(")")
        return items
    }
}
