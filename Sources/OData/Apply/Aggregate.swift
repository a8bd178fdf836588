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
