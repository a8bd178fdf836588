import WebServiceClient

/// A keyed container of an object's properties.
struct PayloadKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: PayloadDecoder
    let object: DynamicEntity

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { object.names.compactMap { Key(stringValue: $0) } }

    /// Returns whether the property is present. A relation for which V2 sends only a link counts as absent.
    func contains(_ key: Key) -> Bool {
        decoder.recorder?.note(key.stringValue)
        guard let value = object[key.stringValue] else { return false }
        guard case .object(let object) = value else { return true }
        return PayloadDecoder.deferredLink(object) == nil
    }

    private func child(_ key: any CodingKey) throws -> PayloadDecoder {
        let child = optional(key)
        guard child.isPresent else {
            throw DecodingError.keyNotFound(
                key,
                .init(codingPath: codingPath, debugDescription: "The payload has no property '\(key.stringValue)' here."))
        }
        return child
    }

    /// Returns the decoder of a property that may be absent.
    func optional(_ key: any CodingKey) -> PayloadDecoder {
        decoder.recorder?.note(key.stringValue)
        let value = object[key.stringValue]
        var child = decoder.child(value ?? .null, key)
        child.parent = object
        child.name = key.stringValue
        child.isPresent = value != nil
        return child
    }

    func decodeNil(forKey key: Key) throws -> Bool { try child(key).value.isNull }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try .read(child(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try .read(child(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try .read(child(key)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try .read(child(key)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try .read(child(key)) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try .read(child(key)) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try .read(child(key)) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try .read(child(key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try .read(child(key)) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try .read(child(key)) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try .read(child(key)) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try .read(child(key)) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try .read(child(key)) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try .read(child(key)) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard type == JSONNeighbours.self else { return try child(key).decode(type) }
        decoder.recorder?.note(key.stringValue)
        let isAlone = object.position(of: key.stringValue) == nil && !object.isAnnotated(key.stringValue)
        return try (isAlone ? JSONNeighbours.none : .some) as? Value ?? child(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try child(key).unkeyedContainer() }

    func superDecoder() throws -> any Decoder {
        optional(JSONKey.super)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { optional(key) }
}

/// An unkeyed container of an array's elements.
struct PayloadUnkeyedContainer: UnkeyedDecodingContainer {
    let decoder: PayloadDecoder
    let elements: [ODataValue]
    private(set) var currentIndex = 0

    init(decoder: PayloadDecoder, elements: [ODataValue]) {
        self.decoder = decoder
        self.elements = elements
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private func current() throws -> PayloadDecoder {
        guard currentIndex < elements.count else {
            throw DecodingError.valueNotFound(
                ODataValue.self, .init(codingPath: codingPath, debugDescription: "The array has only \(elements.count) elements."))
        }
        return decoder.child(elements[currentIndex], JSONKey(index: currentIndex))
    }

    /// Reads the next element, and moves past it if that succeeds.
    private mutating func next<Value>(_ read: (PayloadDecoder) throws -> Value) throws -> Value {
        let value = try read(try current())
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard try current().value.isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next { try .read($0) } }
    mutating func decode(_ type: String.Type) throws -> String { try next { try .read($0) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try next { try .read($0) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try next { try .read($0) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try next { try .read($0) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next { try .read($0) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next { try .read($0) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next { try .read($0) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next { try .read($0) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next { try .read($0) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next { try .read($0) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next { try .read($0) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next { try .read($0) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next { try .read($0) } }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next { try $0.decode(type) } }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next { try $0.unkeyedContainer() } }
    mutating func superDecoder() throws -> any Decoder { try next { $0 } }
}

/// A single-value container.
struct PayloadSingleContainer: SingleValueDecodingContainer {
    let decoder: PayloadDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.value.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try .read(decoder) }
    func decode(_ type: String.Type) throws -> String { try .read(decoder) }
    func decode(_ type: Double.Type) throws -> Double { try .read(decoder) }
    func decode(_ type: Float.Type) throws -> Float { try .read(decoder) }
    func decode(_ type: Int.Type) throws -> Int { try .read(decoder) }
    func decode(_ type: Int8.Type) throws -> Int8 { try .read(decoder) }
    func decode(_ type: Int16.Type) throws -> Int16 { try .read(decoder) }
    func decode(_ type: Int32.Type) throws -> Int32 { try .read(decoder) }
    func decode(_ type: Int64.Type) throws -> Int64 { try .read(decoder) }
    func decode(_ type: UInt.Type) throws -> UInt { try .read(decoder) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try .read(decoder) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try .read(decoder) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try .read(decoder) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try .read(decoder) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decode(type) }
}
