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

/// What can stand as an operand or argument in an expression: a Swift value that has a literal, or a ``QueryTerm``.
public protocol QueryOperand {
    /// The operand as a part of the tree.
    var queryExpression: QueryExpression { get }
}

/// A text operand: a string, or a term whose value is text.
public protocol QueryTextOperand: QueryOperand {}

/// A number operand: a number, or a term whose value is a number.
public protocol QueryNumberOperand: QueryOperand {}

extension String: QueryTextOperand {}
extension QueryTerm: QueryTextOperand where Value: ODataText {}
extension Int: QueryNumberOperand {}
extension EdmDecimal: QueryNumberOperand {}
extension QueryTerm: QueryNumberOperand where Value: ODataNumber {}

/// Collections whose terms have `any`, `all` and a count.
public protocol ODataCollection {
    /// What the collection is made of.
    associatedtype Member
}

extension Array: ODataCollection {
    /// The elements.
    public typealias Member = Element
}

extension Set: ODataCollection {
    /// The elements.
    public typealias Member = Element
}

extension AnyEdm: ODataCollection {
    /// Elements are known by name only, too.
    public typealias Member = AnyEdm
}

extension Optional: ODataCollection where Wrapped: ODataCollection {
    /// The elements of the collection, if there is one.
    public typealias Member = Wrapped.Member
}

extension QueryTerm where Value: ODataCollection {
    /// Whether the predicate holds for at least one element.
    public func any(_ predicate: (QueryTerm<Value.Member>) -> QueryTerm<Bool>) -> QueryTerm<Bool> {
        lambda(.any, predicate)
    }

    /// Whether the predicate holds for every element; true of an empty collection.
    public func all(_ predicate: (QueryTerm<Value.Member>) -> QueryTerm<Bool>) -> QueryTerm<Bool> {
        lambda(.all, predicate)
    }

    /// Whether there is an element.
    public func any() -> QueryTerm<Bool> {
        collection { .lambda(.any, $0, LambdaVariable(number: 1), nil) }
    }

    /// How many elements there are: `/$count`.
    public var count: QueryTerm<Int> {
        QueryTerm<Int>(appending([.count]))
    }

    /// Whether there is no element.
    public var isEmpty: QueryTerm<Bool> {
        !any()
    }

    /// How many elements a condition holds for: `$count($filter=…)`. Version 4.01.
    public func count(where predicate: (QueryTerm<Value.Member>) -> QueryTerm<Bool>) -> QueryTerm<Int> {
        QueryTerm<Int>(appending([.countWhere(predicate(QueryTerm<Value.Member>(.path(QueryPath(segments: [])))).queryExpression, nil)]))
    }

    /// The elements that a condition holds for: `/$filter(…)`. Version 4.01.
    public func filter(_ predicate: (QueryTerm<Value.Member>) -> QueryTerm<Bool>) -> QueryTerm {
        QueryTerm(appending([.filter(predicate(QueryTerm<Value.Member>(.path(QueryPath(segments: [])))).queryExpression)]))
    }

    /// `hassubset`: whether all elements of another collection are in it, in any order. Version 4.01.
    public func hasSubset(_ other: some QueryOperand) -> QueryTerm<Bool> {
        QueryTerm<Bool>(calling("hassubset", other))
    }

    /// `hassubsequence`: whether all elements of another collection are in it, in its order. Version 4.01.
    public func hasSubsequence(_ other: some QueryOperand) -> QueryTerm<Bool> {
        QueryTerm<Bool>(calling("hassubsequence", other))
    }

    /// One value of all elements: `aggregate(Amount with sum)` (Data Aggregation, section 3.1.3).
    public func aggregate<Element>(
        _ method: AggregateExpression.Method, _ build: (QueryTerm<Value.Member>) -> QueryTerm<Element>
    ) -> QueryTerm<Element> {
        let source = build(QueryTerm<Value.Member>(.path(QueryPath(segments: [])))).queryExpression
        return QueryTerm<Element>(appending([.aggregate(AggregateExpression(source, with: method))]))
    }

    private func lambda(
        _ quantifier: LambdaQuantifier, _ predicate: (QueryTerm<Value.Member>) -> QueryTerm<Bool>
    ) -> QueryTerm<Bool> {
        collection { path in
            .lambda(quantifier, over: path) { variable in
                let element = QueryPath(root: .variable(variable), segments: [])
                return predicate(QueryTerm<Value.Member>(.path(element))).queryExpression
            }
        }
    }

    private func collection(_ build: (QueryPath) -> QueryExpression) -> QueryTerm<Bool> {
        guard case .path(let path) = queryExpression.kind else {
            return QueryTerm<Bool>(.invalid(.invalidOption("expression", reason: "any and all are asked of properties only")))
        }
        return QueryTerm<Bool>(build(path))
    }
}

extension QueryTerm {
    /// Whether the value is an element of a collection: `in`. Version 4.01.
    public func isIn<Collection: ODataCollection>(_ collection: QueryTerm<Collection>) -> QueryTerm<Bool> {
        QueryTerm<Bool>(.binary(.isIn, queryExpression, collection.queryExpression))
    }
}

extension Array: QueryOperand where Element: QueryOperand {
    /// The elements as JSON: `["a","b"]`.
    public var queryExpression: QueryExpression {
        .array(map(\.queryExpression))
    }
}
