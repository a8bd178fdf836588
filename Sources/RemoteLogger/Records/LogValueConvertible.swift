public import Foundation

/// Something that can stand as a value in a record's metadata.
///
///     logger.info("Order placed", ["order": order.id, "total": 12.5, "user": user?.name])
///
/// Conform your own types to it: `extension OrderID: LogValueConvertible { var logValue: LogValue { .string(rawValue) } }`.
public protocol LogValueConvertible: Sendable {
    /// The value as it goes into the record.
    var logValue: LogValue { get }
}

extension LogValue: LogValueConvertible {
    /// The value itself.
    public var logValue: LogValue { self }
}

extension LogMetadata: LogValueConvertible {
    /// The metadata as a dictionary.
    public var logValue: LogValue { .dictionary(self) }
}

extension String: LogValueConvertible {
    /// The text.
    public var logValue: LogValue { .string(self) }
}

extension Substring: LogValueConvertible {
    /// The text.
    public var logValue: LogValue { .string(String(self)) }
}

extension Bool: LogValueConvertible {
    /// The truth value.
    public var logValue: LogValue { .bool(self) }
}

extension Double: LogValueConvertible {
    /// The number.
    public var logValue: LogValue { .double(self) }
}

extension Float: LogValueConvertible {
    /// The number, by its shortest decimal form: 0.1 stays 0.1.
    public var logValue: LogValue { .double(Double(description) ?? Double(self)) }
}

extension LogValueConvertible where Self: FixedWidthInteger {
    /// The number; one above the range of `Int64` as text of its digits, since no receiver takes more bits.
    public var logValue: LogValue { Int64(exactly: self).map { .int($0) } ?? .string(String(self)) }
}

extension Int: LogValueConvertible {}
extension Int8: LogValueConvertible {}
extension Int16: LogValueConvertible {}
extension Int32: LogValueConvertible {}
extension Int64: LogValueConvertible {}
extension UInt: LogValueConvertible {}
extension UInt8: LogValueConvertible {}
extension UInt16: LogValueConvertible {}
extension UInt32: LogValueConvertible {}
extension UInt64: LogValueConvertible {}

extension Date: LogValueConvertible {
    /// The point in time.
    public var logValue: LogValue { .date(self) }
}

extension Data: LogValueConvertible {
    /// The bytes.
    public var logValue: LogValue { .data(self) }
}

extension UUID: LogValueConvertible {
    /// The identifier as text.
    public var logValue: LogValue { .string(uuidString) }
}

extension Duration: LogValueConvertible {
    /// The seconds.
    public var logValue: LogValue { .double(Double(components.seconds) + Double(components.attoseconds) / 1e18) }
}

extension Optional: LogValueConvertible where Wrapped: LogValueConvertible {
    /// The value, ``LogValue/null`` for `nil`.
    public var logValue: LogValue { self?.logValue ?? .null }
}

extension Array: LogValueConvertible where Element: LogValueConvertible {
    /// The values in a row.
    public var logValue: LogValue { .array(map(\.logValue)) }
}

extension Dictionary: LogValueConvertible where Key == String, Value: LogValueConvertible {
    /// The values by name, sorted by it: a Swift dictionary has no order of its own.
    public var logValue: LogValue {
        .dictionary(LogMetadata(sorted { $0.key < $1.key }.map { ($0.key, $0.value.logValue) }))
    }
}
