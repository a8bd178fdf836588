public import Foundation

/// A primitive value of the Entity Data Model (CSDL, section 3.3), as it stands in URLs.
public enum EdmValue: Sendable, Hashable {
    /// Null.
    case null
    /// `Edm.Boolean`.
    case boolean(Bool)
    /// `Edm.SByte`, `Edm.Byte`, `Edm.Int16`, `Edm.Int32` and `Edm.Int64`: in V4 their literals don't differ.
    case integer(Int64)
    /// `Edm.Int64` for sure, which V2 writes with an `L`.
    case int64(Int64)
    /// `Edm.Decimal`.
    case decimal(Decimal)
    /// A number as its digits, for what no Swift type holds: `-12345678901234567890.123`.
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
    /// `Edm.DateTimeOffset` exactly as it is written, with its offset; without one V2's `Edm.DateTime`.
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

/// How values of the Entity Data Model that are texts in JSON are read and written there: one home for all of them.
enum EdmText {
    /// The value of the text that a decoder holds.
    ///
    /// - Parameter example: what a text would be right, such as `a date such as 2026-11-21`.
    static func read<Value>(from decoder: any Decoder, by make: (String) -> Value?, like example: String) throws -> Value {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = make(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text.prefix(60))' isn't \(example).")
        }
        return value
    }

    /// Writes a value as its description.
    static func write(_ value: some CustomStringConvertible, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value.description)
    }

    /// The name of an enumeration's member; services that write numbers are understood, too.
    static func memberName(from decoder: any Decoder) throws -> String {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) { return text }
        return String(try container.decode(Int64.self))
    }
}
