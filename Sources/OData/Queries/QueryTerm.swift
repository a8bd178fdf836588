/// A typed part of a query: the `$0` of a filter's closure, and the result of its members, operators and functions.
///
///     request.filter { $0.age > 21 && $0.name.hasPrefix("O'") || $0.trips.any { $0.budget >= 1_000 } }
///
/// The members of a term are the properties of the Swift type, printed under their wire names. A term describes a computation for the
/// service; Swift evaluates nothing.
@dynamicMemberLookup
public struct QueryTerm<Value>: Sendable, QueryOperand {
    /// The term as an expression tree.
    public let queryExpression: QueryExpression

    /// Creates a term from an expression; `Value` isn't checked.
    public init(_ expression: QueryExpression) {
        queryExpression = expression
    }

    /// Returns a property of the value.
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> QueryTerm<Member> {
        member(keyPath, of: Value.self)
    }

    /// Returns a property of an optional value; in OData, a property of null is null.
    public subscript<Wrapped, Member>(dynamicMember keyPath: KeyPath<Wrapped, Member>) -> QueryTerm<Member?> where Value == Wrapped? {
        member(keyPath, of: Wrapped.self)
    }

    /// Returns an optional property of an optional value.
    public subscript<Wrapped, Member>(dynamicMember keyPath: KeyPath<Wrapped, Member?>) -> QueryTerm<Member?> where Value == Wrapped? {
        member(keyPath, of: Wrapped.self)
    }

    /// Returns a ``Presence`` property. In a query the property is null or has a value.
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Presence<Member>>) -> QueryTerm<Member?> {
        member(keyPath, of: Value.self)
    }

    /// Returns a ``Presence`` property of an optional value.
    public subscript<Wrapped, Member>(dynamicMember keyPath: KeyPath<Wrapped, Presence<Member>>) -> QueryTerm<Member?>
    where Value == Wrapped? {
        member(keyPath, of: Wrapped.self)
    }

    /// Returns the related entity. A query can use it even if a response didn't include it.
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, ToOne<Member>>) -> QueryTerm<Member?> {
        member(keyPath, of: Value.self)
    }

    /// Returns the related entity of an optional value.
    public subscript<Wrapped, Member>(dynamicMember keyPath: KeyPath<Wrapped, ToOne<Member>>) -> QueryTerm<Member?>
    where Value == Wrapped? {
        member(keyPath, of: Wrapped.self)
    }

    /// Returns a property by its wire name or by a path of wire names: `$0["Address/City"]`.
    public subscript(_ path: String) -> QueryTerm<AnyEdm> {
        QueryTerm<AnyEdm>(appending(QueryPath.segments(of: path)))
    }

    /// Returns the same expression with another Swift type, such as a property that is known only by name. The query's text doesn't change.
    public func of<Other>(_ type: Other.Type) -> QueryTerm<Other> {
        QueryTerm<Other>(queryExpression)
    }

    /// Returns a call of a function that has no Swift equivalent here: `.function("geo.distance", a, b)`.
    public static func function(_ name: String, _ arguments: any QueryOperand...) -> QueryTerm<Value> {
        QueryTerm(.call(name, arguments.map(\.queryExpression)))
    }

    /// Returns text in OData syntax, such as `Age gt 21`, not percent-encoded. Literals inside it must already be quoted and escaped.
    public static func raw(_ text: String) -> QueryTerm<Value> {
        QueryTerm(.raw(text))
    }

    private func member<Member>(_ keyPath: AnyKeyPath, of type: Any.Type) -> QueryTerm<Member> {
        QueryTerm<Member>(appending(PropertyCatalog.segments(of: keyPath, in: type)))
    }

    func appending(_ segments: [QueryPath.Segment]) -> QueryExpression {
        switch queryExpression.kind {
        case .path(let path): .path(path.appending(segments))
        case .invalid: queryExpression
        default: .invalid(.invalidOption("expression", reason: "only properties have members, not the result of an operator or function"))
        }
    }

    func calling(_ name: String, _ arguments: any QueryOperand...) -> QueryExpression {
        .call(name, [queryExpression] + arguments.map(\.queryExpression))
    }
}

/// The placeholder type of values known only by name.
public enum AnyEdm: Sendable {}

extension QueryTerm where Value == AnyEdm {
    /// Returns a property of the entity by its wire name or by a path of wire names.
    public static func property(_ path: String) -> QueryTerm<AnyEdm> {
        QueryTerm(.path(QueryPath(path)))
    }
}

extension QueryTerm {
    /// `$it`: the current instance of the resource that the URL identifies, also within nested options.
    public static var it: QueryTerm {
        QueryTerm(.path(QueryPath(root: .it, segments: [])))
    }

    /// `$this`: the instance that the option is evaluated on, such as an element of a collection of values. Version 4.01.
    public static var this: QueryTerm {
        QueryTerm(.path(QueryPath(root: .this, segments: [])))
    }

    /// `$these`: the input collection of a set transformation.
    public static var these: QueryTerm {
        QueryTerm(.path(QueryPath(root: .these, segments: [])))
    }

    /// `$root/name`: an entity set or a singleton of the service.
    public static func root(_ name: String) -> QueryTerm {
        QueryTerm(.path(QueryPath(root: .root, segments: QueryPath.segments(of: name))))
    }

    /// An entity of the service, wherever the query is evaluated: `$root/Products('P2')`.
    ///
    ///     .filter { $0.price > .root(FetchRequest<Product>().key("P2")).price }
    ///
    /// The request's path leads to one entity or a singleton by names, keys and functions; its options don't apply. Another path is an
    /// error when the query is printed.
    public static func root(_ entity: EntityRequest<Value>) -> QueryTerm where Value: Decodable & Sendable {
        QueryTerm(.path(QueryPath(root: .root, segments: entity.left.segments.flatMap(QueryPath.segments))))
    }

    /// `@name`: the alias that ``QueryBuilding/alias(_:_:)`` defines.
    public static func alias(_ name: String) -> QueryTerm {
        QueryTerm(.path(QueryPath(root: .alias(name), segments: [])))
    }

    /// Returns a value as a term.
    public static func literal(_ value: Value) -> QueryTerm where Value: EdmConvertible {
        QueryTerm(value.queryExpression)
    }

    /// Returns the value of the first branch whose condition is true, or null if no condition is: `case(…)`. Version 4.01.
    ///
    ///     .when([($0.age < 18, "minor"), (.literal(true), "adult")])
    public static func when(_ branches: [(QueryTerm<Bool>, any QueryOperand)]) -> QueryTerm {
        QueryTerm(.conditional(branches.map { QueryExpression.Branch(when: $0.0.queryExpression, $0.1.queryExpression) }))
    }

    /// Returns the value converted to an OData type: `cast(x,Edm.String)`. The type name is a primitive type's or one from the service's
    /// metadata.
    public func converted<Other>(to name: String, as type: Other.Type = AnyEdm.self) -> QueryTerm<Other> {
        QueryTerm<Other>(.cast(queryExpression, name))
    }

    /// Returns whether the value is of a type: `isof(x,Ns.Type)`.
    public func isOf(_ name: String) -> QueryTerm<Bool> {
        QueryTerm<Bool>(.isOf(queryExpression, name))
    }

    /// Returns the instance cast to a derived type, whose properties are then available: `Ns.Employee/Salary`.
    public func cast<Derived>(to type: Derived.Type, named name: String) -> QueryTerm<Derived> {
        QueryTerm<Derived>(appending([.cast(name)]))
    }

    /// Returns the result of a service function that is bound to this value: `Trips/Ns.Nearby(distance=5)`, or `$it/Ns.Nearby(distance=5)`
    /// if the value is the entity itself.
    public func calling<Result>(
        _ name: String, _ parameters: KeyValuePairs<String, any QueryOperand> = [:], as type: Result.Type = AnyEdm.self
    ) -> QueryTerm<Result> {
        let function = QueryPath.Segment.function(name, parameters.map { QueryPath.Parameter($0.key, $0.value.queryExpression) })
        if case .path(let path) = queryExpression.kind, path.root == .entity, path.segments.isEmpty {
            return QueryTerm<Result>(.path(QueryPath(root: .this, segments: [function])))
        }
        return QueryTerm<Result>(appending([function]))
    }

    /// A Boolean value that indicates whether the property exists after a transformation that may have removed it: `isdefined(…)` (Data
    /// Aggregation, section 3.3).
    public var isDefined: QueryTerm<Bool> {
        QueryTerm<Bool>(calling("isdefined"))
    }
}

extension QueryTerm where Value == AnyEdm {
    /// Returns a collection as JSON: `["a","b"]`.
    public static func array(_ items: [any QueryOperand]) -> QueryTerm {
        QueryTerm(.array(items.map(\.queryExpression)))
    }

    /// Returns a complex value or an entity as JSON: `{"City":"Bonn"}`.
    public static func object(_ members: KeyValuePairs<String, any QueryOperand>) -> QueryTerm {
        QueryTerm(.object(members.map { QueryExpression.Member($0.key, $0.value.queryExpression) }))
    }
}

/// An operand or argument in an expression: a Swift value that has a literal, or a ``QueryTerm``.
public protocol QueryOperand {
    /// The operand as an expression tree.
    var queryExpression: QueryExpression { get }
}

extension Array: QueryOperand where Element: QueryOperand {
    /// The elements as JSON: `["a","b"]`.
    public var queryExpression: QueryExpression {
        .array(map(\.queryExpression))
    }
}
