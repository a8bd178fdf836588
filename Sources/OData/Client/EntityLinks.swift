import Foundation
import WebServiceClient

/// A link of a payload, with what it is relative to.
struct PayloadLink: Sendable, Hashable {
    /// The link, as the service wrote it.
    var text: String
    /// The base of a relative link; if it is unknown, the service's root.
    var base = LinkBase()
    /// Whether `/$value` is appended to the link's path.
    var leadsToValue = false
}

/// The URL of a link, as the client follows it.
struct RoutedLink: Sendable, Hashable {
    let url: URL
    /// Whether the URL is on another origin than the service, which gets no credentials.
    let isForeign: Bool
}

// Entities by the links that the service sent for them (Protocol, section 11.4.1; JSON Format, section 4.6). Such a link is followed as it
// is, so that keys reach the service in its own spelling.
extension ODataClient {
    /// Returns an entity by its own read link: ``EntityMetadata/readLink``, or else its edit link or its id.
    ///
    ///     let current = try await client.entity(at: customer.metadata, as: Customer.self)
    ///
    /// - Throws: `ServiceError`, whose cause is ``ODataLinkError/notLoaded`` if the service sent no link of the entity;
    ///   `CancellationError` when the task was cancelled.
    public func entity<Entity: Decodable & Sendable>(at entity: EntityMetadata, as type: Entity.Type) async throws -> ODataEntity<Entity> {
        let operation = ODataOperation(route: "entity")
        let link = try routed(link(of: entity, isWriting: false), operation)
        let response: ServiceResponse<ODataEntity<Entity>> = try await self.response(
            call(operation, link: link.url, isForeign: link.isForeign), operation)
        var result = response.value
        if result.metadata.etag == nil { result.metadata.etag = response.headers["ETag"] }
        return result
    }

    /// Sends the changes of a draft to an entity's own edit link: ``EntityMetadata/editLink``, or else its read link or its id.
    ///
    ///     var draft = EntityDraft(of: customer)
    ///     draft.name = "Ada"
    ///     try await client.update(at: customer.metadata, with: draft)
    ///
    /// In all else it is like ``update(_:with:if:preferring:)``.
    ///
    /// - Throws: `ServiceError`, whose cause is ``ODataLinkError/notLoaded`` if the service sent no link of the entity;
    ///   `CancellationError` when the task was cancelled.
    @discardableResult public func update<Entity>(
        at entity: EntityMetadata, with draft: EntityDraft<Entity>, if condition: WriteCondition = .usual,
        preferring preference: ReturnPreference? = nil
    ) async throws -> WriteResult<Entity> {
        let request = EntityRequest<Entity>(at: "entity")
        guard var operation = try operation(updating: request, with: draft, if: condition, preferring: preference) else {
            return WriteResult(unchanged: draft.etag)
        }
        operation.link = try routed(link(of: entity, isWriting: true), ODataOperation(route: "entity"))
        return try await write(operation, Entity.self)
    }

    /// Deletes an entity by its own edit link: ``EntityMetadata/editLink``, or else its read link or its id.
    ///
    /// - Throws: `ServiceError`, whose cause is ``ODataLinkError/notLoaded`` if the service sent no link of the entity;
    ///   `CancellationError` when the task was cancelled.
    public func delete(at entity: EntityMetadata, if condition: WriteCondition = .none) async throws {
        var operation = WriteOperation(.deletion, .delete, ODataQuery(ResourcePath("entity")))
        operation.condition = condition
        operation.link = try routed(link(of: entity, isWriting: true), ODataOperation(route: "entity"))
        try await send(operation)
    }

    /// Returns the link for reading or changing an entity; `nil` if it has none.
    private func link(of entity: EntityMetadata, isWriting: Bool) -> PayloadLink? {
        let text = isWriting ? entity.editLink ?? entity.readLink : entity.readLink ?? entity.editLink
        return (text ?? entity.id).map { PayloadLink(text: $0, base: entity.linkBase) }
    }

    /// Returns the URL of a link, as the policy for links to other origins permits.
    ///
    /// - Throws: `ServiceError` if there is no link, it isn't a URL, or it leads to another origin and the policy refuses that.
    func routed(_ link: PayloadLink?, _ operation: ODataOperation) throws -> RoutedLink {
        let root = try rootURL(operation)
        do throws(ODataLinkError) {
            guard let link else { throw .notLoaded }
            let base = link.base.url(page: root) ?? root
            var url = try NextLink.url(link.text, context: nil, page: base, root: linkRoot)
            if link.leadsToValue { url = try Self.valueURL(of: url) }
            return try routed(url, service: serviceOrigin ?? Origin(base))
        } catch {
            throw self.error(operation, .binding, .link, error.description, cause: error)
        }
    }

    /// Returns a URL of the service, as the policy for links to other origins permits.
    func routed(_ url: URL, service: Origin?) throws(ODataLinkError) -> RoutedLink {
        let (url, isForeign) = try NextLink.route(url, service: service, policy: foreignLinks)
        return RoutedLink(url: url, isForeign: isForeign)
    }

    /// Returns the URL of an entity's raw value.
    private static func valueURL(of url: URL) throws(ODataLinkError) -> URL {
        var parts = URLText.Components(url.absoluteString)
        parts.path += parts.path.hasSuffix("/") ? "$value" : "/$value"
        guard let value = URL(string: parts.text) else { throw .malformed(String(SecretMask.text(of: url).prefix(200))) }
        return value
    }
}
