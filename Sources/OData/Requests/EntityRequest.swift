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

    init(resource: ResourcePath, options: QueryOptions) {
        self.resource = resource
        self.options = options
    }

    /// With an option of the service's own. The name must not begin with `$` or `@`.
    public func option(_ name: String, _ value: String) -> EntityRequest {
        changed { $0.custom.append(QueryOptions.Custom(name: name, value: value)) }
    }

    /// The URL relative to the service's root, percent-encoded as it goes over the wire.
    ///
    /// - Throws: ``ODataQueryError`` where a part can't be said.
    public func relativeURL(using printer: QueryPrinter = QueryPrinter()) throws(ODataQueryError) -> String {
        let misplaced: [(String, Bool)] = [
            ("$filter", options.filter != nil), ("$search", !options.search.isEmpty), ("$orderby", !options.order.isEmpty),
            ("$top", options.top != nil), ("$skip", options.skip != nil), ("$count", options.includesCount),
        ]
        if let option = misplaced.first(where: \.1) {
            throw .invalidOption(option.0, reason: "it has no meaning for a single entity")
        }
        let path = try printer.text(of: resource)
        let query = try printer.text(of: options)
        return query.isEmpty ? path : path + "?" + query
    }
}
