public import WebServiceClient

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

/// What a request sends beside its URL.
extension QueryBuilding {
    /// With a header field of this request's own, in place of those of that name that the client has for all its calls. The requests for the
    /// pages behind the first one have it as well, unless their link leads to another origin.
    ///
    /// A name or a value that isn't well formed (RFC 9110, section 5) is an error when the request is sent.
    public func header(_ name: HTTPFields.Name, _ value: String) -> Self {
        changed { $0.headers[name] = value }
    }

    /// With a preference (RFC 7240; Protocol, section 8.2.8), such as `odata.track-changes` or `odata.include-annotations="*"`: beside those
    /// of earlier calls of this method, and before those that the client has for all its calls.
    public func preferring(_ preference: String) -> Self {
        changed { $0.headers.append("Prefer", preference) }
    }
}
