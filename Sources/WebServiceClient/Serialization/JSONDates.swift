public import Foundation

/// How dates stand in JSON.
public struct JSONDates: Sendable {
    let encoding: JSONEncoder.DateEncodingStrategy
    let decoding: JSONDecoder.DateDecodingStrategy

    /// ISO 8601: written in UTC with milliseconds where there are any; see ``iso8601(fractionDigits:)`` for what is read.
    public static let iso8601 = iso8601(fractionDigits: 3)

    /// ISO 8601 with that many digits of a second, 0 to 9, to which a date is rounded; with none when it is a whole second.
    ///
    /// Read are texts with and without fraction, seconds and zone (UTC without one), `T`, `t` or a blank between date and time, offsets
    /// with and without colon, and a date alone as its midnight in UTC.
    public static func iso8601(fractionDigits: Int) -> JSONDates {
        custom(
            write: { date in ISO8601.text(of: date, fractionDigits: fractionDigits) },
            read: { text in ISO8601.date(from: text) }, expected: "ISO 8601")
    }

    /// Seconds since 1970 as a number, with a fraction.
    public static let seconds = JSONDates(encoding: .secondsSince1970, decoding: .secondsSince1970)

    /// Milliseconds since 1970 as a number.
    public static let milliseconds = JSONDates(encoding: .millisecondsSince1970, decoding: .millisecondsSince1970)

    /// Texts of your own format.
    ///
    /// - Parameters:
    ///   - write: the text of a date; `nil` when it has none, which is an encoding error.
    ///   - read: the date of a text; `nil` when it is none, which is a decoding error.
    public static func custom(
        write: @escaping @Sendable (Date) -> String?, read: @escaping @Sendable (String) -> Date?
    ) -> JSONDates {
        custom(write: write, read: read, expected: "the service's own format")
    }

    private static func custom(
        write: @escaping @Sendable (Date) -> String?, read: @escaping @Sendable (String) -> Date?, expected: String
    ) -> JSONDates {
        JSONDates(
            encoding: .custom { date, encoder in
                guard let text = write(date) else {
                    // Not the date itself: describing one can end the process.
                    throw EncodingError.invalidValue(
                        date.timeIntervalSince1970,
                        EncodingError.Context(
                            codingPath: encoder.codingPath, debugDescription: "The date can't be written in \(expected)."))
                }
                var container = encoder.singleValueContainer()
                try container.encode(text)
            },
            decoding: .custom { decoder in
                let container = try decoder.singleValueContainer()
                let text = try container.decode(String.self)
                guard let date = read(text) else {
                    throw DecodingError.dataCorruptedError(
                        in: container, debugDescription: "“\(SerializationError.excerpt(text))” is no date in \(expected).")
                }
                return date
            })
    }
}
