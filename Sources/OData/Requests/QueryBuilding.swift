/// The query options as methods: each gives a changed copy. ``FetchRequest``, ``EntityRequest`` and ``NestedQuery`` have them.
public protocol QueryBuilding<Entity>: Sendable, Hashable {
    /// The type that results are decoded into.
    associatedtype Entity: Decodable & Sendable
    /// The options so far.
    var options: QueryOptions { get set }
}

extension QueryBuilding {
    func changed(_ change: (inout QueryOptions) -> Void) -> Self {
        var copy = self
        change(&copy.options)
        return copy
    }

    /// Only entities the predicate holds for. A second filter must hold as well.
    public func filter(_ predicate: (QueryTerm<Entity>) -> QueryTerm<Bool>) -> Self {
        filter(predicate(QueryTerm(.path(QueryPath(segments: [])))))
    }

    /// Only entities the predicate holds for: `.filter(.property("Age") > 21)`.
    public func filter(_ predicate: QueryTerm<Bool>) -> Self {
        filter(expression: predicate.queryExpression)
    }

    /// Only entities the text holds for: OData's own spelling, not percent-encoded, such as `Age gt 21`.
    public func filter(raw text: String) -> Self {
        filter(expression: .raw(text))
    }

    /// Only entities the expression holds for.
    public func filter(expression: QueryExpression) -> Self {
        changed { options in options.filter = options.filter.map { .binary(.and, $0, expression) } ?? expression }
    }
}
