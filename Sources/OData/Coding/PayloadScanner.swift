import Foundation

/// Parses a JSON text (RFC 8259) as a value, with members in the payload's order and exact numbers.
///
/// Parsing is strict because lenient readers differ: duplicate names in an object, a trailing comma, an unpaired surrogate or invalid UTF-8
/// are errors. Nesting is limited.
struct PayloadScanner {
    /// The maximum nesting depth of arrays and objects.
    static let depthLimit = Nesting.payloadLimit

    let bytes: UnsafeRawBufferPointer
    var index: Int
    private var depth = 0

    /// Parses a whole text; a leading byte order mark is skipped.
    ///
    /// - Throws: `DecodingError` with the problem and the byte's position.
    static func value(of data: Data) throws -> ODataValue {
        try data.withUnsafeBytes { bytes in
            var scanner = PayloadScanner(bytes, from: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
            let value = try scanner.value()
            scanner.skipBlanks()
            guard scanner.index == bytes.count else { throw scanner.fault("nothing may follow the value") }
            return value
        }
    }

    /// Returns the value that starts at a byte, or `nil` if there is none or anything but closing brackets follows it.
    static func lastValue(in data: Data, from start: Int) -> ODataValue? {
        data.withUnsafeBytes { bytes in
            guard start < bytes.count else { return nil }
            var scanner = PayloadScanner(bytes, from: start)
            guard let value = try? scanner.value() else { return nil }
            let rest = bytes[scanner.index...]
            return rest.allSatisfy { [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "]"), UInt8(ascii: "}")].contains($0) } ? value : nil
        }
    }

    private init(_ bytes: UnsafeRawBufferPointer, from index: Int) {
        self.bytes = bytes
        self.index = index
    }

    func fault(_ text: String, at place: Int? = nil) -> DecodingError {
        let place = place ?? index
        let found = place < bytes.count ? "" : "; the text ends there, so it was cut short"
        return .dataCorrupted(.init(codingPath: [], debugDescription: "The JSON is wrong at byte \(place): \(text)\(found)."))
    }

    var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    private mutating func value() throws -> ODataValue {
        skipBlanks()
        guard let byte else { throw fault("a value is needed") }
        switch byte {
        case UInt8(ascii: "{"): return .object(try nested { try $0.object() })
        case UInt8(ascii: "["): return .array(try nested { try $0.array() })
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), 0x30...0x39: return try number()
        default: throw fault("a value is needed")
        }
    }

    private mutating func nested<Value>(_ read: (inout PayloadScanner) throws -> Value) throws -> Value {
        guard depth < Self.depthLimit else { throw fault("it nests more than \(Self.depthLimit) levels deep") }
        depth += 1
        defer { depth -= 1 }
        index += 1
        return try read(&self)
    }

    private mutating func word(_ text: StaticString, _ value: ODataValue) throws -> ODataValue {
        let start = index
        let isThere = text.withUTF8Buffer { word in
            index + word.count <= bytes.count && zip(word, bytes[index..<index + word.count]).allSatisfy { $0 == $1 }
        }
        guard isThere else { throw fault("a value is needed", at: min(start + text.utf8CodeUnitCount, bytes.count)) }
        index += text.utf8CodeUnitCount
        return value
    }

    private mutating func array() throws -> [ODataValue] {
        var elements: [ODataValue] = []
        skipBlanks()
        if byte == UInt8(ascii: "]") {
            index += 1
            return elements
        }
        while true {
            elements.append(try value())
            skipBlanks()
            switch byte {
            case UInt8(ascii: ","): index += 1
            case UInt8(ascii: "]"):
                index += 1
                return elements
            default: throw fault("a comma or ']' is needed")
            }
        }
    }

    private mutating func object() throws -> DynamicEntity {
        var object = DynamicEntity()
        skipBlanks()
        if byte == UInt8(ascii: "}") {
            index += 1
            return object
        }
        while true {
            skipBlanks()
            guard byte == UInt8(ascii: "\"") else { throw fault("a name in quotes is needed") }
            let start = index
            let name = try string()
            skipBlanks()
            guard byte == UInt8(ascii: ":") else { throw fault("a colon is needed") }
            index += 1
            guard object.append(name, try value()) else {
                throw fault("the name '\(name.prefix(60))' is in its object twice", at: start)
            }
            skipBlanks()
            switch byte {
            case UInt8(ascii: ","): index += 1
            case UInt8(ascii: "}"):
                index += 1
                return object
            default: throw fault("a comma or '}' is needed")
            }
        }
    }

    private mutating func digits() throws {
        let start = index
        while let byte, (0x30...0x39).contains(byte) { index += 1 }
        guard index > start else { throw fault("a digit is needed") }
    }

    private mutating func number() throws -> ODataValue {
        let start = index
        if byte == UInt8(ascii: "-") { index += 1 }
        let isZero = byte == 0x30
        let first = index
        try digits()
        guard !isZero || index == first + 1 else { throw fault("a number doesn't begin with 0", at: first) }
        var isWhole = true
        if byte == UInt8(ascii: ".") {
            isWhole = false
            index += 1
            try digits()
        }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            isWhole = false
            index += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        guard let value = ODataValue(digits: text, isWhole: isWhole) else {
            throw fault("the number's exponent is beyond a billion", at: start)
        }
        return value
    }
}

// Strings and their escapes (RFC 8259, section 7).
extension PayloadScanner {
    /// Parses a quoted string that starts at the current byte.
    mutating func string() throws -> String {
        let start = index
        index += 1
        // Most strings have no escapes and are copied unchanged.
        while let byte, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { index += 1 }
        var content: [UInt8] = []
        if byte == UInt8(ascii: "\"") {
            defer { index += 1 }
            return try text(bytes[(start + 1)..<index], from: start)
        }
        content.append(contentsOf: bytes[(start + 1)..<index])
        while let next = byte {
            switch next {
            case UInt8(ascii: "\""):
                index += 1
                return try text(content, from: start)
            case UInt8(ascii: "\\"):
                index += 1
                try escape(into: &content)
            case 0..<0x20:
                throw fault("a control character must be escaped")
            default:
                content.append(next)
                index += 1
            }
        }
        throw fault("the text has no closing quote")
    }

    private func text(_ content: some Collection<UInt8>, from start: Int) throws -> String {
        guard let text = String(validating: content, as: UTF8.self) else { throw fault("the text isn't UTF-8", at: start) }
        return text
    }

    private mutating func escape(into content: inout [UInt8]) throws {
        guard let next = byte else { throw fault("an escape is needed") }
        index += 1
        switch next {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(next)
        case UInt8(ascii: "b"): content.append(8)
        case UInt8(ascii: "f"): content.append(12)
        case UInt8(ascii: "n"): content.append(10)
        case UInt8(ascii: "r"): content.append(13)
        case UInt8(ascii: "t"): content.append(9)
        case UInt8(ascii: "u"):
            let start = index - 2
            var code = UInt32(try unit())
            if (0xD800...0xDBFF).contains(code), byte == UInt8(ascii: "\\"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "u")
            {
                index += 2
                let low = UInt32(try unit())
                guard (0xDC00...0xDFFF).contains(low) else { throw fault("a surrogate isn't part of a pair", at: start) }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw fault("a surrogate isn't part of a pair", at: start) }
            content.append(contentsOf: Character(scalar).utf8)
        default: throw fault("the escape is unknown", at: index - 1)
        }
    }

    private mutating func unit() throws -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let next = byte, let digit = DigitText.hexadecimalDigit(next) else { throw fault("four hexadecimal digits are needed") }
            value = value << 4 | UInt16(digit)
            index += 1
        }
        return value
    }
}
