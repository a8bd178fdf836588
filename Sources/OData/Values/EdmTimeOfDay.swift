/// A time of day without date or time zone: `Edm.TimeOfDay`, with up to twelve fraction digits.
///
/// It is decoded from and encoded as text such as `07:59:59.999`; decoded text may omit the seconds.
public struct EdmTimeOfDay: Sendable, Hashable, Comparable {
    /// The hour, 0 to 23; 24 only for ``endOfDay``.
    public let hour: Int
    /// The minute, 0 to 59.
    public let minute: Int
    /// The second, 0 to 59.
    public let second: Int
    /// The fraction of the second, in picoseconds.
    public let picosecond: Int64

    /// Creates a time of day, or returns `nil` if a part is out of range.
    public init?(hour: Int, minute: Int, second: Int = 0, picosecond: Int64 = 0) {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second) else { return nil }
        guard (0..<1_000_000_000_000).contains(picosecond) else { return nil }
        self.hour = hour
        self.minute = minute
        self.second = second
        self.picosecond = picosecond
    }

    /// The end of a day, 24:00:00. `Edm.TimeOfDay`, and thus version 4, doesn't allow it; services of version 2 send it as `PT24H00M00S`.
    public static let endOfDay = EdmTimeOfDay(endOf: ())

    private init(endOf day: Void) {
        (hour, minute, second, picosecond) = (24, 0, 0, 0)
    }

    /// Parses `07:59`, `07:59:59` or `07:59:59.999`.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, parts[0].count == 2, parts[1].count == 2 else { return nil }
        guard let hour = DigitText.number(parts[0]), let minute = DigitText.number(parts[1]) else { return nil }
        guard parts.count == 3 else {
            self.init(hour: hour, minute: minute)
            return
        }
        let seconds = parts[2].split(separator: ".", omittingEmptySubsequences: false)
        guard seconds.count <= 2, seconds[0].count == 2, let second = DigitText.number(seconds[0]) else { return nil }
        var picosecond: Int64 = 0
        if seconds.count == 2 {
            let digits = seconds[1]
            guard (1...12).contains(digits.count), let number = DigitText.number(digits) else { return nil }
            picosecond = (digits.count..<12).reduce(Int64(number)) { value, _ in value * 10 }
        }
        self.init(hour: hour, minute: minute, second: second, picosecond: picosecond)
    }

    /// Returns whether the left time is earlier.
    public static func < (left: EdmTimeOfDay, right: EdmTimeOfDay) -> Bool {
        (left.hour, left.minute, left.second, left.picosecond) < (right.hour, right.minute, right.second, right.picosecond)
    }
}

extension EdmTimeOfDay: CustomStringConvertible {
    /// The text `07:59:59.999`, without a zero fraction.
    public var description: String {
        [hour, minute, second].map { DigitText.padded($0, 2) }.joined(separator: ":")
            + DigitText.fraction(UInt64(picosecond), digits: 12)
    }
}

extension EdmTimeOfDay: Codable {
    /// Decodes the text of a time.
    public init(from decoder: any Decoder) throws {
        self = try EdmText.read(from: decoder, by: { EdmTimeOfDay(payload: $0) }, like: "a time of day such as 07:59:59")
    }

    /// Encodes the text of the time.
    public func encode(to encoder: any Encoder) throws {
        try EdmText.write(self, to: encoder)
    }
}

extension EdmTimeOfDay: PropertySample {
    /// Returns a time that differs for each number.
    public static func propertySample(_ number: Int) -> EdmTimeOfDay? {
        EdmTimeOfDay(hour: number / 3600 % 24, minute: number / 60 % 60, second: number % 60, picosecond: Int64(number))
    }
}
