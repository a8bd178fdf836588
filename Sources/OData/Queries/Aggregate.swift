/// One aggregate of a typed `$apply`: what is aggregated, how, and which property of the result it becomes.
public struct Aggregate<Input: Decodable & Sendable, Output: Decodable & Sendable>: Sendable, Hashable {
    let item: AggregateExpression
    /// Why it can't be sent.
    let failure: ODataQueryError?

    private init(_ source: QueryExpression, _ method: AggregateExpression.Method?, _ alias: AnyKeyPath) {
        let (name, failure) = PropertyCatalog.name(of: alias, in: Output.self)
        item = AggregateExpression(source, with: method, as: name)
        self.failure = failure
    }

    private static func path(_ property: AnyKeyPath) -> QueryExpression {
        .path(QueryPath(segments: PropertyCatalog.segments(of: property, in: Input.self)))
    }

    /// The sum.
    public static func sum<Value, Total>(_ property: KeyPath<Input, Value>, as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(path(property), .sum, result)
    }

    /// The smallest.
    public static func minimum<Value, Total>(_ property: KeyPath<Input, Value>, as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(path(property), .minimum, result)
    }

    /// The greatest.
    public static func maximum<Value, Total>(_ property: KeyPath<Input, Value>, as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(path(property), .maximum, result)
    }

    /// The mean.
    public static func average<Value, Total>(_ property: KeyPath<Input, Value>, as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(path(property), .average, result)
    }

    /// How many different values there are.
    public static func countDistinct<Value, Total>(_ property: KeyPath<Input, Value>, as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(path(property), .countDistinct, result)
    }

    /// How many instances there are.
    public static func count<Total>(as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(.path(QueryPath(segments: [.count])), nil, result)
    }

    /// A custom aggregate of the service, by its name.
    public static func custom<Total>(_ name: String, as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(.path(QueryPath(name)), nil, result)
    }

    /// An expression, by any method.
    public static func of<Value, Total>(
        _ method: AggregateExpression.Method, as result: KeyPath<Output, Total>, _ build: (QueryTerm<Input>) -> QueryTerm<Value>
    ) -> Aggregate {
        Aggregate(build(QueryTerm(.path(QueryPath(segments: [])))).queryExpression, method, result)
    }
}

/// A computed property of a typed `$apply`.
public struct ComputedProperty<Input: Decodable & Sendable, Output: Decodable & Sendable>: Sendable, Hashable {
    let item: Computation
    /// Why it can't be sent.
    let failure: ODataQueryError?

    /// The result's property and how it is computed.
    public init<Value, Result>(_ property: KeyPath<Output, Result>, _ build: (QueryTerm<Input>) -> QueryTerm<Value>) {
        let (name, failure) = PropertyCatalog.name(of: property, in: Output.self)
        item = Computation(build(QueryTerm(.path(QueryPath(segments: [])))).queryExpression, as: name)
        self.failure = failure
    }
}

extension PropertyCatalog {
    /// The wire name of a property, where it is one name.
    fileprivate static func name(of keyPath: AnyKeyPath, in type: Any.Type) -> (String, ODataQueryError?) {
        switch segments(of: keyPath, in: type).first {
        case .property(let name)?: (name, nil)
        case .unresolved(let error)?: ("", error)
        default: ("", .invalidName("\(keyPath)", role: "the name of a result"))
        }
    }
}

/// One item of `aggregate` (OData Extension for Data Aggregation, section 3.2.1).
public struct AggregateExpression: Sendable, Hashable {
    /// How values become one; names that aren't the standard's are those of the service, qualified by namespace.
    public struct Method: Sendable, Hashable, RawRepresentable {
        /// The name as it is written behind `with`.
        public let rawValue: String

        /// A method by its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The sum.
        public static let sum = Method(rawValue: "sum")
        /// The smallest.
        public static let minimum = Method(rawValue: "min")
        /// The greatest.
        public static let maximum = Method(rawValue: "max")
        /// The mean.
        public static let average = Method(rawValue: "average")
        /// How many different values there are.
        public static let countDistinct = Method(rawValue: "countdistinct")
    }

    /// `from …with …`: an aggregation over groups before the one behind it.
    public struct From: Sendable, Hashable {
        /// What is grouped by.
        public var groupings: [QueryPath]
        /// How the groups' values become one; only custom aggregates may leave it out.
        public var method: Method?

        /// A step from its parts.
        public init(_ groupings: [QueryPath], with method: Method? = nil) {
            self.groupings = groupings
            self.method = method
        }
    }

    /// What is aggregated: an expression; a path to a custom aggregate; `$count`, or a path that ends with it.
    public var source: QueryExpression
    /// How; `nil` for counts and custom aggregates.
    public var method: Method?
    /// Aggregations over groups, the innermost first.
    public var from: [From]
    /// What the result is called; only custom aggregates, and ``QueryPath/Segment/aggregate(_:)``, go without.
    public var alias: String?

    /// An aggregate from its parts.
    public init(_ source: QueryExpression, with method: Method? = nil, from: [From] = [], as alias: String? = nil) {
        self.source = source
        self.method = method
        self.from = from
        self.alias = alias
    }

    /// `$count`: how many instances there are.
    public static func count(as alias: String? = nil) -> AggregateExpression {
        AggregateExpression(.path(QueryPath(segments: [.count])), as: alias)
    }
}
