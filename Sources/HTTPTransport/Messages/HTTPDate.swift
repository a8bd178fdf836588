package import Foundation

/// HTTP dates (RFC 9110 §5.6.7). Reads the fixed form and the two obsolete forms, and writes the fixed form.
///
/// It doesn't use Foundation's formatter, which crashes on some non-ASCII texts, because servers can send any text.
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    /// Parses a date in any of the three forms; returns `nil` for other texts. The day of the week isn't checked against the date.
    ///
    /// - Parameter now: The reference for two-digit years, which are at most 50 years after it.
    package static func date(from text: String, now: Date = Date()) -> Date? {
        guard text.utf8.count <= 64, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
        let words = text.split(separator: " ")
        guard let first = words.first, let weekday = first.split(separator: ",").first, weekdays.contains(String(weekday.prefix(3))) else {
            return nil
        }
        // `Sun, 06 Nov 1994 08:49:37 GMT`
        if words.count == 6, first.hasSuffix(","), isUniversal(words[5]) {
            return date(day: words[1], month: words[2], year: words[3], time: words[4], now)
        }
        // `Sunday, 06-Nov-94 08:49:37 GMT`
        if words.count == 4, first.hasSuffix(","), isUniversal(words[3]) {
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
            return parts.count == 3 ? date(day: parts[0], month: parts[1], year: parts[2], time: words[2], now) : nil
        }
        // `Sun Nov  6 08:49:37 1994`
        guard words.count == 5, !first.hasSuffix(",") else { return nil }
        return date(day: words[2], month: words[1], year: words[4], time: words[3], now)
    }

    /// Parses a date that is exactly in one of the three forms of RFC 9110 §5.6.7, except for the case of names and of `GMT`; returns `nil`
    /// for other texts. Caches need this, because they must treat an invalid `Expires` as a time in the past.
    ///
    /// - Parameter now: The reference for two-digit years, which are at most 50 years after it.
    package static func strictDate(from text: String, now: Date = Date()) -> Date? {
        guard (24...33).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        switch (words.count, words[0].last) {
        case (6, ","?):
            // `Sun, 06 Nov 1994 08:49:37 GMT`
            guard names(words[0].dropLast(), among: weekdays), words[5].lowercased() == "gmt", words[1].count == 2, words[3].count == 4
            else {
                return nil
            }
            return strictDate(day: words[1], month: words[2], year: words[3], time: words[4], now)
        case (4, ","?):
            // `Sunday, 06-Nov-94 08:49:37 GMT`
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard names(words[0].dropLast(), among: longWeekdays), words[3].lowercased() == "gmt", parts.count == 3, parts[0].count == 2,
                parts[2].count == 2
            else { return nil }
            return strictDate(day: parts[0], month: parts[1], year: parts[2], time: words[2], now)
        case (5, _), (6, _):
            // `Sun Nov 16 08:49:37 1994` and `Sun Nov  6 08:49:37 1994`
            let isPadded = words.count == 6
            let day = words[isPadded ? 3 : 2]
            guard names(words[0], among: weekdays), isPadded ? words[2].isEmpty && day.count == 1 : day.count == 2,
                let year = words.last, year.count == 4
            else { return nil }
            return strictDate(day: day, month: words[1], year: year, time: words[words.count - 2], now)
        default: return nil
        }
    }

    private static func strictDate(day: Substring, month: Substring, year: Substring, time: Substring, _ now: Date) -> Date? {
        guard time.utf8.count == 8, let month = months.first(where: { $0.lowercased() == month.lowercased() }) else { return nil }
        return date(day: day, month: month[...], year: year, time: time, now)
    }

    private static let longWeekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    private static func names(_ word: Substring, among names: [String]) -> Bool {
        let word = word.lowercased()
        return names.contains { $0.lowercased() == word }
    }

    /// Returns the date in the fixed form, such as `Sun, 06 Nov 1994 08:49:37 GMT`. Dates outside the years 0 to 9999 are clamped.
    package static func text(of date: Date) -> String {
        let seconds = date.timeIntervalSince1970
        let total = Int64(seconds.isNaN ? 0 : min(max(seconds.rounded(.down), -62_167_219_200), 253_402_300_799))
        let day = total >= 0 ? total / 86_400 : (total - 86_399) / 86_400
        let time = total - day * 86_400
        let civil = CivilCalendar.date(ofDay: day)
        // 1970-01-01 was a Thursday.
        let weekday = weekdays[Int(((day + 4) % 7 + 7) % 7)]
        let clock = [time / 3600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(weekday), \(padded(civil.day, 2)) \(months[Int(civil.month) - 1]) \(padded(civil.year, 4)) \(clock) GMT"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func isUniversal(_ zone: Substring) -> Bool {
        ["GMT", "UTC", "UT", "Z", "+0000"].contains(String(zone))
    }

    private static func date(day: Substring, month: Substring, year: Substring, time: Substring, _ now: Date) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let month = months.firstIndex(of: String(month)), let day = number(day, 1...2), clock.count == 3,
            let hour = number(clock[0], 1...2), let minute = number(clock[1], 2...2), let second = number(clock[2], 2...2),
            hour < 24, minute < 60, second <= 60, let year = number(year, 4...4) ?? number(year, 2...2).map({ century(of: $0, now) }),
            (1...CivilCalendar.days(inMonth: month + 1, of: year)).contains(day)
        else { return nil }
        let midnight = CivilCalendar.day(year: Int64(year), month: Int64(month + 1), day: Int64(day)) * 86_400
        let total = midnight + Int64(hour * 3600 + minute * 60 + second)
        // A leap second at the end of the year 9999 would fall into a five-digit year.
        return total <= 253_402_300_799 ? Date(timeIntervalSince1970: Double(total)) : nil
    }

    /// Returns the year for two digits: at most 50 years after now (RFC 9110 §5.6.7).
    private static func century(of digits: Int, _ now: Date) -> Int {
        let seconds = min(max(now.timeIntervalSince1970, 0), 253_402_300_799)
        let current = Int(CivilCalendar.date(ofDay: Int64(seconds / 86_400)).year)
        let year = current / 100 * 100 + digits
        return year > current + 50 ? year - 100 : year <= current - 50 ? year + 100 : year
    }

    private static func number(_ text: Substring, _ digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}
