/// Digits in the texts of dates and times.
enum DigitText {
    /// The number with zeros in front, up to so many digits.
    static func padded(_ number: some BinaryInteger, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// `.5` of a fraction in units of 10⁻ᵈ: empty for zero, without zeros at the end.
    static func fraction(_ value: UInt64, digits: Int) -> String {
        guard value > 0 else { return "" }
        var text = padded(value, digits)
        while text.hasSuffix("0") { text.removeLast() }
        return "." + text
    }

    /// A number of ASCII digits only.
    static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    /// Two hexadecimal digits.
    static func hexadecimal(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16, uppercase: true)
        return text.count < 2 ? "0" + text : text
    }
}
