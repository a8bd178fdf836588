public import Foundation

/// A Swift value with an OData literal, which can be compared, passed to functions and used as a key.
///
/// An enumeration with raw values conforms with `extension Colour: EdmConvertible {}` and is written as its raw value. An enumeration of
/// the service's model provides its type's name with ``EdmEnumeration``.
public protocol EdmConvertible: QueryOperand {
    /// The value as a primitive value of OData.
    var edmValue: EdmValue { get }
}

extension EdmConvertible {
    /// The value's literal as an expression tree.
    public var queryExpression: QueryExpression {
        .literal(edmValue)
    }
}

extension EdmConvertible where Self: RawRepresentable, RawValue: EdmConvertible {
    /// The raw value.
    public var edmValue: EdmValue {
        rawValue.edmValue
    }
}

/// A Swift enumeration that corresponds to one of the service's model; its raw values are the members' names.
public protocol EdmEnumeration: EdmConvertible, RawRepresentable where RawValue == String {
    /// The type's qualified name in the service's metadata, such as `Sales.Colour`.
    static var edmTypeName: String { get }
}

extension EdmEnumeration {
    /// The member.
    public var edmValue: EdmValue {
        .enumeration(type: Self.edmTypeName, member: rawValue)
    }
}

extension EdmValue: EdmConvertible {
    /// The value itself.
    public var edmValue: EdmValue { self }
}

extension Optional: QueryOperand where Wrapped: EdmConvertible {}

extension Optional: EdmConvertible where Wrapped: EdmConvertible {
    /// The wrapped value, or null.
    public var edmValue: EdmValue {
        self?.edmValue ?? .null
    }
}

extension Bool: EdmConvertible {
    /// `true` or `false`.
    public var edmValue: EdmValue { .boolean(self) }
}

extension EdmConvertible where Self: FixedWidthInteger {
    /// The exact number.
    public var edmValue: EdmValue {
        if let value = Int64(exactly: self) { return .integer(value) }
        // Edm has no unsigned 64-bit type: larger numbers than Int64 are decimals.
        return .number(String(self))
    }
}

extension Int: EdmConvertible {}
extension Int8: EdmConvertible {}
extension Int16: EdmConvertible {}
extension Int32: EdmConvertible {}
extension Int64: EdmConvertible {
    /// The number as `Edm.Int64`.
    public var edmValue: EdmValue { .int64(self) }
}

extension UInt: EdmConvertible {}
extension UInt8: EdmConvertible {}
extension UInt16: EdmConvertible {}
extension UInt32: EdmConvertible {}
extension UInt64: EdmConvertible {}

extension Double: EdmConvertible {
    /// The number with the fewest digits that identify it.
    public var edmValue: EdmValue { .double(self) }
}

extension Float: EdmConvertible {
    /// The number with the fewest digits that identify it.
    public var edmValue: EdmValue { .single(self) }
}

extension Decimal: EdmConvertible {
    /// The number with all its digits, without an exponent.
    public var edmValue: EdmValue { .decimal(self) }
}

extension String: EdmConvertible {
    /// The text.
    public var edmValue: EdmValue { .string(self) }
}

extension Substring: EdmConvertible {
    /// The text.
    public var edmValue: EdmValue { .string(String(self)) }
}

extension URL: EdmConvertible {
    /// The URL as text, because Edm has no type for it.
    public var edmValue: EdmValue { .string(absoluteString) }
}

extension UUID: EdmConvertible {
    /// The Guid.
    public var edmValue: EdmValue { .guid(self) }
}

extension Date: EdmConvertible {
    /// The instant in UTC, to the microsecond.
    public var edmValue: EdmValue { .dateTimeOffset(self) }
}

extension Data: EdmConvertible {
    /// The bytes.
    public var edmValue: EdmValue { .binary(self) }
}

extension Duration: EdmConvertible {
    /// The duration.
    public var edmValue: EdmValue { .duration(self) }
}

extension EdmDate: EdmConvertible {
    /// The date.
    public var edmValue: EdmValue { .date(self) }
}

extension EdmTimeOfDay: EdmConvertible {
    /// The time of day.
    public var edmValue: EdmValue { .timeOfDay(self) }
}

extension EdmDuration: EdmConvertible {
    /// The literal.
    public var edmValue: EdmValue { .duration(duration) }
}

extension EdmBinary: EdmConvertible {
    /// The literal.
    public var edmValue: EdmValue { .binary(data) }
}

extension EdmDateTimeOffset: EdmConvertible {
    /// The literal.
    public var edmValue: EdmValue { .timestamp(self) }
}

extension EdmDecimal: EdmConvertible {
    /// The literal, without an exponent if a thousand digits suffice.
    public var edmValue: EdmValue {
        isFinite ? .number(plainText ?? description) : .double(double ?? .nan)
    }
}

extension EdmSpatial: EdmConvertible {
    /// The literal.
    public var edmValue: EdmValue { .spatial(self) }
}

extension OpenEnumeration: QueryOperand where Known: EdmEnumeration {}

extension OpenEnumeration: EdmConvertible where Known: EdmEnumeration {
    /// The literal.
    public var edmValue: EdmValue { .enumeration(type: Known.edmTypeName, member: name) }
}

extension EdmFlags: QueryOperand where Known: EdmEnumeration {}

extension EdmFlags: EdmConvertible where Known: EdmEnumeration {
    /// The literal.
    public var edmValue: EdmValue { .enumeration(type: Known.edmTypeName, member: description) }
}

extension Presence: QueryOperand where Wrapped: EdmConvertible {}

extension Presence: EdmConvertible where Wrapped: EdmConvertible {
    /// The value's literal, or null.
    public var edmValue: EdmValue { value?.edmValue ?? .null }
}
