extension Presence: Decodable where Wrapped: Decodable {
    /// Decodes a value or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .null : .value(try container.decode(Wrapped.self))
    }
}

extension Presence: Encodable where Wrapped: Encodable {
    /// Encodes the value or null; in an array, where elements can't be omitted, absent becomes null.
    public func encode(to encoder: any Encoder) throws {
        (encoder as? PayloadEncoder)?.node.mayBeAbsent = true
        try value.encode(to: encoder)
    }
}

extension KeyedDecodingContainer {
    /// Decodes a property that may be absent.
    public func decode<Wrapped: Decodable>(_ type: Presence<Wrapped>.Type, forKey key: Key) throws -> Presence<Wrapped> {
        contains(key) ? try decodePlainly(type, forKey: key) : .absent
    }

    /// Decodes with the container's standard method, bypassing overloads for the type.
    func decodePlainly<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decode(type, forKey: key)
    }
}

extension KeyedEncodingContainer {
    /// Encodes a property unless it is absent.
    public mutating func encode<Wrapped: Encodable>(_ value: Presence<Wrapped>, forKey key: Key) throws {
        if value.isPresent { try encodePlainly(value, forKey: key) }
    }

    /// Encodes with the container's standard method, bypassing overloads for the type.
    mutating func encodePlainly(_ value: some Encodable, forKey key: Key) throws {
        try encode(value, forKey: key)
    }

    /// Encodes an optional value with the container's standard method if it isn't `nil`.
    mutating func encodePlainlyIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        try encodeIfPresent(value, forKey: key)
    }
}
