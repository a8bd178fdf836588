public import Foundation

/// A value of a record's metadata. It keeps its type until a format writes it.
public enum LogValue: Sendable, Hashable {
    /// No value: an optional that was `nil`.
    case null
    /// A text.
    case string(String)
    /// A whole number of 64 bits.
    case int(Int64)
    /// A floating-point number, NaN and the infinities included.
    case double(Double)
    /// A truth value.
    case bool(Bool)
    /// Values in a row.
    case array([LogValue])
    /// Values by name, in their order.
    case dictionary(LogMetadata)
    /// A point in time.
    case date(Date)
    /// Bytes.
    case data(Data)

    /// How deep arrays and dictionaries may be nested. What is deeper is written as ``tooDeep``: receivers refuse whole requests
    /// because of it, as protobuf's readers stop at a hundred levels, of which each of ours takes up to three.
    public static let maximumDepth = 24

    /// What formats write in place of a value that is nested too deep.
    public static let tooDeep = "<nested deeper than \(maximumDepth) levels>"
}

extension LogValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// A floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Values in a row.
    public init(arrayLiteral elements: LogValue...) { self = .array(elements) }
    /// Values by name, in the order in which they are written.
    public init(dictionaryLiteral elements: (String, LogValue)...) {
        self = .dictionary(LogMetadata(elements))
    }
    /// No value.
    public init(nilLiteral: ()) { self = .null }
}

extension LogValue: CustomStringConvertible {
    /// The value as a person reads it: texts without quotes, bytes by their number, dates in ISO 8601.
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
    /// About how many bytes the value holds in memory beside its own slot.
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
