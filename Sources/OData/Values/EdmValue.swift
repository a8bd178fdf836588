public import Foundation

/// A primitive value of the Entity Data Model (CSDL, section 3.3) in URLs.
public enum EdmValue: Sendable, Hashable {
    /// Null.
    case null
    /// `Edm.Boolean`.
    case boolean(Bool)
    /// `Edm.SByte`, `Edm.Byte`, `Edm.Int16`, `Edm.Int32` and `Edm.Int64`, whose literals are the same in V4.
    case integer(Int64)
    /// Definitely `Edm.Int64`, which V2 writes with an `L`.
    case int64(Int64)
    /// `Edm.Decimal`.
    case decimal(Decimal)
    /// A number as its digits, if no Swift type can hold it: `-12345678901234567890.123`.
    case number(String)
    /// `Edm.Double`, with `INF`, `-INF` and `NaN`.
    case double(Double)
    /// `Edm.Single`, with `INF`, `-INF` and `NaN`.
    case single(Float)
    /// `Edm.String`.
    case string(String)
    /// `Edm.Guid`.
    case guid(UUID)
    /// `Edm.DateTimeOffset` as an instant; written in UTC, to the microsecond.
    case dateTimeOffset(Date)
    /// `Edm.DateTimeOffset` exactly as written, with its offset; without one, V2's `Edm.DateTime`.
    case timestamp(EdmDateTimeOffset)
    /// `Edm.Date`.
    case date(EdmDate)
    /// `Edm.TimeOfDay`.
    case timeOfDay(EdmTimeOfDay)
    /// `Edm.Duration`.
    case duration(Duration)
    /// `Edm.Binary`.
    case binary(Data)
    /// A member of an enumeration, or several separated by commas; the type's qualified name may be unknown.
    case enumeration(type: String?, member: String)
    /// A geographic or geometric value.
    case spatial(EdmSpatial)
}

/// The shared decoding and encoding of Entity Data Model values that are text in JSON.
enum EdmText {
    /// Decodes a value from text.
    ///
    /// - Parameter example: The expected text, such as `a date such as 2026-11-21`.
    static func read<Value>(from decoder: any Decoder, by make: (String) -> Value?, like example: String) throws -> Value {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = make(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text.prefix(60))' isn't \(example).")
        }
        return value
    }

    /// Encodes a value as its description.
    static func write(_ value: some CustomStringConvertible, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value.description)
    }

    /// Decodes the name of an enumeration member; some services send a number.
    static func memberName(from decoder: any Decoder) throws -> String {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) { return text }
        return String(try container.decode(Int64.self))
    }
}

/// A type that supplies sample values for determining wire names, because it rejects generated ones.
///
/// An example is a string-backed type that accepts only certain texts.
public protocol PropertySample {
    /// Returns a value that differs for each number, or at least for 0 and 1; `nil` if there is none.
    static func propertySample(_ number: Int) -> Self?
}
