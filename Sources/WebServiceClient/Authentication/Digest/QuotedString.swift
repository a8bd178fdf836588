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

    /// Whether a quoted string can hold the text: it has no control characters but tabs.
    static func canCarry(_ text: String) -> Bool {
        text.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }
    }
}
