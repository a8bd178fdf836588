import WebServiceClient

/// A date without time or time zone: `Edm.Date`.
///
/// It is decoded from and encoded as the text `2026-11-21`. Years have four digits or more and may be negative.
public struct EdmDate: Sendable, Hashable, Comparable {
    /// The year of the proleptic Gregorian calendar.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, from 1.
    public let day: Int

    /// Creates a date, or returns `nil` if it doesn't exist in the calendar.
    public init?(year: Int, month: Int, day: Int) {
        guard (-999_999_999...999_999_999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
        guard day <= CivilCalendar.days(inMonth: month, of: year) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Parses `2026-11-21`.
    public init?(_ text: String) {
        var rest = Substring(text)
        let isNegative = rest.first == "-"
        if isNegative { rest.removeFirst() }
        let parts = rest.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, (4...9).contains(parts[0].count), parts[1].count == 2, parts[2].count == 2 else { return nil }
        let numbers = parts.compactMap(DigitText.number)
        guard numbers.count == 3 else { return nil }
        self.init(year: isNegative ? -numbers[0] : numbers[0], month: numbers[1], day: numbers[2])
    }

    /// Returns whether the left date is earlier.
    public static func < (left: EdmDate, right: EdmDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

extension EdmDate: CustomStringConvertible {
    /// The text `2026-11-21`.
    public var description: String {
        (year < 0 ? "-" : "") + DigitText.padded(abs(year), 4) + "-" + DigitText.padded(month, 2) + "-"
            + DigitText.padded(day, 2)
    }
}

extension EdmDate: Codable {
    /// Decodes the text of a date.
    public init(from decoder: any Decoder) throws {
        self = try EdmText.read(from: decoder, by: { EdmDate(payload: $0) }, like: "a date such as 2026-11-21")
    }

    /// Encodes the text of the date.
    public func encode(to encoder: any Encoder) throws {
        try EdmText.write(self, to: encoder)
    }
}

extension EdmDate: PropertySample {
    /// Returns a date that differs for each number.
    public static func propertySample(_ number: Int) -> EdmDate? {
        EdmDate(year: 2000 + number % 5000, month: 1 + number / 5000 % 12, day: 1)
    }
}
