public import Foundation
import WebServiceClient

/// The preferred content of the response to a change (Protocol, section 8.2.8.7). The service may ignore it.
public enum ReturnPreference: String, Sendable, Hashable, CaseIterable {
    /// Only status and headers, without a body.
    case minimal = "return=minimal"
    /// The current entity.
    case representation = "return=representation"
}

/// The condition under which a change is made (RFC 9110, section 13.1).
public enum WriteCondition: Sendable, Hashable {
    /// The condition that prevents an operation from creating an entity: the draft's version if known, otherwise that the entity exists.
    /// Version 2 has only the former, since services answer 400 to a condition on entities without versions.
    case usual
    /// No condition.
    case none
    /// The entity exists, in any version: `If-Match: *`.
    case exists
    /// The entity exists in this version: `If-Match`.
    case version(String)
    /// The entity doesn't exist: `If-None-Match: *`.
    case absent

    /// Returns the header of the condition.
    func header(_ version: ODataVersion) -> (name: HTTPFields.Name, value: String)? {
        switch self {
        case .usual: version == .v2 ? nil : ("If-Match", "*")
        case .none: nil
        case .exists: ("If-Match", "*")
        case .version(let etag): ("If-Match", etag)
        case .absent: ("If-None-Match", "*")
        }
    }
}

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
