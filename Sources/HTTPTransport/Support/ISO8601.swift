package import Foundation

/// ISO 8601 dates (RFC 3339 §5.6), written exactly and parsed leniently, in the same way for queries, forms, headers and bodies. It doesn't
/// use Foundation's formatters, which take a lock and must know in advance whether there is a fraction.
package enum ISO8601 {
    /// Returns a date in UTC, such as `2024-02-29T23:59:59Z`, or `2024-02-29T23:59:59.500Z` if it has fractional seconds.
    ///
    /// - Parameter fractionDigits: The number of fraction digits, 0 to 9, to which the date is rounded.
    /// - Returns: `nil` for a date that isn't finite or is outside the years 0000 to 9999 of the proleptic Gregorian calendar.
    package static func text(of date: Date, fractionDigits: Int = 3) -> String? {
        let digits = min(max(fractionDigits, 0), 9)
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
        let scale = (0..<digits).reduce(Int64(1)) { value, _ in value * 10 }
        let whole = seconds.rounded(.down)
        var fraction = Int64(((seconds - whole) * Double(scale)).rounded())
        var second = Int64(whole) + referenceSeconds
        if fraction >= scale {
            // The last second of the year 9999 can't be rounded up.
            (second, fraction) = second == lastSecond ? (second, scale - 1) : (second + 1, 0)
        }
        guard second >= firstSecond, second <= lastSecond else { return nil }
        // Counting from 1 January of year 0 keeps all values positive.
        let (year, month, day) = CivilCalendar.date(ofDay: (second - firstSecond) / 86_400 + firstSecond / 86_400)
        return text(year, month, day, (second - firstSecond) % 86_400, fraction, digits: digits)
    }

    /// Writes the text directly into the string's storage, because dates are frequent in queries and bodies.
    private static func text(_ year: Int64, _ month: Int64, _ day: Int64, _ time: Int64, _ fraction: Int64, digits: Int) -> String {
        String(unsafeUninitializedCapacity: 30) { buffer in
            var end = 0
            func put(_ number: Int64, width: Int, then mark: Unicode.Scalar) {
                var rest = number
                for place in stride(from: width - 1, through: 0, by: -1) {
                    buffer[end + place] = UInt8(truncatingIfNeeded: 48 + rest % 10)
                    rest /= 10
                }
                buffer[end + width] = UInt8(truncatingIfNeeded: mark.value)
                end += width + 1
            }
            put(year, width: 4, then: "-")
            put(month, width: 2, then: "-")
            put(day, width: 2, then: "T")
            put(time / 3600, width: 2, then: ":")
            put(time / 60 % 60, width: 2, then: ":")
            put(time % 60, width: 2, then: fraction == 0 ? "Z" : ".")
            if fraction != 0 { put(fraction, width: digits, then: "Z") }
            return end
        }
    }

    /// Parses a date with optional fraction (`.` or `,`), seconds and zone; `T`, `t` or a space between date and time; `Z`, `+01:00`,
    /// `+0100` or `+01` as the zone, UTC by default. A date without a time is midnight in UTC, or in its zone, as in `2024-02-29Z` and
    /// `2024-02-29+01:00` (XML Schema part 2, section 3.3.9). Returns `nil` for other texts, and for dates outside the years 0000 to 9999
    /// in UTC, which can't be written.
    ///
    /// The result is the nearest value of `Date`. A result that would be rounded up to the year 10000 is rounded down.
    package static func date(from text: String) -> Date? {
        var reader = Reader(bytes: Array(text.utf8))
        guard let second = reader.dateTime(), second.whole >= firstSecond, second.whole <= lastSecond else { return nil }
        let end = Double(lastSecond + 1 - referenceSeconds)
        return Date(timeIntervalSinceReferenceDate: min(Double(second.whole - referenceSeconds) + second.fraction, end.nextDown))
    }

    /// Seconds from 1970 to Foundation's reference date, 2001.
    private static let referenceSeconds: Int64 = 978_307_200

    /// The first second of the year 0000 and the last of the year 9999, relative to 1970.
    private static let firstSecond: Int64 = -62_167_219_200
    private static let lastSecond: Int64 = 253_402_300_799

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func dateTime() -> (whole: Int64, fraction: Double)? {
            guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2) else { return nil }
            guard (1...12).contains(month), (1...CivilCalendar.days(inMonth: Int(month), of: Int(year))).contains(Int(day)) else {
                return nil
            }
            let midnight = CivilCalendar.day(year: year, month: month, day: day) * 86_400
            if byte == nil { return (midnight, 0) }
            if let offset = zoneOfDate() { return (midnight - offset, 0) }
            guard take("T") || take("t") || take(" ") else { return nil }
            guard let hour = number(2), take(":"), let minute = number(2), hour <= 24, minute < 60 else { return nil }
            var second: Int64 = 0
            var part = 0.0
            if take(":") {
                guard let read = number(2), read <= 60 else { return nil }
                second = read
                if take(".") || take(",") {
                    guard let read = fraction() else { return nil }
                    part = read
                }
            }
            if hour == 24, minute + second > 0 || part > 0 { return nil }
            guard let offset = zone(), byte == nil else { return nil }
            return (midnight + hour * 3600 + minute * 60 + second - offset, part)
        }

        /// Parses the zone after a date without a time: `Z` or `+01:00`, as XML Schema has it.
        private mutating func zoneOfDate() -> Int64? {
            let start = position
            // A shorter offset would look like another part of the date.
            guard byte == UInt8(ascii: "Z") || bytes.count - start == 6, let offset = zone(), byte == nil else {
                position = start
                return nil
            }
            return offset
        }

        private mutating func zone() -> Int64? {
            if byte == nil || take("Z") || take("z") { return 0 }
            let sign: Int64
            if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
            guard let hours = number(2), hours < 24 else { return nil }
            if byte == nil { return sign * hours * 3600 }
            _ = take(":")
            guard let minutes = number(2), minutes < 60 else { return nil }
            return sign * (hours * 3600 + minutes * 60)
        }

        /// Parses a fraction by its first 17 digits; a date doesn't hold more.
        private mutating func fraction() -> Double? {
            let start = position
            while let next = byte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) { position += 1 }
            guard position > start else { return nil }
            return Double("0." + String(decoding: bytes[start..<min(position, start + 17)], as: UTF8.self))
        }

        private mutating func number(_ digits: Int) -> Int64? {
            guard position + digits <= bytes.count else { return nil }
            var value: Int64 = 0
            for index in position..<position + digits {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) else { return nil }
                value = value * 10 + Int64(bytes[index] - UInt8(ascii: "0"))
            }
            position += digits
            return value
        }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard byte == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }
    }
}

/// The arithmetic of the proleptic Gregorian calendar, for all date formats.
///
/// Foundation's formatters depend on the locale and the platform and take a lock; the wire format must not. Internally, years start in
/// March, so that the leap day is the last day of its year; a cycle of 400 years has 146,097 days.
package enum CivilCalendar {
    /// Returns the number of days of a month, 1 to 12.
    package static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the date of a day counted from 1970-01-01.
    package static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let cycle = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfCycle = shifted - cycle * 146_097
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    /// Returns the day counted from 1970-01-01, the inverse of ``date(ofDay:)``.
    package static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let cycle = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfCycle = shifted - cycle * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return cycle * 146_097 + yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear - 719_468
    }
}
