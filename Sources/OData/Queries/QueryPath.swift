/// A path from the entity or another named root to an operand: `Address/City`, `x1/Budget`, `Trips/$count`, `$root/Products('P2')/Name`.
public struct QueryPath: Sendable, Hashable {
    /// The start of a path.
    public enum Root: Sendable, Hashable {
        /// The instance that the query option is evaluated on; omitted if a segment follows.
        case entity
        /// `$it`: the current instance of the resource that the URL identifies, also within nested options.
        case it
        /// `$this`: the instance that the option is evaluated on. Version 4.01. Before a bound function it is written as the equivalent
        /// `$it` outside of nested options, because every version 4 supports that.
        case this
        /// `$these`: the input collection of a set transformation (Data Aggregation, section 3.1).
        case these
        /// `$root`: the service; followed by an entity set, a singleton or a function import.
        case root
        /// A parameter alias, without the `@`, that the query's ``QueryOptions/aliases`` define.
        case alias(String)
        /// The current element of an `any` or `all`.
        case variable(LambdaVariable)
    }

    /// One step of a path.
    public enum Segment: Sendable, Hashable {
        /// A property, a navigation property, or after `$root` an entity set or singleton, by its wire name. An annotation begins with `@`
        /// and may end with a qualifier: `@Measures.Currency`, `@Currency#Reporting`.
        case property(String)
        /// A cast to a derived type by its qualified name.
        case cast(String)
        /// `$count`, the number of elements.
        case count
        /// `$count(…)`: the number of elements that a filter and a search keep. Version 4.01.
        case countWhere(QueryExpression?, SearchTerm?)
        /// `$filter(…)`: the elements that satisfy the condition. Version 4.01.
        case filter(QueryExpression)
        /// `(…)`: one entity of the preceding collection, by its key.
        case key([ResourcePath.KeyPart])
        /// A service-defined function with its parameters: `Ns.Nearby(distance=5)`. At the beginning of a path, services may treat it as
        /// unbound; a function bound to the instance follows ``Root/this``.
        case function(String, [Parameter])
        /// `aggregate(…)` of the preceding collection (Data Aggregation, section 3.1.3).
        case aggregate(AggregateExpression)
        /// `*` in `$select` and `$expand`.
        case all
        /// `Ns.*` in `$select`: all operations of a schema, by its namespace.
        case operations(String)
        /// `$ref` in `$expand`.
        case ref
        /// `$value` in `$expand`: the media stream. Version 4.01.
        case value
        /// A step whose name couldn't be resolved: printing the path throws this error.
        indirect case unresolved(ODataQueryError)
    }

    /// One parameter of a function.
    public struct Parameter: Sendable, Hashable {
        /// The parameter's name.
        public var name: String
        /// The value: a literal, an alias, or, in expressions, anything that has a value.
        public var value: QueryExpression

        /// Creates a parameter from its parts.
        public init(_ name: String, _ value: QueryExpression) {
            self.name = name
            self.value = value
        }
    }

    /// The start of the path.
    public var root: Root
    /// The steps after the root.
    public var segments: [Segment]

    /// Creates a path from its parts.
    public init(root: Root = .entity, segments: [Segment]) {
        self.root = root
        self.segments = segments
    }

    /// Creates a path of property names from the entity. A `/` separates steps; `$count`, `$ref`, `*` and qualified type names are
    /// recognized, as are `$it`, `$this`, `$root` and `@alias` at the beginning.
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

    package static func segments(of text: String) -> [Segment] {
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

    /// Returns the steps of an expression's path for a step of a resource's.
    static func segments(of segment: ResourcePath.Segment) -> [Segment] {
        switch segment {
        case .name(let name): return [.property(name)]
        case .cast(let name): return [.cast(name)]
        case .key(let parts): return [.key(parts)]
        case .function(let name, let parameters): return [.function(name, parameters)]
        case .raw(let text) where text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy({ ODataName.isQualified($0) }):
            return segments(of: text)
        case .invalid(let error): return [.unresolved(error)]
        default:
            return [
                .unresolved(
                    .invalidPath(
                        ResourcePath(segments: [segment]).route,
                        reason: "an expression's path from $root has only names, keys and functions"))
            ]
        }
    }

    /// The wire name if the path is a single property of the entity.
    var singleName: String? {
        guard root == .entity, segments.count == 1, case .property(let name) = segments[0] else { return nil }
        return name
    }
}
