/// What the containers of objects have in common: everything but how a name is found.
protocol JSONMembers: KeyedDecodingContainerProtocol {
    var document: JSONDocument { get }
    /// The index of the object on the tape.
    var node: Int { get }

    /// The index of the name of a member.
    func find(_ name: String) -> Int?
}

extension JSONMembers {
    var codingPath: [any CodingKey] { document.path(ofContainerAt: node) }

    @inline(__always) private func place(_ key: Key) throws -> JSONPlace {
        guard let index = find(key.stringValue) else { throw missing(key) }
        return JSONPlace(node: index &+ 1, container: node)
    }

    /// The place of a member, unless it isn't there or is null.
    @inline(__always) private func present(_ key: Key) -> JSONPlace? {
        guard let index = find(key.stringValue), document.word(index &+ 1).kind != .null else { return nil }
        return JSONPlace(node: index &+ 1, container: node)
    }

    @inline(never) private func missing(_ key: Key) -> DecodingError {
        .keyNotFound(
            key,
            DecodingError.Context(codingPath: codingPath, debugDescription: "The object has no member “\(key.stringValue)”."))
    }

    func contains(_ key: Key) -> Bool { find(key.stringValue) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try document.isNull(place(key)) }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try document.bool(at: place(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try document.string(at: place(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try document.double(at: place(key)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try document.float(at: place(key)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try document.integer(at: place(key)) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try document.integer(at: place(key)) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try document.integer(at: place(key)) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try document.integer(at: place(key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try document.integer(at: place(key)) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try document.integer(at: place(key)) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try document.integer(at: place(key)) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try document.integer(at: place(key)) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try document.integer(at: place(key)) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try document.integer(at: place(key)) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try document.integer(at: place(key)) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try document.integer(at: place(key)) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try document.decode(type, at: place(key)) }

    // In one search each, where the defaults of the protocol take three.

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try present(key).map { try document.bool(at: $0) } }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try present(key).map { try document.string(at: $0) } }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try present(key).map { try document.double(at: $0) } }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try present(key).map { try document.float(at: $0) } }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try present(key).map { try document.integer(at: $0) } }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try present(key).map { try document.integer(at: $0) } }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try present(key).map { try document.integer(at: $0) } }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try present(key).map { try document.integer(at: $0) } }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try present(key).map { try document.integer(at: $0) } }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try present(key).map { try document.integer(at: $0) } }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try present(key).map { try document.integer(at: $0) } }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try present(key).map { try document.integer(at: $0) } }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try present(key).map { try document.integer(at: $0) } }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try present(key).map { try document.integer(at: $0) } }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try present(key).map { try document.integer(at: $0) } }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try present(key).map { try document.integer(at: $0) } }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try present(key).map { try document.decode(type, at: $0) }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try document.keyedContainer(at: place(key), by: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try document.unkeyedContainer(at: place(key))
    }

    func superDecoder() throws -> any Decoder { superDecoder(JSONKey.super) }
    func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(key) }

    /// Where the member isn't there, a superclass finds null.
    private func superDecoder(_ key: any CodingKey) -> any Decoder {
        guard let index = find(key.stringValue) else {
            return JSONNullDecoder(codingPath: codingPath + [key], userInfo: document.reader.userInfo)
        }
        return JSONValueDecoder(document, JSONPlace(node: index + 1, container: node))
    }
}
