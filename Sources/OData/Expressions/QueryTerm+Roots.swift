extension QueryTerm {
    /// `$it`: the current instance of the resource that the URL names, from within nested options as well.
    public static var it: QueryTerm {
        QueryTerm(.path(QueryPath(root: .it, segments: [])))
    }

    /// `$this`: the instance that the option is evaluated on, such as the elements of a collection of values. Version 4.01.
    public static var this: QueryTerm {
        QueryTerm(.path(QueryPath(root: .this, segments: [])))
    }

    /// `$these`: the collection that a set transformation works on.
    public static var these: QueryTerm {
        QueryTerm(.path(QueryPath(root: .these, segments: [])))
    }

    /// `$root/name`: an entity set or a singleton of the service.
    public static func root(_ name: String) -> QueryTerm {
        QueryTerm(.path(QueryPath(root: .root, segments: QueryPath.segments(of: name))))
    }

    /// `@name`: what ``QueryBuilding/alias(_:_:)`` says.
    public static func alias(_ name: String) -> QueryTerm {
        QueryTerm(.path(QueryPath(root: .alias(name), segments: [])))
    }

    /// A value as a term.
    public static func literal(_ value: Value) -> QueryTerm where Value: EdmConvertible {
        QueryTerm(value.queryExpression)
    }

    /// The value behind the first condition that is true, else null: `case(…)`. Version 4.01.
    ///
    ///     .when([($0.age < 18, "minor"), (.literal(true), "adult")])
    public static func when(_ branches: [(QueryTerm<Bool>, any QueryOperand)]) -> QueryTerm {
        QueryTerm(.conditional(branches.map { QueryExpression.Branch(when: $0.0.queryExpression, $0.1.queryExpression) }))
    }

    /// The value as one of another type: `cast(x,Edm.String)`. The type is named as in the service's metadata.
    public func converted<Other>(to name: String, as type: Other.Type = AnyEdm.self) -> QueryTerm<Other> {
        QueryTerm<Other>(.cast(queryExpression, name))
    }

    /// Whether the value is of a type: `isof(x,Ns.Type)`.
    public func isOf(_ name: String) -> QueryTerm<Bool> {
        QueryTerm<Bool>(.isOf(queryExpression, name))
    }

    /// The instance seen as one of a derived type, whose properties can be asked for then: `Ns.Employee/Salary`.
    public func cast<Derived>(to type: Derived.Type, named name: String) -> QueryTerm<Derived> {
        QueryTerm<Derived>(appending([.cast(name)]))
    }

    /// What a function of the service gives that is bound to this: `Trips/Ns.Nearby(distance=5)`, and of the entity itself
    /// `$it/Ns.Nearby(distance=5)`.
    public func calling<Result>(
        _ name: String, _ parameters: KeyValuePairs<String, any QueryOperand> = [:], as type: Result.Type = AnyEdm.self
    ) -> QueryTerm<Result> {
        let function = QueryPath.Segment.function(name, parameters.map { QueryPath.Parameter($0.key, $0.value.queryExpression) })
        if case .path(let path) = queryExpression.kind, path.root == .entity, path.segments.isEmpty {
            return QueryTerm<Result>(.path(QueryPath(root: .this, segments: [function])))
        }
        return QueryTerm<Result>(appending([function]))
    }

    /// Whether the property is there after a transformation that may have left it out: `isdefined(…)` (Data Aggregation, section 3.3).
    public var isDefined: QueryTerm<Bool> {
        QueryTerm<Bool>(calling("isdefined"))
    }
}

extension QueryTerm where Value == AnyEdm {
    /// A collection as JSON: `["a","b"]`.
    public static func array(_ items: [any QueryOperand]) -> QueryTerm {
        QueryTerm(.array(items.map(\.queryExpression)))
    }

    /// A complex value or an entity as JSON: `{"City":"Bonn"}`.
    public static func object(_ members: KeyValuePairs<String, any QueryOperand>) -> QueryTerm {
        QueryTerm(.object(members.map { QueryExpression.Member($0.key, $0.value.queryExpression) }))
    }
}
