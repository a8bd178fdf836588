/// A typed part of a query: what a filter's closure gets as `$0`, and what its members, operators and functions give.
///
///     request.filter { $0.age > 21 && $0.name.hasPrefix("O'") || $0.trips.any { $0.budget >= 1_000 } }
///
/// Members are those of the Swift type and print under their wire names. Nothing is computed here: a term is only a description.
@dynamicMemberLookup
public struct QueryTerm<Value>: Sendable, QueryOperand {
    /// The term as a part of the tree.
    public let queryExpression: QueryExpression

    /// A term of your own making; the type is what you say it is.
    public init(_ expression: QueryExpression) {
        queryExpression = expression
    }

    /// A property of the value.
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> QueryTerm<Member> {
        member(keyPath, of: Value.self)
    }

    /// A property of the value behind an optional: in OData, a property of null is null.
    public subscript<Wrapped, Member>(dynamicMember keyPath: KeyPath<Wrapped, Member>) -> QueryTerm<Member?> where Value == Wrapped? {
        member(keyPath, of: Wrapped.self)
    }

    /// An optional property of the value behind an optional.
    public subscript<Wrapped, Member>(dynamicMember keyPath: KeyPath<Wrapped, Member?>) -> QueryTerm<Member?> where Value == Wrapped? {
        member(keyPath, of: Wrapped.self)
    }

    /// A property that may be absent: in a query it is null or a value.
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Presence<Member>>) -> QueryTerm<Member?> {
        member(keyPath, of: Value.self)
    }

    /// A property that may be absent, of the value behind an optional.
    public subscript<Wrapped, Member>(dynamicMember keyPath: KeyPath<Wrapped, Presence<Member>>) -> QueryTerm<Member?>
    where Value == Wrapped? {
        member(keyPath, of: Wrapped.self)
    }

    /// The entity that a relation leads to: in a query it is there whether it was loaded or not.
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, ToOne<Member>>) -> QueryTerm<Member?> {
        member(keyPath, of: Value.self)
    }

    /// The entity that a relation leads to, of the value behind an optional.
    public subscript<Wrapped, Member>(dynamicMember keyPath: KeyPath<Wrapped, ToOne<Member>>) -> QueryTerm<Member?>
    where Value == Wrapped? {
        member(keyPath, of: Wrapped.self)
    }

    /// A property by its wire name, or by a path of them: `$0["Address/City"]`.
    public subscript(_ path: String) -> QueryTerm<AnyEdm> {
        QueryTerm<AnyEdm>(appending(QueryPath.segments(of: path)))
    }

    /// The same expression seen as another type, for what the service knows and Swift doesn't.
    public func of<Other>(_ type: Other.Type) -> QueryTerm<Other> {
        QueryTerm<Other>(queryExpression)
    }

    /// A function by its name, for functions without a Swift spelling here: `.function("geo.distance", a, b)`.
    public static func function(_ name: String, _ arguments: any QueryOperand...) -> QueryTerm<Value> {
        QueryTerm(.call(name, arguments.map(\.queryExpression)))
    }

    /// Text in OData's own spelling, such as `Age gt 21`, not percent-encoded. Values inside it are yours to write right.
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

/// Stands for the type of what is only known by name.
public enum AnyEdm: Sendable {}

extension QueryTerm where Value == AnyEdm {
    /// A property of the entity by its wire name, or by a path of them.
    public static func property(_ path: String) -> QueryTerm<AnyEdm> {
        QueryTerm(.path(QueryPath(path)))
    }
}
