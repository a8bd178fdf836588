/// Decodes the value at a place of a document; it is also its single-value container.
///
/// It consists of a pointer and numbers, so copying it is cheap.
struct JSONValueDecoder: Decoder {
    private let document: JSONDocument
    private let place: JSONPlace
    private let generation: UInt32

    @inline(__always) init(_ document: JSONDocument, _ place: JSONPlace) {
        self.document = document
        self.place = place
        generation = document.generation
    }

    @inline(__always) private var isCurrent: Bool { generation == document.generation }

    /// The document, if it is still the one that this decoder was created for.
    @inline(__always) private var current: JSONDocument {
        get throws {
            guard isCurrent else { throw JSONDocument.outlived }
            return document
        }
    }

    var node: JSONNode? { isCurrent ? JSONNode(document, place) : nil }
    var codingPath: [any CodingKey] { isCurrent ? document.path(of: place) : [] }
    var userInfo: [CodingUserInfoKey: Any] { isCurrent ? document.userInfo : [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try current.keyedContainer(at: place, by: type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try current.unkeyedContainer(at: place)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension JSONValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { isCurrent && document.isNull(place) }
    func decode(_ type: Bool.Type) throws -> Bool { try current.bool(at: place) }
    func decode(_ type: String.Type) throws -> String { try current.string(at: place) }
    func decode(_ type: Double.Type) throws -> Double { try current.double(at: place) }
    func decode(_ type: Float.Type) throws -> Float { try current.float(at: place) }
    func decode(_ type: Int.Type) throws -> Int { try current.integer(at: place) }
    func decode(_ type: Int8.Type) throws -> Int8 { try current.integer(at: place) }
    func decode(_ type: Int16.Type) throws -> Int16 { try current.integer(at: place) }
    func decode(_ type: Int32.Type) throws -> Int32 { try current.integer(at: place) }
    func decode(_ type: Int64.Type) throws -> Int64 { try current.integer(at: place) }
    func decode(_ type: UInt.Type) throws -> UInt { try current.integer(at: place) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try current.integer(at: place) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try current.integer(at: place) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try current.integer(at: place) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try current.integer(at: place) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: Int128.Type) throws -> Int128 { try current.integer(at: place) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: UInt128.Type) throws -> UInt128 { try current.integer(at: place) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try current.decode(type, at: place) }
}

extension JSONDocument {
    func keyedContainer<Key: CodingKey>(at place: JSONPlace, by type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard word(place.index).kind == .object else { throw mismatch([String: Any].self, at: place) }
        if hasDialect { try reader.dialect?.check(object: JSONNode(self, place), by: type) }
        return storage.pointee.containers.container(self, place.index, by: type)
    }

    func unkeyedContainer(at place: JSONPlace) throws -> any UnkeyedDecodingContainer {
        try JSONUnkeyedContainer(self, array(at: place).index)
    }

    /// The place of the array that a value represents.
    func array(at place: JSONPlace) throws -> JSONPlace {
        let array = hasDialect ? try reader.dialect?.array(in: JSONNode(self, place))?.place : place
        guard let array, word(array.index).kind == .array else { throw mismatch([Any].self, at: place) }
        return array
    }

    /// The error for a decoder or container that is used after its call.
    static var outlived: DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: [],
                debugDescription: "The call that this decoder or container belongs to has ended: decode within the type's initializer."))
    }
}

/// Decodes a missing member as null.
struct JSONNullDecoder: Decoder, SingleValueDecodingContainer {
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw missing([String: Any].self) }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw missing([Any].self) }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { true }
    func decode(_ type: Bool.Type) throws -> Bool { throw missing(type) }
    func decode(_ type: String.Type) throws -> String { throw missing(type) }
    func decode(_ type: Double.Type) throws -> Double { throw missing(type) }
    func decode(_ type: Float.Type) throws -> Float { throw missing(type) }
    func decode(_ type: Int.Type) throws -> Int { throw missing(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { throw missing(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { throw missing(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { throw missing(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { throw missing(type) }
    func decode(_ type: UInt.Type) throws -> UInt { throw missing(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { throw missing(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { throw missing(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { throw missing(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { throw missing(type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // Only optionals accept null.
        guard let optional = type as? any ExpressibleByNilLiteral.Type, let value = optional.init(nilLiteral: ()) as? Value else {
            throw missing(type)
        }
        return value
    }

    private func missing(_ type: Any.Type) -> DecodingError {
        .valueNotFound(type, DecodingError.Context(codingPath: codingPath, debugDescription: "\(type) is needed, and nothing was found."))
    }
}
