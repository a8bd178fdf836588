public import Foundation
public import WebServiceClient

/// One event of tracked changes: see ``ODataClient/changes(of:since:from:onExpiry:repeating:)``.
///
/// Apply events in order. Applying an event twice has the same effect as applying it once. A service may send an entity several times: the
/// last one counts. It may also remove entities that it never sent.
public enum ODataChange<Entity: Decodable & Sendable>: Sendable {
    /// A full read begins: the first one, or another one because the service no longer knows the cursor's state, with the service's error.
    ///
    /// Entities that aren't sent between this event and the next complete checkpoint no longer exist in the service.
    case restarted(ServiceError?)
    /// An entity was added or changed.
    case changed(ChangedEntity<Entity>)
    /// An entity was deleted, or it no longer matches the query.
    case removed(RemovedEntity)
    /// A relation between two entities was added.
    case linked(ChangedLink)
    /// A relation between two entities was removed.
    case unlinked(ChangedLink)
    /// All changes up to here were sent. Keep the cursor together with the applied changes: tracking continues there, also after a restart
    /// of the program.
    case checkpoint(DeltaCursor)
}

/// An entity that was added or changed, with the properties that the service sent and no others.
public struct ChangedEntity<Entity: Decodable & Sendable>: Sendable {
    /// The entity as the service sent it, with control information. Absent properties are unchanged, unless ``isWhole`` is `true`.
    public let payload: DynamicEntity
    /// The path of the entity's set in the context, such as `Orders`; `nil` if the service doesn't send it. Entities of related sets may
    /// come in addition to those of the query.
    public let entitySet: String?
    /// Whether the entity belongs to the query's own set, according to the contexts.
    public let isOfQuery: Bool
    /// Whether the entity comes from a full read, which sends all requested properties.
    public let isWhole: Bool

    let place: DeltaPlace

    /// The properties that the service sent, without control information and annotations.
    public var properties: DynamicEntity { payload.plain }

    /// The metadata of the entity, such as its id and its version.
    public var metadata: EntityMetadata { EntityMetadata(payload, linkBase: place.linkBase(of: payload)) }

    /// Decodes the entity from the properties that the service sent.
    ///
    /// A type for partial entities has optional properties, or properties of type ``Presence``, which distinguish an absent property from
    /// null. ``DeltaCollection`` merges the changes, so that any type can be decoded.
    ///
    /// - Throws: `DecodingError`, also if the service didn't send a property that the type requires.
    public func value() throws -> Entity { try place.decode(Entity.self, from: payload) }

    /// The names of the relations whose changes came with the entity: `Orders` for `Orders@delta` (JSON Format 4.01, section 15.3).
    public var changedRelations: [String] { payload.properties.compactMap { DeltaNames.relation(ofDelta: $0.name) } }

    /// Returns the changes of a relation that came with the entity; `nil` if there are none. A removed entity among them whose reason is
    /// ``RemovalReason/changed`` is no longer related, but still exists. A to-one relation has a single change, of its entity. If it no
    /// longer has an entity, the change is a removed entity, which may have neither id nor key.
    ///
    /// - Throws: `DecodingError` if an entry isn't an object.
    public func changes(of relation: String) throws -> [ODataChange<DynamicEntity>]? {
        guard let value = DeltaNames.delta(of: relation, in: payload) else { return nil }
        let inner = place.inside(payload)
        let entries: [ODataValue]
        switch value {
        case .array(let elements): entries = elements.list
        case .object: entries = [value]
        case .null: return [.removed(inner.removedEntity)]
        default: throw place.corrupted("The changes of \(relation) aren't an array or an object.")
        }
        return try entries.map { try DeltaEntry($0, at: inner, isRelated: true).change(isWhole: false) }
    }
}

/// An entity that was deleted, or that no longer matches the query.
public struct RemovedEntity: Sendable, Hashable {
    /// The entity's id as the service sent it: a relative or an absolute URL, or in some services only the key. `nil` if the entity is
    /// identified by ``key``.
    public let id: String?
    /// The entity's properties that the service sent, including its key if the id is missing.
    public let key: DynamicEntity
    /// The reason why the entity was removed; `nil` if the service doesn't send it.
    public let reason: RemovalReason?
    /// The time at which the entity was removed, as the service sent it, in version 2.
    public let when: ODataValue?
    /// The path of the entity's set in the context; `nil` if the service doesn't send it.
    public let entitySet: String?
    /// Whether the entity belonged to the query's own set, according to the contexts.
    public let isOfQuery: Bool
    /// The annotations and other members that the service sent.
    public let others: DynamicEntity

    var linkBase = LinkBase()

    /// The absolute URL of the id; `nil` if the id is missing or only a key, or if its base isn't known.
    public var url: URL? { id.flatMap { $0.contains("(") || $0.contains("/") ? linkBase.url(of: $0) : nil } }
}

/// The reason why an entity was removed (JSON Format 4.01, section 15.3).
public struct RemovalReason: RawRepresentable, Sendable, Hashable, Codable {
    /// The service's word.
    public let rawValue: String

    /// Creates a reason from the service's word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The entity was deleted.
    public static let deleted = RemovalReason(rawValue: "deleted")
    /// The entity no longer matches the query, or it is no longer related. In Microsoft Graph: the entity was deleted and can be restored.
    public static let changed = RemovalReason(rawValue: "changed")
}

/// A relation between two entities that was added or removed (JSON Format 4.01, sections 15.4 and 15.5).
public struct ChangedLink: Sendable, Hashable {
    /// The id of the entity that has the relation, as the service sent it.
    public let source: String
    /// The name of the relation.
    public let relationship: String
    /// The id of the related entity, as the service sent it; `nil` for a removed relation to at most one entity, because 4.01 omits it
    /// there.
    public let target: String?
    /// The path of the source's set in the context; `nil` if the service doesn't send it.
    public let entitySet: String?
    /// Whether the source belongs to the query's own set, according to the contexts or, if the link's context has no set, its id.
    public let isOfQuery: Bool

    var linkBase = LinkBase()

    /// Returns the absolute URL of ``source`` or ``target``; `nil` if the base isn't known.
    public func url(of id: String?) -> URL? { linkBase.url(of: id) }
}
