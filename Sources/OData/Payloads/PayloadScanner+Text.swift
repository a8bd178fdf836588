// Texts and their escapes (RFC 8259, section 7).
extension PayloadScanner {
    /// A text in its quotes, whose first is next.
    mutating func string() throws -> String {
        let start = index
        index += 1
        // Most texts have no escapes and are taken as they are.
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
                guard (0xDC00...0xDFFF).contains(low) else { throw fault("half of a surrogate pair stands alone", at: start) }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw fault("half of a surrogate pair stands alone", at: start) }
            content.append(contentsOf: Character(scalar).utf8)
        default: throw fault("there is no such escape", at: index - 1)
        }
    }

    private mutating func unit() throws -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let next = byte, let digit = QueryReader.hexadecimal(next) else { throw fault("four hexadecimal digits are needed") }
            value = value << 4 | UInt16(digit)
            index += 1
        }
        return value
    }
}
