import Foundation
import WebServiceClient

/// The texts of values that literals and payloads share.
enum LiteralText {
    /// The first second of the year 10000, relative to 1970.
    static let endOfDates: Double = 253_402_300_800

    /// Returns the whole seconds of an instant since 1970, and its microseconds. A `Date` is a binary fraction, so rounding to microseconds
    /// restores the original decimal digits. More than two centuries away, it has fewer digits than that, and the shortest fraction of the
    /// same `Date` restores them.
    static func parts(of date: Date) -> (seconds: Int64, microseconds: Int64) {
        let seconds = date.timeIntervalSince1970
        let whole = seconds.rounded(.down)
        let fraction = seconds - whole
        var micros = (fraction * 1_000_000).rounded()
        if date.timeIntervalSinceReferenceDate.ulp > 1e-6 {
            for unit in [1_000_000, 100_000, 10_000, 1_000, 100, 10] as [Double] {
                let shorter = (fraction * 1_000_000 / unit).rounded() * unit
                guard Date(timeIntervalSince1970: whole + shorter / 1_000_000) == date else { continue }
                micros = shorter
                break
            }
        }
        return micros < 1_000_000 ? (Int64(whole), Int64(micros)) : (Int64(whole) + 1, 0)
    }

    /// Returns an instant in RFC 3339 form in UTC.
    static func instant(_ date: Date) throws(ODataQueryError) -> String {
        let seconds = date.timeIntervalSince1970
        // The years -9999 to 9999.
        guard seconds.isFinite, seconds >= -377_705_116_800, seconds < endOfDates else {
            throw .unsupportedLiteral(
                "The date \(seconds) seconds from 1970", reason: "it is outside the years -9999 to 9999")
        }
        let (total, micros) = parts(of: date)
        let day = total >= 0 ? total / 86_400 : (total - 86_399) / 86_400
        let second = total - day * 86_400
        let civil = CivilCalendar.date(ofDay: day)
        let date =
            (civil.year < 0 ? "-" : "") + DigitText.padded(abs(civil.year), 4) + "-" + DigitText.padded(civil.month, 2) + "-"
            + DigitText.padded(civil.day, 2)
        let time = [second / 3600, second / 60 % 60, second % 60].map { DigitText.padded($0, 2) }.joined(separator: ":")
        return date + "T" + time + DigitText.fraction(UInt64(micros), digits: 6) + "Z"
    }

    /// Returns `-P1DT2H3M4.5S`: XML Schema's dayTimeDuration, with all digits of Swift's type.
    static func duration(_ duration: Duration) -> String {
        // The seconds of a duration can exceed 64 bits, its days can't.
        let days = (duration / 86_400).components.seconds
        let (seconds, attoseconds) = (duration - .seconds(86_400) * days).components
        let isNegative = duration < .zero
        let total = seconds.magnitude
        var text = isNegative ? "-P" : "P"
        if days != 0 { text += "\(days.magnitude)D" }
        let (hours, minutes, rest) = (total / 3600, total % 3600 / 60, total % 60)
        let fraction = DigitText.fraction(attoseconds.magnitude, digits: 18)
        var time = hours > 0 ? "\(hours)H" : ""
        if minutes > 0 { time += "\(minutes)M" }
        if rest > 0 || !fraction.isEmpty { time += "\(rest)\(fraction)S" }
        if time.isEmpty, days == 0 { time = "0S" }
        return time.isEmpty ? text : text + "T" + time
    }

    static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
