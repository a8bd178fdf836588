import Foundation

/// A difference between a client's description and an earlier one. See ``ClientDescription/changes(since:)``.
public struct DescriptionChange: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of changes.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// A key was removed or renamed, or its labels changed.
        case keyRemoved
        /// How the response's value is found and read changed: the root in the payload, the parser, the error handler, the body limit.
        case result
        /// An identifier of the call or of its cached response changed.
        case identifier
        /// The transport needs other capabilities.
        case requirements
        /// The HTTP method changed.
        case method
        /// The route changed, or the URL is built otherwise.
        case route
        /// An argument goes to other places.
        case argument
        /// A query item changed.
        case query
        /// A header changed.
        case header
        /// The source of the body or its serializer changed.
        case body
        /// Arrays are written otherwise.
        case encoding
        /// Fewer statuses count as success.
        case successNarrowed
        /// A deadline changed.
        case deadline
        /// The trust policy changed.
        case trust
        /// An attribute changed, such as the retry policy.
        case attribute
        /// The class's defaults changed, which apply to all endpoints.
        case defaults
        /// Another part of an endpoint changed.
        case other
        /// A key was added.
        case keyAdded
        /// More statuses count as success.
        case successWidened
        /// The endpoints have another order.
        case order
        /// The client's type has another name.
        case client

        /// The effect of the change.
        public var effect: Effect {
            switch self {
            case .keyRemoved, .result, .identifier, .requirements: .callers
            case .method, .route, .argument, .query, .header, .body, .encoding, .successNarrowed, .deadline, .trust, .attribute, .defaults,
                .other:
                .wire
            case .keyAdded, .successWidened, .order, .client: .neutral
            }
        }
    }

    /// The effect of a change.
    public enum Effect: String, Codable, Hashable, Sendable, CaseIterable {
        /// Code that calls the client may not compile, or may get other results.
        case callers
        /// Other requests are sent, or other answers are accepted.
        case wire
        /// Neither.
        case neutral
    }

    /// The kind of change.
    public let kind: Kind
    /// The key of the endpoint; `nil` for a change of the class.
    public let key: String?
    /// What changed, from the old to the new value.
    public let text: String

    /// The key, the change and its kind on one line.
    public var description: String { (key.map { "\"\($0)\": " } ?? "") + "\(text) [\(kind.rawValue)]" }
}

extension ClientDescription {
    /// Returns the differences from an earlier description of the client, in the order of this table. If the descriptions differ, there is
    /// at least one.
    public func changes(since old: ClientDescription) -> [DescriptionChange] {
        var comparison = DescriptionComparison()
        comparison.compare(old, self)
        return comparison.changes
    }
}

/// Collects the differences of two descriptions.
private struct DescriptionComparison {
    private(set) var changes: [DescriptionChange] = []
    private var key: String?

    private mutating func add(_ kind: DescriptionChange.Kind, _ text: String) {
        changes.append(DescriptionChange(kind: kind, key: key, text: text))
    }

    private mutating func add<Value: Equatable>(_ kind: DescriptionChange.Kind, _ name: String, _ old: Value?, _ new: Value?) {
        guard old != new else { return }
        add(kind, "\(name): \(Self.text(old)) → \(Self.text(new))")
    }

    private static func text<Value>(_ value: Value?) -> String {
        guard let value else { return "none" }
        if let list = value as? [String] { return list.isEmpty ? "none" : list.joined(separator: ", ") }
        return "\(value)"
    }

    private static func text(_ parts: [ClientDescription.Part]) -> [String] {
        parts.map { part in
            part.argument.map { "\(part.name) from argument \($0)" + (part.style.map { " (\($0))" } ?? "") } ?? part.value.map {
                "\(part.name)=\($0)"
            } ?? "no \(part.name)"
        }
    }

    mutating func compare(_ old: ClientDescription, _ new: ClientDescription) {
        key = nil
        add(.client, "the client", old.client, new.client)
        let before = Dictionary(grouping: old.endpoints, by: \.key)
        let after = Dictionary(grouping: new.endpoints, by: \.key)
        let (oldSuccess, newSuccess) = (old.defaults?.success, new.defaults?.success)
        for (name, endpoints) in after.sorted(by: { $0.key < $1.key }) {
            guard let same = before[name], same.count == endpoints.count else { continue }
            for (was, now) in zip(same, endpoints) where was != now || oldSuccess != newSuccess {
                compare(was, now, Self.statuses(was, of: old), Self.statuses(now, of: new))
            }
        }
        let kept = { (endpoints: [ClientDescription.Endpoint], other: [String: [ClientDescription.Endpoint]]) in
            endpoints.map(\.key).filter { other[$0] != nil }
        }
        key = nil
        for endpoint in old.endpoints where before[endpoint.key]?.count != after[endpoint.key]?.count {
            let (had, has) = (before[endpoint.key]?.count ?? 0, after[endpoint.key]?.count ?? 0)
            guard had > has else { continue }
            let nearest = NearestName.of(endpoint.key, among: after.keys.filter { before[$0] == nil }.sorted())
            changes.append(
                DescriptionChange(
                    kind: .keyRemoved, key: endpoint.key, text: "the key was removed" + (nearest.map { "; \"\($0)\" is new" } ?? "")))
        }
        for endpoint in new.endpoints where (before[endpoint.key]?.count ?? 0) < (after[endpoint.key]?.count ?? 0) {
            changes.append(DescriptionChange(kind: .keyAdded, key: endpoint.key, text: "the key was added"))
        }
        if kept(old.endpoints, after) != kept(new.endpoints, before) { add(.order, "the endpoints have another order") }
        compare(old.defaults, new.defaults)
        add(
            .defaults, "the defaults per method", old.perMethod.map { $0.map { ClientDescription.text(of: $0) } },
            new.perMethod.map { $0.map { ClientDescription.text(of: $0) } })
        if changes.isEmpty, old != new { add(.other, "another part changed") }
        // By the new table, and the removed keys after them; the order of equal places stays.
        let places = Dictionary(new.endpoints.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        let sorted = changes.enumerated().sorted { left, right in
            let (a, b) = (left.element.key.map { places[$0] ?? .max } ?? -1, right.element.key.map { places[$0] ?? .max } ?? -1)
            return (a, left.offset) < (b, right.offset)
        }
        changes = sorted.map(\.element)
    }

    private mutating func compare(_ old: ClientDescription.Defaults?, _ new: ClientDescription.Defaults?) {
        guard old != new else { return }
        let count = changes.count
        add(.defaults, "the service root", old?.serviceRoot, new?.serviceRoot)
        add(.defaults, "the headers", Self.text(old?.headers ?? []), Self.text(new?.headers ?? []))
        add(.defaults, "success", old?.success, new?.success)
        let settings = [old, new].map { $0?.settings.map { ClientDescription.text(of: $0) } }
        add(.defaults, "the settings", settings[0], settings[1])
        add(.defaults, "the required capabilities", old?.requires ?? [], new?.requires ?? [])
        add(.defaults, "the attributes", old?.attributes ?? [], new?.attributes ?? [])
        if changes.count == count { add(.defaults, "the defaults changed") }
    }

    private mutating func compare(
        _ old: ClientDescription.Endpoint, _ new: ClientDescription.Endpoint, _ accepted: Set<Int>, _ accepts: Set<Int>
    ) {
        key = new.key
        let count = changes.count
        add(.method, "the method", old.method, new.method)
        add(.route, "the route", old.route, new.route)
        add(.route, "the kind of route", old.routeKind, new.routeKind)
        add(.argument, "the arguments", old.arguments.map(Self.text), new.arguments.map(Self.text))
        add(.query, "the query", Self.text(old.query), Self.text(new.query))
        add(.header, "the headers", Self.text(old.headers), Self.text(new.headers))
        add(.body, "the body", old.body, new.body)
        add(.body, "a body of a method without one", old.allowsBody, new.allowsBody)
        add(.body, "the media types of the body", old.bodyTypes ?? [], new.bodyTypes ?? [])
        add(.body, "the encodings of the body", (old.encodings ?? []).map(\.text), (new.encodings ?? []).map(\.text))
        add(.route, "the endpoint's service root", old.serviceRoot, new.serviceRoot)
        add(.argument, "calls with a part of the labels", old.takesPartOfLabels, new.takesPartOfLabels)
        if !accepted.isSubset(of: accepts) {
            add(.successNarrowed, "success: \(old.success ?? "by default") → \(new.success ?? "by default")")
        } else if accepted != accepts {
            add(.successWidened, "success: \(old.success ?? "by default") → \(new.success ?? "by default")")
        }
        add(.result, "the root in the payload", old.root, new.root)
        add(.identifier, "the identifier of the cached response", old.cacheIdentifier, new.cacheIdentifier)
        add(.identifier, "the identifier", old.identifier, new.identifier)
        compare(old.settings ?? ClientDescription.Settings(), new.settings ?? ClientDescription.Settings())
        add(.requirements, "the required capabilities", old.requires, new.requires)
        add(.attribute, "the attributes", old.attributes, new.attributes)
        // The default may be stated, or not: then the effect is the same.
        if changes.count == count, old.success == new.success, old != new { add(.other, "another part changed") }
        if changes.count == count, old.success != new.success, accepted == accepts {
            add(.successWidened, "success: \(old.success ?? "by default") → \(new.success ?? "by default")")
        }
    }

    private mutating func compare(_ old: ClientDescription.Settings, _ new: ClientDescription.Settings) {
        add(.result, "the parser", old.parsing, new.parsing)
        add(.body, "the serializer", old.serializer, new.serializer)
        add(.result, "the error handler", old.errorHandler, new.errorHandler)
        add(.encoding, "arrays", old.arrays, new.arrays)
        add(.route, "the builder of URLs", old.urlBuilder, new.urlBuilder)
        add(.result, "the limit of the body", old.bodyLimit, new.bodyLimit)
        add(.deadline, "the deadlines", old.deadlines, new.deadlines)
        add(.trust, "the trust policy", old.trust, new.trust)
    }

    private static func text(_ arguments: [ClientDescription.Argument]) -> [String] {
        arguments.map { argument in
            let position = argument.position.map { "\($0)" } ?? "ignored"
            let notes = (argument.isOptional == true ? ["optional"] : []) + (argument.aliases ?? []).map { "alias \($0)" }
            return "\(argument.label) (\(([position] + argument.places + notes).joined(separator: ", ")))"
        }
    }

    /// The statuses that an endpoint accepts, with those of the class.
    private static func statuses(_ endpoint: ClientDescription.Endpoint, of client: ClientDescription) -> Set<Int> {
        let method = client.perMethod?.first { $0.method == endpoint.method }
        var result = Set(200...299)
        for text in [client.defaults?.success, method?.success, endpoint.success].compactMap(\.self) {
            let isAddition = text.hasPrefix("+ ")
            let codes = codes(isAddition ? text.dropFirst(2) : text[...])
            result = isAddition ? result.union(codes) : codes
        }
        return result
    }

    /// The codes of a ``StatusSet`` by its text. Codes that no response has don't count: a range in a file can have any length.
    private static func codes(_ text: Substring) -> Set<Int> {
        var result: Set<Int> = []
        for range in text.split(separator: ",") {
            let ends = range.split(separator: "…").compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
            guard let first = ends.first, let last = ends.last, first <= last else { continue }
            let (low, high) = (max(first, 100), min(last, 999))
            if low <= high { result.formUnion(low...high) }
        }
        return result
    }
}
