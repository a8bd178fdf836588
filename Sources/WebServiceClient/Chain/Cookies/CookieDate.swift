import Foundation

/// Reads the dates of `Expires` by the tolerant algorithm of RFC 6265bis §5.1.1: it looks for a time, a day, a month and a year, in any
/// order and between any delimiters, and ignores the rest.
///
///     Sun, 06 Nov 1994 08:49:37 GMT
///     6-nov-94 8:49:37
///     1994 08:49:37 November 6th
///
/// Weekdays and zones aren't read: every time is in UTC.
enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"].map { Array($0.utf8) }

    /// Returns the date of a text; `nil` if a part is missing or the date doesn't exist.
    static func date(from text: ArraySlice<UInt8>) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var (day, month, year): (Int?, Int?, Int?)
        for token in text.split(whereSeparator: isDelimiter) {
            if time == nil, let found = self.time(token) {
                time = found
            } else if day == nil, let found = number(token, 1...2) {
                day = found
            } else if month == nil, let found = self.month(token) {
                month = found
            } else if year == nil, let found = number(token, 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        switch year {
        case 70...99: year += 1900
        case 0...69: year += 2000
        default: break
        }
        guard year >= 1601, time.hour < 24, time.minute < 60, time.second < 60,
            (1...CivilCalendar.days(inMonth: month, of: year)).contains(day)
        else { return nil }
        let midnight = CivilCalendar.day(year: Int64(year), month: Int64(month), day: Int64(day)) * 86_400
        return Date(timeIntervalSince1970: TimeInterval(midnight + Int64(time.hour * 3600 + time.minute * 60 + time.second)))
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    /// Returns the number that a token begins with, if it has as many digits as allowed and no more follow.
    private static func number(_ token: ArraySlice<UInt8>, _ digits: ClosedRange<Int>) -> Int? {
        let found = token.prefix(while: isDigit)
        guard digits.contains(found.count) else { return nil }
        return found.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    /// Returns the time that a token begins with: three numbers of one or two digits between colons.
    private static func time(_ token: ArraySlice<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].allSatisfy(isDigit), parts[1].allSatisfy(isDigit), let hour = number(parts[0], 1...2),
            let minute = number(parts[1], 1...2), let second = number(parts[2], 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    /// Returns the month, 1 to 12, whose name a token begins with.
    private static func month(_ token: ArraySlice<UInt8>) -> Int? {
        guard token.count >= 3 else { return nil }
        let beginning = token.prefix(3).map { (65...90).contains($0) ? $0 | 0x20 : $0 }
        return months.firstIndex(of: beginning).map { $0 + 1 }
    }
}
