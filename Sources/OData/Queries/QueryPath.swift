/// The way from the entity, or from something else that has a name, to what an expression speaks of: `Address/City`, `x1/Budget`,
/// `Trips/$count`, `$root/Products('P2')/Name`.
public struct QueryPath: Sendable, Hashable {
    /// Where a path begins.
    public enum Root: Sendable, Hashable {
        /// The instance that the query option is evaluated on; unwritten where a segment follows.
        case entity
        /// `$it`: the current instance of the resource that the URL names, from within nested options as well.
        case it
        /// `$this`: the instance that the option is evaluated on. Version 4.01. Before a function that is bound to the instance it is written `$it`
        /// where that is the same, which every version 4 knows.
        case this
        /// `$these`: the collection that a set transformation works on (Data Aggregation, section 3.1).
        case these
        /// `$root`: the service; an entity set, a singleton or a function import follows.
        case root
        /// A parameter alias, without the `@`; the query's ``QueryOptions/aliases`` say what it stands for.
        case alias(String)
        /// The element that an `any` or `all` looks at.
        case variable(LambdaVariable)
    }

    /// One step of a path.
    public enum Segment: Sendable, Hashable {
        /// A property, a navigation property, or behind `$root` an entity set or singleton, by its wire name. An annotation begins with
        /// `@` and may end with a qualifier: `@Measures.Currency`, `@Currency#Reporting`.
        case property(String)
        /// A cast to a derived type by its qualified name.
        case cast(String)
        /// `$count`, the number of elements.
        case count
        /// `$count(…)`: the number of elements that a filter and a search leave. Version 4.01.
        case countWhere(QueryExpression?, SearchTerm?)
        /// `$filter(…)`: the elements that the condition holds for. Version 4.01.
        case filter(QueryExpression)
        /// `(…)`: one entity of the collection before, by its key.
        case key([ResourcePath.KeyPart])
        /// A function of the service's own with its parameters: `Ns.Nearby(distance=5)`. Where a path begins with one it isn't bound, or services may
        /// take it so: one that is bound to the instance stands behind ``Root/this``.
        case function(String, [Parameter])
        /// `aggregate(…)` of the collection before (Data Aggregation, section 3.1.3).
        case aggregate(AggregateExpression)
        /// `*` in `$select` and `$expand`.
        case all
        /// `Ns.*` in `$select`: all operations of a schema, by its namespace.
        case operations(String)
        /// `$ref` in `$expand`.
        case ref
        /// `$value` in `$expand`: the media stream. Version 4.01.
        case value
        /// A step whose name couldn't be found: printing the path throws this error.
        indirect case unresolved(ODataQueryError)
    }

    /// One parameter of a function.
    public struct Parameter: Sendable, Hashable {
        /// The parameter's name.
        public var name: String
        /// Its value: a literal, an alias, or in expressions whatever has a value.
        public var value: QueryExpression

        /// A parameter from its parts.
        public init(_ name: String, _ value: QueryExpression) {
            self.name = name
            self.value = value
        }
    }

    /// Where the path begins.
    public var root: Root
    /// The steps after it.
    public var segments: [Segment]

    /// A path from its parts.
    public init(root: Root = .entity, segments: [Segment]) {
        self.root = root
        self.segments = segments
    }

    /// A path of property names from the entity; a `/` separates steps, and `$count`, `$ref`, `*` and qualified type names are
    /// understood, as are `$it`, `$this`, `$root` and `@alias` at the beginning.
    public init(_ text: String) {
        guard let first = text.utf8.first, first == UInt8(ascii: "$") || first == UInt8(ascii: "@") else {
            self.init(segments: Self.segments(of: text))
            return
        }
        let parts = text.unicodeScalars.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(Substring.init)
        let root: Root? =
            switch parts[0] {
            case "$it": .it
            case "$this": .this
            case "$these": .these
            case "$root": .root
            default:
                parts[0].hasPrefix("@") && !parts[0].contains(where: { $0 == "." || $0 == "#" })
                    ? .alias(String(parts[0].dropFirst())) : nil
            }
        if let root {
            self.init(root: root, segments: parts.count > 1 ? Self.segments(of: String(parts[1])) : [])
        } else {
            self.init(segments: Self.segments(of: text))
        }
    }

    func appending(_ more: [Segment]) -> QueryPath {
        QueryPath(root: root, segments: segments + more)
    }

    static func segments(of text: String) -> [Segment] {
        text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map(Substring.init).map { part in
            switch part {
            case "$count": return .count
            case "$ref": return .ref
            case "$value": return .value
            case "*": return .all
            default: break
            }
            guard part.utf8.contains(UInt8(ascii: ".")), !part.hasPrefix("@") else { return .property(String(part)) }
            return part.hasSuffix(".*") ? .operations(String(part.dropLast(2))) : .cast(String(part))
        }
    }

    /// The wire name where the path is one property of the entity itself.
    var singleName: String? {
        guard root == .entity, segments.count == 1, case .property(let name) = segments[0] else { return nil }
        return name
    }
}
