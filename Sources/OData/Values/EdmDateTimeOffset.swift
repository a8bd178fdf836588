import WebServiceClient

/// A date with a time of day and an offset from UTC, exactly as written: `Edm.DateTimeOffset`, with up to twelve fraction digits.
///
/// Foundation's `Date` is an instant with about fifteen digits and no offset; this type keeps the original text's information. Without an
/// offset it is V2's `Edm.DateTime`, which has no literal in V4.
public struct EdmDateTimeOffset: Sendable, Hashable {
    /// The day.
    public let date: EdmDate
    /// The hour, 0 to 23.
    public let hour: Int
    /// The minute, 0 to 59.
    public let minute: Int
    /// The second, 0 to 60, which allows for a leap second.
    public let second: Int
    /// The fraction of the second, in picoseconds.
    public let picosecond: Int64
    /// The offset in minutes east of UTC, -1439 to 1439; `nil` without an offset.
    public let offset: Int?

    /// Creates a point in time from its parts, or returns `nil` if one is out of range.
    public init?(date: EdmDate, hour: Int, minute: Int, second: Int = 0, picosecond: Int64 = 0, offset: Int? = 0) {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second) else { return nil }
        guard (0..<1_000_000_000_000).contains(picosecond), (-1439...1439).contains(offset ?? 0) else { return nil }
        self.date = date
        self.hour = hour
        self.minute = minute
        self.second = second
        self.picosecond = picosecond
        self.offset = offset
    }

    /// Parses `2026-11-21T07:59:59.5+01:00`, with `Z` for UTC; seconds and offset are optional.
    public init?(_ text: String) {
        guard let (value, end) = TimeText.dateTime(Array(text.utf8), from: 0), end == text.utf8.count else { return nil }
        self = value
    }
}

extension EdmDateTimeOffset: CustomStringConvertible {
    /// The text `2026-11-21T07:59:59.5+01:00`, with `Z` for UTC and without a zero fraction.
    public var description: String {
        let time = [hour, minute, second].map { DigitText.padded($0, 2) }.joined(separator: ":")
        return date.description + "T" + time + DigitText.fraction(UInt64(picosecond), digits: 12) + offsetText
    }

    private var offsetText: String {
        guard let offset else { return "" }
        if offset == 0 { return "Z" }
        return (offset < 0 ? "-" : "+") + DigitText.padded(abs(offset) / 60, 2) + ":" + DigitText.padded(abs(offset) % 60, 2)
    }
}

extension EdmDateTimeOffset: Codable {
    /// Decodes the text, including V2's `/Date(…)/`.
    public init(from decoder: any Decoder) throws {
        self = try EdmText.read(from: decoder, by: { EdmDateTimeOffset(payload: $0) }, like: "a point in time such as 2026-11-21T07:59:59Z")
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        try EdmText.write(self, to: encoder)
    }
}

extension EdmDateTimeOffset: PropertySample {
    /// Returns a point in time that differs for each number.
    public static func propertySample(_ number: Int) -> EdmDateTimeOffset? {
        EdmDate.propertySample(number).flatMap { EdmDateTimeOffset(date: $0, hour: 1, minute: 2) }
    }
}
