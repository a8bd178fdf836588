package import Foundation

/// Converts texts to numbers. Foundation's own conversion of decimals stops at the first invalid character and returns the number before
/// it, and rounds numbers with too many digits.
package enum DecimalText {
    /// The number with all of its digits, if the whole text is a number that `Decimal` can represent.
    package static func decimal(_ text: String) -> Decimal? {
        guard isNumber(text) else { return nil }
        let digits = Array(text.utf8.first == UInt8(ascii: "+") ? text.utf8.dropFirst() : text.utf8[...])
        return digits.withUnsafeBufferPointer { digits in
            digits.baseAddress.flatMap { JSONNumber.decimal($0, digits.count) }
        }
    }

    /// The nearest floating-point number, if the whole text is a number in decimal digits within the range of the type, or one of the words
    /// for infinity and NaN.
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
