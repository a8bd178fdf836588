/// A query for entities, as a value: where they are, which, in what order, with what.
///
///     let request = FetchRequest<Person>(from: "People")
///         .filter { $0.age > 21 && $0.name.hasPrefix("O'") || $0.trips.any { $0.budget >= 1_000 } }
///         .expand(\.trips) { $0.order(by: .descending(\.startsAt)).top(3) }
///         .order(by: .ascending(\.lastName)).top(20)
///
/// Key paths are turned into wire names at once; one that has no name makes printing throw, not building.
public struct FetchRequest<Entity: Decodable & Sendable>: QueryBuilding {
    /// Where the entities are.
    public let resource: ResourcePath
    /// The options so far.
    public var options: QueryOptions

    /// All entities of a set, or of another collection by its path from the service's root, such as `People('ada')/Trips`.
    ///
    /// The path is text in OData's own spelling, not percent-encoded.
    public init(from path: String) {
        self.init(resource: ResourcePath(path))
    }

    /// All entities of a collection.
    public init(resource: ResourcePath) {
        self.resource = resource
        options = QueryOptions(decoding: Entity.self)
    }

    /// Why no `$select` is sent although none was asked for, or `nil`: then what ``Entity`` decodes is selected.
    public var selectionNote: String? {
        guard options.selection == .decoded, options.decodedNames == nil else { return nil }
        return "All properties of \(resource) are fetched, as \(Entity.self) doesn't tell which it needs: \(options.decodedReason ?? "")."
    }

    /// The URL relative to the service's root, percent-encoded as it goes over the wire.
    ///
    /// - Throws: ``ODataQueryError`` where a part can't be said.
    public func relativeURL(using printer: QueryPrinter = QueryPrinter()) throws(ODataQueryError) -> String {
        try printer.request(query)
    }

    /// The request without its Swift types.
    public var query: ODataQuery {
        ODataQuery(resource, options: options)
    }
}

extension FetchRequest where Entity: EntityType {
    /// All entities of the type's own set.
    public init() {
        self.init(from: Entity.entitySetName)
    }
}

extension FetchRequest {
    /// One entity of the collection by its key.
    public func key(_ key: some EdmConvertible) -> EntityRequest<Entity> {
        EntityRequest(resource: resource.key(key), options: options)
    }

    /// One entity of the collection by a key of several properties, or by an alternate key: `.key(["OrderID": 1, "ProductID": 7])`.
    public func key(_ parts: KeyValuePairs<String, any EdmConvertible>) -> EntityRequest<Entity> {
        EntityRequest(resource: resource.key(parts), options: options)
    }

    /// One entity of the collection by a key that stands in the query instead of the path: `People(@key)?@key='…'`, for servers that
    /// can't take a `/` or a `:` in a path (URL Conventions, section 4.3.1).
    public func key(byAlias key: some EdmConvertible) -> EntityRequest<Entity> {
        let name = options.freeAlias("key")
        let request = EntityRequest<Entity>(resource: resource.key(alias: name), options: options)
        return request.alias(name, key.edmValue)
    }

    /// The same by a key of several properties: `Items(OrderID=@key,Name=@key2)?@key=1&@key2='…'`.
    public func key(byAlias parts: KeyValuePairs<String, any EdmConvertible>) -> EntityRequest<Entity> {
        var options = options
        let key = parts.map { name, value in
            let alias = options.freeAlias("key")
            options.aliases.append(ParameterAlias(alias, .literal(value.edmValue)))
            return ResourcePath.KeyPart(name: name, .alias(alias))
        }
        return EntityRequest(resource: resource.appending(.key(key)), options: options)
    }

    /// One entity of the collection by its key as a segment: `People/5`, for services that say so in their metadata.
    public func keySegment(_ key: some EdmConvertible) -> EntityRequest<Entity> {
        EntityRequest(resource: resource.keySegment(key), options: options)
    }

    /// The entities of the collection that are of a derived type, by the type's qualified name. The options stay; what the
    /// other type decodes is selected unless something else is. Behind `apply` it is an error when printed.
    public func cast<Derived>(to type: Derived.Type, named name: String) -> FetchRequest<Derived> {
        var request = FetchRequest<Derived>(resource: resource.cast(to: name))
        request.options = options.cast(to: type)
        return request
    }
}
