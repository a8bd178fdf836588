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

    // MARK: Filter and search

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

    /// Only entities that match all these words, as the service understands matching.
    public func search(_ words: String) -> Self {
        changed { $0.search.append(.words(words)) }
    }

    /// Only entities that match these words in this order.
    public func search(phrase: String) -> Self {
        changed { $0.search.append(.phrase(phrase)) }
    }

    // MARK: Select

    /// Only these properties, and those of an earlier `select`. Without any, what ``Entity`` decodes is selected where that is known.
    public func select(_ properties: PartialKeyPath<Entity>...) -> Self {
        selecting(properties.map { QueryPath(segments: PropertyCatalog.segments(of: $0, in: Entity.self)) })
    }

    /// Only these properties by their wire names, and those of an earlier `select`.
    public func select(_ first: String, _ more: String...) -> Self {
        selecting(([first] + more).map { QueryPath($0) })
    }

    /// All properties: no `$select` is sent.
    public func selectAll() -> Self {
        changed { $0.selection = .all }
    }

    private func selecting(_ paths: [QueryPath]) -> Self {
        changed { options in
            if case .properties(let earlier) = options.selection {
                options.selection = .properties(earlier + paths.filter { !earlier.contains($0) })
            } else {
                options.selection = .properties(paths)
            }
        }
    }

    // MARK: Order and range

    /// Sorted by these, the first first. A second `order` sorts what the first leaves equal.
    public func order(by terms: Ordering<Entity>...) -> Self {
        changed { $0.order += terms.map(\.item) }
    }

    /// At most so many entities, in all pages together.
    public func top(_ count: Int) -> Self {
        changed { $0.top = count }
    }

    /// Without the first so many entities.
    public func skip(_ count: Int) -> Self {
        changed { $0.skip = count }
    }

    /// With the number of all entities that match, whatever `top` and `skip` say.
    public func count() -> Self {
        changed { $0.includesCount = true }
    }

    // MARK: Expand

    /// With the related entities of a collection.
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// With the related entities of a collection that may be missing.
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]?>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// With the related entity, if there is one.
    ///
    /// Disfavoured, as an optional collection would fit here as well, and the nested closure hides from the compiler which one is meant.
    @_disfavoredOverload
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, Target?>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// With the related entity, which is always there. (Optionals and arrays are no ``EntityType``, which tells the overloads apart; for
    /// other types there is ``expand(_:_:)`` by name.)
    public func expand<Target: EntityType>(
        _ relation: KeyPath<Entity, Target>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// With what a navigation property by its wire name leads to.
    public func expand(_ name: String, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }) -> Self {
        expanding(QueryPath(name), nested)
    }

    private func expanding<Target>(_ relation: AnyKeyPath, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>) -> Self {
        expanding(QueryPath(segments: PropertyCatalog.segments(of: relation, in: Entity.self)), nested)
    }

    private func expanding<Target>(_ path: QueryPath, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>) -> Self {
        let query = nested(NestedQuery())
        return changed { $0.expansions.append(QueryOptions.Expansion(path: path, options: query.options)) }
    }
}
