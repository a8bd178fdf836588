import Foundation

/// The texts of numbers.
enum NumberText {
    static func digits(_ value: Decimal) throws(ODataQueryError) -> String {
        guard !value.isNaN else { throw .unsupportedLiteral("Decimal.nan", reason: "Edm.Decimal has no NaN") }
        return value.description
    }

    /// `[-]digits[.digits]`, with an exponent where the text has one.
    static func checked(_ digits: String) throws(ODataQueryError) -> String {
        let bytes = Array(digits.utf8)
        var index = 0
        func skipDigits() -> Bool {
            let start = index
            while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
            return index > start
        }
        func skip(_ wanted: String) -> Bool {
            guard index < bytes.count, wanted.utf8.contains(bytes[index]) else { return false }
            index += 1
            return true
        }
        _ = skip("+-")
        var isNumber = skipDigits()
        if isNumber, skip(".") { isNumber = skipDigits() }
        if isNumber, skip("eE") {
            _ = skip("+-")
            isNumber = skipDigits()
        }
        guard isNumber, index == bytes.count else { throw .unsupportedLiteral("'\(digits)'", reason: "it isn't a number") }
        return digits.utf8.contains(UInt8(ascii: "E")) ? digits.replacing("E", with: "e") : digits
    }

    static func floating(_ value: some BinaryFloatingPoint & CustomStringConvertible) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-INF" : "INF" }
        let text = value.description
        return text.utf8.contains(UInt8(ascii: "+")) ? text.replacing("+", with: "") : text
    }

    static func finite(_ value: some BinaryFloatingPoint & CustomStringConvertible) throws(ODataQueryError) -> String {
        guard value.isFinite else { throw .unsupportedLiteral("\(value)", reason: "V2 has no literal for it") }
        return floating(value)
    }
}
