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
        guard case .path(let path) = queryExpression else {
            return QueryTerm<Bool>(.invalid(.invalidOption("expression", reason: "any and all are asked of properties only")))
        }
        return QueryTerm<Bool>(build(path))
    }
}
