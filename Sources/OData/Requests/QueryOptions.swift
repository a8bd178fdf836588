/// The system query options of one request or one expansion, as values without a Swift type (URL Conventions, section 5.1).
public struct QueryOptions: Sendable, Hashable {
    /// What `$select` names.
    public enum Selection: Sendable, Hashable {
        /// What the result's type decodes, where that is known.
        case decoded
        /// No `$select`: everything the service gives.
        case all
        /// These items.
        case items([SelectItem])

        /// These properties.
        public static func properties(_ paths: [QueryPath]) -> Selection {
            .items(paths.map { SelectItem($0) })
        }
    }

    /// One item of `$orderby`.
    public struct Order: Sendable, Hashable {
        /// What is sorted by.
        public var expression: QueryExpression
        /// Whether the greatest comes first.
        public var isDescending: Bool

        /// An item from its parts.
        public init(_ expression: QueryExpression, isDescending: Bool = false) {
            self.expression = expression
            self.isDescending = isDescending
        }
    }

    /// One option of the service's own, written behind the system's.
    public struct Custom: Sendable, Hashable {
        /// The option's name.
        public var name: String
        /// Its value.
        public var value: String
        /// Whether it is written before the system query options, as parameters of V2's functions are.
        var isLeading = false

        /// An option from its parts. The name must not begin with `$` or `@`.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Whether names and values are the same, wherever they stand.
        public static func == (left: Custom, right: Custom) -> Bool {
            left.name == right.name && left.value == right.value
        }

        /// Hashes name and value.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(value)
        }
    }

    /// `$filter`.
    public var filter: QueryExpression?
    /// `$search`.
    public var search: SearchTerm?
    /// `$select`.
    public var selection: Selection
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

    /// The options that few queries have; no element or one, so that the others are cheap to copy.
    var rare: [RareOptions] = []
    /// What is known of the result's type; `nil` where there is none.
    var catalog: PropertyCatalog?

    /// No options: everything the service gives.
    public init() {
        selection = .all
    }

    init(decoding type: Any.Type) {
        selection = .decoded
        catalog = PropertyCatalog.of(type)
    }

    /// What the result's type decodes, where that is known.
    public var decodedNames: [String]? {
        catalog?.decodedNames
    }

    /// Why ``decodedNames`` is missing, in a sentence's part.
    public var decodedReason: String? {
        catalog?.reason
    }
}
