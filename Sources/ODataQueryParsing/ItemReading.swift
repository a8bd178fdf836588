import OData

extension QueryReader {
    /// The use of a path without expressions, which determines the allowed steps.
    enum PlainPath {
        /// A grouping criterion: only single values, and no final cast.
        case group
        /// A path that is joined, nested or expanded.
        case nest
    }

    /// Reads a path of properties and casts in `$apply`.
    mutating func plainPath(_ use: PlainPath) throws(QueryParsingError) -> QueryPath {
        var state = PathState([.entity, .complex], names: names)
        var path = QueryPath(segments: [])
        repeat {
            try countOne()
            let start = index
            if isNext("@") {
                path.segments.append(.property(try annotation()))
                state.become(.values)
                continue
            }
            let name = try qualifiedName("a property")
            try follow(name, &path, &state, throughCollections: use == .nest, "a property", at: start)
        } while skip("/")
        if use == .group, case .cast? = path.segments.last { throw expected("'/' and a property after the type") }
        return path
    }

    /// Reads one item of `$select`.
    mutating func selectItem() throws(QueryParsingError) -> SelectItem {
        try countOne()
        var item = SelectItem(QueryPath(segments: []))
        var state = PathState([.entity, .complex], names: names)
        repeat {
            let start = index
            if skip("*") {
                item.path.segments.append(.all)
                return item
            }
            if isNext("@") {
                item.path.segments.append(.property(try annotation()))
                state.become(.values)
                continue
            }
            let name = try qualifiedName("a property")
            if skip(".*") {
                guard item.path.segments.isEmpty else { throw expected("a property", at: start) }
                item.path.segments = [.operations(name)]
                return item
            }
            let roles = state.roles(of: name)
            let isOperation = state.knowsNames && (roles.contains(.action) || !roles.functionValues.isEmpty)
            // An operation is the last step; a type needs another step.
            if isOperation, !isNext("/"), name.utf8.contains(UInt8(ascii: ".")) || roles.isDisjoint(with: .values) {
                item.path.segments.append(.cast(name))
                break
            }
            try follow(name, &item.path, &state, throughCollections: true, "a property", at: start)
        } while skip("/")
        guard isNext("(") else { return item }
        // `$filter=` and `@a=` are options; names without a value are the parameters of a function.
        let isOption = byte(1) == 0x24 || byte(1) == 0x40 || isOptionBehindParenthesis
        index += 1
        if isOption {
            item.options = try nestedOptions(.selection)
        } else {
            if case .property(let name)? = item.path.segments.last {
                // A function of the default namespace.
                item.path.segments[item.path.segments.count - 1] = .cast(name)
            }
            item.parameters = try parameterNames()
        }
        return item
    }

    private var isOptionBehindParenthesis: Bool {
        var copy = self
        copy.index += 1
        return copy.byteBehindWord == 0x3D
    }

    private mutating func parameterNames() throws(QueryParsingError) -> [String] {
        let names = try list { reader throws(QueryParsingError) in try reader.name("the name of a parameter") }
        try expect(")")
        return names
    }

    /// Reads one item of `$expand`.
    mutating func expansion() throws(QueryParsingError) -> Expansion {
        try countOne()
        if skip("$value") { return Expansion(path: QueryPath(segments: [.value])) }
        var path = QueryPath(segments: [])
        var state = PathState([.entity, .complex], names: names)
        var owner = OptionOwner.expansion
        var canEnd = false
        repeat {
            let start = index
            if skip("*") {
                path.segments.append(.all)
                owner = .star
                canEnd = true
                if skip("/$ref") {
                    path.segments.append(.ref)
                    return Expansion(path: path)
                }
                break
            }
            if canEnd, skip("$ref") {
                path.segments.append(.ref)
                owner = .reference
                break
            }
            if canEnd, skip("$count") {
                path.segments.append(.count)
                owner = .count
                break
            }
            if isNext("@") {
                path.segments.append(.property(try annotation()))
                state.become(.values)
                canEnd = true
                continue
            }
            let name = try qualifiedName("a navigation property")
            try follow(name, &path, &state, throughCollections: true, "a navigation property", at: start)
            if case .property? = path.segments.last { canEnd = state.isAny(of: [.entity, .entityCollection, .stream]) }
        } while skip("/")
        guard canEnd else { throw expected("'/' and a navigation property") }
        guard skip("(") else { return Expansion(path: path) }
        return Expansion(path: path, options: try nestedOptions(owner))
    }
}

extension QueryReader {
    /// Reads `[…]` or `{…}` (URL Conventions, section 5.1.1.12): JSON, whose values may also be expressions.
    mutating func json() throws(QueryParsingError) -> QueryExpression {
        try descendLevel()
        defer { depth -= 1 }
        if skip("[") {
            skipBlanks()
            if skip("]") { return .array([]) }
            let items = try list { reader throws(QueryParsingError) in try reader.item() }
            skipBlanks()
            try expect("]")
            return .array(items)
        }
        try expect("{")
        skipBlanks()
        if skip("}") { return .object([]) }
        var names: Set<String> = []
        let members = try list { reader throws(QueryParsingError) in
            let start = reader.index
            let name = try reader.jsonString()
            guard names.insert(name).inserted else { throw reader.expected("a member that isn't there yet", at: start) }
            reader.skipBlanks()
            try reader.expect(":")
            reader.skipBlanks()
            return QueryExpression.Member(name, try reader.item())
        }
        skipBlanks()
        try expect("}")
        return .object(members)
    }

    private mutating func item() throws(QueryParsingError) -> QueryExpression {
        isNext("\"") ? .literal(.string(try jsonString())) : try expression()
    }

    /// Reads `"…"` with the escapes of RFC 8259.
    private mutating func jsonString() throws(QueryParsingError) -> String {
        guard skip("\"") else { throw expected("a name in double quotes") }
        let start = index
        var content: [UInt8] = []
        while let next = byte() {
            index += 1
            switch next {
            case UInt8(ascii: "\""):
                guard let string = String(validating: content, as: UTF8.self) else { throw expected("UTF-8", at: start) }
                return string
            case UInt8(ascii: "\\"):
                content += try escaped()
            case 0..<0x20:
                throw expected("an escape in place of a control character", at: index - 1)
            default:
                content.append(next)
            }
        }
        throw expected("the string's closing quote")
    }

    private mutating func escaped() throws(QueryParsingError) -> [UInt8] {
        guard let next = byte() else { throw expected("an escape") }
        index += 1
        switch next {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [next]
        case UInt8(ascii: "b"): return [8]
        case UInt8(ascii: "f"): return [12]
        case UInt8(ascii: "n"): return [10]
        case UInt8(ascii: "r"): return [13]
        case UInt8(ascii: "t"): return [9]
        case UInt8(ascii: "u"):
            let start = index
            var units = [try unit()]
            if (0xD800...0xDBFF).contains(units[0]) {
                guard skip("\\u") else { throw expected("the second half of a surrogate pair") }
                units.append(try unit())
            }
            guard let text = String(validating: units, as: UTF16.self) else { throw expected("a character", at: start) }
            return Array(text.utf8)
        default: throw expected("an escape", at: index - 1)
        }
    }

    private mutating func unit() throws(QueryParsingError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let next = byte(), let digit = DigitText.hexadecimalDigit(next) else { throw expected("four hexadecimal digits") }
            value = value << 4 | UInt16(digit)
            index += 1
        }
        return value
    }
}
