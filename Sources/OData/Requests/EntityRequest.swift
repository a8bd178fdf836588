/// A query for one entity: by its key, or a singleton.
public struct EntityRequest<Entity: Decodable & Sendable>: QueryBuilding {
    /// Where the entity is.
    public let resource: ResourcePath
    /// The options so far; those for collections are refused when the request is printed.
    public var options: QueryOptions

    /// The entity at a path from the service's root, such as a singleton's name. The path isn't percent-encoded.
    public init(at path: String) {
        self.init(resource: ResourcePath(path), options: QueryOptions(decoding: Entity.self))
    }

    /// The entity at a path.
    public init(resource: ResourcePath) {
        self.init(resource: resource, options: QueryOptions(decoding: Entity.self))
    }

    init(resource: ResourcePath, options: QueryOptions) {
        self.resource = resource
        self.options = options
    }

    /// The URL relative to the service's root, percent-encoded as it goes over the wire.
    ///
    /// - Throws: ``ODataQueryError`` where a part can't be said.
    public func relativeURL(using printer: QueryPrinter = QueryPrinter()) throws(ODataQueryError) -> String {
        let misplaced: [(String, Bool)] = [
            ("$filter", options.filter != nil), ("$search", options.search != nil), ("$orderby", !options.order.isEmpty),
            ("$top", options.top != nil), ("$skip", options.skip != nil), ("$count", options.includesCount),
            ("$apply", !options.apply.isEmpty), ("$index", options.index != nil),
        ]
        if let option = misplaced.first(where: \.1) {
            throw .invalidOption(option.0, reason: "it has no meaning for a single entity")
        }
        return try printer.text(of: query)
    }

    /// The request without its Swift types.
    public var query: ODataQuery {
        ODataQuery(resource, options: options)
    }
}

extension EntityRequest {
    /// The related entities that a relation leads to: `People('ada')/Trips`. The options begin anew.
    public func navigate<Target>(_ relation: KeyPath<Entity, [Target]>) -> FetchRequest<Target> {
        FetchRequest<Target>(resource: resource.following(relation, of: Entity.self))
    }

    /// The related entities that a relation leads to, where it may be missing. The options begin anew.
    public func navigate<Target>(_ relation: KeyPath<Entity, [Target]?>) -> FetchRequest<Target> {
        FetchRequest<Target>(resource: resource.following(relation, of: Entity.self))
    }

    /// The related entity that a relation leads to. The options begin anew.
    @_disfavoredOverload
    public func navigate<Target>(_ relation: KeyPath<Entity, Target?>) -> EntityRequest<Target> {
        EntityRequest<Target>(resource: resource.following(relation, of: Entity.self))
    }

    /// The related entity that a relation leads to, which is always there. The options begin anew.
    public func navigate<Target: EntityType>(_ relation: KeyPath<Entity, Target>) -> EntityRequest<Target> {
        EntityRequest<Target>(resource: resource.following(relation, of: Entity.self))
    }

    /// The related entities that a relation leads to. The options begin anew.
    public func navigate<Target>(_ relation: KeyPath<Entity, ToMany<Target>>) -> FetchRequest<Target> {
        FetchRequest<Target>(resource: resource.following(relation, of: Entity.self))
    }

    /// The related entity that a relation leads to. The options begin anew.
    public func navigate<Target>(_ relation: KeyPath<Entity, ToOne<Target>>) -> EntityRequest<Target> {
        EntityRequest<Target>(resource: resource.following(relation, of: Entity.self))
    }

    /// The entity seen as one of a derived type, by the type's qualified name. The options begin anew.
    public func cast<Derived>(to type: Derived.Type, named name: String) -> EntityRequest<Derived> {
        EntityRequest<Derived>(resource: resource.cast(to: name))
    }
}

extension ResourcePath {
    fileprivate func following(_ relation: AnyKeyPath, of type: Any.Type) -> ResourcePath {
        var copy = self
        for segment in PropertyCatalog.segments(of: relation, in: type) {
            switch segment {
            case .property(let name): copy.segments.append(.name(name))
            case .unresolved(let error): copy.segments.append(.invalid(error))
            default: continue
            }
        }
        return copy
    }
}
