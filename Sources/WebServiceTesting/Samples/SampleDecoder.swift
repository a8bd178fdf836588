import Foundation
import WebServiceClient

/// A decoder that invents each value that a type reads, and stores it as JSON in its node.
struct SampleDecoder: Decoder {
    let node: SampleNode

    var codingPath: [any CodingKey] { node.path.map { SampleKey($0) } }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        node.makeObject()
        return KeyedDecodingContainer(SampleMembers<Key>(node: node))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        node.makeList()
        return SampleElements(node: node)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SampleScalar(node: node) }
}

/// A key of a path or a dictionary.
private struct SampleKey: CodingKey {
    let stringValue: String
    var intValue: Int? { Int(stringValue) }

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init(intValue: Int) {
        stringValue = String(intValue)
    }

    init(_ text: String) {
        stringValue = text
    }
}

private struct SampleMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let node: SampleNode

    var codingPath: [any CodingKey] { node.path.map { SampleKey($0) } }

    /// The keys for a dictionary, or for a type that reads any name; other keys reject them.
    var allKeys: [Key] {
        (0..<node.elementCount()).compactMap {
            Key(stringValue: node.hasNumberNames ? "\($0 + 1)" : "key\($0 + 1)") ?? Key(intValue: $0 + 1)
        }
    }

    func contains(_ key: Key) -> Bool { !node.isDeep }

    func decodeNil(forKey key: Key) throws -> Bool {
        guard node.isDeep else { return false }
        node.member(key.stringValue).scalar(.null)
        return true
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try SampleScalar(node: node.member(key.stringValue)).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try SampleDecoder(node: node.member(key.stringValue)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try SampleDecoder(node: node.member(key.stringValue)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { SampleDecoder(node: node.member("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { SampleDecoder(node: node.member(key.stringValue)) }
}

private struct SampleElements: UnkeyedDecodingContainer {
    let node: SampleNode
    let count: Int?
    private(set) var currentIndex = 0

    init(node: SampleNode) {
        self.node = node
        count = node.elementCount()
    }

    var codingPath: [any CodingKey] { node.path.map { SampleKey($0) } }
    var isAtEnd: Bool { currentIndex >= count ?? 0 }

    mutating func decodeNil() throws -> Bool { false }

    // A type that reads a fixed number of elements gets them, regardless of the count.
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try SampleScalar(node: next()).decode(type) }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try SampleDecoder(node: next()).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try SampleDecoder(node: next()).unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { SampleDecoder(node: next()) }

    private mutating func next() -> SampleNode {
        currentIndex += 1
        return node.element()
    }
}

private struct SampleScalar: SingleValueDecodingContainer {
    let node: SampleNode

    var codingPath: [any CodingKey] { node.path.map { SampleKey($0) } }

    func decodeNil() -> Bool {
        guard node.isDeep else { return false }
        node.scalar(.null)
        return true
    }

    func decode(_ type: Bool.Type) throws -> Bool { node.boolean() }

    func decode(_ type: String.Type) throws -> String {
        let text = node.text
        node.scalar(.string(text))
        return text
    }

    func decode(_ type: Double.Type) throws -> Double { node.fraction() }
    func decode(_ type: Float.Type) throws -> Float { Float(node.fraction()) }
    func decode(_ type: Int.Type) throws -> Int { node.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { node.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { node.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { node.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { node.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { node.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { node.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { node.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { node.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { node.integer(type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try node.value(type)
        } catch let failure as TestingFailure {
            throw failure
        } catch {
            let place = node.path.isEmpty ? "" : " at \(node.path.joined(separator: "."))"
            throw TestingFailure(
                "No sample of \(type)\(place) can be invented: its decoding threw “\(error)”. "
                    + "Make an enumeration CaseIterable, or give a value or JSON text instead.")
        }
    }
}
