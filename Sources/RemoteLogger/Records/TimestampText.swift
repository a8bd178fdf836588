import Foundation
import HTTPTransport

/// Writes points in time in RFC 3339 format, in UTC: `2026-03-01T09:30:00.123456789Z`.
enum TimestampText {
    /// Writes nanoseconds since 1970, with nine fractional digits.
    static func write(nanoseconds: UInt64, into text: inout JSONText) {
        let (seconds, fraction) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        write(seconds: Int64(seconds), into: &text)
        text.byte(".")
        text.padded(Int(fraction), digits: 9)
        text.byte("Z")
    }

    /// Writes a date with microseconds, the precision of a current `Date`. A date outside the years 1 to 9999, which RFC 3339 can't
    /// represent, is written as its seconds since 1970.
    static func write(_ date: Date, into text: inout JSONText) {
        let whole = date.timeIntervalSince1970.rounded(.down)
        guard whole >= -62_135_596_800, whole < 253_402_300_799 else {
            for byte in date.timeIntervalSince1970.description.unicodeScalars { text.byte(byte) }
            return
        }
        let fraction = ((date.timeIntervalSince1970 - whole) * 1_000_000).rounded()
        let carries = fraction >= 1_000_000
        write(seconds: Int64(whole) + (carries ? 1 : 0), into: &text)
        text.byte(".")
        text.padded(carries ? 0 : Int(fraction), digits: 6)
        text.byte("Z")
    }

    /// Returns a date as text.
    static func text(of date: Date) -> String {
        var text = JSONText()
        write(date, into: &text)
        return text.string
    }

    private static func write(seconds: Int64, into text: inout JSONText) {
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let time = Int(seconds - days * 86_400)
        let (year, month, day) = CivilCalendar.date(ofDay: days)
        text.padded(Int(year), digits: 4)
        text.byte("-")
        text.padded(Int(month), digits: 2)
        text.byte("-")
        text.padded(Int(day), digits: 2)
        text.byte("T")
        text.padded(time / 3_600, digits: 2)
        text.byte(":")
        text.padded(time / 60 % 60, digits: 2)
        text.byte(":")
        text.padded(time % 60, digits: 2)
    }
}
