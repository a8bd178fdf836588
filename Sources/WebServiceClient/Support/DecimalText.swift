package import Foundation

/// Decimal numbers as text. Foundation's own reading stops at the first character that it doesn't like, and takes what stands before.
package enum DecimalText {
    /// The number, when the whole of the text is one and `Decimal` can hold it.
    package static func decimal(_ text: String) -> Decimal? {
        let allowed = text.utf8.allSatisfy { ("0123456789+-.eE" as StaticString).holds($0) }
        guard allowed, Double(text) != nil else { return nil }
        return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }
}

extension StaticString {
    fileprivate func holds(_ byte: UInt8) -> Bool {
        withUTF8Buffer { $0.contains(byte) }
    }
}
