import WebServiceClient

/// The members of an object being encoded.
struct PayloadKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: PayloadEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    private func child(_ key: any CodingKey) -> PayloadEncoder {
        encoder.child(encoder.node.member(key.stringValue), key)
    }

    mutating func encodeNil(forKey key: Key) throws { child(key).node.content = .value(.null) }
    mutating func encode(_ value: Bool, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: String, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Double, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Float, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Int, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Int8, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Int16, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Int32, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: Int64, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: UInt, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: UInt8, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: UInt16, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: UInt32, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: UInt64, forKey key: Key) throws { try child(key).encode(value) }
    mutating func encode(_ value: some Encodable, forKey key: Key) throws { try child(key).encode(value) }

    /// Omits `nil`, or encodes null if drafts are compared.
    private func encodeOptional<Value: Encodable>(_ value: Value?, _ key: Key) throws {
        if let value {
            try child(key).encode(value)
        } else if encoder.settings.isDraft {
            let node = child(key).node
            node.content = .value(.null)
            node.isRelation = Value.self is any ProbeRelation.Type
        } else {
            encoder.node.leaveOut(key.stringValue)
        }
    }

    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws { try encodeOptional(value, key) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        child(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { child(key).unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { child(JSONKey.super) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { child(key) }
}

/// The elements of an array being encoded.
struct PayloadUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let encoder: PayloadEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.count }

    private func next() -> PayloadEncoder {
        let index = count
        return encoder.child(encoder.node.element(), JSONKey(index: index))
    }

    mutating func encodeNil() throws { next().node.content = .value(.null) }
    mutating func encode(_ value: Bool) throws { try next().encode(value) }
    mutating func encode(_ value: String) throws { try next().encode(value) }
    mutating func encode(_ value: Double) throws { try next().encode(value) }
    mutating func encode(_ value: Float) throws { try next().encode(value) }
    mutating func encode(_ value: Int) throws { try next().encode(value) }
    mutating func encode(_ value: Int8) throws { try next().encode(value) }
    mutating func encode(_ value: Int16) throws { try next().encode(value) }
    mutating func encode(_ value: Int32) throws { try next().encode(value) }
    mutating func encode(_ value: Int64) throws { try next().encode(value) }
    mutating func encode(_ value: UInt) throws { try next().encode(value) }
    mutating func encode(_ value: UInt8) throws { try next().encode(value) }
    mutating func encode(_ value: UInt16) throws { try next().encode(value) }
    mutating func encode(_ value: UInt32) throws { try next().encode(value) }
    mutating func encode(_ value: UInt64) throws { try next().encode(value) }
    mutating func encode(_ value: some Encodable) throws { try next().encode(value) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { next() }
}

/// A single value being encoded.
struct PayloadSingleEncodingContainer: SingleValueEncodingContainer {
    let encoder: PayloadEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() throws { encoder.node.content = .value(.null) }
    mutating func encode(_ value: Bool) throws { try encoder.encode(value) }
    mutating func encode(_ value: String) throws { try encoder.encode(value) }
    mutating func encode(_ value: Double) throws { try encoder.encode(value) }
    mutating func encode(_ value: Float) throws { try encoder.encode(value) }
    mutating func encode(_ value: Int) throws { try encoder.encode(value) }
    mutating func encode(_ value: Int8) throws { try encoder.encode(value) }
    mutating func encode(_ value: Int16) throws { try encoder.encode(value) }
    mutating func encode(_ value: Int32) throws { try encoder.encode(value) }
    mutating func encode(_ value: Int64) throws { try encoder.encode(value) }
    mutating func encode(_ value: UInt) throws { try encoder.encode(value) }
    mutating func encode(_ value: UInt8) throws { try encoder.encode(value) }
    mutating func encode(_ value: UInt16) throws { try encoder.encode(value) }
    mutating func encode(_ value: UInt32) throws { try encoder.encode(value) }
    mutating func encode(_ value: UInt64) throws { try encoder.encode(value) }
    mutating func encode(_ value: some Encodable) throws { try encoder.encode(value) }
}
