/// A query for entities, as a value: their location, conditions, order and related entities.
///
///     let request = FetchRequest<Person>(from: "People")
///         .filter { $0.age > 21 && $0.name.hasPrefix("O'") || $0.trips.any { $0.budget >= 1_000 } }
///         .expand(\.trips) { $0.order(by: .descending(\.startsAt)).top(3) }
///         .order(by: .ascending(\.lastName)).top(20)
///
/// Key paths are resolved to wire names immediately; a key path without a name makes printing throw, not building.
public struct FetchRequest<Entity: Decodable & Sendable>: QueryBuilding {
    /// The location of the entities.
    public let resource: ResourcePath
    /// The options set so far.
    public var options: QueryOptions

    /// Creates a request for all entities of a set, or of another collection by its path from the service's root, such as
    /// `People('ada')/Trips`.
    ///
    /// The path is text in OData syntax, not percent-encoded.
    public init(from path: String) {
        self.init(resource: ResourcePath(path))
    }

    /// Creates a request for all entities of a collection.
    public init(resource: ResourcePath) {
        self.resource = resource
        options = QueryOptions(decoding: Entity.self)
    }

    /// The reason why the default selection sends no `$select`; `nil` if there is a selection, the properties that ``Entity`` decodes are
    /// selected, or the type states its ``DefaultSelection`` itself.
    public var selectionNote: String? {
        guard options.selection == .decoded, let reason = options.catalog?.selectionReason else { return nil }
        return "All properties of \(resource) are fetched because those of \(Entity.self) aren't known: \(reason)."
    }

    /// The request without its Swift types.
    public var query: ODataQuery {
        ODataQuery(resource, options: options)
    }
}

extension FetchRequest where Entity: EntityType {
    /// Creates a request for all entities of the type's default set.
    public init() {
        self.init(from: Entity.entitySetName)
    }
}

extension FetchRequest {
    /// Returns a request for one entity of the collection by its key.
    public func key(_ key: some EdmConvertible) -> EntityRequest<Entity> {
        EntityRequest(resource: resource.key(key), options: options)
    }

    /// Returns a request for one entity by a key of several properties, or by an alternate key: `.key(["OrderID": 1, "ProductID": 7])`.
    public func key(_ parts: KeyValuePairs<String, any EdmConvertible>) -> EntityRequest<Entity> {
        EntityRequest(resource: resource.key(parts), options: options)
    }

    /// Returns a request for one entity by a key in the query instead of the path: `People(@key)?@key='…'`, for servers that can't accept a
    /// `/` or a `:` in a path (URL Conventions, section 4.3.1).
    public func key(byAlias key: some EdmConvertible) -> EntityRequest<Entity> {
        let name = options.freeAlias("key")
        let request = EntityRequest<Entity>(resource: resource.key(alias: name), options: options)
        return request.alias(name, key.edmValue)
    }

    /// Returns a request for one entity by a key of several properties in the query: `Items(OrderID=@key,Name=@key2)?@key=1&@key2='…'`.
    public func key(byAlias parts: KeyValuePairs<String, any EdmConvertible>) -> EntityRequest<Entity> {
        var options = options
        let key = parts.map { name, value in
            let alias = options.freeAlias("key")
            options.aliases.append(ParameterAlias(alias, .literal(value.edmValue)))
            return ResourcePath.KeyPart(name: name, .alias(alias))
        }
        return EntityRequest(resource: resource.appending(.key(key)), options: options)
    }

    /// Returns a request for one entity by its key as a segment: `People/5`, for services whose metadata announces support.
    public func keySegment(_ key: some EdmConvertible) -> EntityRequest<Entity> {
        EntityRequest(resource: resource.keySegment(key), options: options)
    }

    /// Casts the entities to a derived type by the type's qualified name. The options are kept; the default selection becomes the
    /// properties that the derived type decodes. After `apply`, printing throws.
    public func cast<Derived>(to type: Derived.Type, named name: String) -> FetchRequest<Derived> {
        var request = FetchRequest<Derived>(resource: resource.cast(to: name))
        request.options = options.cast(to: type)
        return request
    }
}

/// An entity type with a default entity set, so that requests can omit it.
public protocol EntityType: Decodable, Sendable {
    /// The entity set's name in the service, such as `People`.
    static var entitySetName: String { get }
}
