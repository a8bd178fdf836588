import Foundation
import WebServiceClient

/// Decodes one sample: gives every property a recognizable value and records it.
///
/// Numbers, texts, dates and the like differ for every property within a pass. Booleans and enumerations have too few values for that, so a
/// property is identified by its values over all passes: the first pass gives all the lowest value, the second the highest (so constants
/// and negations match nothing), and later ones encode the property's index bit by bit, and then its complement.
final class ProbePass {
    /// Indexes by path, shared by all passes.
    final class Indices {
        private(set) var paths: [[String]] = []
        private var byPath: [[String]: Int] = [:]

        func index(of path: [String]) -> Int {
            if let index = byPath[path] { return index }
            byPath[path] = paths.count
            paths.append(path)
            return paths.count - 1
        }

        /// The number of bits that distinguish all indexes.
        var bits: Int {
            max(1, Int.bitWidth - (paths.count + 1).leadingZeroBitCount)
        }
    }

    /// A step into an element of a collection, which can't be part of a property path.
    static let elementStep = "#"
    /// The depth to which relations are filled: enough for a property of a complex property of a relation.
    static let relationDepth = 2
    /// The maximum nesting depth of types that can't be left empty.
    static let depthLimit = 8
    /// The maximum number of values in one sample.
    static let valueLimit = 20_000

    let number: Int
    let bits: Int
    let indices: Indices
    /// Whether relations contain entities, down to a depth.
    let followsRelations: Bool
    private(set) var values: [[String]: [Any]] = [:]
    private(set) var topNames: [String] = []
    var readsAllNames = false
    /// The names of relations among the properties of the sample itself.
    private(set) var relations: Set<String> = []
    /// Whether a relation was left empty because relations aren't followed.
    private(set) var leftRelationsEmpty = false
    /// The reasons why properties were left empty, by path.
    private(set) var refusals: [(path: [String], reason: String)] = []
    /// The paths of optionals that must be nil, and of collections that must be empty, because their contents can't be created.
    var emptied: Set<[String]> = []
    private var depth = 0
    /// The type's request for each of its properties; recorded only by ``init(recordingRequests:)``.
    private(set) var requests: [String: Request] = [:]
    private let recordsRequests: Bool

    /// The request of a type for one of its properties.
    struct Request {
        /// The types that were requested, the outermost first: a wrapper's type precedes its value's.
        var types: [any Any.Type] = []
        /// Whether null was expected.
        var isOptional = false
    }

    init(number: Int, bits: Int, indices: Indices, followsRelations: Bool) {
        recordsRequests = false
        self.followsRelations = followsRelations
        self.number = number
        self.bits = bits
        self.indices = indices
    }

    /// Creates a first pass that records what a type requests.
    init(recordingRequests: Void) {
        recordsRequests = true
        followsRelations = false
        number = 0
        bits = 1
        indices = Indices()
    }

    private func note(_ type: any Any.Type, at path: [String]) {
        guard recordsRequests, path.count == 1 else { return }
        requests[path[0], default: Request()].types.append(type)
    }

    /// Records that a type accepts null at a path.
    func noteOptional(at path: [String]) {
        guard recordsRequests, path.count == 1 else { return }
        requests[path[0], default: Request()].isOptional = true
    }

    func saw(_ path: [String]) {
        guard path.count == 1, let name = path.first, !topNames.contains(name) else { return }
        topNames.append(name)
    }

    private func record(_ value: Any, at path: [String]) {
        values[path, default: []].append(value)
    }

    // MARK: Values

    func text(at path: [String]) -> String {
        note(String.self, at: path)
        let text = String(wide(path))
        record(text, at: path)
        return text
    }

    func boolean(at path: [String]) -> Bool {
        note(Bool.self, at: path)
        let value = bit(path)
        record(value, at: path)
        return value
    }

    func floating<Value: BinaryFloatingPoint>(_ type: Value.Type, at path: [String]) -> Value {
        note(type, at: path)
        let value = Value(wide(path))
        record(value, at: path)
        return value
    }

    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at path: [String]) -> Value {
        note(type, at: path)
        let value = Value(exactly: wide(path)) ?? Value(truncatingIfNeeded: narrow(path))
        record(value, at: path)
        return value
    }

    private func wide(_ path: [String]) -> Int {
        10_000 + indices.index(of: path) * 64 + number % 64
    }

    private func bit(_ path: [String]) -> Bool {
        // Every pass requests the index, because the first pass counts them.
        let code = indices.index(of: path) + 1
        guard number > 1 else { return number == 1 }
        let position = (number - 2) % (2 * bits)
        return position < bits ? code >> position & 1 == 1 : code >> (position - bits) & 1 == 0
    }

    private func narrow(_ path: [String]) -> Int {
        guard number > 1 else { return number == 1 ? 127 : 0 }
        return 1 + (indices.index(of: path) + 1) >> ((number - 2) % bits) & 63
    }

    /// Returns a value of any type: a sample if the type is known, otherwise the value that the type decodes from generated values.
    func value<Value: Decodable>(_ type: Value.Type, at path: [String]) throws -> Value {
        note(type, at: path)
        if let made = sample(type, at: path) {
            record(made, at: path)
            return made
        }
        if let relation = type as? any ProbeRelation.Type {
            if path.count == 1 { relations.formUnion(path) }
            if !followsRelations, let linked = relation.probeLinked(String(wide(path))) as? Value {
                leftRelationsEmpty = true
                record(linked, at: path)
                return linked
            }
            if leavesRelationsEmpty, let empty = relation.probeEmpty as? Value { return empty }
        }
        guard depth < Self.depthLimit, indices.paths.count < Self.valueLimit else {
            throw ProbeRefusal(reason: "\(type) nests too deeply")
        }
        depth += 1
        defer { depth -= 1 }
        do {
            let decoded = try Value(from: ProbeDecoder(path: path, pass: self))
            record(decoded, at: path)
            return decoded
        } catch {
            // Retries with nothing inside, because an optional or a collection can omit a value that can't be created.
            let isNew = emptied.insert(path).inserted
            guard isNew, isEmptiable(type) else { throw error }
            refuse(path, error)
            return try Value(from: ProbeDecoder(path: path, pass: self))
        }
    }

    func refuse(_ path: [String], _ error: any Error) {
        refusals.append((path, Self.reason(error)))
    }

    static func reason(_ error: any Error) -> String {
        switch error {
        case let refusal as ProbeRefusal: refusal.reason
        case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
            DecodingError.keyNotFound(_, let context), DecodingError.valueNotFound(_, let context):
            context.debugDescription
        default: ValueText.text(of: error)
        }
    }

    /// A Boolean value that indicates whether relations at this depth are left empty, which ends the recursion from entity to entity.
    var leavesRelationsEmpty: Bool {
        depth > Self.relationDepth
    }

    private func isEmptiable(_ type: Any.Type) -> Bool {
        type is any ProbeEmptiable.Type
    }

    // MARK: Samples

    private func sample<Value>(_ type: Value.Type, at path: [String]) -> Value? {
        let number = wide(path)
        let made: Any? =
            switch type {
            case is Date.Type: Date(timeIntervalSince1970: Double(number) * 86_400)
            case is Decimal.Type: Decimal(number)
            case is Data.Type: Data(String(number).utf8)
            case is URL.Type: URL(string: "https://sample.invalid/\(number)")
            case is UUID.Type: UUID(uuidString: "00000000-0000-4000-8000-" + DigitText.padded(number, 12))
            case let type as any PropertySample.Type: type.propertySample(number) ?? type.propertySample(bit(path) ? 1 : 0)
            case let type as any RawRepresentable.Type: caseOf(type, high: bit(path))
            default: nil
            }
        return made as? Value
    }

    /// Returns the first or second case of an enumeration that lists its cases or has small integers as raw values.
    private func caseOf(_ type: any RawRepresentable.Type, high: Bool) -> Any? {
        if let iterable = type as? any CaseIterable.Type {
            func cases<Cases: CaseIterable>(_: Cases.Type) -> [Any] { Array(Cases.allCases.prefix(2)) }
            let found = cases(iterable)
            return high ? found.last : found.first
        }
        func numbered<Type: RawRepresentable>(_: Type.Type) -> [Any] {
            guard let raw = Type.RawValue.self as? any FixedWidthInteger.Type else { return [] }
            let found = (0...64).lazy.compactMap { number -> Any? in
                guard let value = Self.raw(raw, number) as? Type.RawValue else { return nil }
                return Type(rawValue: value)
            }
            return Array(found.prefix(2))
        }
        let found = numbered(type)
        return high ? found.last : found.first
    }

    private static func raw<Raw: FixedWidthInteger>(_: Raw.Type, _ number: Int) -> Any {
        Raw(truncatingIfNeeded: number)
    }
}

/// The reason why a sample can't be created.
struct ProbeRefusal: Error {
    let reason: String
}
