/// What becomes of options where a request becomes one for something else.
extension QueryOptions {
    /// Takes over what another request says about the request as a whole, and not about the entities.
    mutating func keepWhole(of other: QueryOptions) {
        custom = other.custom
        aliases = other.aliases
        format = other.format
        schemaVersion = other.schemaVersion
        temporal = other.temporal
        headers = other.headers
    }

    /// The options that were given and say something about the entities: which, in what order, with what.
    var ownNames: [String] {
        var isSelective = false
        if case .items(let items) = selection { isSelective = !items.isEmpty }
        let given: [(String, Bool)] = [
            ("$filter", filter != nil), ("$search", search != nil), ("$orderby", !order.isEmpty), ("$top", top != nil),
            ("$skip", skip != nil),
            ("$count", includesCount), ("$select", isSelective), ("$expand", !expansions.isEmpty), ("$apply", !apply.isEmpty),
            ("$compute", !compute.isEmpty), ("$levels", levels != nil), ("$index", index != nil), ("$skiptoken", skipToken != nil),
            ("$deltatoken", deltaToken != nil), ("$id", entityID != nil),
        ]
        return given.filter(\.1).map(\.0)
    }

    /// The same where what the type doesn't declare is kept, too: all properties, unless some were selected.
    var keepingUndeclared: QueryOptions {
        guard case .decoded = selection else { return self }
        var options = self
        // What is computed comes for sure only where it is selected (Protocol, section 11.2.5.3).
        let computed = compute.map { SelectItem(QueryPath($0.name)) }
        options.selection = computed.isEmpty ? .all : .items([SelectItem(QueryPath(segments: [.all]))] + computed)
        return options
    }

    /// The options of the same entities seen as ones of a derived type.
    func cast(to type: Any.Type) -> QueryOptions {
        var options = self
        options.catalog = PropertyCatalog.of(type)
        if !apply.isEmpty {
            options.apply.append(.invalid(.invalidOption("$apply", reason: "what it gives can't be seen as another type; cast before it")))
        }
        return options
    }

    /// A name that no alias has yet.
    ///
    /// - Parameter others: names that aren't free either.
    func freeAlias(_ name: String, besides others: Set<String> = []) -> String {
        var number = 1
        var free = name
        while aliases.contains(where: { $0.name == free }) || others.contains(free) {
            number += 1
            free = "\(name)\(number)"
        }
        return free
    }
}
