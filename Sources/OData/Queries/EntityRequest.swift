import Foundation
package import WebServiceClient

/// A query for one entity: by its key, or a singleton.
///
/// Where `navigate` goes on from it, options of the request as a whole come along (aliases, custom ones, `$format`, `$schemaversion`, bounds in
/// time, header fields). Those that say something about the entities begin anew; one that was given before is an error when printed.
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
        return try printer.request(query)
    }

    /// The request without its Swift types.
    public var query: ODataQuery {
        ODataQuery(resource, options: options)
    }
}

extension EntityRequest {
    /// The related entities that a relation leads to: `People('ada')/Trips`. The options begin anew, see ``EntityRequest``.
    public func navigate<Target>(_ relation: KeyPath<Entity, [Target]>) -> FetchRequest<Target> {
        following(relation)
    }

    /// The related entities that a relation leads to, where it may be missing. The options begin anew, see ``EntityRequest``.
    public func navigate<Target>(_ relation: KeyPath<Entity, [Target]?>) -> FetchRequest<Target> {
        following(relation)
    }

    /// The related entity that a relation leads to. The options begin anew, see ``EntityRequest``.
    @_disfavoredOverload
    public func navigate<Target>(_ relation: KeyPath<Entity, Target?>) -> EntityRequest<Target> {
        following(relation)
    }

    /// The related entity that a relation leads to, which is always there. The options begin anew, see ``EntityRequest``.
    public func navigate<Target: EntityType>(_ relation: KeyPath<Entity, Target>) -> EntityRequest<Target> {
        following(relation)
    }

    /// The related entities that a relation leads to. The options begin anew, see ``EntityRequest``.
    public func navigate<Target>(_ relation: KeyPath<Entity, ToMany<Target>>) -> FetchRequest<Target> {
        following(relation)
    }

    /// The related entity that a relation leads to. The options begin anew, see ``EntityRequest``.
    public func navigate<Target>(_ relation: KeyPath<Entity, ToOne<Target>>) -> EntityRequest<Target> {
        following(relation)
    }

    /// The entity seen as one of a derived type, by the type's qualified name. The options stay; what the other type decodes
    /// is selected unless something else is.
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

    /// The path, as it can be gone on from.
    private var left: ResourcePath {
        guard let option = options.ownNames.first else { return resource }
        return resource.appending(
            .invalid(.invalidOption(option, reason: "the path goes on from the entity that it was said of; say it behind that")))
    }
}

/// A type of entities that knows its entity set, so that requests needn't name it.
public protocol EntityType: Decodable, Sendable {
    /// The entity set's name in the service, such as `People`.
    static var entitySetName: String { get }
}

/// A resource and the options it is asked with: what the URL of a request says beneath the service's root.
///
///     ODataQuery(ResourcePath(function: "Nearest", ["to": QueryTerm<AnyEdm>.alias("place")])).alias("place", place)
public struct ODataQuery: QueryBuilding {
    /// Results have no type of their own.
    public typealias Entity = DynamicEntity

    /// Where the resource is.
    public var resource: ResourcePath
    /// The query options.
    public var options: QueryOptions

    /// A query from its parts.
    public init(_ resource: ResourcePath, options: QueryOptions = QueryOptions()) {
        self.resource = resource
        self.options = options
    }
}

/// As the argument of a declared endpoint, `.get("/People").query(.argument(0))`: the endpoint says where, and the query's options are sent.
extension ODataQuery: QueryArgument {
    package func queryItems(at path: String, serializer: any SerializationDelegate) throws -> String {
        try items(at: path, serializer) { printer throws(ODataQueryError) in try printer.request(self) }
    }

    fileprivate func items(
        at path: String, _ serializer: any SerializationDelegate, _ print: (QueryPrinter) throws(ODataQueryError) -> String
    ) throws -> String {
        guard options.headers.isEmpty else {
            throw ODataQueryError.invalidOption("header", reason: "the query is an endpoint's argument; let the endpoint say its headers")
        }
        let text = try print(QueryPrinter(version: (serializer as? ODataSerializer)?.format.version ?? .v4))
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let own = "/" + (parts[0].removingPercentEncoding ?? String(parts[0]))
        guard ("/" + (path.removingPercentEncoding ?? path)).hasSuffix(own) else {
            throw ODataQueryError.invalidPath(
                resource.route, reason: "the endpoint that the query is given to has another path; only the query's options are sent")
        }
        return parts.count > 1 ? String(parts[1]) : ""
    }
}

extension FetchRequest: QueryArgument {
    package func queryItems(at path: String, serializer: any SerializationDelegate) throws -> String {
        try query.items(at: path, serializer) { printer throws(ODataQueryError) in try relativeURL(using: printer) }
    }
}

extension EntityRequest: QueryArgument {
    package func queryItems(at path: String, serializer: any SerializationDelegate) throws -> String {
        try query.items(at: path, serializer) { printer throws(ODataQueryError) in try relativeURL(using: printer) }
    }
}

/// The query of one expansion: what stands in the parentheses of `$expand=Trips(…)`.
public struct NestedQuery<Entity: Decodable & Sendable>: QueryBuilding {
    /// The options so far.
    public var options: QueryOptions

    init() {
        options = QueryOptions(decoding: Entity.self)
    }
}
