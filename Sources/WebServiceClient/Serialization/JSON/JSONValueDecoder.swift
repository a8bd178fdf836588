/// Decodes the value at a place of a document; also its own container of a single value.
struct JSONValueDecoder: Decoder {
    let document: JSONDocument
    let place: JSONPlace

    @inline(__always) init(_ document: JSONDocument, _ place: JSONPlace) {
        self.document = document
        self.place = place
    }

    var codingPath: [any CodingKey] { document.path(of: place) }
    var userInfo: [CodingUserInfoKey: Any] { document.reader.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try document.keyedContainer(at: place, by: type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try document.unkeyedContainer(at: place)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension JSONValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { document.isNull(place) }
    func decode(_ type: Bool.Type) throws -> Bool { try document.bool(at: place) }
    func decode(_ type: String.Type) throws -> String { try document.string(at: place) }
    func decode(_ type: Double.Type) throws -> Double { try document.double(at: place) }
    func decode(_ type: Float.Type) throws -> Float { try document.float(at: place) }
    func decode(_ type: Int.Type) throws -> Int { try document.integer(at: place) }
    func decode(_ type: Int8.Type) throws -> Int8 { try document.integer(at: place) }
    func decode(_ type: Int16.Type) throws -> Int16 { try document.integer(at: place) }
    func decode(_ type: Int32.Type) throws -> Int32 { try document.integer(at: place) }
    func decode(_ type: Int64.Type) throws -> Int64 { try document.integer(at: place) }
    func decode(_ type: UInt.Type) throws -> UInt { try document.integer(at: place) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try document.integer(at: place) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try document.integer(at: place) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try document.integer(at: place) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try document.integer(at: place) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: Int128.Type) throws -> Int128 { try document.integer(at: place) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: UInt128.Type) throws -> UInt128 { try document.integer(at: place) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try document.decode(type, at: place) }
}

extension JSONDocument {
    func keyedContainer<Key: CodingKey>(at place: JSONPlace, by type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard word(place.index).kind == .object else { throw mismatch([String: Any].self, at: place) }
        if convertsNames { return KeyedDecodingContainer(JSONConvertedContainer<Key>(self, place.index)) }
        return KeyedDecodingContainer(JSONKeyedContainer<Key>(self, place.index))
    }

    func unkeyedContainer(at place: JSONPlace) throws -> any UnkeyedDecodingContainer {
        guard word(place.index).kind == .array else { throw mismatch([Any].self, at: place) }
        return JSONUnkeyedContainer(self, place.index)
    }
}
