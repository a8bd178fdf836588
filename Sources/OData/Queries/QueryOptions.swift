/// The system query options of one request or one expansion, without a Swift type (URL Conventions, section 5.1).
public struct QueryOptions: Sendable, Hashable {
    /// The properties that `$select` names.
    public enum Selection: Sendable, Hashable {
        /// The ``DefaultSelection`` of the result's type: the properties that it decodes, without relations, if they are known.
        case decoded
        /// No `$select`: every property that the service returns by default.
        case all
        /// These items.
        case items([SelectItem])

        /// Selects these properties.
        public static func properties(_ paths: [QueryPath]) -> Selection {
            .items(paths.map { SelectItem($0) })
        }
    }

    /// One item of `$orderby`.
    public struct Order: Sendable, Hashable {
        /// The expression to sort by.
        public var expression: QueryExpression
        /// A Boolean value that indicates whether the greatest comes first.
        public var isDescending: Bool

        /// Creates an item from its parts.
        public init(_ expression: QueryExpression, isDescending: Bool = false) {
            self.expression = expression
            self.isDescending = isDescending
        }
    }

    /// A custom query option, written after the system query options.
    public struct Custom: Sendable, Hashable {
        /// The option's name.
        public var name: String
        /// The value of the option.
        public var value: String
        /// A Boolean value that indicates whether the option precedes the system query options, like the function parameters of V2.
        package var isLeading = false

        /// Creates an option from its parts. The name must not begin with `$` or `@`.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Returns whether names and values are equal, regardless of position.
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
    /// `$orderby`, in order of priority.
    public var order: [Order] = []
    /// `$top`.
    public var top: Int?
    /// `$skip`.
    public var skip: Int?
    /// `$count=true`.
    public var includesCount = false
    /// Custom query options.
    public var custom: [Custom] = []

    /// The rarely used options: an empty array or one element, which keeps other options cheap to copy.
    var rare: [RareOptions] = []
    /// The known properties of the result's type; `nil` without a type.
    var catalog: PropertyCatalog?

    /// Creates empty options, which request everything the service returns by default.
    public init() {
        selection = .all
    }

    /// Creates empty options for results of a type, with the type's ``DefaultSelection``. For `Any.Type`s that aren't `Decodable`, nothing
    /// is selected.
    public init(decoding type: any Any.Type) {
        selection = type is any DescribedEntity.Type ? .all : .decoded
        catalog = PropertyCatalog.of(type)
    }

    /// The property names that the result's type decodes, if they are known.
    public var decodedNames: [String]? {
        catalog?.decodedNames
    }

    /// The reason why ``decodedNames`` is missing, as part of a sentence.
    public var decodedReason: String? {
        catalog?.decoded.reason
    }

    /// The names that the default selection of the result's type selects; `nil` for none.
    func selectedNames(_ version: ODataVersion) -> [String]? {
        catalog?.selectedNames(version)
    }
}

/// Conversions of options when a request changes its target.
extension QueryOptions {
    /// Copies the options that apply to the request as a whole, not to its entities.
    mutating func keepWhole(of other: QueryOptions) {
        custom = other.custom
        aliases = other.aliases
        format = other.format
        schemaVersion = other.schemaVersion
        temporal = other.temporal
        headers = other.headers
    }

    /// The names of the options that are set and apply to the entities.
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

    /// The options for a result that keeps undeclared properties: selects all properties unless a selection was made.
    var keepingUndeclared: QueryOptions {
        guard case .decoded = selection else { return self }
        var options = self
        // Computed properties are only guaranteed if they are selected (Protocol, section 11.2.5.3).
        let computed = compute.map { SelectItem(QueryPath($0.name)) }
        options.selection = computed.isEmpty ? .all : .items([SelectItem(QueryPath(segments: [.all]))] + computed)
        return options
    }

    /// Returns the options for the same entities cast to a derived type.
    package func cast(to type: Any.Type) -> QueryOptions {
        var options = self
        options.catalog = PropertyCatalog.of(type)
        if type is any DescribedEntity.Type, options.selection == .decoded { options.selection = .all }
        if !apply.isEmpty {
            options.apply.append(.invalid(.invalidOption("$apply", reason: "its result can't be cast to another type; cast before apply")))
        }
        return options
    }

    /// Returns a name that no alias uses yet.
    func freeAlias(_ name: String) -> String {
        var number = 1
        var free = name
        while aliases.contains(where: { $0.name == free }) {
            number += 1
            free = "\(name)\(number)"
        }
        return free
    }
}

/// One item of `$select` (URL Conventions, section 5.1.4).
public struct SelectItem: Sendable, Hashable {
    /// The property, `*`, all operations of a schema, or an operation by its qualified name.
    public var path: QueryPath
    /// The names of a function's parameters, which distinguish its overloads; `nil` if they aren't needed.
    public var parameters: [String]?
    /// The options inside the parentheses, for complex values and collections. Version 4.01. Empty without options, otherwise a single
    /// element.
    package private(set) var nested: [QueryOptions] = []
    /// The number of nested levels of options.
    package private(set) var height = 0

    /// Creates an item from its parts.
    public init(_ path: QueryPath, options: QueryOptions = QueryOptions()) {
        self.path = path
        self.options = options
    }

    /// Creates an item for a function by its qualified name and the names of its parameters.
    public init(function name: String, parameters: [String]) {
        path = QueryPath(segments: [.cast(name)])
        self.parameters = parameters
    }

    /// The options inside the parentheses.
    public var options: QueryOptions {
        get { nested.first ?? QueryOptions() }
        set {
            let options = newValue.height > QueryOptions.heightLimit ? QueryOptions.tooDeep : newValue
            nested = options == QueryOptions() ? [] : [options]
            height = nested.isEmpty ? 0 : options.height
        }
    }

    /// `*`: all properties.
    public static let all = SelectItem(QueryPath(segments: [.all]))
}

/// A resource and its query options, as the URL of a request relative to the service's root.
///
///     ODataQuery(ResourcePath(function: "Nearest", ["to": QueryTerm<AnyEdm>.alias("place")])).alias("place", place)
public struct ODataQuery: QueryBuilding {
    /// The untyped entity of the results.
    public typealias Entity = DynamicEntity

    /// The location of the resource.
    public var resource: ResourcePath
    /// The query options.
    public var options: QueryOptions

    /// Creates a query from its parts.
    public init(_ resource: ResourcePath, options: QueryOptions = QueryOptions()) {
        self.resource = resource
        self.options = options
    }
}
