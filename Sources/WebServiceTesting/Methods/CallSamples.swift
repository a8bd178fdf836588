import Foundation

/// Makes the arguments of a checked call. Each contains its position, so that exchanged arguments are found.
struct CallSamples {
    /// The caller's values that no argument has used.
    private(set) var given: [any Sendable]
    private var position = 0

    init(_ given: [any Sendable]) { self.given = given }

    /// Returns the value of the next argument.
    ///
    /// - Throws: ``TestingFailure`` if no value of the type can be invented.
    mutating func next<Value>(_ type: Value.Type) throws -> Value {
        defer { position += 1 }
        for (index, value) in given.enumerated() {
            guard let value = value as? Value else { continue }
            given.remove(at: index)
            return value
        }
        return try SampleMaker(position: position).value(type)
    }
}

/// Invents values of one argument.
struct SampleMaker {
    let position: Int
    /// The names of the properties that lead to the value.
    var path: [String] = []

    /// The maximum nesting of values. A type may contain itself.
    private static let depthLimit = 16

    /// Whether optional values are nil and lists are empty, so that types that contain themselves have few values.
    var isBrief: Bool { path.count >= 4 }

    /// Returns the maker of a nested value.
    func inside(_ name: String) -> SampleMaker { SampleMaker(position: position, path: path + [name]) }

    /// Text with the position and the property: `sample0`, `sample0-name`.
    var text: String { (["sample\(position)"] + path.filter { !$0.isEmpty }).joined(separator: "-") }

    /// Returns a value of a type.
    ///
    /// - Throws: ``TestingFailure`` if none can be invented.
    func value<Value>(_ type: Value.Type) throws -> Value {
        if let value = known(type) { return value }
        if let type = type as? any SampleWrapping.Type, let value = type.sample(by: self) as? Value { return value }
        if let type = type as? any CaseIterable.Type, let value = Self.element(of: type, at: position) as? Value { return value }
        if let decodable = type as? any Decodable.Type, path.count < Self.depthLimit {
            do {
                if let value = try decodable.init(from: ArgumentDecoder(maker: self)) as? Value { return value }
            } catch let failure as TestingFailure {
                throw failure
            } catch {
                throw TestingFailure("No value of \(type) for argument \(position) can be invented; pass one with giving: (\(error))")
            }
        }
        throw TestingFailure("No value of \(type) for argument \(position) can be invented; pass one with giving:")
    }

    private func known<Value>(_ type: Value.Type) -> Value? {
        let number = 100 + position
        if let type = type as? any FixedWidthInteger.Type { return Self.integer(type, number) as? Value }
        if let type = type as? any BinaryFloatingPoint.Type { return Self.fraction(type, number) as? Value }
        let letter = Character(UnicodeScalar(UInt8(97 + position % 26)))
        let values: [Any] = [text, Substring(text), letter, position % 2 == 0, Data(text.utf8), Decimal(number)]
        if let value = values.lazy.compactMap({ $0 as? Value }).first { return value }
        let byte = UInt8(truncatingIfNeeded: position)
        let identifier = UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 1, byte))
        let dates: [Any?] = [Date(timeIntervalSince1970: 1_000_000_000 + 86_400 * Double(position)), identifier, url]
        return dates.lazy.compactMap { $0 as? Value }.first
    }

    private var url: URL? { URL(string: "https://sample\(position).example") }

    private static func integer<Number: FixedWidthInteger>(_: Number.Type, _ value: Int) -> Any { Number(clamping: value) }

    private static func fraction<Number: BinaryFloatingPoint>(_: Number.Type, _ value: Int) -> Any { Number(value) + 0.5 }

    private static func element<Values: CaseIterable>(of _: Values.Type, at position: Int) -> Any? {
        let all = Array(Values.allCases)
        return all.isEmpty ? nil : all[position % all.count]
    }
}

/// An optional, whose sample is nil if no value can be invented.
private protocol SampleWrapping {
    static func sample(by maker: SampleMaker) -> Any
}

extension Optional: SampleWrapping {
    fileprivate static func sample(by maker: SampleMaker) -> Any {
        (maker.isBrief ? nil : try? maker.value(Wrapped.self)) as Any
    }
}

/// Gives each property of a decoded value a sample.
private struct ArgumentDecoder: Decoder {
    let maker: SampleMaker
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SampleProperties<Key>(maker: maker))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { SampleElements(maker: maker) }

    func singleValueContainer() -> any SingleValueDecodingContainer { SampleValue(maker: maker) }
}

private struct SampleProperties<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let maker: SampleMaker
    var codingPath: [any CodingKey] { [] }
    /// The keys that a dictionary requests.
    var allKeys: [Key] { [Key(stringValue: "sample")].compactMap(\.self) }

    func contains(_: Key) -> Bool { true }
    func decodeNil(forKey _: Key) -> Bool { maker.isBrief }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try maker.inside(key.stringValue).value(type)
    }
    func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key) -> KeyedDecodingContainer<Inner> {
        KeyedDecodingContainer(SampleProperties<Inner>(maker: maker.inside(key.stringValue)))
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        SampleElements(maker: maker.inside(key.stringValue))
    }
    func superDecoder() -> any Decoder { ArgumentDecoder(maker: maker.inside("super")) }
    func superDecoder(forKey key: Key) -> any Decoder { ArgumentDecoder(maker: maker.inside(key.stringValue)) }
}

private struct SampleElements: UnkeyedDecodingContainer {
    let maker: SampleMaker
    var codingPath: [any CodingKey] { [] }
    var count: Int? { maker.isBrief ? 0 : 1 }
    var currentIndex = 0
    var isAtEnd: Bool { currentIndex >= (count ?? 0) }

    init(maker: SampleMaker) { self.maker = maker }

    private mutating func next() -> SampleMaker {
        currentIndex += 1
        return maker.inside("0")
    }

    func decodeNil() -> Bool { false }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().value(type) }
    mutating func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) -> KeyedDecodingContainer<Inner> {
        KeyedDecodingContainer(SampleProperties<Inner>(maker: next()))
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { SampleElements(maker: next()) }
    mutating func superDecoder() -> any Decoder { ArgumentDecoder(maker: next()) }
}

private struct SampleValue: SingleValueDecodingContainer {
    let maker: SampleMaker
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }
    // Counts one more level, so that types that wrap each other endlessly reach the limit.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try SampleMaker(position: maker.position, path: maker.path + [""]).value(type)
    }
}
