/// The arithmetic of the proleptic Gregorian calendar, and of digits in dates.
///
/// Formatters of Foundation depend on locale, platform and a lock; a literal must not.
enum CivilCalendar {
    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The date of a day counted from 1970-01-01. A cycle of 400 years has 146,097 days; months are counted from March, so that the
    /// leap day is the last of its year.
    static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
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

    /// The number with zeros in front, up to so many digits.
    static func padded(_ number: some BinaryInteger, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// `.5` of a fraction in units of 10⁻ᵈ: empty for zero, without zeros at the end.
    static func fraction(_ value: UInt64, digits: Int) -> String {
        guard value > 0 else { return "" }
        var text = padded(value, digits)
        while text.hasSuffix("0") { text.removeLast() }
        return "." + text
    }

    /// A number of ASCII digits only.
    static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}
