import Foundation
import WebServiceClient

/// The place of a stream: the media of an entity, or a stream property (Protocol, sections 11.1.2 and 11.2.4.1).
///
///     let photo = StreamReference(\.photo, of: client.users.key("ada"))          // by its path: Users('ada')/Photo
///     let manual = StreamReference(mediaOf: document.metadata)                   // by the entity's links
///
/// The conventions of the protocol give the URL for a path. Links come from the service, and can point to any origin, such as a storage
/// service. ``ODataClient/foreignLinks`` decides whether a link to another origin is followed; it never gets the client's credentials.
public struct StreamReference: Sendable, Hashable {
    enum Target: Sendable, Hashable {
        case resource(ODataQuery)
        case link(PayloadLink)
    }

    /// The target for reading; `nil` if it is unknown.
    let source: Target?
    /// The target for writing; `nil` if it is unknown.
    let destination: Target?
    /// The known version of the bytes (`mediaEtag`), which isn't the version of their entity; `nil` if it is unknown. By default it is the
    /// condition of changes of the stream.
    public var etag: String?

    /// Creates a reference by a path: the path of a stream property, or an entity's `/$value`.
    public init(_ resource: ResourcePath, etag: String? = nil) {
        self.init(ODataQuery(resource), etag: etag)
    }

    /// Creates a reference by a query, whose aliases, custom options and header fields apply to all requests of the stream.
    public init(_ query: ODataQuery, etag: String? = nil) {
        source = .resource(query)
        destination = source
        self.etag = etag
    }

    /// Creates a reference to the media of an entity: `Documents(7)/$value`.
    ///
    /// Options of the entity, such as a selection, don't apply to its media: a request with them is an error when it is printed.
    public init<Entity>(mediaOf entity: EntityRequest<Entity>, etag: String? = nil) {
        self.init(Self.query(entity.left.value(), entity.options), etag: etag)
    }

    /// Creates a reference to a stream property: `Users('ada')/Photo`.
    public init<Entity>(_ property: KeyPath<Entity, EdmStream>, of entity: EntityRequest<Entity>, etag: String? = nil) {
        self.init(Self.query(entity.left.following(property, of: Entity.self), entity.options), etag: etag)
    }

    /// Creates a reference to a stream property of an optional type.
    public init<Entity>(_ property: KeyPath<Entity, EdmStream?>, of entity: EntityRequest<Entity>, etag: String? = nil) {
        self.init(Self.query(entity.left.following(property, of: Entity.self), entity.options), etag: etag)
    }

    /// Creates a reference to a stream property by its wire name.
    public init<Entity>(property name: String, of entity: EntityRequest<Entity>, etag: String? = nil) {
        self.init(Self.query(entity.left.property(name), entity.options), etag: etag)
    }

    /// Creates a reference by the links of a stream property that was read: its media read link and its media edit link.
    ///
    /// Services often omit the links unless ``ODataClient/metadataLevel`` is `.full`; without links, use the path.
    public init(_ stream: EdmStream) {
        let read = stream.readLink.map { PayloadLink(text: $0, base: stream.linkBase) }
        let edit = stream.editLink.map { PayloadLink(text: $0, base: stream.linkBase) }
        self.init(reading: read ?? edit, writing: edit ?? read, etag: stream.etag)
    }

    /// Creates a reference to the media of an entity that was read, by its media links. If the service sent none, they are its read link,
    /// its edit link or its id with `/$value`, as the protocol's conventions say; version 2 always sends media links.
    public init(mediaOf entity: EntityMetadata) {
        func value(_ link: String?) -> PayloadLink? { link.map { PayloadLink(text: $0, base: entity.linkBase, leadsToValue: true) } }
        let media = StreamReference(entity.media ?? EdmStream())
        source = media.source ?? (value(entity.readLink) ?? value(entity.editLink) ?? value(entity.id)).map { .link($0) }
        destination = media.destination ?? (value(entity.editLink) ?? value(entity.readLink) ?? value(entity.id)).map { .link($0) }
        etag = media.etag
    }

    private init(reading: PayloadLink?, writing: PayloadLink?, etag: String?) {
        source = reading.map { .link($0) }
        destination = writing.map { .link($0) }
        self.etag = etag
    }

    private static func query(_ resource: ResourcePath, _ options: QueryOptions) -> ODataQuery {
        var kept = QueryOptions()
        kept.keepWhole(of: options)
        return ODataQuery(resource, options: kept)
    }

    /// The name of the stream in errors, logs and metrics.
    var operation: ODataOperation {
        guard case .resource(let query)? = source ?? destination else { return ODataOperation(route: "stream") }
        return ODataOperation(query)
    }
}

extension StreamReference: CustomStringConvertible {
    /// The path without keys, or the kind of the reference: links may contain secrets.
    public var description: String { "StreamReference(\(operation.route))" }
}

extension ODataClient {
    /// Returns the call that reads a stream. It accepts any media type, since the stream has its own.
    func reading(_ stream: StreamReference) throws -> ServiceCall {
        let operation = stream.operation
        switch stream.source {
        case .resource(let query)?:
            let target = try printed(operation) { printer throws(ODataQueryError) in try printer.request(query) }
            // GET, because a long query sent by POST can't return a stream.
            return call(operation, to: target, method: .get, for: Data?.self, at: .raw)
        case .link(let link)?:
            let routed = try routed(link, operation)
            return call(operation, link: routed.url, isForeign: routed.isForeign, at: .raw)
        case nil:
            throw unknownPlace(operation)
        }
    }

    /// Returns the change of a stream, without its bytes.
    func writing(_ method: ServiceRequest.Method, _ stream: StreamReference, if condition: WriteCondition) throws -> WriteOperation {
        let operation = stream.operation
        var change: WriteOperation
        switch stream.destination {
        case .resource(let query)?:
            change = try self.operation(.value, method, query.resource, for: query.options)
        case .link(let link)?:
            change = WriteOperation(.value, method, ODataQuery(ResourcePath(operation.route)))
            change.link = try routed(link, operation)
        case nil:
            throw unknownPlace(operation)
        }
        // A stream without a version may not exist yet, so that `If-Match: *` would fail.
        change.condition = condition == .usual ? stream.etag.map { .version($0) } ?? .none : condition
        return change
    }

    private func unknownPlace(_ operation: ODataOperation) -> ServiceError {
        error(
            operation, .binding, .link,
            "The service sent no link for the stream: make the reference by the path, such as StreamReference(mediaOf: request), or ask "
                + "for full metadata (metadataLevel).", cause: ODataLinkError.notLoaded)
    }
}
