/// Reads one media type. Every step moves forward, so that it ends on any input.
struct MediaTypeReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func mediaType() -> MediaType? {
        skip { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let type = token()
        skipBlanks()
        guard !type.isEmpty, byte == UInt8(ascii: "/") else { return nil }
        position += 1
        skipBlanks()
        let subtype = token()
        guard !subtype.isEmpty else { return nil }
        return MediaType(checkedType: type.lowercased(), subtype: subtype.lowercased(), parameters: parameters())
    }

    private mutating func parameters() -> [MediaType.Parameter] {
        var found: [MediaType.Parameter] = []
        while true {
            skip { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: ";") }
            guard let next = byte, next != UInt8(ascii: ",") else { return found }
            let name = token()
            skipBlanks()
            guard !name.isEmpty, byte == UInt8(ascii: "=") else {
                if let next = byte, !name.isEmpty, next == UInt8(ascii: ";") || URLEncoding.Alphabet.token.contains(next) { continue }
                // Neither a name nor a pair: its value, if it has one, is passed over, so that nothing is found inside of quotation marks.
                skip { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ",") }
                if byte == UInt8(ascii: "=") {
                    position += 1
                    skipBlanks()
                    _ = value()
                }
                continue
            }
            position += 1
            skipBlanks()
            found.append(MediaType.Parameter(name: name.lowercased(), value: value()))
        }
    }

    private mutating func value() -> String {
        switch byte {
        case UInt8(ascii: "\""):
            position += 1
            let value = doubleQuoted()
            // What stands right behind the quotation marks belongs to nothing.
            skip { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            return value
        case UInt8(ascii: "'"):
            let rest = bytes[(position + 1)...]
            let end = rest.firstIndex { $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: ";") }
            if let end, bytes[end] == UInt8(ascii: "'") {
                position = end + 1
                return Self.text(rest[..<end])
            }
            return bare()
        default:
            return bare()
        }
    }

    private mutating func doubleQuoted() -> String {
        var value: [UInt8] = []
        while let next = byte {
            position += 1
            if next == UInt8(ascii: "\"") { break }
            if next == UInt8(ascii: "\\"), let escaped = byte {
                position += 1
                value.append(escaped)
            } else {
                value.append(next)
            }
        }
        return Self.text(value[...])
    }

    private mutating func bare() -> String {
        let start = position
        skip { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
        var end = position
        while end > start, bytes[end - 1] == UInt8(ascii: " ") || bytes[end - 1] == UInt8(ascii: "\t") { end -= 1 }
        return Self.text(bytes[start..<end])
    }

    /// The text without control characters, which can't have come through a header.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        if !bytes.contains(where: MediaType.isControl) { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: bytes.filter { !MediaType.isControl($0) }, as: UTF8.self)
    }

    private mutating func token() -> String {
        let start = position
        skip(while: URLEncoding.Alphabet.token.contains)
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func skipBlanks() {
        skip { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while let next = byte, condition(next) { position += 1 }
    }
}
