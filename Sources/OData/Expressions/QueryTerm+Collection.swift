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
