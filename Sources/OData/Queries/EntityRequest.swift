/// A query for one entity, by its key or as a singleton.
///
/// `navigate` keeps the options of the request as a whole: aliases, custom options, `$format`, `$schemaversion`, temporal bounds and header
/// fields. Options of the entity aren't carried over; printing the new request throws if any was set before `navigate`.
public struct EntityRequest<Entity: Decodable & Sendable>: QueryBuilding {
    /// The location of the entity.
    public let resource: ResourcePath
    /// The options set so far; printing the request throws if one applies to collections only.
    public var options: QueryOptions

    /// Creates a request for the entity at a path from the service's root, such as a singleton's name. The path isn't percent-encoded.
    public init(at path: String) {
        self.init(resource: ResourcePath(path), options: QueryOptions(decoding: Entity.self))
    }

    /// Creates a request for the entity at a path.
    public init(resource: ResourcePath) {
        self.init(resource: resource, options: QueryOptions(decoding: Entity.self))
    }

    init(resource: ResourcePath, options: QueryOptions) {
        self.resource = resource
        self.options = options
    }

    /// The request without its Swift types.
    public var query: ODataQuery {
        ODataQuery(resource, options: options)
    }
}

extension EntityRequest {
    /// Requests the related entities of a relation: `People('ada')/Trips`. Options start afresh, see ``EntityRequest``.
    public func navigate<Target>(_ relation: KeyPath<Entity, [Target]>) -> FetchRequest<Target> {
        following(relation)
    }

    /// Requests the related entities of an optional relation. Options start afresh, see ``EntityRequest``.
    public func navigate<Target>(_ relation: KeyPath<Entity, [Target]?>) -> FetchRequest<Target> {
        following(relation)
    }

    /// Requests the related entity of a relation. Options start afresh, see ``EntityRequest``.
    @_disfavoredOverload
    public func navigate<Target>(_ relation: KeyPath<Entity, Target?>) -> EntityRequest<Target> {
        following(relation)
    }

    /// Requests the related entity of a relation that always has one. Options start afresh, see ``EntityRequest``.
    public func navigate<Target: EntityType>(_ relation: KeyPath<Entity, Target>) -> EntityRequest<Target> {
        following(relation)
    }

    /// Requests the related entities of a relation. Options start afresh, see ``EntityRequest``.
    public func navigate<Target>(_ relation: KeyPath<Entity, ToMany<Target>>) -> FetchRequest<Target> {
        following(relation)
    }

    /// Requests the related entity of a relation. Options start afresh, see ``EntityRequest``.
    public func navigate<Target>(_ relation: KeyPath<Entity, ToOne<Target>>) -> EntityRequest<Target> {
        following(relation)
    }

    /// Casts the entity to a derived type by the type's qualified name. The options are kept; the default selection becomes the properties
    /// that the derived type decodes.
    public func cast<Derived>(to type: Derived.Type, named name: String) -> EntityRequest<Derived> {
        EntityRequest<Derived>(resource: resource.cast(to: name), options: options.cast(to: type))
    }

    private func following<Target>(_ relation: AnyKeyPath) -> FetchRequest<Target> {
        var request = FetchRequest<Target>(resource: left.following(relation, of: Entity.self))
        request.options.keepWhole(of: options)
        return request
    }

    private func following<Target>(_ relation: AnyKeyPath) -> EntityRequest<Target> {
        var request = EntityRequest<Target>(resource: left.following(relation, of: Entity.self))
        request.options.keepWhole(of: options)
        return request
    }

    /// The path to navigate from; invalid if options of the entity are set.
    var left: ResourcePath {
        guard let option = options.ownNames.first else { return resource }
        return resource.appending(
            .invalid(.invalidOption(option, reason: "navigate leaves the entity it applies to; set it after navigate")))
    }
}
