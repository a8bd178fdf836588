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

/// What becomes of options where a request becomes one for something else.
extension QueryOptions {
    /// Takes over what another request says about the request as a whole, and not about the entities.
    mutating func keepWhole(of other: QueryOptions) {
        custom = other.custom
        aliases = other.aliases
        format = other.format
        schemaVersion = other.schemaVersion
        temporal = other.temporal
        headers = other.headers
    }

    /// The options that were given and say something about the entities: which, in what order, with what.
    var ownNames: [String] {
        var isSelective = false
        if case .items(let items) = selection { isSelective = !items.isEmpty }
        let given: [(String, Bool)] = [
            ("$filter", filter != nil), ("$search", search != nil), ("$orderby", !order.isEmpty), ("$top", top != nil),
            ("$skip", skip != nil),
            ("$count", includesCount), ("$select", isSelective), ("$expand", !expansions.isEmpty), ("$apply", !apply.isEmpty),
            ("$compute", !compute.isEmpty), ("$levels", levels != nil), ("$index", index != nil), ("$skiptoken", skipToken != nil),
            ("$deltatoken", deltaToken != nil), ("$id", entityID != nil),
        ]
        return given.filter(\.1).map(\.0)
    }

    /// The same where what the type doesn't declare is kept, too: all properties, unless some were selected.
    var keepingUndeclared: QueryOptions {
        guard case .decoded = selection else { return self }
        var options = self
        // What is computed comes for sure only where it is selected (Protocol, section 11.2.5.3).
        let computed = compute.map { SelectItem(QueryPath($0.name)) }
        options.selection = computed.isEmpty ? .all : .items([SelectItem(QueryPath(segments: [.all]))] + computed)
        return options
    }

    /// The options of the same entities seen as ones of a derived type.
    func cast(to type: Any.Type) -> QueryOptions {
        var options = self
        options.catalog = PropertyCatalog.of(type)
        if !apply.isEmpty {
            options.apply.append(.invalid(.invalidOption("$apply", reason: "what it gives can't be seen as another type; cast before it")))
        }
        return options
    }

    /// A name that no alias has yet.
    ///
    /// - Parameter others: names that aren't free either.
    func freeAlias(_ name: String, besides others: Set<String> = []) -> String {
        var number = 1
        var free = name
        while aliases.contains(where: { $0.name == free }) || others.contains(free) {
            number += 1
            free = "\(name)\(number)"
        }
        return free
    }
}
