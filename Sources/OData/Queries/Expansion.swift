/// One item of `$expand` (URL Conventions, section 5.1.3).
///
/// Options nest at most 256 levels deep, more than the printer accepts; deeper ones can't be sent.
public struct Expansion: Sendable, Hashable {
    /// The navigation property; the path may begin with a cast or a complex property, and end with a cast, `$ref` or `$count`. `*` expands
    /// all of them, `$value` the media stream.
    public var path: QueryPath
    /// The options inside the parentheses.
    public var options: QueryOptions {
        didSet { bound() }
    }
    /// The number of levels of options, including these.
    package private(set) var height = 1

    /// Creates an item from its parts.
    public init(path: QueryPath, options: QueryOptions = QueryOptions()) {
        self.path = path
        self.options = options
        bound()
    }

    private mutating func bound() {
        height = options.height
        if height > QueryOptions.heightLimit { options = .tooDeep }
    }
}

/// The query of one expansion: the parentheses of `$expand=Trips(…)`.
public struct NestedQuery<Entity: Decodable & Sendable>: QueryBuilding {
    /// The options set so far.
    public var options: QueryOptions

    /// Creates a query without options, with the default selection of the type.
    public init() {
        options = QueryOptions(decoding: Entity.self)
    }

    /// Creates a query from its options.
    public init(options: QueryOptions) {
        self.options = options
    }
}

extension NestedQuery {
    /// Sets the number of levels to expand in a relation between entities of the same type.
    public func levels(_ levels: ExpansionLevels) -> NestedQuery {
        changed { $0.levels = levels }
    }
}

/// The depth to which a recursive relation is expanded: `$levels`.
public enum ExpansionLevels: Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// A number of levels, at least 1.
    case levels(Int)
    /// The maximum depth that the service supports.
    case max

    /// Creates a number of levels.
    public init(integerLiteral value: Int) {
        self = .levels(value)
    }
}

extension QueryOptions {
    /// One item of `$expand`.
    public typealias Expansion = OData.Expansion
}

extension QueryOptions {
    /// The maximum number of levels of options.
    package static let heightLimit = 256

    /// The replacement for options that nest too deeply.
    static let tooDeep: QueryOptions = {
        var options = QueryOptions()
        let error = ODataQueryError.tooDeep(limit: Nesting.queryLimit)
        options.selection = .items([SelectItem(QueryPath(segments: [.unresolved(error)]))])
        return options
    }()

    /// The number of levels of options, including these.
    package var height: Int {
        var inner = 0
        for expansion in expansions { inner = max(inner, expansion.height) }
        if case .items(let items) = selection {
            for item in items { inner = max(inner, item.height) }
        }
        return inner + 1
    }
}
