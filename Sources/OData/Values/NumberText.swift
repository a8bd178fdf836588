package import Foundation

/// Conversions between numbers and text.
package enum NumberText {
    package static func digits(_ value: Decimal) throws(ODataQueryError) -> String {
        guard !value.isNaN else { throw .unsupportedLiteral("Decimal.nan", reason: "Edm.Decimal has no NaN") }
        return value.description
    }

    /// Checks that a text is a number of the ABNF's `decimalValue`, and returns it as it is written: without a plus sign before its digits,
    /// which the grammar of all versions allows and a URL would need to encode, and with a small `e`.
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
        let unsigned = bytes.first == UInt8(ascii: "+") ? String(digits.dropFirst()) : digits
        return unsigned.utf8.contains(UInt8(ascii: "E")) ? unsigned.replacing("E", with: "e") : unsigned
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

extension NumberText {
    /// Returns the value that writes the same digits.
    package static func value(_ text: String, isWhole: Bool, hasExponent: Bool) -> EdmValue {
        if isWhole, !hasExponent { return Int64(text).map { .integer($0) } ?? .number(text) }
        if hasExponent {
            if let number = Double(text), number.isFinite, floating(number) == text { return .double(number) }
            return .number(text)
        }
        return decimal(text)
    }

    /// Returns a decimal if it writes the same digits, otherwise a number.
    package static func decimal(_ text: String) -> EdmValue {
        guard let number = Decimal(string: text), number.description == text else { return .number(text) }
        return .decimal(number)
    }

    /// Parses `-P1DT2H3M4.5S`; `nil` for other texts, and beyond the range of `Duration`.
    package static func duration(_ text: String) -> Duration? {
        var bytes = Array(text.utf8)[...]
        let isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative { bytes.removeFirst() }
        guard bytes.popFirst().map({ $0 | 0x20 }) == UInt8(ascii: "p") else { return nil }
        var seconds: Int64 = 0
        var attoseconds: Int64 = 0
        var isTime = false
        var units = Array("dhms".utf8)[...]
        var hasPart = false
        while let first = bytes.first {
            if first | 0x20 == UInt8(ascii: "t"), !isTime {
                bytes.removeFirst()
                isTime = true
                hasPart = false
                continue
            }
            let digits = bytes.prefix { (0x30...0x39).contains($0) }
            bytes.removeFirst(digits.count)
            guard let number = Int64(String(decoding: digits, as: UTF8.self)) else { return nil }
            var fraction: ArraySlice<UInt8> = []
            if bytes.first == UInt8(ascii: ".") {
                bytes.removeFirst()
                fraction = bytes.prefix { (0x30...0x39).contains($0) }
                bytes.removeFirst(fraction.count)
                guard (1...18).contains(fraction.count) else { return nil }
            }
            guard let unit = bytes.popFirst().map({ $0 | 0x20 }), let place = units.firstIndex(of: unit) else { return nil }
            units = units[(place + 1)...]
            guard (unit == UInt8(ascii: "d")) != isTime, fraction.isEmpty || unit == UInt8(ascii: "s") else { return nil }
            let factor: Int64 = [UInt8(ascii: "d"): 86_400, UInt8(ascii: "h"): 3_600, UInt8(ascii: "m"): 60][unit] ?? 1
            let (product, overflow) = number.multipliedReportingOverflow(by: factor)
            let (sum, carry) = seconds.addingReportingOverflow(product)
            guard !overflow, !carry else { return nil }
            seconds = sum
            if !fraction.isEmpty {
                attoseconds = (fraction.count..<18).reduce(Int64(String(decoding: fraction, as: UTF8.self)) ?? 0) { value, _ in value * 10 }
            }
            hasPart = true
        }
        guard hasPart else { return nil }
        return Duration(
            secondsComponent: isNegative ? -seconds : seconds, attosecondsComponent: isNegative ? -attoseconds : attoseconds)
    }

    /// Parses a duration as services write it: also with zero years and months (`P0Y0M0DT13H20M11S`), which XML Schema allows.
    package static func duration(payload text: String) -> Duration? {
        if let duration = duration(text) { return duration }
        let begin = text.utf8.prefix(2)
        guard let mark = begin.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "p") }) else { return nil }
        let start = text.utf8.index(after: mark)
        let time = text.utf8[start...].firstIndex { $0 | 0x20 == UInt8(ascii: "t") } ?? text.endIndex
        var days = text[start..<time]
        for unit in [UInt8(ascii: "y"), UInt8(ascii: "m")] {
            let zeros = days.utf8.prefix { $0 == 0x30 }
            guard !zeros.isEmpty, zeros.endIndex < days.endIndex, days.utf8[zeros.endIndex] | 0x20 == unit else { continue }
            days = days[days.utf8.index(after: zeros.endIndex)...]
        }
        guard days.startIndex > start else { return nil }
        let isEmpty = days.isEmpty && time == text.endIndex
        return duration(String(text[..<start]) + (isEmpty ? "0D" : String(days)) + String(text[time...]))
    }

    /// Decodes base64 with or without padding, in the URL alphabet or the standard one.
    package static func base64URL(_ text: String) -> Data? {
        var standard = text.replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
        standard += String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: standard) else { return nil }
        // The unused bits of the last character must be zero.
        return data.base64EncodedString() == standard ? data : nil
    }
}

/// Digits in the text of dates and times.
package enum DigitText {
    package static func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// Returns the number padded with zeros to a number of digits.
    static func padded(_ number: some BinaryInteger, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// Returns a fraction in units of 10⁻ᵈ such as `.5`: empty for zero, without trailing zeros.
    static func fraction(_ value: UInt64, digits: Int) -> String {
        guard value > 0 else { return "" }
        var text = padded(value, digits)
        while text.hasSuffix("0") { text.removeLast() }
        return "." + text
    }

    /// Parses a number of ASCII digits only.
    static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    /// Returns two hexadecimal digits.
    static func hexadecimal(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16, uppercase: true)
        return text.count < 2 ? "0" + text : text
    }
}
