/// The roles of a byte in a text that is searched for secrets.
struct ByteKind: OptionSet, Sendable {
    let rawValue: UInt8

    /// Part of a word: a letter, a digit, or one of `-_./+~`.
    static let word = Self(rawValue: 1)
    /// A punctuation character that is examined individually.
    static let sign = Self(rawValue: 2)
    /// May begin an option, a PEM block, or the authority of a URL.
    static let opening = Self(rawValue: 4)
    static let digit = Self(rawValue: 8)
    static let capital = Self(rawValue: 16)
    /// A letter or a digit.
    static let alphanumeric = Self(rawValue: 32)
    /// Part of a name.
    static let namePart = Self(rawValue: 64)
    /// Begins the name of an authentication scheme.
    static let schemeInitial = Self(rawValue: 128)

    /// The kinds of each byte. The memory is never changed or freed, so any thread may read it. An array would add reference counting and
    /// bounds checks to the lookup of every byte.
    nonisolated(unsafe) static let table: UnsafePointer<ByteKind> = {
        let table = UnsafeMutablePointer<ByteKind>.allocate(capacity: 256)
        for byte in UInt8.min...UInt8.max { (table + Int(byte)).initialize(to: ByteKind(of: byte)) }
        return UnsafePointer(table)
    }()

    private init(of byte: UInt8) {
        var kind: ByteKind = byte.isAlphanumeric ? [.word, .alphanumeric, .namePart] : []
        if byte.isDigit { kind.insert(.digit) }
        if byte.isUppercase { kind.insert(.capital) }
        if "-_./+~".utf8.contains(byte) { kind.insert(.word) }
        if "-/".utf8.contains(byte) { kind.insert(.opening) }
        if "abdnst".utf8.contains(byte.lowercased) { kind.insert(.schemeInitial) }
        if "=:%\\&<@".utf8.contains(byte) { kind.insert(.sign) }
        if "-_.".utf8.contains(byte) || byte >= 0x80 { kind.insert(.namePart) }
        self = kind
    }

    init(rawValue: UInt8) { self.rawValue = rawValue }
}

extension UInt8 {
    /// The lower-case form of an ASCII letter; other bytes unchanged.
    package var lowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
    package var isDigit: Bool { self &- 0x30 < 10 }
    var isUppercase: Bool { self >= 0x41 && self <= 0x5A }
    var isLowercase: Bool { self >= 0x61 && self <= 0x7A }
    package var isAlphanumeric: Bool { isDigit || (self | 0x20) &- 0x61 < 26 }
    package var isBlank: Bool { self == 0x20 || self == 0x09 }
    var isQuote: Bool { self == UInt8(ascii: "\"") || self == UInt8(ascii: "'") || self == UInt8(ascii: "`") }
    var isBracket: Bool { self == UInt8(ascii: "[") || self == UInt8(ascii: "]") }
    var isLineEnd: Bool { self == 0x0A || self == 0x0D }
    /// The value of a hexadecimal digit.
    package var hexadecimal: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether a range equals a lower-case text, ignoring case.
    func isText(_ range: Range<Int>, _ text: StaticString) -> Bool {
        text.utf8CodeUnitCount == range.count
            && text.withUTF8Buffer { text in text.indices.allSatisfy { self[range.lowerBound + $0].lowercased == text[$0] } }
    }

    /// Whether a range is the name of an authentication scheme.
    package func isScheme(_ range: Range<Int>) -> Bool {
        guard (4...9).contains(range.count) else { return false }
        return switch self[range.lowerBound].lowercased {
        case UInt8(ascii: "b"): isText(range, "bearer") || isText(range, "basic")
        case UInt8(ascii: "d"): isText(range, "digest") || isText(range, "dpop")
        case UInt8(ascii: "t"): isText(range, "token")
        case UInt8(ascii: "s"): isText(range, "splunk")
        case UInt8(ascii: "a"): isText(range, "apikey")
        case UInt8(ascii: "n"): isText(range, "negotiate") || isText(range, "ntlm")
        default: false
        }
    }

    /// Whether the value of such a name is itself a name.
    package func isNaming(_ range: Range<Int>) -> Bool {
        isText(range, "key") || isText(range, "name") || isText(range, "field") || isText(range, "header") || isText(range, "parameter")
    }

    /// Whether the value of such a name belongs to the name given by ``isNaming(_:)``.
    package func isValuing(_ range: Range<Int>) -> Bool {
        isText(range, "val") || isText(range, "value") || isText(range, "values") || isText(range, "content")
    }
}

extension [Range<Int>] {
    /// Returns the ranges in order, with overlapping and adjacent ones merged.
    package func merged() -> [Range<Int>] {
        var result: [Range<Int>] = []
        for range in sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
            if let last = result.last, range.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }
}
