/// One aggregate of a typed `$apply`: its source, its method, and the property of the result.
public struct Aggregate<Input: Decodable & Sendable, Output: Decodable & Sendable>: Sendable, Hashable {
    package let item: AggregateExpression
    /// The error to throw if the aggregate can't be sent.
    let failure: ODataQueryError?

    private init(_ source: QueryExpression, _ method: AggregateExpression.Method?, _ alias: AnyKeyPath) {
        let (name, failure) = PropertyCatalog.name(of: alias, in: Output.self)
        item = AggregateExpression(source, with: method, as: name)
        self.failure = failure
    }

    private static func path(_ property: AnyKeyPath) -> QueryExpression {
        .path(QueryPath(segments: PropertyCatalog.segments(of: property, in: Input.self)))
    }

    /// Returns the sum.
    public static func sum<Value, Total>(_ property: KeyPath<Input, Value>, as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(path(property), .sum, result)
    }

    /// Returns the smallest value.
    public static func minimum<Value, Total>(_ property: KeyPath<Input, Value>, as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(path(property), .minimum, result)
    }

    /// Returns the greatest value.
    public static func maximum<Value, Total>(_ property: KeyPath<Input, Value>, as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(path(property), .maximum, result)
    }

    /// Returns the mean.
    public static func average<Value, Total>(_ property: KeyPath<Input, Value>, as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(path(property), .average, result)
    }

    /// Returns the number of distinct values.
    public static func countDistinct<Value, Total>(_ property: KeyPath<Input, Value>, as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(path(property), .countDistinct, result)
    }

    /// Returns the number of instances.
    public static func count<Total>(as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(.path(QueryPath(segments: [.count])), nil, result)
    }

    /// Returns a custom aggregate of the service by its name.
    public static func custom<Total>(_ name: String, as result: KeyPath<Output, Total>) -> Aggregate {
        Aggregate(.path(QueryPath(name)), nil, result)
    }

    /// Aggregates an expression by any method.
    public static func of<Value, Total>(
        _ method: AggregateExpression.Method, as result: KeyPath<Output, Total>, _ build: (QueryTerm<Input>) -> QueryTerm<Value>
    ) -> Aggregate {
        Aggregate(build(QueryTerm(.path(QueryPath(segments: [])))).queryExpression, method, result)
    }
}

/// A computed property of a typed `$apply`.
public struct ComputedProperty<Input: Decodable & Sendable, Output: Decodable & Sendable>: Sendable, Hashable {
    package let item: Computation
    /// The error to throw if the property can't be sent.
    let failure: ODataQueryError?

    /// Creates a computed property from the result's property and an expression.
    public init<Value, Result>(_ property: KeyPath<Output, Result>, _ build: (QueryTerm<Input>) -> QueryTerm<Value>) {
        let (name, failure) = PropertyCatalog.name(of: property, in: Output.self)
        item = Computation(build(QueryTerm(.path(QueryPath(segments: [])))).queryExpression, as: name)
        self.failure = failure
    }
}

extension PropertyCatalog {
    /// Returns the wire name of a property, or an error if its path isn't a single name.
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
    /// A method that combines values into one. Nonstandard names belong to the service and are qualified by a namespace.
    public struct Method: Sendable, Hashable, RawRepresentable {
        /// The name after `with`.
        public let rawValue: String

        /// Creates a method from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The sum.
        public static let sum = Method(rawValue: "sum")
        /// The smallest value.
        public static let minimum = Method(rawValue: "min")
        /// The greatest value.
        public static let maximum = Method(rawValue: "max")
        /// The mean.
        public static let average = Method(rawValue: "average")
        /// The number of distinct values.
        public static let countDistinct = Method(rawValue: "countdistinct")
    }

    /// `from …with …`: an aggregation over groups that precedes the next one.
    public struct From: Sendable, Hashable {
        /// The properties to group by.
        public var groupings: [QueryPath]
        /// The method that combines the groups' values; only custom aggregates may omit it.
        public var method: Method?

        /// Creates a step from its parts.
        public init(_ groupings: [QueryPath], with method: Method? = nil) {
            self.groupings = groupings
            self.method = method
        }
    }

    /// The source: an expression, a path to a custom aggregate, `$count`, or a path that ends with it.
    public var source: QueryExpression
    /// The method; `nil` for counts and custom aggregates.
    public var method: Method?
    /// Aggregations over groups, the innermost first.
    public var from: [From]
    /// The name of the result; optional only for custom aggregates and ``QueryPath/Segment/aggregate(_:)``.
    public var alias: String?

    /// Creates an aggregate from its parts.
    public init(_ source: QueryExpression, with method: Method? = nil, from: [From] = [], as alias: String? = nil) {
        self.source = source
        self.method = method
        self.from = from
        self.alias = alias
    }

    /// `$count`: returns the number of instances.
    public static func count(as alias: String? = nil) -> AggregateExpression {
        AggregateExpression(.path(QueryPath(segments: [.count])), as: alias)
    }
}
