import Foundation

/// Dates as ISO 8601 text in UTC, by arithmetic: no formatter, no calendar, no lock.
enum DateText {
    /// Such as `2026-02-28T23:59:59Z`, with three more digits where the time isn't a whole second (rounded to milliseconds).
    ///
    /// It follows the proleptic Gregorian calendar; nil outside of the years 0000 to 9999 and for dates that are no number.
    static func text(of date: Date) -> String? {
        let rounded = (date.timeIntervalSince1970 * 1_000).rounded()
        guard rounded >= -62_167_219_200_000, rounded <= 253_402_300_799_999 else { return nil }
        // Counting from 1 January of year 0 keeps all that follows positive.
        let total = Int64(rounded) + 719_528 * 86_400_000
        let (year, month, day) = CivilCalendar.date(ofDay: total / 86_400_000 - 719_528)
        let time = Int(total % 86_400_000)
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
            put(Int(year), width: 4, then: "-")
            put(Int(month), width: 2, then: "-")
            put(Int(day), width: 2, then: "T")
            put(time / 3_600_000, width: 2, then: ":")
            put(time / 60_000 % 60, width: 2, then: ":")
            put(time / 1_000 % 60, width: 2, then: milliseconds == 0 ? "Z" : ".")
            if milliseconds != 0 { put(milliseconds, width: 3, then: "Z") }
            return end
        }
    }
}
