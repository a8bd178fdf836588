public import Foundation
import WebServiceClient

/// What a service is to answer a change with (Protocol, section 8.2.8.7). It may do otherwise.
public enum ReturnPreference: String, Sendable, Hashable, CaseIterable {
    /// Nothing but the head.
    case minimal = "return=minimal"
    /// The entity as it is now.
    case representation = "return=representation"
}

/// On what condition a change is made (RFC 9110, section 13.1).
public enum WriteCondition: Sendable, Hashable {
    /// What the operation needs to change what is there and nothing else: the version that a draft knows, else that the entity exists. In
    /// version 2 only the former, since services answer 400 to a condition for entities without versions.
    case usual
    /// Whatever there is.
    case none
    /// If the entity is there, whichever version: `If-Match: *`.
    case exists
    /// If the entity is there in this version: `If-Match`.
    case version(String)
    /// If the entity isn't there yet: `If-None-Match: *`.
    case absent

    /// The header that says so.
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

/// What a service answered a change with.
public struct WriteResult<Entity: Decodable & Sendable>: Sendable {
    /// The entity as it is now, where the service sent it.
    public let entity: ODataEntity<Entity>?
    /// The entity's new version, from the entity or the head.
    public let etag: String?
    /// Where the entity is changed, resolved: the head's against the request, the entity's against its context. Services may leave it out.
    public let location: URL?
    /// The entity's id: of the head, where there is no body, or of the entity. Relative ones are resolved, like ``location``.
    public let entityID: String?
    /// The status code; `nil` where nothing was sent, as nothing had changed.
    public let status: Int?

    /// Nothing was sent.
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

    /// An id that is absolute stays as it is, byte for byte: it need not be a URL.
    private static func resolved(_ id: String, _ base: URL) -> String {
        guard URLText.Components(id).scheme == nil else { return id }
        return NextLink.resolved(id, against: base)?.absoluteString ?? id
    }
}
