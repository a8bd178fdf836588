/// Makes text from a server, a file or an argument safe for errors, descriptions and log lines. The whole package shows untrusted text
/// through it.
///
/// Received control characters could move a terminal's cursor, forge a log line, or change the order in which text is shown.
package enum VisibleText {
    /// Returns the text with its control characters written as in Swift literals: `\r`, `\n`, `\u{1B}`.
    ///
    /// It escapes the C0 controls except the tab, DEL, the C1 controls, the line and paragraph separators, and Unicode's invisible
    /// formatting characters, which include those for bidirectional text. The two joiners are kept, because words and emoji need them.
    ///
    /// - Parameter keepsLineEnds: Whether line feeds are kept, for texts of several lines.
    package static func of(_ text: String, keepsLineEnds: Bool = false) -> String {
        // Most texts are ASCII without control characters.
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
