package import Foundation

/// Numbers as text. Foundation's own reading of decimals stops at the first character that it doesn't like, takes what stands before, and
/// rounds what has more digits than there is room for.
package enum DecimalText {
    /// The number with all of its digits, when the whole of the text is one and `Decimal` can hold it.
    package static func decimal(_ text: String) -> Decimal? {
        guard isNumber(text) else { return nil }
        let digits = Array(text.utf8.first == UInt8(ascii: "+") ? text.utf8.dropFirst() : text.utf8[...])
        return digits.withUnsafeBufferPointer { digits in
            digits.baseAddress.flatMap { JSONNumber.decimal($0, digits.count) }
        }
    }

    /// The nearest floating-point number, when the whole of the text is a number in decimal digits that isn't larger than all of them, or is
    /// one of the words for infinity and for no number.
    static func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(_ text: String) -> Value? {
        guard let value = Value(text), isNumber(text) ? value.isFinite : !value.isFinite else { return nil }
        return value
    }

    /// Whether the text is a number in decimal digits.
    private static func isNumber(_ text: String) -> Bool {
        text.utf8.allSatisfy { ("0123456789+-.eE" as StaticString).holds($0) } && Double(text) != nil
    }
}

extension StaticString {
    fileprivate func holds(_ byte: UInt8) -> Bool {
        withUTF8Buffer { $0.contains(byte) }
    }
}
