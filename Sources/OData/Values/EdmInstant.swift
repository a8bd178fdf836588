public import Foundation
import WebServiceClient

// Conversion between points in time and instants.
extension EdmDateTimeOffset {
    /// Creates a point in time from an instant, to the microsecond, at an offset in minutes east of UTC.
    ///
    /// Returns `nil` if the offset is out of range, or the instant isn't finite or hundreds of millions of years away.
    public init?(_ instant: Date, offset: Int = 0) {
        let seconds = instant.timeIntervalSince1970
        guard seconds.isFinite, abs(seconds) < 1e16 else { return nil }
        let (whole, micros) = LiteralText.parts(of: instant)
        self.init(secondsSince1970: whole, picosecond: micros * 1_000_000, offset: offset)
    }

    /// Creates a point in time from seconds since 1970 in UTC, in local time at the offset; without one, in UTC.
    init?(secondsSince1970 seconds: Int64, picosecond: Int64, offset: Int?) {
        guard (offset ?? 0).magnitude < 24 * 60 else { return nil }
        let (local, overflow) = seconds.addingReportingOverflow(Int64(offset ?? 0) * 60)
        guard !overflow else { return nil }
        let day = local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
        guard abs(day) < 365_000_000_000 else { return nil }
        let second = Int(local - day * 86_400)
        let civil = CivilCalendar.date(ofDay: day)
        guard let date = EdmDate(year: Int(civil.year), month: Int(civil.month), day: Int(civil.day)) else { return nil }
        self.init(
            date: date, hour: second / 3600, minute: second / 60 % 60, second: second % 60, picosecond: picosecond, offset: offset)
    }

    /// The whole seconds since 1970 in UTC; a leap second counts as the first second of the next minute. Without an offset, the time is
    /// taken as UTC.
    public var secondsSince1970: Int64 {
        let day = CivilCalendar.day(year: Int64(date.year), month: Int64(date.month), day: Int64(date.day))
        return day * 86_400 + Int64(hour * 3600 + minute * 60 + second) - Int64(offset ?? 0) * 60
    }

    /// The instant, with the precision of a `Date`, about fifteen digits. The last moment of the year 9999, which many services use for
    /// "never", isn't rounded up to the year 10000.
    public var instant: Date {
        let whole = Double(secondsSince1970)
        let seconds = whole + Double(picosecond) / 1e12
        let end = LiteralText.endOfDates
        return Date(timeIntervalSince1970: whole < end ? min(seconds, end.nextDown) : seconds)
    }

    /// Returns the point in time with at most `digits` fraction digits, for properties with a `Precision`.
    public func truncated(toFractionDigits digits: Int) -> EdmDateTimeOffset {
        let unit = (min(max(0, digits), 12)..<12).reduce(Int64(1)) { unit, _ in unit * 10 }
        return EdmDateTimeOffset(
            date: date, hour: hour, minute: minute, second: second, picosecond: picosecond - picosecond % unit, offset: offset) ?? self
    }
}

extension EdmDateTimeOffset: Comparable {
    /// Returns whether the left instant is earlier; for equal instants, the smaller offset comes first.
    public static func < (left: EdmDateTimeOffset, right: EdmDateTimeOffset) -> Bool {
        (left.secondsSince1970, left.picosecond, left.offset ?? Int.min, left.second)
            < (right.secondsSince1970, right.picosecond, right.offset ?? Int.min, right.second)
    }
}

extension EdmDateTimeOffset {
    /// Parses the text of V4 or V2.
    init?(payload text: String) {
        guard let value = EdmDateTimeOffset(text) ?? V2DateText.value(text) else { return nil }
        self = value
    }
}

extension EdmDate {
    /// Parses the text of V4, or V2's midnight, because V2 has no dates without a time.
    init?(payload text: String) {
        if let date = EdmDate(text) {
            self = date
            return
        }
        guard let time = EdmDateTimeOffset(payload: text), time.hour == 0, time.minute == 0, time.second == 0, time.picosecond == 0 else {
            return nil
        }
        self = time.date
    }

    /// Midnight of the date, without an offset.
    var midnight: EdmDateTimeOffset? {
        EdmDateTimeOffset(date: self, hour: 0, minute: 0, offset: nil)
    }
}

extension EdmTimeOfDay {
    /// Parses the text of V4, or V2's duration since midnight: `PT13H20M`. SAP's services write the end of the day as `PT24H00M00S`.
    init?(payload text: String) {
        if let time = EdmTimeOfDay(text) {
            self = time
            return
        }
        guard let duration = NumberText.duration(payload: text) else { return nil }
        let (seconds, attoseconds) = duration.components
        if seconds == 86_400, attoseconds == 0 {
            self = .endOfDay
            return
        }
        guard (0..<86_400).contains(seconds), attoseconds >= 0, attoseconds % 1_000_000 == 0 else { return nil }
        let second = Int(seconds)
        self.init(hour: second / 3600, minute: second / 60 % 60, second: second % 60, picosecond: attoseconds / 1_000_000)
    }

    /// The text in version 2, where times of day are durations.
    var v2Text: String { self == .endOfDay ? "PT24H" : LiteralText.duration(duration) }

    /// The time since midnight.
    package var duration: Duration {
        Duration(
            secondsComponent: Int64(hour * 3600 + minute * 60 + second), attosecondsComponent: picosecond * 1_000_000)
    }
}

/// Points in time in V2's JSON: `/Date(1291362539000)/`, `/Date(1291362539000+0060)/`.
///
/// The number is the milliseconds since 1970 in UTC; an offset, in minutes, only states the local time zone.
enum V2DateText {
    static func value(_ text: String) -> EdmDateTimeOffset? {
        guard text.hasPrefix("/Date("), text.hasSuffix(")/") else { return nil }
        let body = text.dropFirst(6).dropLast(2)
        let sign = body.dropFirst().lastIndex { $0 == "+" || $0 == "-" }
        guard let milliseconds = whole(body[..<(sign ?? body.endIndex)]) else { return nil }
        var offset: Int?
        if let sign {
            let digits = body[body.index(after: sign)...]
            guard digits.utf8.count <= 4, let minutes = DigitText.number(digits), minutes < 1440 else { return nil }
            offset = body[sign] == "-" ? -minutes : minutes
        }
        // Rounds down, not towards zero, because the fraction is positive before 1970, too.
        var seconds = milliseconds / 1_000
        var rest = milliseconds % 1_000
        if rest < 0 {
            seconds -= 1
            rest += 1_000
        }
        return EdmDateTimeOffset(secondsSince1970: seconds, picosecond: rest * 1_000_000_000, offset: offset)
    }

    private static func whole(_ text: Substring) -> Int64? {
        let digits = text.first == "-" ? text.dropFirst() : text
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    /// Returns the text of a point in time; `nil` if its fraction is finer than milliseconds, or it is out of range.
    static func text(_ value: EdmDateTimeOffset) -> String? {
        guard value.picosecond % 1_000_000_000 == 0 else { return nil }
        let (product, overflow) = value.secondsSince1970.multipliedReportingOverflow(by: 1_000)
        let (milliseconds, carry) = product.addingReportingOverflow(value.picosecond / 1_000_000_000)
        guard !overflow, !carry else { return nil }
        guard let offset = value.offset, offset != 0 else { return "/Date(\(milliseconds))/" }
        return "/Date(\(milliseconds)" + (offset < 0 ? "-" : "+") + DigitText.padded(abs(offset), 4) + ")/"
    }
}
