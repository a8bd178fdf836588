import Foundation
import WebServiceClient

/// How the members of an enumeration are written.
public enum EnumerationSpelling: String, Sendable, Hashable, CaseIterable {
    /// `Sales.Colour'Red'` where the type's name is known, which every version of the protocol understands.
    case qualified
    /// `'Red'`, which 4.01 allows and some services insist on.
    case bare
}

/// Writes literals: the only place that does, for operators, functions and keys alike (ABNF, "Literal Data Values").
struct LiteralWriter: Sendable {
    var enumerations: EnumerationSpelling

    func write(_ value: EdmValue, to text: inout QueryText) throws(ODataQueryError) {
        switch value {
        case .null: text.syntax("null")
        case .boolean(let value): text.syntax(value ? "true" : "false")
        case .integer(let value): text.value(String(value))
        case .decimal(let value): text.value(try Self.digits(value))
        case .number(let digits): text.value(try Self.checked(digits))
        case .double(let value): text.value(Self.floating(value))
        case .single(let value): text.value(Self.floating(value))
        case .string(let value): quoted(value, to: &text)
        case .guid(let value): text.value(value.uuidString.lowercased())
        case .dateTimeOffset(let value): text.value(try Self.instant(value))
        case .date(let value): text.value(value.description)
        case .timeOfDay(let value): text.value(value.description)
        case .duration(let value): prefixed("duration", Self.duration(value), to: &text)
        case .binary(let value): prefixed("binary", Self.base64URL(value), to: &text)
        case .enumeration(let type, let member): try enumeration(type, member, to: &text)
        }
    }

    private func quoted(_ value: String, to text: inout QueryText) {
        text.syntax("'")
        // Replaced by scalar: a combining mark after an apostrophe makes a Character of both, which a replacement by
        // Character would pass over.
        var doubled = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            doubled.append(scalar)
            if scalar == "'" { doubled.append(scalar) }
        }
        text.value(String(doubled), keeping: QueryText.apostrophe)
        text.syntax("'")
    }

    private func prefixed(_ prefix: String, _ value: String, to text: inout QueryText) {
        text.syntax(prefix)
        text.syntax("'")
        text.value(value)
        text.syntax("'")
    }

    private func enumeration(_ type: String?, _ member: String, to text: inout QueryText) throws(ODataQueryError) {
        if let type, enumerations == .qualified {
            guard ODataName.isQualified(type) else { throw .invalidName(type, role: "the name of an enumeration's type") }
            text.value(type)
        }
        let members = member.split(separator: ",", omittingEmptySubsequences: false)
        text.syntax("'")
        for (index, name) in members.enumerated() {
            guard ODataName.isIdentifier(name) else { throw .invalidName(member, role: "a member of an enumeration") }
            if index > 0 { text.syntax(",") }
            text.value(String(name))
        }
        text.syntax("'")
    }

    private static func digits(_ value: Decimal) throws(ODataQueryError) -> String {
        guard !value.isNaN else { throw .unsupportedLiteral("Decimal.nan", reason: "Edm.Decimal has no NaN") }
        return value.description
    }

    /// `[-]digits[.digits]`, with an exponent where the text has one.
    private static func checked(_ digits: String) throws(ODataQueryError) -> String {
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
        return digits.replacing("E", with: "e")
    }

    private static func floating(_ value: some BinaryFloatingPoint & CustomStringConvertible) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-INF" : "INF" }
        return value.description.replacing("+", with: "")
    }

    /// RFC 3339 in UTC. A `Date` is a binary fraction of seconds: rounding to microseconds gives back what people wrote.
    static func instant(_ date: Date) throws(ODataQueryError) -> String {
        let seconds = date.timeIntervalSince1970
        // The years -9999 to 9999.
        guard seconds.isFinite, seconds >= -377_705_116_800, seconds < 253_402_300_800 else {
            throw .unsupportedLiteral(
                "The date \(date.timeIntervalSinceReferenceDate)", reason: "it lies outside of the years -9999 to 9999")
        }
        var whole = seconds.rounded(.down)
        var micros = ((seconds - whole) * 1_000_000).rounded()
        if micros >= 1_000_000 {
            whole += 1
            micros = 0
        }
        let total = Int64(whole)
        let day = total >= 0 ? total / 86_400 : (total - 86_399) / 86_400
        let second = total - day * 86_400
        let civil = CivilCalendar.date(ofDay: day)
        let date =
            (civil.year < 0 ? "-" : "") + DigitText.padded(abs(civil.year), 4) + "-" + DigitText.padded(civil.month, 2) + "-"
            + DigitText.padded(civil.day, 2)
        let time = [second / 3600, second / 60 % 60, second % 60].map { DigitText.padded($0, 2) }.joined(separator: ":")
        return date + "T" + time + DigitText.fraction(UInt64(micros), digits: 6) + "Z"
    }

    /// `-P1DT2H3M4.5S`: XML Schema's dayTimeDuration, with all digits Swift's type has.
    static func duration(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let isNegative = seconds < 0 || attoseconds < 0
        let total = seconds.magnitude
        var text = isNegative ? "-P" : "P"
        if total / 86_400 > 0 { text += "\(total / 86_400)D" }
        let (hours, minutes, rest) = (total % 86_400 / 3600, total % 3600 / 60, total % 60)
        let fraction = DigitText.fraction(attoseconds.magnitude, digits: 18)
        var time = hours > 0 ? "\(hours)H" : ""
        if minutes > 0 { time += "\(minutes)M" }
        if rest > 0 || !fraction.isEmpty { time += "\(rest)\(fraction)S" }
        if time.isEmpty, total == 0 { time = "0S" }
        return time.isEmpty ? text : text + "T" + time
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
