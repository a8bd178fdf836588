public import Foundation
import WebServiceClient

/// The response of a service to a change.
public struct WriteResult<Entity: Decodable & Sendable>: Sendable {
    /// The current entity, if the service sent it.
    public let entity: ODataEntity<Entity>?
    /// The entity's new version, from the entity or the response's headers.
    public let etag: String?
    /// The URL for changing the entity, from the headers (resolved against the request's URL) or the entity (resolved against its context).
    /// Services may omit it.
    public let location: URL?
    /// The entity's id, from the headers or the entity. A relative id is resolved like ``location``.
    public let entityID: String?
    /// The status code, or `nil` if no request was sent because nothing had changed.
    public let status: Int?

    /// Creates the result of an update that wasn't sent.
    init(unchanged etag: String?) {
        entity = nil
        self.etag = etag
        location = nil
        entityID = nil
        status = nil
    }

    /// Creates the result of a creation that an update followed.
    init(_ created: WriteResult, updatedBy update: WriteResult) {
        entity = update.entity
        etag = update.etag
        location = created.location ?? update.location
        entityID = created.entityID ?? update.entityID
        status = created.status
    }

    init(_ response: ServiceResponse<ODataEntity<Entity>?>) {
        let entity = response.value
        self.entity = entity
        status = response.status
        etag = entity?.metadata.etag ?? response.headers["ETag"]
        let base = entity?.metadata.linkBase.url(page: response.url) ?? response.url
        let id = response.headers["OData-EntityId"].map { Self.resolved($0, response.url) }
        entityID = id ?? entity?.metadata.id.map { Self.resolved($0, base) }
        if let location = response.headers[.location] {
            self.location = NextLink.resolved(location, against: response.url)
        } else {
            location = entity?.metadata.editLink.flatMap { NextLink.resolved($0, against: base) }
        }
    }

    /// Resolves an id. An absolute id, which needn't be a URL, is returned byte for byte.
    private static func resolved(_ id: String, _ base: URL) -> String {
        guard URLText.Components(id).scheme == nil else { return id }
        return NextLink.resolved(id, against: base)?.absoluteString ?? id
    }
}
