import Foundation
import OData

extension QueryReader {
    /// Reads `'…'`, with doubled quotes inside.
    mutating func string() throws(QueryParsingError) -> String {
        try expect("'")
        var content: [UInt8] = []
        let start = index
        while let next = byte() {
            if next == 0x27 {
                guard byte(1) == 0x27 else {
                    index += 1
                    guard let string = String(validating: content, as: UTF8.self) else { throw expected("UTF-8", at: start) }
                    return string
                }
                index += 1
            } else if isPath, next == 0x2F, !isEncoded(at: index) {
                throw expected("'%2F' in a path's string")
            }
            content.append(next)
            index += 1
        }
        throw expected("the string's closing quote")
    }

    /// Reads a literal that begins with a digit or a sign: a number, a date, a time or a Guid.
    mutating func numberLike() throws(QueryParsingError) -> EdmValue {
        if let value = guid() { return value }
        if let (value, end) = TimeText.dateTime(bytes, from: index), isEnd(end) {
            guard value.offset != nil else { throw expected("an offset from UTC, such as Z", at: end) }
            index = end
            return .timestamp(value)
        }
        if let (value, end) = TimeText.date(bytes, from: index), isEnd(end) {
            index = end
            return .date(value)
        }
        if let (value, end) = TimeText.time(bytes, from: index), isEnd(end) {
            index = end
            return .timeOfDay(value)
        }
        return try number()
    }

    private func isEnd(_ place: Int) -> Bool {
        guard place < bytes.count else { return true }
        return !isWordByte(at: place) && bytes[place] != 0x2E && bytes[place] != 0x2D
    }

    /// Reads a Guid, and returns `nil` if there isn't one.
    mutating func guid() -> EdmValue? {
        guard index + 36 <= bytes.count, isEnd(index + 36) else { return nil }
        for (place, byte) in bytes[index..<index + 36].enumerated() {
            let isDash = [8, 13, 18, 23].contains(place)
            guard isDash ? byte == 0x2D : DigitText.hexadecimalDigit(byte) != nil else { return nil }
        }
        guard let value = UUID(uuidString: String(decoding: bytes[index..<index + 36], as: UTF8.self)) else { return nil }
        index += 36
        return .guid(value)
    }

    private mutating func number() throws(QueryParsingError) -> EdmValue {
        let start = index
        if skip("+") {} else { _ = skip("-") }
        let sign = index
        func digits(_ reader: inout QueryReader) -> Bool {
            let start = reader.index
            while let next = reader.byte(), (0x30...0x39).contains(next) { reader.index += 1 }
            return reader.index > start
        }
        guard digits(&self) else {
            if skip("INF"), !isWordByte(at: index) { return .double(bytes[start] == 0x2D ? -.infinity : .infinity) }
            throw expected("a number", at: sign)
        }
        var isWhole = true
        if isNext("."), index + 1 < bytes.count, (0x30...0x39).contains(bytes[index + 1]) {
            index += 1
            _ = digits(&self)
            isWhole = false
        }
        var hasExponent = false
        if let next = byte(), next | 0x20 == 0x65 {
            let mark = index
            index += 1
            if skip("+") {} else { _ = skip("-") }
            hasExponent = digits(&self)
            if !hasExponent { index = mark }
        }
        let text = try text((bytes[start] == 0x2B ? start + 1 : start)..<index).lowercased().replacing("e+", with: "e")
        let value = NumberText.value(text, isWhole: isWhole, hasExponent: hasExponent)
        if version == .v2, let suffixed = suffixed(text) { return suffixed }
        guard !isWordByte(at: index) else { throw expected("the end of the number") }
        // The printer writes a suffix, and other numbers with an exponent aren't V2's.
        if version == .v2, hasExponent, let number = Double(text), number.isFinite { return .double(number) }
        return value
    }

    /// Reads a number suffix of V2.
    private mutating func suffixed(_ text: String) -> EdmValue? {
        guard let suffix = byte(), !isWordByte(at: index + 1) else { return nil }
        let value: EdmValue? =
            switch suffix | 0x20 {
            case UInt8(ascii: "l"): Int64(text).map { .int64($0) }
            case UInt8(ascii: "m"): NumberText.decimal(text)
            case UInt8(ascii: "d"): Double(text).map { $0.isFinite ? .double($0) : .number(text) }
            case UInt8(ascii: "f"): Float(text).map { $0.isFinite ? .single($0) : .number(text) }
            default: nil
            }
        if value != nil { index += 1 }
        return value
    }

    /// Reads quoted text after a prefix: `duration'…'`, `Ns.Colour'Red'`.
    mutating func prefixed(_ prefix: String) throws(QueryParsingError) -> EdmValue {
        let place = index
        let content = try string()
        var value: EdmValue?
        switch prefix.lowercased() {
        case "duration": value = NumberText.duration(content).map { .duration($0) }
        case "binary" where version != .v2: value = NumberText.base64URL(content).map { .binary($0) }
        case "geography", "geometry":
            value = EdmSpatial.Space(rawValue: prefix.lowercased()).flatMap { SpatialText.value(content, space: $0) }.map { .spatial($0) }
        default:
            if version == .v2, let known = try NumberText.v2(prefix.lowercased(), content) {
                value = known.value
            } else {
                let members = content.split(separator: ",", omittingEmptySubsequences: false)
                let isEnumeration = members.allSatisfy { ODataName.isIdentifier($0) || Int64($0) != nil }
                value = isEnumeration ? .enumeration(type: prefix, member: content) : nil
            }
        }
        guard let value else { throw expected("a value of \(prefix)", at: place + 1) }
        return value
    }
}

extension QueryReader {
    /// Reads `(5)`, `(A=1,B='x')` or `(@key)`.
    mutating func key() throws(QueryParsingError) -> [ResourcePath.KeyPart] {
        try expect("(")
        let start = index
        // A name followed by `=` begins a key with named properties.
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

    /// Reads a literal, not an expression.
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
        if isNext("'") { return try prefixed(name) }
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

    /// Reads `(name=value,…)` of a function in a path: only literals and aliases.
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

extension NumberText {
    /// Parses V2's prefixed literals; `nil` if the prefix isn't V2's, a `value` of `nil` if the text is invalid.
    static func v2(_ prefix: String, _ text: String) throws(QueryParsingError) -> (value: EdmValue?, Void)? {
        switch prefix {
        case "datetime":
            return (EdmDateTimeOffset(text).flatMap { $0.offset == nil ? .timestamp($0) : nil }, ())
        case "datetimeoffset":
            return (EdmDateTimeOffset(text).flatMap { $0.offset == nil ? nil : .timestamp($0) }, ())
        case "time":
            return (duration(text).map { .duration($0) }, ())
        case "guid":
            return (UUID(uuidString: text).map { .guid($0) }, ())
        // V2 has two prefixes of bytes, both with hexadecimal digits (OData 2.0, Overview, section 6).
        case "x", "binary":
            let digits = text.utf8.compactMap { DigitText.hexadecimalDigit($0) }
            guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return (nil, ()) }
            let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
            return (.binary(Data(bytes)), ())
        default:
            return nil
        }
    }
}
