/// A collection type. Terms of such types have `any`, `all` and `count`.
public protocol ODataCollection {
    /// The type of the elements.
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

extension ToMany: ODataCollection {
    /// The related entities.
    public typealias Member = Entity
}

extension AnyEdm: ODataCollection {
    /// The elements, also known only by name.
    public typealias Member = AnyEdm
}

extension Optional: ODataCollection where Wrapped: ODataCollection {
    /// The elements of the wrapped collection.
    public typealias Member = Wrapped.Member
}

extension QueryTerm where Value: ODataCollection {
    /// Returns whether at least one element satisfies the predicate.
    public func any(_ predicate: (QueryTerm<Value.Member>) -> QueryTerm<Bool>) -> QueryTerm<Bool> {
        lambda(.any, predicate)
    }

    /// Returns whether every element satisfies the predicate; true for an empty collection.
    public func all(_ predicate: (QueryTerm<Value.Member>) -> QueryTerm<Bool>) -> QueryTerm<Bool> {
        lambda(.all, predicate)
    }

    /// Returns whether the collection has this element: `any(x:x eq …)`.
    public func contains(_ element: Value.Member) -> QueryTerm<Bool> where Value.Member: EdmConvertible {
        any { $0 == element }
    }

    /// Has another name: ``any(_:)``.
    @available(*, unavailable, renamed: "any")
    public func contains(where predicate: (QueryTerm<Value.Member>) -> QueryTerm<Bool>) -> QueryTerm<Bool> { any(predicate) }

    /// Has another name: ``all(_:)``.
    @available(*, unavailable, renamed: "all")
    public func allSatisfy(_ predicate: (QueryTerm<Value.Member>) -> QueryTerm<Bool>) -> QueryTerm<Bool> { all(predicate) }

    /// Returns whether the collection has an element.
    public func any() -> QueryTerm<Bool> {
        collection { .lambda(.any, $0, LambdaVariable(number: 1), nil) }
    }

    /// The number of elements: `/$count`.
    public var count: QueryTerm<Int> {
        QueryTerm<Int>(appending([.count]))
    }

    /// A Boolean value that indicates whether the collection is empty.
    public var isEmpty: QueryTerm<Bool> {
        !any()
    }

    /// Returns the number of elements that satisfy a condition: `$count($filter=…)`. Version 4.01.
    public func count(where predicate: (QueryTerm<Value.Member>) -> QueryTerm<Bool>) -> QueryTerm<Int> {
        QueryTerm<Int>(appending([.countWhere(predicate(QueryTerm<Value.Member>(.path(QueryPath(segments: [])))).queryExpression, nil)]))
    }

    /// Returns the elements that satisfy a condition: `/$filter(…)`. Version 4.01.
    public func filter(_ predicate: (QueryTerm<Value.Member>) -> QueryTerm<Bool>) -> QueryTerm {
        QueryTerm(appending([.filter(predicate(QueryTerm<Value.Member>(.path(QueryPath(segments: [])))).queryExpression)]))
    }

    /// `hassubset`: returns whether the collection contains all elements of another one, in any order. Version 4.01.
    public func hasSubset(_ other: some QueryOperand) -> QueryTerm<Bool> {
        QueryTerm<Bool>(calling("hassubset", other))
    }

    /// `hassubsequence`: returns whether the collection contains all elements of another one, in the same order. Version 4.01.
    public func hasSubsequence(_ other: some QueryOperand) -> QueryTerm<Bool> {
        QueryTerm<Bool>(calling("hassubsequence", other))
    }

    /// Aggregates all elements to one value: `aggregate(Amount with sum)` (Data Aggregation, section 3.1.3).
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
            return QueryTerm<Bool>(.invalid(.invalidOption("expression", reason: "any and all apply only to properties")))
        }
        return QueryTerm<Bool>(build(path))
    }
}

extension QueryTerm {
    /// Returns whether the value is an element of a collection: `in`. Version 4.01.
    public func isIn<Collection: ODataCollection>(_ collection: QueryTerm<Collection>) -> QueryTerm<Bool> {
        QueryTerm<Bool>(.binary(.isIn, queryExpression, collection.queryExpression))
    }
}
