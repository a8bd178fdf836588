/// Makes text from a server, a file or an argument safe for errors, descriptions and log lines. The whole package uses this one rule.
///
/// A control character from the wire could move a terminal's cursor, forge a line of a log, or change the order in which text is shown.
package enum VisibleText {
    /// The text with its control characters written as Swift writes them in a literal: `\r`, `\n`, `\u{1B}`.
    ///
    /// These are the C0 and C1 controls but the tab, DEL, the line and paragraph separators, and the invisible formatting characters of
    /// Unicode, which include the ones for bidirectional text. The two joiners are kept, since words and emoji need them.
    ///
    /// - Parameter keepsLineEnds: whether a line feed stays, for texts of several lines.
    package static func of(_ text: String, keepsLineEnds: Bool = false) -> String {
        // Most texts have none of them, and are ASCII.
        guard !text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return text }
        guard text.unicodeScalars.contains(where: { isHidden($0, keepsLineEnds) }) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isHidden(scalar, keepsLineEnds) {
                result.append(contentsOf: escape(scalar).unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Whether a scalar is escaped.
    private static func isHidden(_ scalar: Unicode.Scalar, _ keepsLineEnds: Bool) -> Bool {
        switch scalar.value {
        case 0x09: false
        case 0x0A: !keepsLineEnds
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
        case 0..<0x80, 0x200C, 0x200D: false
        default: scalar.properties.generalCategory == .format
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\r": "\\r"
        case "\n": "\\n"
        default: "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
        }
    }
}
