/// The members of an object, by name.
///
/// It is a pointer, so copying it is cheap. ``JSONContainerCache`` owns the state, which is neither freed nor reused while the container
/// is retained. A container that outlives its call therefore reads there that the call has ended, and never accesses pooled memory.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let state: UnsafeMutablePointer<JSONContainerState>

    init(_ state: UnsafeMutablePointer<JSONContainerState>) { self.state = state }

    @inline(__always) private var document: JSONDocument { state.pointee.document }
    @inline(__always) private var node: Int { state.pointee.node }
    /// Whether the container's call is still running.
    @inline(__always) private var isCurrent: Bool {
        if state.pointee.isCurrent { return true }
        JSONKeptContainers.passBy()
        return false
    }

    var codingPath: [any CodingKey] { isCurrent ? document.path(ofContainerAt: node) : [] }
    var allKeys: [Key] { isCurrent ? document.names(ofObjectAt: node).compactMap { Key(stringValue: $0) } : [] }

    /// The place of a member, or `nil` if it is missing.
    @inline(__always) private func place(ifPresent key: Key) throws -> JSONPlace? {
        guard isCurrent else { throw JSONDocument.outlived }
        guard let index = document.find(key.stringValue, inObjectAt: node) else { return nil }
        return JSONPlace(node: index &+ 1, container: node)
    }

    @inline(__always) private func place(_ key: Key) throws -> JSONPlace {
        guard let place = try place(ifPresent: key) else { throw missing(key) }
        return place
    }

    /// The place of a member, or `nil` if it is missing or null.
    @inline(__always) private func value(_ key: Key) throws -> JSONPlace? {
        guard let place = try place(ifPresent: key), !document.isNull(place), !document.isAbsence(place) else { return nil }
        return place
    }

    @inline(never) private func missing(_ key: Key) -> DecodingError {
        .keyNotFound(
            key, DecodingError.Context(codingPath: codingPath, debugDescription: "The object has no member “\(key.stringValue)”."))
    }

    func contains(_ key: Key) -> Bool {
        guard isCurrent, let index = document.find(key.stringValue, inObjectAt: node) else { return false }
        return !document.isAbsence(JSONPlace(node: index + 1, container: node))
    }

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

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if type == JSONNeighbours.self { return try unsafeBitCast(neighbours(of: key), to: type) }
        return try document.decode(type, at: place(key))
    }

    @inline(never) private func neighbours(of key: Key) throws -> JSONNeighbours {
        try place(ifPresent: key) == nil ? document.neighbours(of: key.stringValue, inObjectAt: node) : .some
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try document.keyedContainer(at: place(key), by: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try document.unkeyedContainer(at: place(key))
    }

    func superDecoder() throws -> any Decoder { try superDecoder(named: JSONKey.super) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder(named: key) }

    /// A superclass finds null if the member is missing.
    private func superDecoder(named key: any CodingKey) throws -> any Decoder {
        guard isCurrent else { throw JSONDocument.outlived }
        if let dialect = document.reader.dialect {
            return try dialect.decoder(ofMember: key, in: JSONNode(document, document.place(ofContainerAt: node)))
        }
        guard let index = document.find(key.stringValue, inObjectAt: node) else {
            return JSONNullDecoder(codingPath: codingPath + [key], userInfo: document.userInfo)
        }
        return JSONValueDecoder(document, JSONPlace(node: index + 1, container: node))
    }
}

// Optional members need one search each; the protocol's default implementations need three.
extension JSONKeyedContainer {
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        guard let place = try value(key) else { return nil }
        return try document.bool(at: place)
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let place = try value(key) else { return nil }
        return try document.string(at: place)
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        guard let place = try value(key) else { return nil }
        return try document.double(at: place)
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        guard let place = try value(key) else { return nil }
        return try document.float(at: place)
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        guard let place = try value(key) else { return nil }
        return try document.integer(at: place) as Int
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        guard let place = try value(key) else { return nil }
        return try document.integer(at: place) as Int8
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        guard let place = try value(key) else { return nil }
        return try document.integer(at: place) as Int16
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        guard let place = try value(key) else { return nil }
        return try document.integer(at: place) as Int32
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        guard let place = try value(key) else { return nil }
        return try document.integer(at: place) as Int64
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        guard let place = try value(key) else { return nil }
        return try document.integer(at: place) as UInt
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        guard let place = try value(key) else { return nil }
        return try document.integer(at: place) as UInt8
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        guard let place = try value(key) else { return nil }
        return try document.integer(at: place) as UInt16
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        guard let place = try value(key) else { return nil }
        return try document.integer(at: place) as UInt32
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        guard let place = try value(key) else { return nil }
        return try document.integer(at: place) as UInt64
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        guard let place = try value(key) else { return nil }
        return try document.integer(at: place) as Int128
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        guard let place = try value(key) else { return nil }
        return try document.integer(at: place) as UInt128
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let place = try value(key) else { return nil }
        return try document.decode(type, at: place)
    }
}

/// A key of a coding path in a JSON payload: a member's name, or an array index in Foundation's notation.
package struct JSONKey: CodingKey {
    package let stringValue: String
    package let intValue: Int?

    package init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    package init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    package init(stringValue: String) { self.init(stringValue) }
    package init(intValue: Int) { self.init(index: intValue) }

    package static let `super` = JSONKey("super")
}
