/// A property in one of three states: not there, null, or a value.
///
///     struct Person: Codable { let name: String; var nickname: Presence<String> }
///
/// It is filled and written so by any coder: what is absent isn't written, so that an update leaves it as it is.
public enum Presence<Wrapped> {
    /// The payload doesn't have the property; or it isn't to be written.
    case absent
    /// The property is null.
    case null
    /// The property's value.
    case value(Wrapped)

    /// The value, if there is one.
    public var value: Wrapped? {
        if case .value(let value) = self { value } else { nil }
    }

    /// Whether the payload has the property, be it null.
    public var isPresent: Bool {
        if case .absent = self { false } else { true }
    }

    /// The value, or null.
    public init(_ value: Wrapped?) {
        self = value.map { .value($0) } ?? .null
    }
}

extension Presence: Sendable where Wrapped: Sendable {}
extension Presence: Equatable where Wrapped: Equatable {}
extension Presence: Hashable where Wrapped: Hashable {}

extension Presence: QueryOperand where Wrapped: EdmConvertible {}

extension Presence: EdmConvertible where Wrapped: EdmConvertible {
    /// The value's literal, or null.
    public var edmValue: EdmValue { value?.edmValue ?? .null }
}

extension Presence: Decodable where Wrapped: Decodable {
    /// Reads a value or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .null : .value(try container.decode(Wrapped.self))
    }
}

extension Presence: Encodable where Wrapped: Encodable {
    /// Writes the value or null; what is absent is null where it can't be left out, in an array.
    public func encode(to encoder: any Encoder) throws {
        (encoder as? PayloadEncoder)?.node.mayBeAbsent = true
        try value.encode(to: encoder)
    }
}

extension KeyedDecodingContainer {
    /// A property that may be absent.
    public func decode<Wrapped: Decodable>(_ type: Presence<Wrapped>.Type, forKey key: Key) throws -> Presence<Wrapped> {
        contains(key) ? try decodePlainly(type, forKey: key) : .absent
    }

    /// The container's own decoding, whatever else there is for the type.
    func decodePlainly<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decode(type, forKey: key)
    }
}

extension KeyedEncodingContainer {
    /// Writes a property, unless it is absent.
    public mutating func encode<Wrapped: Encodable>(_ value: Presence<Wrapped>, forKey key: Key) throws {
        if value.isPresent { try encodePlainly(value, forKey: key) }
    }

    /// The container's own encoding, whatever else there is for the type.
    mutating func encodePlainly(_ value: some Encodable, forKey key: Key) throws {
        try encode(value, forKey: key)
    }

    /// The same for a value that may be `nil`.
    mutating func encodePlainlyIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        try encodeIfPresent(value, forKey: key)
    }
}
