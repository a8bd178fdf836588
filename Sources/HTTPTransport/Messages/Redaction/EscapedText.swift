/// Decodes percent-encoding (RFC 3986 §2.1), JSON string escapes (RFC 8259 §7), and the character references of XML 1.0 §4.1.
enum EscapedText {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Returns the text with one layer of escapes decoded.
    static func decoded(_ bytes: Bytes) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let unit = unit(at: index, in: bytes)
            result.append(contentsOf: unit.bytes)
            index += unit.length
        }
        return result
    }

    /// Maps ranges of the decoded text to ranges of the encoded text.
    static func ranges(_ ranges: [Range<Int>], in bytes: Bytes) -> [Range<Int>] {
        var result: [Range<Int>] = []
        var (index, place) = (0, 0)
        for range in ranges.merged() {
            var start = index
            while index < bytes.count, place < range.upperBound {
                if place <= range.lowerBound { start = index }
                let unit = unit(at: index, in: bytes)
                index += unit.length
                place += unit.bytes.count
            }
            if start < index { result.append(start..<index) }
        }
        return result
    }

    /// Whether an escape begins at this `%`, backslash or `&`.
    static func isEscape(at index: Int, in bytes: Bytes) -> Bool {
        unit(at: index, in: bytes).length > 1
    }

    private static func unit(at index: Int, in bytes: Bytes) -> (length: Int, bytes: Few) {
        let rest = bytes.count - index
        switch bytes[index] {
        case UInt8(ascii: "%") where rest > 2:
            if let high = bytes[index + 1].hexadecimal, let low = bytes[index + 2].hexadecimal { return (3, Few(high << 4 | low)) }
        case UInt8(ascii: "\\") where rest > 1:
            switch bytes[index + 1] {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "'"): return (2, Few(bytes[index + 1]))
            case UInt8(ascii: "n"), UInt8(ascii: "r"): return (2, Few(0x0A))
            case UInt8(ascii: "t"): return (2, Few(0x09))
            case UInt8(ascii: "u") where rest > 5: return codeUnit(at: index, in: bytes)
            default: break
            }
        case UInt8(ascii: "&") where rest > 3 && bytes[index + 1] == UInt8(ascii: "#"):
            return numericReference(at: index, in: bytes)
        case UInt8(ascii: "&") where rest > 3 && isReference(bytes[index + 1]):
            for (name, byte) in references where name.count <= rest {
                if name.indices.allSatisfy({ bytes[index + $0] == name[$0] }) { return (name.count, Few(byte)) }
            }
        default: break
        }
        return (1, Few(bytes[index]))
    }

    private static let references: [([UInt8], UInt8)] = [
        (Array("&quot;".utf8), UInt8(ascii: "\"")), (Array("&amp;".utf8), UInt8(ascii: "&")), (Array("&lt;".utf8), UInt8(ascii: "<")),
        (Array("&gt;".utf8), UInt8(ascii: ">")), (Array("&apos;".utf8), UInt8(ascii: "'")),
    ]

    /// Whether a reference may continue with this byte. In queries, an `&` stands only for itself.
    private static func isReference(_ second: UInt8) -> Bool {
        switch second {
        case UInt8(ascii: "q"), UInt8(ascii: "a"), UInt8(ascii: "l"), UInt8(ascii: "g"): true
        default: false
        }
    }

    /// Decodes `&#60;` and `&#x3C;`.
    private static func numericReference(at index: Int, in bytes: Bytes) -> (Int, Few) {
        var place = index + 2
        let isHexadecimal = bytes[place].lowercased == UInt8(ascii: "x")
        if isHexadecimal { place += 1 }
        var value: UInt32 = 0
        let limit = min(bytes.count, place + 8)
        let first = place
        while place < limit, let digit = bytes[place].hexadecimal, isHexadecimal || digit < 10 {
            value = value &* (isHexadecimal ? 16 : 10) &+ UInt32(digit)
            place += 1
        }
        guard place > first, place < bytes.count, bytes[place] == UInt8(ascii: ";"), value > 0, let scalar = Unicode.Scalar(value) else {
            return (1, Few(bytes[index]))
        }
        return (place + 1 - index, Few(scalar))
    }

    /// Decodes `\uXXXX` to UTF-8. An unpaired surrogate, which names never contain, becomes a question mark.
    private static func codeUnit(at index: Int, in bytes: Bytes) -> (Int, Few) {
        var value: UInt32 = 0
        for place in index + 2..<index + 6 {
            guard let digit = bytes[place].hexadecimal else { return (1, Few(bytes[index])) }
            value = value << 4 | UInt32(digit)
        }
        guard let scalar = Unicode.Scalar(value) else { return (6, Few(UInt8(ascii: "?"))) }
        return (6, Few(scalar))
    }

    /// Up to four bytes, without an array.
    private struct Few: Sequence, IteratorProtocol {
        private var value: UInt32
        private(set) var count: Int

        init(_ byte: UInt8) {
            value = UInt32(byte)
            count = 1
        }

        init(_ scalar: Unicode.Scalar) {
            value = 0
            count = 0
            for byte in String(scalar).utf8.prefix(4) {
                value |= UInt32(byte) << UInt32(8 * count)
                count += 1
            }
        }

        mutating func next() -> UInt8? {
            guard count > 0 else { return nil }
            defer {
                value >>= 8
                count -= 1
            }
            return UInt8(truncatingIfNeeded: value)
        }
    }
}
