public import WebServiceClient

/// Query options as methods that each return a changed copy, shared by ``FetchRequest``, ``EntityRequest`` and ``NestedQuery``.
public protocol QueryBuilding<Entity>: Sendable, Hashable {
    /// The type that results are decoded into.
    associatedtype Entity: Decodable & Sendable
    /// The options set so far.
    var options: QueryOptions { get set }
}

extension QueryBuilding {
    func changed(_ change: (inout QueryOptions) -> Void) -> Self {
        var copy = self
        change(&copy.options)
        return copy
    }

    /// Keeps only the entities that satisfy the predicate. Several filters are combined with `and`.
    public func filter(_ predicate: (QueryTerm<Entity>) -> QueryTerm<Bool>) -> Self {
        filter(predicate(QueryTerm(.path(QueryPath(segments: [])))))
    }

    /// Keeps only the entities that satisfy the predicate: `.filter(.property("Age") > 21)`.
    public func filter(_ predicate: QueryTerm<Bool>) -> Self {
        filter(expression: predicate.queryExpression)
    }

    /// Keeps only the entities that satisfy a condition in OData syntax, not percent-encoded, such as `Age gt 21`.
    public func filter(raw text: String) -> Self {
        filter(expression: .raw(text))
    }

    /// Keeps only the entities that satisfy the expression.
    public func filter(expression: QueryExpression) -> Self {
        changed { options in options.filter = options.filter.map { .binary(.and, $0, expression) } ?? expression }
    }
}

/// The parts of a request outside its URL.
extension QueryBuilding {
    /// Sets a header field for this request, which replaces the client's fields of that name. Requests for later pages send it as well,
    /// unless their link leads to another origin.
    ///
    /// Sending the request throws if the name or the value isn't well formed (RFC 9110, section 5).
    public func header(_ name: HTTPFields.Name, _ value: String) -> Self {
        changed { $0.headers[name] = value }
    }

    /// Adds a preference (RFC 7240; Protocol, section 8.2.8), such as `odata.track-changes` or `odata.include-annotations="*"`. Preferences
    /// accumulate, and precede those of the client.
    public func preferring(_ preference: String) -> Self {
        changed { $0.headers.append("Prefer", preference) }
    }
}

/// `$select`, `$compute`, `$orderby`, `$top`, `$skip` and `$count`.
extension QueryBuilding {
    /// Selects these properties in addition to earlier ones. Without a selection, the properties that ``Entity`` decodes are selected if
    /// they are known, except for relations; see ``DefaultSelection``.
    public func select(_ properties: PartialKeyPath<Entity>...) -> Self {
        selecting(properties.map { SelectItem(QueryPath(segments: PropertyCatalog.segments(of: $0, in: Entity.self))) })
    }

    /// Selects these properties by their wire names, in addition to earlier ones. `*` and `Ns.*` are supported.
    public func select(_ first: String, _ more: String...) -> Self {
        selecting(([first] + more).map { SelectItem(QueryPath($0)) })
    }

    /// Selects these items in addition to earlier ones.
    public func select(_ first: SelectItem, _ more: SelectItem...) -> Self {
        selecting([first] + more)
    }

    /// Selects some elements of a collection of values: `Emails($filter=endswith($this,'.org'))`. Version 4.01.
    public func select<Element: Decodable & Sendable>(
        _ property: KeyPath<Entity, [Element]>, _ nested: (NestedQuery<Element>) -> NestedQuery<Element>
    ) -> Self {
        let path = QueryPath(segments: PropertyCatalog.segments(of: property, in: Entity.self))
        return selecting([SelectItem(path, options: nested(NestedQuery()).options)])
    }

    /// Selects all properties: no `$select` is sent.
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

    /// Adds a property that the service computes: `.compute("Total") { $0.price * $0.amount }`. Other options refer to it by name,
    /// `$0["Total"]`. Version 4.01.
    public func compute<Value>(_ name: String, _ build: (QueryTerm<Entity>) -> QueryTerm<Value>) -> Self {
        let expression = build(QueryTerm(.path(QueryPath(segments: [])))).queryExpression
        return changed { $0.compute.append(Computation(expression, as: name)) }
    }

    /// Sorts by these terms in order of priority. A second `order` adds terms with lower priority.
    public func order(by terms: Ordering<Entity>...) -> Self {
        changed { options in for term in terms { options.order.append(term.item) } }
    }

    /// Limits the number of entities across all pages.
    public func top(_ count: Int) -> Self {
        changed { $0.top = count }
    }

    /// Skips the first `count` entities.
    public func skip(_ count: Int) -> Self {
        changed { $0.skip = count }
    }

    /// Requests the number of all matching entities, regardless of `top` and `skip`.
    public func count() -> Self {
        changed { $0.includesCount = true }
    }
}

/// The other options.
extension QueryBuilding {
    /// Keeps only the entities that match all these words; the service defines what matches.
    public func search(_ words: String) -> Self {
        search(.words(words))
    }

    /// Keeps only the entities that match these words in this order.
    public func search(phrase: String) -> Self {
        search(.phrase(phrase))
    }

    /// Keeps only the entities that match the term: `.search(.words("blue") && !.phrase("light green"))`. Several searches are combined
    /// with `and`.
    public func search(_ term: SearchTerm) -> Self {
        changed { options in options.search = options.search.map { .and($0, term) } ?? term }
    }

    /// Defines the value of a parameter alias: `@name=value`.
    public func alias(_ name: String, _ value: some QueryOperand) -> Self {
        changed { $0.aliases.append(ParameterAlias(name, value.queryExpression)) }
    }

    /// Adds a custom query option. The name must not begin with `$` or `@`.
    public func option(_ name: String, _ value: String) -> Self {
        changed { $0.custom.append(QueryOptions.Custom(name: name, value: value)) }
    }

    /// Requests a format: `json`, or a media type. Clients negotiate the format with `Accept`; use this option for links that other
    /// programs open.
    public func format(_ format: String) -> Self {
        changed { $0.format = format }
    }

    /// Requests a version of the service's metadata; `*` is the current one. Version 4.01.
    public func schemaVersion(_ version: String) -> Self {
        changed { $0.schemaVersion = version }
    }

    /// Requests the state at a point in time or in a period (OData Temporal Data).
    public func temporal(_ kind: TemporalBound.Kind, _ value: some QueryOperand) -> Self {
        changed { $0.temporal.append(TemporalBound(kind, value.queryExpression)) }
    }
}

/// `$expand`.
extension QueryBuilding {
    /// Expands the related entities of a collection.
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// Expands the related entities of an optional collection.
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]?>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// Expands an optional related entity.
    ///
    /// Disfavored because an optional collection also matches, and the compiler can't resolve the ambiguity through the nested closure.
    @_disfavoredOverload
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, Target?>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// Expands a related entity that always exists. Optionals and arrays don't conform to ``EntityType``, which keeps the overloads
    /// unambiguous; for other types, use ``expand(_:_:)`` with a name.
    public func expand<Target: EntityType>(
        _ relation: KeyPath<Entity, Target>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// Expands the related entities of a collection that records whether it was loaded, and its next page.
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToMany<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// Expands the related entity of a relation that records whether it was loaded.
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToOne<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// Expands a navigation property by its wire name.
    public func expand(_ name: String, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }) -> Self {
        expanding(QueryPath(name), nested)
    }

    private func expanding<Target>(_ relation: AnyKeyPath, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>) -> Self {
        expanding(QueryPath(segments: PropertyCatalog.segments(of: relation, in: Entity.self)), nested)
    }

    private func expanding<Target>(_ path: QueryPath, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>) -> Self {
        var options = nested(NestedQuery()).options
        // References and counts have no properties.
        if [.ref, .count].contains(path.segments.last), options.selection == .decoded { options.selection = .all }
        return changed { $0.expansions.append(Expansion(path: path, options: options)) }
    }

    // MARK: References, counts and stars

    /// Requests references instead of the related entities: `Trips/$ref`.
    @_disfavoredOverload
    public func expandReferences(
        _ relation: PartialKeyPath<Entity>, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// Requests references to the related entities that the nested query keeps.
    public func expandReferences<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// Requests references to the related entities of an optional collection that the nested query keeps.
    public func expandReferences<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]?>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// Requests references to the related entities that the nested query keeps, for a collection that records whether it was loaded.
    public func expandReferences<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToMany<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// Requests a reference to the related entity of a to-one relation that records whether it was loaded.
    public func expandReferences<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToOne<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// Requests the number of related entities: `Trips/$count`. A nested filter or search limits which are counted.
    @_disfavoredOverload
    public func expandCount(
        _ relation: PartialKeyPath<Entity>, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }
    ) -> Self {
        expanding(relation, .count, nested)
    }

    /// Requests the number of related entities that the nested filter or search keeps: `Trips/$count($filter=…)`.
    public func expandCount<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .count, nested)
    }

    /// Requests the number of related entities of an optional collection that the nested filter or search keeps.
    public func expandCount<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]?>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .count, nested)
    }

    /// Requests the number of related entities that the nested query keeps, for a collection that records whether it was loaded.
    public func expandCount<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToMany<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .count, nested)
    }

    private func expanding<Target>(
        _ relation: PartialKeyPath<Entity>, _ end: QueryPath.Segment, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(QueryPath(segments: PropertyCatalog.segments(of: relation, in: Entity.self) + [end]), nested)
    }

    /// Requests references to the entities of a navigation property by its wire name.
    public func expandReferences(
        _ name: String, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }
    ) -> Self {
        expanding(QueryPath(name + "/$ref"), nested)
    }

    /// Requests the number of entities of a navigation property by its wire name.
    public func expandCount(
        _ name: String, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }
    ) -> Self {
        expanding(QueryPath(name + "/$count"), nested)
    }

    /// Expands every relation, up to `levels` deep. Not in version 2.
    public func expandAll(levels: ExpansionLevels? = nil) -> Self {
        expanding(QueryPath(segments: [.all])) { (query: NestedQuery<DynamicEntity>) in levels.map { query.levels($0) } ?? query }
    }

    /// Adds a custom expansion.
    public func expand(_ expansion: Expansion) -> Self {
        changed { $0.expansions.append(expansion) }
    }
}
