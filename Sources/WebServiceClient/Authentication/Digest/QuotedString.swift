/// Writes quoted strings (RFC 9110 §5.6.4).
enum QuotedString {
    /// The text in quotes, its quotes and backslashes escaped.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }

    /// The content of a quoted string in quotes, as it came.
    static func quoted(_ text: QuotedText) -> [UInt8] {
        [UInt8(ascii: "\"")] + text.content + [UInt8(ascii: "\"")]
    }

    /// Whether a quoted string can hold the text.
    static func canCarry(_ text: QuotedText) -> Bool {
        text.content.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }
    }

    /// Whether a quoted string can hold the text: it has no control characters but tabs.
    static func canCarry(_ text: String) -> Bool {
        text.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }
    }
}

/// The value of a challenge's parameter as its bytes came: RFC 7616 leaves open in which charset a realm is, and the server hashes its own
/// bytes. It is sent back as it came, too.
struct QuotedText: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// What stands between the quotes, with its escapes.
    let content: [UInt8]

    /// The content of a quoted string.
    init(content: [UInt8]) {
        self.content = content
    }

    /// A text that isn't quoted yet.
    init(_ bytes: [UInt8]) {
        content = bytes.flatMap { $0 == Self.quote || $0 == Self.backslash ? [Self.backslash, $0] : [$0] }
    }

    init(stringLiteral text: String) {
        self.init(Array(text.utf8))
    }

    /// What is meant. A backslash before anything but a quote and a backslash means itself: senders escape nothing else (RFC 9110 §5.6.4),
    /// and in Shift_JIS it is the second byte of some characters.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in content {
            if !isEscaped, byte == Self.backslash {
                isEscaped = true
                continue
            }
            if isEscaped, byte != Self.quote, byte != Self.backslash { bytes.append(Self.backslash) }
            bytes.append(byte)
            isEscaped = false
        }
        return isEscaped ? bytes + [Self.backslash] : bytes
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
}
