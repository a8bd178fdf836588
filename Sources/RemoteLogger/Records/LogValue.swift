public import Foundation

/// A value of a record's metadata. It keeps its type until a format writes it.
public enum LogValue: Sendable, Hashable {
    /// No value, such as a `nil` optional.
    case null
    /// A text.
    case string(String)
    /// A 64-bit integer.
    case int(Int64)
    /// A floating-point number, including NaN and the infinities.
    case double(Double)
    /// A Boolean value.
    case bool(Bool)
    /// An array of values.
    case array([LogValue])
    /// An ordered dictionary of values.
    case dictionary(LogMetadata)
    /// A point in time.
    case date(Date)
    /// Bytes.
    case data(Data)

    /// The maximum nesting of arrays and dictionaries. Deeper values are written as ``tooDeep``: receivers reject whole requests with
    /// deeper nesting, since protobuf parsers stop at a hundred levels, and each level here takes up to three of them.
    public static let maximumDepth = 24

    /// The text that formats write for a value that is nested too deep.
    public static let tooDeep = "<nested deeper than \(maximumDepth) levels>"
}

extension LogValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// A floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array of values.
    public init(arrayLiteral elements: LogValue...) { self = .array(elements) }
    /// A dictionary of values, in the order of the literal.
    public init(dictionaryLiteral elements: (String, LogValue)...) {
        self = .dictionary(LogMetadata(elements))
    }
    /// No value.
    public init(nilLiteral: ()) { self = .null }
}

extension LogValue: CustomStringConvertible {
    /// The value for human readers: texts without quotes, bytes by their count, dates in ISO 8601.
    public var description: String { text(depth: 0) }

    private func text(depth: Int) -> String {
        switch self {
        case .null: return "nil"
        case .string(let value): return value
        case .int(let value): return String(value)
        case .double(let value): return String(value)
        case .bool(let value): return String(value)
        case .date(let value): return TimestampText.text(of: value)
        case .data(let value): return "\(value.count) bytes"
        case .array(let values):
            guard depth < Self.maximumDepth else { return Self.tooDeep }
            return "[" + values.map { $0.text(depth: depth + 1) }.joined(separator: ", ") + "]"
        case .dictionary(let values):
            guard depth < Self.maximumDepth else { return Self.tooDeep }
            return "[" + values.map { "\($0.key): " + $0.value.text(depth: depth + 1) }.joined(separator: ", ") + "]"
        }
    }
}

extension LogValue {
    /// The approximate number of bytes that the value occupies in memory in addition to its own slot.
    func footprint(depth: Int = 0) -> Int {
        switch self {
        case .null, .int, .double, .bool, .date: 0
        case .string(let value): value.utf8.count
        case .data(let value): value.count
        case .array(let values):
            depth < Self.maximumDepth
                ? values.reduce(32) { $0 + MemoryLayout<LogValue>.stride + $1.footprint(depth: depth + 1) } : values.count * 32
        case .dictionary(let values): values.footprint(depth: depth + 1)
        }
    }
}

/// A type whose values can be stored in a record's metadata.
///
///     logger.info("Order placed", ["order": order.id, "total": 12.5, "user": user?.name])
///
/// Conform your own types to it: `extension OrderID: LogValueConvertible { var logValue: LogValue { .string(rawValue) } }`.
public protocol LogValueConvertible: Sendable {
    /// The value to store in the record.
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
    /// The Boolean value.
    public var logValue: LogValue { .bool(self) }
}

extension Double: LogValueConvertible {
    /// The number.
    public var logValue: LogValue { .double(self) }
}

extension Float: LogValueConvertible {
    /// The number in its shortest decimal form: 0.1 stays 0.1.
    public var logValue: LogValue { .double(Double(description) ?? Double(self)) }
}

extension LogValueConvertible where Self: FixedWidthInteger {
    /// The number; outside the range of `Int64`, its digits as text, since ``LogValue/int(_:)`` holds no more.
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
    public var logValue: LogValue { .double(self / .seconds(1)) }
}

extension Optional: LogValueConvertible where Wrapped: LogValueConvertible {
    /// The value, ``LogValue/null`` for `nil`.
    public var logValue: LogValue { self?.logValue ?? .null }
}

extension Array: LogValueConvertible where Element: LogValueConvertible {
    /// The values as an array.
    public var logValue: LogValue { .array(map(\.logValue)) }
}

extension Dictionary: LogValueConvertible where Key == String, Value: LogValueConvertible {
    /// The values sorted by name, since a Swift dictionary is unordered.
    public var logValue: LogValue {
        .dictionary(LogMetadata(sorted { $0.key < $1.key }.map { ($0.key, $0.value.logValue) }))
    }
}
