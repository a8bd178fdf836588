public import Foundation
public import WebServiceClient

/// A position in the changes of a query. Tracking continues from it.
///
/// A cursor is `Codable`: keep it together with the applied changes. It contains a link of the service, which some services sign for the
/// user, so treat it as a secret. Its descriptions don't show the link.
public struct DeltaCursor: Sendable, Hashable, Codable {
    /// The service's link to the next page of the current read, or to later changes.
    let link: String
    /// The origin of the service.
    let origin: String
    /// A digest of the query.
    let fingerprint: String
    /// Whether all changes up to the cursor were sent. Otherwise more pages of the same read follow.
    public let isComplete: Bool
    /// Whether the cursor is inside a full read.
    public let isInFullRead: Bool
    /// The time at which the service sent the link. How long it remains valid depends on the service.
    public let issuedAt: Date

    init(link: String, origin: String, fingerprint: String, isComplete: Bool, isInFullRead: Bool, issuedAt: Date) {
        self.link = link
        self.origin = origin
        self.fingerprint = fingerprint
        self.isComplete = isComplete
        self.isInFullRead = isInFullRead
        self.issuedAt = issuedAt
    }

    /// Returns a digest of a query's URL, relative to the service root. The URL itself may contain personal data.
    static func fingerprint(of target: String) -> String {
        MessageDigest.sha256(of: target.utf8).prefix(16).map { byte in
            let text = String(byte, radix: 16)
            return text.count < 2 ? "0" + text : text
        }.joined()
    }
}

extension DeltaCursor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The origin and the state, without the link.
    public var description: String { MaskedMirror.text(of: customMirror, type: "DeltaCursor") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``, part by part. A dump doesn't show the link.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "origin": origin, "link": SecretMask.mask, "isComplete": isComplete, "isInFullRead": isInFullRead, "issuedAt": issuedAt,
            ])
    }
}

/// The reason why changes can't be tracked or applied.
public enum DeltaError: DescribedError, Sendable, Hashable {
    /// The last page has no delta link. The value is `true` if the service confirmed that it tracks changes (`Preference-Applied`).
    case notTracked(isConfirmed: Bool)
    /// The cursor belongs to another service; the values are the cursor's origin and this service's.
    case otherService(String, service: String)
    /// The cursor belongs to another query.
    case otherQuery
    /// An entity has no id and lacks key properties; the value has the names of the keys, if known.
    case unidentified(keys: [String])
    /// The changes of a relation continue at a link inside an entity; the value is the relation's name.
    case incompleteRelation(String)
    /// The version of the protocol has no updates of collections by a delta.
    case noCollectionUpdates(ODataVersion)

    /// A sentence for people.
    public var description: String {
        switch self {
        case .notTracked(let isConfirmed):
            "The last page has no delta link, so later changes can't be tracked"
                + (isConfirmed
                    ? ", although the service confirmed that it tracks changes: report this to the service's provider."
                    : " and the service didn't confirm the preference track-changes: check that change tracking is switched on and that the "
                        + "query is allowed with it. Some services require a function such as Users/delta() or fewer options.")
        case .otherService(let origin, let service):
            "The cursor belongs to \(origin), not to \(service): begin without a cursor."
        case .otherQuery:
            "The cursor belongs to another query: pass the request that it was made with, or begin without a cursor."
        case .unidentified(let keys):
            keys.isEmpty
                ? "A changed entity has no id: pass its key names to DeltaCollection(keys:relations:), or ask for full metadata."
                : "An entity has neither an id nor the key properties \(keys.joined(separator: ", ")): select them in the query."
        case .incompleteRelation(let name):
            "The changes of the relation '\(VisibleText.of(name))' continue at a separate link, which isn't read: read the relation again."
        case .noCollectionUpdates(let version):
            "OData \(version.rawValue) has no updates of collections: set the printer's version to 4.01, or send each change separately."
        }
    }
}
