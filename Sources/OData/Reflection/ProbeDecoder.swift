/// A decoder that discovers what a type reads: it contains every key and returns generated values.
struct ProbeDecoder: Decoder {
    let path: [String]
    let pass: ProbePass
    let userInfo: [CodingUserInfoKey: Any] = [:]

    var codingPath: [any CodingKey] {
        path.map(ProbeKey.init)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ProbeKeyedContainer(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        ProbeUnkeyedContainer(decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        ProbeSingleContainer(decoder: self)
    }

    func child(_ step: String) -> ProbeDecoder {
        pass.saw(path + [step])
        return ProbeDecoder(path: path + [step], pass: pass)
    }

    var isEmptied: Bool {
        pass.emptied.contains(path)
    }
}

/// A key with any text.
struct ProbeKey: CodingKey {
    let stringValue: String
    let intValue: Int? = nil

    init(_ text: String) {
        stringValue = text
    }

    init?(stringValue: String) {
        self.init(stringValue)
    }

    init?(intValue: Int) {
        self.init(String(intValue))
    }
}

struct ProbeKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ProbeDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    /// The one sample key that dictionaries accept; `CodingKeys` enumerations have no such case, so they get none.
    var allKeys: [Key] {
        guard !decoder.isEmptied, let key = Key(stringValue: ProbePass.elementStep) else { return [] }
        if decoder.path.isEmpty { decoder.pass.readsAllNames = true }
        return [key]
    }

    private func child(_ key: Key) -> ProbeDecoder {
        decoder.child(key.stringValue)
    }

    func contains(_ key: Key) -> Bool {
        _ = child(key)
        return true
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        let child = child(key)
        decoder.pass.noteOptional(at: child.path)
        return child.isEmptied
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { decoder.pass.boolean(at: child(key).path) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { decoder.pass.text(at: child(key).path) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { decoder.pass.floating(type, at: child(key).path) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { decoder.pass.floating(type, at: child(key).path) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { decoder.pass.integer(type, at: child(key).path) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { decoder.pass.integer(type, at: child(key).path) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { decoder.pass.integer(type, at: child(key).path) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { decoder.pass.integer(type, at: child(key).path) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { decoder.pass.integer(type, at: child(key).path) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { decoder.pass.integer(type, at: child(key).path) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { decoder.pass.integer(type, at: child(key).path) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { decoder.pass.integer(type, at: child(key).path) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { decoder.pass.integer(type, at: child(key).path) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { decoder.pass.integer(type, at: child(key).path) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder.pass.value(type, at: child(key).path)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        let path = child(key).path
        decoder.pass.noteOptional(at: path)
        do {
            // Samples of plain types are cheap; composite types stop at the depth limit of relations.
            guard !decoder.pass.leavesRelationsEmpty else { return nil }
            return try decoder.pass.value(type, at: path)
        } catch {
            decoder.pass.refuse(path, error)
            return nil
        }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try child(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        decoder.child("super")
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        child(key)
    }
}

/// A collection of one element, or an empty one if its elements can't be created.
struct ProbeUnkeyedContainer: UnkeyedDecodingContainer {
    let decoder: ProbeDecoder
    private(set) var currentIndex = 0

    init(decoder: ProbeDecoder) {
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { decoder.isEmptied || decoder.pass.leavesRelationsEmpty ? 0 : 1 }
    var isAtEnd: Bool { currentIndex >= (count ?? 0) }

    private mutating func next() throws -> ProbeDecoder {
        currentIndex += 1
        // A type that ignores `isAtEnd` gets more elements, up to a limit.
        guard currentIndex <= 64 else { throw ProbeRefusal(reason: "a collection is read beyond its end") }
        return decoder.child(ProbePass.elementStep + String(currentIndex))
    }

    mutating func decodeNil() throws -> Bool { false }
    mutating func decode(_ type: Bool.Type) throws -> Bool { decoder.pass.boolean(at: try next().path) }
    mutating func decode(_ type: String.Type) throws -> String { decoder.pass.text(at: try next().path) }
    mutating func decode(_ type: Double.Type) throws -> Double { decoder.pass.floating(type, at: try next().path) }
    mutating func decode(_ type: Float.Type) throws -> Float { decoder.pass.floating(type, at: try next().path) }
    mutating func decode(_ type: Int.Type) throws -> Int { decoder.pass.integer(type, at: try next().path) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { decoder.pass.integer(type, at: try next().path) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { decoder.pass.integer(type, at: try next().path) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { decoder.pass.integer(type, at: try next().path) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { decoder.pass.integer(type, at: try next().path) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { decoder.pass.integer(type, at: try next().path) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { decoder.pass.integer(type, at: try next().path) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { decoder.pass.integer(type, at: try next().path) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { decoder.pass.integer(type, at: try next().path) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { decoder.pass.integer(type, at: try next().path) }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.pass.value(type, at: try next().path)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        try next()
    }
}

struct ProbeSingleContainer: SingleValueDecodingContainer {
    let decoder: ProbeDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool {
        decoder.pass.noteOptional(at: decoder.path)
        return decoder.isEmptied
    }

    func decode(_ type: Bool.Type) throws -> Bool { decoder.pass.boolean(at: decoder.path) }
    func decode(_ type: String.Type) throws -> String { decoder.pass.text(at: decoder.path) }
    func decode(_ type: Double.Type) throws -> Double { decoder.pass.floating(type, at: decoder.path) }
    func decode(_ type: Float.Type) throws -> Float { decoder.pass.floating(type, at: decoder.path) }
    func decode(_ type: Int.Type) throws -> Int { decoder.pass.integer(type, at: decoder.path) }
    func decode(_ type: Int8.Type) throws -> Int8 { decoder.pass.integer(type, at: decoder.path) }
    func decode(_ type: Int16.Type) throws -> Int16 { decoder.pass.integer(type, at: decoder.path) }
    func decode(_ type: Int32.Type) throws -> Int32 { decoder.pass.integer(type, at: decoder.path) }
    func decode(_ type: Int64.Type) throws -> Int64 { decoder.pass.integer(type, at: decoder.path) }
    func decode(_ type: UInt.Type) throws -> UInt { decoder.pass.integer(type, at: decoder.path) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { decoder.pass.integer(type, at: decoder.path) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { decoder.pass.integer(type, at: decoder.path) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { decoder.pass.integer(type, at: decoder.path) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { decoder.pass.integer(type, at: decoder.path) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.pass.value(type, at: decoder.path)
    }
}

/// Types that can decode null or an empty collection.
protocol ProbeEmptiable {}
extension Optional: ProbeEmptiable {}
extension Array: ProbeEmptiable {}
extension Set: ProbeEmptiable {}
extension Dictionary: ProbeEmptiable {}
extension Presence: ProbeEmptiable {}
extension ToOne: ProbeEmptiable {}
extension ToMany: ProbeEmptiable {}

/// Relations, which could be followed endlessly.
protocol ProbeRelation {
    static var probeEmpty: Self { get }
    /// Returns a relation that isn't loaded and is recognized by its link.
    static func probeLinked(_ link: String) -> Self
}

extension ToOne: ProbeRelation {
    static var probeEmpty: ToOne { .notLoaded(link: nil) }
    static func probeLinked(_ link: String) -> ToOne { .notLoaded(link: link) }
}

extension ToMany: ProbeRelation {
    static var probeEmpty: ToMany { ToMany() }

    static func probeLinked(_ link: String) -> ToMany {
        var relation = ToMany()
        relation.navigationLink = link
        return relation
    }
}
