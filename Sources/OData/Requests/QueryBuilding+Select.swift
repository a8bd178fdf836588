/// `$select`, `$compute`, `$orderby`, and how many.
extension QueryBuilding {
    /// Only these properties, and those of an earlier `select`. Without any, what ``Entity`` decodes is selected where that is known.
    public func select(_ properties: PartialKeyPath<Entity>...) -> Self {
        selecting(properties.map { SelectItem(QueryPath(segments: PropertyCatalog.segments(of: $0, in: Entity.self))) })
    }

    /// Only these properties by their wire names, and those of an earlier `select`. `*` and `Ns.*` are understood.
    public func select(_ first: String, _ more: String...) -> Self {
        selecting(([first] + more).map { SelectItem(QueryPath($0)) })
    }

    /// Only these items, and those of an earlier `select`.
    public func select(_ first: SelectItem, _ more: SelectItem...) -> Self {
        selecting([first] + more)
    }

    /// Only some elements of a collection of values: `Emails($filter=endswith($this,'.org'))`. Version 4.01.
    public func select<Element: Decodable & Sendable>(
        _ property: KeyPath<Entity, [Element]>, _ nested: (NestedQuery<Element>) -> NestedQuery<Element>
    ) -> Self {
        let path = QueryPath(segments: PropertyCatalog.segments(of: property, in: Entity.self))
        return selecting([SelectItem(path, options: nested(NestedQuery()).options)])
    }

    /// All properties: no `$select` is sent.
    public func selectAll() -> Self {
        changed { $0.selection = .all }
    }

    private func selecting(_ items: [SelectItem]) -> Self {
        guard !items.isEmpty else { return self }
        return changed { options in
            if case .items(let earlier) = options.selection {
                options.selection = .items(earlier + items.filter { !earlier.contains($0) })
            } else {
                options.selection = .items(items)
            }
        }
    }

    /// With a property that the service computes: `.compute("Total") { $0.price * $0.amount }`. Other options know it by its name,
    /// `$0["Total"]`. Version 4.01.
    public func compute<Value>(_ name: String, _ build: (QueryTerm<Entity>) -> QueryTerm<Value>) -> Self {
        let expression = build(QueryTerm(.path(QueryPath(segments: [])))).queryExpression
        return changed { $0.compute.append(Computation(expression, as: name)) }
    }

    /// Sorted by these, the first first. A second `order` sorts what the first leaves equal.
    public func order(by terms: Ordering<Entity>...) -> Self {
        changed { options in for term in terms { options.order.append(term.item) } }
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
}

/// The other options.
extension QueryBuilding {
    /// Only entities that match all these words, as the service understands matching.
    public func search(_ words: String) -> Self {
        search(.words(words))
    }

    /// Only entities that match these words in this order.
    public func search(phrase: String) -> Self {
        search(.phrase(phrase))
    }

    /// Only entities that match: `.search(.words("blue") && !.phrase("light green"))`. A second search must match as well.
    public func search(_ term: SearchTerm) -> Self {
        changed { options in options.search = options.search.map { .and($0, term) } ?? term }
    }

    /// With what a parameter alias stands for: `@name=value`.
    public func alias(_ name: String, _ value: some QueryOperand) -> Self {
        changed { $0.aliases.append(ParameterAlias(name, value.queryExpression)) }
    }

    /// With an option of the service's own. The name must not begin with `$` or `@`.
    public func option(_ name: String, _ value: String) -> Self {
        changed { $0.custom.append(QueryOptions.Custom(name: name, value: value)) }
    }

    /// In this format: `json`, or a media type. Clients say it by `Accept`; this is for links that somebody else opens.
    public func format(_ format: String) -> Self {
        changed { $0.format = format }
    }

    /// By this version of the service's metadata; `*` is the current one. Version 4.01.
    public func schemaVersion(_ version: String) -> Self {
        changed { $0.schemaVersion = version }
    }

    /// As it was, or will be, at a time, or in a period (OData Temporal Data).
    public func temporal(_ kind: TemporalBound.Kind, _ value: some QueryOperand) -> Self {
        changed { $0.temporal.append(TemporalBound(kind, value.queryExpression)) }
    }
}

extension NestedQuery {
    /// So many levels of a relation that leads to entities of the same type.
    public func levels(_ levels: ExpansionLevels) -> NestedQuery {
        changed { $0.levels = levels }
    }
}
