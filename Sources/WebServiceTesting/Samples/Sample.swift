public import Foundation
public import WebServiceClient

/// Invented values of a type, the same in each run, with the JSON in which a service would send them.
///
///     let sample = try Sample(of: Issue.self, seed: 1)
///     sample.value.title            // "title 4"
///     sample.json                   // {"title": "title 4", "number": 71, …}
///
/// The type's `Decodable` conformance requests its members, and each gets a value that suits its type and its name: `url` a URL,
/// `createdAt` a date in ISO 8601, `email` an address. Optional members usually have a value; arrays and dictionaries have one to three
/// elements, fewer if they are deeply nested. An enumeration needs `CaseIterable`; for other types that accept only certain values, pass a
/// value instead.
public struct Sample<Value: Decodable> {
    /// The invented value.
    public let value: Value
    /// The value as JSON, with the member names that the type decodes.
    public let json: JSONValue

    /// Invents a value.
    ///
    /// - Parameters:
    ///   - seed: Different seeds give different values.
    ///   - date: Writes the dates in the form that the client reads; by default ISO 8601.
    /// - Throws: ``TestingFailure`` with the name of the member for which no value can be invented.
    public init(
        of type: Value.Type = Value.self, seed: UInt64 = 0,
        date: (@Sendable (Date) -> JSONValue)? = nil
    ) throws(TestingFailure) {
        let node = SampleNode(
            SampleSource(seed: seed, date: date ?? { .string(ISO8601.text(of: $0) ?? "") }), path: [])
        do {
            value = try node.value(type)
        } catch let failure as TestingFailure {
            throw failure
        } catch {
            throw TestingFailure(
                "No sample of \(type) can be invented: its decoding threw “\(error)”. Give a value, or JSON text, instead.")
        }
        json = node.json
    }
}

extension Sample: Sendable where Value: Sendable {}

/// The state that all parts of a sample share.
final class SampleSource {
    /// The maximum nesting. Types that contain themselves without an optional or an array would be endless.
    static let depthLimit = 64
    /// The nesting at which arrays are empty and optional members are missing.
    static let fullDepth = 6
    /// The maximum number of values of a sample.
    static let countLimit = 100_000

    let date: (Date) -> JSONValue
    private var generator: RepeatableGenerator
    private var count = 0

    init(seed: UInt64, date: @escaping (Date) -> JSONValue) {
        generator = RepeatableGenerator(seed: seed)
        self.date = date
    }

    /// A number from 0 to `bound` - 1.
    func number(below bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &generator) }

    func uuid() -> UUID {
        func byte() -> UInt8 { UInt8(truncatingIfNeeded: generator.next() >> 32) }
        // Version 4, variant 1 (RFC 9562).
        return UUID(
            uuid: (
                byte(), byte(), byte(), byte(), byte(), byte(), byte() & 0x0F | 0x40, byte(), byte() & 0x3F | 0x80, byte(), byte(), byte(),
                byte(), byte(), byte(), byte()
            ))
    }

    /// Counts a value.
    ///
    /// - Throws: ``TestingFailure`` for an endless type.
    func countValue(at path: [String]) throws {
        count += 1
        guard path.count <= Self.depthLimit, count <= Self.countLimit else {
            throw TestingFailure(
                "No sample can be invented: the type contains itself without end at \(path.suffix(3).joined(separator: ".")). Give a value instead."
            )
        }
    }
}

/// A value in the process of being invented, with the JSON so far.
final class SampleNode {
    enum Content {
        case undecided
        case scalar(JSONValue)
        case list([SampleNode])
        case object([(name: String, node: SampleNode)])
    }

    let source: SampleSource
    /// The names that lead to the value; numbers for elements.
    let path: [String]
    var content = Content.undecided
    /// Whether the names of members are numbers, as in a dictionary with `Int` keys.
    private(set) var hasNumberNames = false

    init(_ source: SampleSource, path: [String]) {
        self.source = source
        self.path = path
    }

    /// Whether optional members and elements are left out, so that a type that contains itself ends.
    var isDeep: Bool { path.count >= SampleSource.fullDepth }

    /// The nesting is bounded, so recursion is safe.
    var json: JSONValue {
        switch content {
        case .undecided: .null
        case .scalar(let value): value
        case .list(let nodes): .array(nodes.map(\.json))
        case .object(let members): .object(JSONValue.Members(members.map { ($0.name, $0.node.json) }))
        }
    }

    /// The name of the member or the list that the value belongs to.
    private var name: String { path.last { Int($0) == nil } ?? "" }

    /// Returns the node of a member, always the same for the same name.
    func member(_ name: String) -> SampleNode {
        var members: [(name: String, node: SampleNode)] = []
        if case .object(let known) = content { members = known }
        if let known = members.first(where: { $0.name == name }) { return known.node }
        let node = SampleNode(source, path: path + [name])
        content = .object(members + [(name, node)])
        return node
    }

    /// Returns the node of the next element.
    func element() -> SampleNode {
        var nodes: [SampleNode] = []
        if case .list(let known) = content { nodes = known }
        let node = SampleNode(source, path: path + [String(nodes.count)])
        content = .list(nodes + [node])
        return node
    }

    /// States that the value has members, or elements, even if it will have none.
    func makeObject() { if case .undecided = content { content = .object([]) } }
    func makeList() { if case .undecided = content { content = .list([]) } }

    func scalar(_ value: JSONValue) { content = .scalar(value) }

    // MARK: Values

    /// Invents the value of a type.
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try source.countValue(at: path)
        if let value = try foundationValue(type) { return value }
        hasNumberNames = type is any NumberKeyed.Type
        if let cases = (type as? any CaseIterable.Type).map({ Self.cases(of: $0) }), let value = try chosen(from: cases, type) {
            return value
        }
        return try Value(from: SampleDecoder(node: self))
    }

    /// Returns values of types whose `Decodable` conformance doesn't show which values they accept.
    private func foundationValue<Value>(_ type: Value.Type) throws -> Value? {
        switch type {
        case is Date.Type:
            // Whole seconds of 2024 to 2026, because not all formats have fractions.
            let date = Date(timeIntervalSince1970: Double(1_704_067_200 + source.number(below: 90_000_000)))
            scalar(source.date(date))
            return date as? Value
        case is URL.Type:
            let text = "https://example.com/\(word)/\(source.number(below: 1_000))"
            scalar(.string(text))
            return URL(string: text) as? Value
        case is UUID.Type:
            let uuid = source.uuid()
            scalar(.string(uuid.uuidString))
            return uuid as? Value
        case is Data.Type:
            let data = Data("\(word) \(source.number(below: 1_000))".utf8)
            scalar(.string(data.base64EncodedString()))
            return data as? Value
        case is Decimal.Type:
            let cents = Decimal(source.number(below: 100_000)) / 100
            scalar(JSONValue.Number(cents).map { .number($0) } ?? .number(0))
            return cents as? Value
        case is JSONValue.Type:
            let value = JSONValue.string(text)
            scalar(value)
            return value as? Value
        default: return nil
        }
    }

    private static func cases<Choice: CaseIterable>(of type: Choice.Type) -> [Any] { Array(type.allCases) }

    /// Chooses a case that can be written: a service sends the raw value of an enumeration.
    private func chosen<Value>(from cases: [Any], _ type: Value.Type) throws -> Value? {
        guard !cases.isEmpty, let value = cases[source.number(below: cases.count)] as? Value else { return nil }
        if let value = value as? any Encodable, let data = try? JSONEncoder().encode([AnySample(value)]),
            let json = try? JSONReader().decode([JSONValue].self, from: data).first
        {
            scalar(json)
            return value as? Value
        }
        guard let raw = (value as? any RawRepresentable).map({ Self.rawValue(of: $0) }) else { return nil }
        switch raw {
        case let text as String: scalar(.string(text))
        case let number as any BinaryInteger: scalar(.number(number))
        default: return nil
        }
        return value
    }

    private static func rawValue<Choice: RawRepresentable>(of value: Choice) -> Any { value.rawValue }

    /// A word for texts: the member's name in lower case, without marks.
    private var word: String {
        let letters = name.lowercased().filter { $0.isASCII && $0.isLetter }
        return letters.isEmpty ? "sample" : String(letters.prefix(20))
    }

    /// A text that suits the member's name.
    var text: String {
        let number = source.number(below: 1_000)
        let lower = name.lowercased()
        func has(_ words: String...) -> Bool { words.contains { lower.hasSuffix($0) } }
        if has("email", "mail") { return "\(word)\(number)@example.com" }
        if has("url", "uri", "href", "link") { return "https://example.com/\(word)/\(number)" }
        if has("uuid", "guid") { return source.uuid().uuidString }
        if name.hasSuffix("At") || has("_at", "date", "time", "timestamp") {
            return ISO8601.text(of: Date(timeIntervalSince1970: Double(1_704_067_200 + number * 86_400))) ?? ""
        }
        if has("id", "key", "code", "sku") { return "\(word)-\(number)" }
        return "\(word) \(number)"
    }

    func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value {
        let value = Value(1 + source.number(below: min(999, Int(clamping: Value.max))))
        scalar(.number(value))
        return value
    }

    func fraction() -> Double {
        // The number has two fractional digits, which every type represents well enough.
        let value = Double(source.number(below: 100_000)) / 100
        scalar(.number(value))
        return value
    }

    func boolean() -> Bool {
        let value = source.number(below: 2) == 1
        scalar(.boolean(value))
        return value
    }

    /// The number of elements of an array or a dictionary.
    func elementCount() -> Int { isDeep ? 0 : 1 + source.number(below: 3) }
}

/// A dictionary whose keys are numbers, written as text.
private protocol NumberKeyed {}
extension Dictionary: NumberKeyed where Key == Int {}

/// An encodable value whose type isn't known to the encoder's caller.
private struct AnySample: Encodable {
    let value: any Encodable

    init(_ value: any Encodable) {
        self.value = value
    }

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
