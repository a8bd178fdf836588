import Foundation

/// Dates as ISO 8601 text in UTC, by arithmetic: no formatter, no calendar, no lock.
enum DateText {
    /// Such as `2026-02-28T23:59:59Z`, with three more digits where the time isn't a whole second (rounded to milliseconds).
    ///
    /// It follows the proleptic Gregorian calendar; nil outside of the years 0000 to 9999 and for dates that are no number.
    static func text(of date: Date) -> String? {
        let rounded = (date.timeIntervalSince1970 * 1_000).rounded()
        guard rounded >= -62_167_219_200_000, rounded <= 253_402_300_799_999 else { return nil }
        // Counting from 400 years before year 0 keeps all that follows positive.
        let total = Int64(rounded) + (719_528 + 146_097) * 86_400_000
        let (days, time) = (Int(total / 86_400_000), Int(total % 86_400_000))
        let (year, month, day) = civil(days)
        let milliseconds = time % 1_000
        return String(unsafeUninitializedCapacity: 24) { buffer in
            var end = 0
            func put(_ number: Int, width: Int, then mark: Character) {
                var rest = number
                for place in stride(from: width - 1, through: 0, by: -1) {
                    buffer[end + place] = UInt8(truncatingIfNeeded: 48 + rest % 10)
                    rest /= 10
                }
                buffer[end + width] = mark.asciiValue ?? 0
                end += width + 1
            }
            put(year - 400, width: 4, then: "-")
            put(month, width: 2, then: "-")
            put(day, width: 2, then: "T")
            put(time / 3_600_000, width: 2, then: ":")
            put(time / 60_000 % 60, width: 2, then: ":")
            put(time / 1_000 % 60, width: 2, then: milliseconds == 0 ? "Z" : ".")
            if milliseconds != 0 { put(milliseconds, width: 3, then: "Z") }
            return end
        }
    }

    /// Year, month and day of a count of days from the first day of a year 0, for counts from 0.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let cycle = days / 146_097
        var rest = days % 146_097
        // The first century of a cycle has one day more, as has the first year of most groups of four.
        let century = rest < 36_525 ? 0 : (rest - 1) / 36_524
        rest -= century == 0 ? 0 : century * 36_524 + 1
        let isLongCentury = century == 0
        let firstGroup = isLongCentury ? 1_461 : 1_460
        let group = rest < firstGroup ? 0 : (rest - firstGroup) / 1_461 + 1
        rest -= group == 0 ? 0 : firstGroup + (group - 1) * 1_461
        let isLongGroup = group > 0 || isLongCentury
        let firstYear = isLongGroup ? 366 : 365
        let yearOfGroup = rest < firstYear ? 0 : (rest - firstYear) / 365 + 1
        rest -= yearOfGroup == 0 ? 0 : firstYear + (yearOfGroup - 1) * 365
        let isLeap = yearOfGroup == 0 && isLongGroup
        var month = 1
        for length in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
            if rest < length { break }
            rest -= length
            month += 1
        }
        return (cycle * 400 + century * 100 + group * 4 + yearOfGroup, month, rest + 1)
    }
}
