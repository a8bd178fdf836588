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

/// `$expand`.
extension QueryBuilding {
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

    /// With the related entities of a collection that knows whether it was loaded, and how it goes on.
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToMany<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// With the related entity of a relation that knows whether it was loaded.
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToOne<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
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
        var options = nested(NestedQuery()).options
        // References and counts have no properties.
        if [.ref, .count].contains(path.segments.last), options.selection == .decoded { options.selection = .all }
        return changed { $0.expansions.append(Expansion(path: path, options: options)) }
    }

    // MARK: References, counts and stars

    /// With references to the related entities in place of them: `Trips/$ref`.
    @_disfavoredOverload
    public func expandReferences(
        _ relation: PartialKeyPath<Entity>, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// With references to those of the related entities that the nested query leaves.
    public func expandReferences<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// The same of a collection that may be missing.
    public func expandReferences<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]?>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// The same of a collection that knows whether it was loaded.
    public func expandReferences<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToMany<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// The same of a relation to at most one entity that knows whether it was loaded.
    public func expandReferences<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToOne<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// With the number of related entities: `Trips/$count`, of those only that a nested filter or search leaves.
    @_disfavoredOverload
    public func expandCount(
        _ relation: PartialKeyPath<Entity>, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }
    ) -> Self {
        expanding(relation, .count, nested)
    }

    /// With the number of those of the related entities that the nested filter or search leaves: `Trips/$count($filter=…)`.
    public func expandCount<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .count, nested)
    }

    /// The same of a collection that may be missing.
    public func expandCount<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]?>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .count, nested)
    }

    /// The same of a collection that knows whether it was loaded.
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

    /// With references to what a navigation property by its wire name leads to.
    public func expandReferences(
        _ name: String, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }
    ) -> Self {
        expanding(QueryPath(name + "/$ref"), nested)
    }

    /// With the number of what a navigation property by its wire name leads to.
    public func expandCount(
        _ name: String, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }
    ) -> Self {
        expanding(QueryPath(name + "/$count"), nested)
    }

    /// With everything that is related, so many levels deep. Not in version 2.
    public func expandAll(levels: ExpansionLevels? = nil) -> Self {
        expanding(QueryPath(segments: [.all])) { (query: NestedQuery<DynamicEntity>) in levels.map { query.levels($0) } ?? query }
    }

    /// With an expansion of your own making.
    public func expand(_ expansion: Expansion) -> Self {
        changed { $0.expansions.append(expansion) }
    }
}

/// One item of `$select` (URL Conventions, section 5.1.4).
public struct SelectItem: Sendable, Hashable {
    /// The property, `*`, all operations of a schema, or an operation by its qualified name.
    public var path: QueryPath
    /// The names of a function's parameters, which tell its overloads apart; `nil` where they aren't needed.
    public var parameters: [String]?
    /// The options inside the parentheses, for complex values and collections. Version 4.01. Without any of them the array is empty; more
    /// than one element has no meaning.
    private(set) var nested: [QueryOptions] = []
    /// How many levels of options there are.
    private(set) var height = 0

    /// An item from its parts.
    public init(_ path: QueryPath, options: QueryOptions = QueryOptions()) {
        self.path = path
        self.options = options
    }

    /// A function by its qualified name and the names of its parameters.
    public init(function name: String, parameters: [String]) {
        path = QueryPath(segments: [.cast(name)])
        self.parameters = parameters
    }

    /// The options inside the parentheses.
    public var options: QueryOptions {
        get { nested.first ?? QueryOptions() }
        set {
            let options = newValue.height > QueryOptions.heightLimit ? QueryOptions.tooDeep : newValue
            nested = options == QueryOptions() ? [] : [options]
            height = nested.isEmpty ? 0 : options.height
        }
    }

    /// `*`: all properties.
    public static let all = SelectItem(QueryPath(segments: [.all]))
}
