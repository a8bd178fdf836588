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
    /// Whatever there is.
    case none
    /// If the entity is there, whichever version: `If-Match: *`.
    case exists
    /// If the entity is there in this version: `If-Match`.
    case version(String)
    /// If the entity isn't there yet: `If-None-Match: *`.
    case absent

    /// The header that says so.
    var header: (name: HTTPFields.Name, value: String)? {
        switch self {
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
    /// Where the entity is changed, resolved; services may leave it out.
    public let location: URL?
    /// The entity's id as the service wrote it: in the head, where there is no body, or in the entity.
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
        entityID = response.headers["OData-EntityId"] ?? entity?.metadata.id
        location = (response.headers[.location] ?? entity?.metadata.editLink)
            .flatMap { URL(string: $0, relativeTo: response.url)?.absoluteURL }
    }
}
