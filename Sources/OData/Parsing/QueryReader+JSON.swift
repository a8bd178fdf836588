extension QueryReader {
    /// `[…]` or `{…}` (URL Conventions, section 5.1.1.12): JSON, whose values may also be expressions.
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

    /// `"…"` with the escapes of RFC 8259.
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
            guard let next = byte(), let digit = Self.hexadecimal(next) else { throw expected("four hexadecimal digits") }
            value = value << 4 | UInt16(digit)
            index += 1
        }
        return value
    }
}
