/// The system query options of one request or one expansion, as values without a Swift type.
public struct QueryOptions: Sendable, Hashable {
    /// What `$select` names.
    public enum Selection: Sendable, Hashable {
        /// What the result's type decodes, where that is known.
        case decoded
        /// No `$select`: everything the service gives.
        case all
        /// These properties.
        case properties([QueryPath])
    }

    /// One item of `$expand`.
    public struct Expansion: Sendable, Hashable {
        /// The navigation property.
        public var path: QueryPath
        /// The options inside the parentheses.
        public var options: QueryOptions
    }

    /// One item of `$orderby`.
    public struct Order: Sendable, Hashable {
        /// What is sorted by.
        public var expression: QueryExpression
        /// Whether the greatest comes first.
        public var isDescending: Bool
    }

    /// One option of the service's own, written behind the system's.
    public struct Custom: Sendable, Hashable {
        /// The option's name.
        public var name: String
        /// Its value.
        public var value: String
    }

    /// `$filter`.
    public var filter: QueryExpression?
    /// `$search`, all of which must match.
    public var search: [SearchTerm] = []
    /// `$select`.
    public var selection: Selection = .decoded
    /// `$expand`.
    public var expansions: [Expansion] = []
    /// `$orderby`, the first sorting first.
    public var order: [Order] = []
    /// `$top`.
    public var top: Int?
    /// `$skip`.
    public var skip: Int?
    /// `$count=true`.
    public var includesCount = false
    /// Options of the service's own.
    public var custom: [Custom] = []

    /// What the result's type decodes, where that is known.
    public internal(set) var decodedNames: [String]?
    /// Why ``decodedNames`` is missing, in a sentence's part.
    public internal(set) var decodedReason: String?

    init(decoding type: Any.Type) {
        let catalog = PropertyCatalog.of(type)
        decodedNames = catalog.decodedNames
        decodedReason = catalog.reason
    }
}
