import Foundation
import WebServiceClient

/// A copy of a query's entities in memory, kept up to date by applying the changes of
/// ``ODataClient/changes(of:since:from:onExpiry:repeating:)``.
///
///     var users = DeltaCollection<User>(keys: ["id"])
///     for try await change in client.changes(of: request, since: users.cursor) { try users.apply(change) }
///     let all = try users.entities()
///
/// Changes are merged by property. If an entity comes several times, the last one counts; removals of unknown entities have no effect.
/// After a restart, entities that weren't sent again are removed at the next complete checkpoint. The collection is `Codable` with its
/// cursor, also in the middle of a read; its encoding contains the service's link and is a secret.
public struct DeltaCollection<Entity: Decodable & Sendable>: Sendable {
    private struct Stored: Sendable, Codable {
        /// The entity's position in the order of arrival.
        var number: Int
        var payload: DynamicEntity
    }

    /// The last checkpoint that was applied; `nil` before the first one.
    public private(set) var cursor: DeltaCursor?
    private let keys: EntityKeys
    /// The key properties of related entities, by the relation's name.
    private let relations: [String: EntityKeys]
    private var stored: [String: Stored] = [:]
    /// The keys of entities whose ids don't contain them.
    private var aliases: [String: String] = [:]
    private var nextNumber = 0
    /// The keys of entities that weren't sent since a full read began; `nil` if all changes are applied.
    private var unseen: Set<String>?
    /// Whether the payloads have the format of version 2 or 3.
    private var isBeforeVersion4 = false

    /// Creates an empty collection.
    ///
    /// - Parameters:
    ///   - keys: The wire names of the key properties. Without any, entities are identified by the ids that the service sends, which it
    ///     omits by default if they can be derived from the key.
    ///   - relations: The names of the key properties of related entities, by the relation's wire name, for changes of relations inside of
    ///     entities. By default they are the collection's own key names.
    public init(keys: [String], relations: [String: [String]] = [:]) {
        self.keys = EntityKeys(names: keys)
        self.relations = relations.mapValues { EntityKeys(names: $0) }
    }

    /// The number of entities.
    public var count: Int { stored.count }

    /// The entities as the service sent them, with all changes, in the order of arrival.
    public var payloads: [DynamicEntity] { stored.values.sorted { $0.number < $1.number }.map(\.payload) }

    /// Returns the entities in the order of arrival.
    ///
    /// - Parameter decoder: The decoder; set its types and `userInfo` to those of the client.
    /// - Throws: `DecodingError`, or an error of the type's own decoding.
    public func entities(decoding decoder: ODataDecoder = ODataDecoder()) throws -> [Entity] {
        let place = place(decoder)
        return try payloads.map { try place.decode(Entity.self, from: $0) }
    }

    /// Returns the entity with an id, such as a link's source or a removed entity's id; `nil` if there is none.
    ///
    /// Services spell ids in several ways, so only the key in the id is compared. Pass only ids of the query's own set: see
    /// ``ChangedLink/isOfQuery`` and ``RemovedEntity/isOfQuery``.
    ///
    /// - Throws: `DecodingError`, or an error of the type's own decoding.
    public func entity(id: String, decoding decoder: ODataDecoder = ODataDecoder()) throws -> Entity? {
        guard let payload = stored[key(ofID: id)]?.payload else { return nil }
        return try place(decoder).decode(Entity.self, from: payload)
    }

    private func place(_ decoder: ODataDecoder) -> DeltaPlace {
        let context = ContextURL(nil, isBeforeVersion4: isBeforeVersion4 || decoder.version == .v2)
        return DeltaPlace(settings: PayloadSettings(types: decoder.types, context: context, userInfo: decoder.userInfo))
    }

    // MARK: Changes

    /// Applies a change.
    ///
    /// - Returns: Whether the change was applied. Changes and links of other sets are ignored, and so are links of unknown entities or of
    ///   relations that aren't loaded.
    /// - Throws: ``DeltaError`` if the entity can't be identified, or if the changes of a relation continue at a separate link;
    ///   `DecodingError` if they can't be read. The collection is then unchanged; read it again without a cursor.
    @discardableResult public mutating func apply(_ change: ODataChange<Entity>) throws -> Bool {
        switch change {
        case .restarted:
            unseen = Set(stored.keys)
        case .changed(let entity):
            guard entity.isOfQuery else { return false }
            try apply(entity)
        case .removed(let entity):
            guard entity.isOfQuery else { return false }
            guard let key = key(of: entity) else { throw DeltaError.unidentified(keys: keys.names) }
            stored[key] = nil
            unseen?.remove(key)
        case .linked(let link):
            return try changeLink(link, adds: true)
        case .unlinked(let link):
            return try changeLink(link, adds: false)
        case .checkpoint(let cursor):
            self.cursor = cursor
            guard cursor.isComplete, let gone = unseen else { return true }
            for key in gone { stored[key] = nil }
            if stored.isEmpty { aliases = [:] }
            unseen = nil
        }
        return true
    }

    private mutating func apply(_ entity: ChangedEntity<Entity>) throws {
        let id = entity.metadata.id
        guard let key = keys.text(of: entity.payload) ?? id.map({ self.key(ofID: $0) }) else {
            throw DeltaError.unidentified(keys: keys.names)
        }
        // In a full read, the first appearance of an entity replaces what was stored before the read.
        let old = unseen?.contains(key) == true ? nil : stored[key]
        let merge = DeltaMerge(keys: keys, relations: relations, place: entity.place)
        let payload = try merge.merged(entity.payload, into: old?.payload ?? DynamicEntity())
        if let id, keys.text(ofID: id) != key { aliases[id] = key }
        if entity.place.settings.context.isBeforeVersion4 { isBeforeVersion4 = true }
        let number = stored[key]?.number ?? nextNumber
        if stored[key] == nil { nextNumber += 1 }
        stored[key] = Stored(number: number, payload: payload)
        unseen?.remove(key)
    }

    /// Returns the key of a removed entity.
    private func key(of entity: RemovedEntity) -> String? {
        keys.text(of: entity.key) ?? entity.id.map { key(ofID: $0) }
    }

    private func key(ofID id: String) -> String { aliases[id] ?? keys.text(ofID: id) ?? id }

    private mutating func changeLink(_ link: ChangedLink, adds: Bool) throws -> Bool {
        // Entities of different sets can have the same key.
        guard link.isOfQuery else { return false }
        let key = key(ofID: link.source)
        guard let entity = stored[key] else { return false }
        let merge = DeltaMerge(keys: keys, relations: relations, place: place(ODataDecoder()))
        guard let changed = merge.changing(link, of: entity.payload, adds: adds) else { return false }
        stored[key]?.payload = changed
        return true
    }
}

extension DeltaCollection: Codable {
    private enum CodingKeys: String, CodingKey {
        case cursor, keys, relations, stored, aliases, nextNumber, unseen, isBeforeVersion4
    }
}

/// Merges changes into entities.
struct DeltaMerge {
    let keys: EntityKeys
    let relations: [String: EntityKeys]
    let place: DeltaPlace
    /// The number of entities around the current one.
    private var depth = 0

    /// The maximum number of nested entities that are merged. Deeper entities are replaced by their changes.
    private static let depthLimit = 32

    init(keys: EntityKeys, relations: [String: EntityKeys], place: DeltaPlace) {
        self.keys = keys
        self.relations = relations
        self.place = place
    }

    /// Returns the merge of an entity inside of another.
    private func inside(_ entity: DynamicEntity) -> DeltaMerge {
        var inner = DeltaMerge(keys: keys, relations: relations, place: place.inside(entity))
        inner.depth = depth + 1
        return inner
    }

    /// Returns an entity with the changed properties.
    ///
    /// A changed property replaces the old one with its annotations; the changes of a relation are applied to its entities.
    ///
    /// - Throws: ``DeltaError``, or `DecodingError` if the changes of a relation can't be read.
    func merged(_ change: DynamicEntity, into old: DynamicEntity) throws -> DynamicEntity {
        guard
            !old.properties.isEmpty || change.properties.contains(where: { $0.name.contains("@delta") || $0.name.contains("@odata.delta") })
        else { return change }
        let replaced = Set(change.properties.lazy.map(\.name).filter { !$0.contains("@") })
        var result = DynamicEntity(
            old.properties.filter { property in
                guard let at = property.name.firstIndex(of: "@"), at > property.name.startIndex else { return true }
                return !replaced.contains(String(property.name[..<at]))
            })
        for property in change.properties {
            if let relation = DeltaNames.relation(ofDelta: property.name) {
                switch property.value {
                case .object, .null: result[relation] = try relatedOne(change, relation, property.value, result[relation])
                default: result[relation] = .array(try related(change, relation, property.value, result[relation]?.array ?? []))
                }
            } else if case .object(let inner) = property.value {
                result[property.name] = try single(inner, property.name, into: result[property.name])
            } else {
                result[property.name] = property.value
            }
        }
        return result
    }

    /// Returns the new value of a to-one relation or of a complex property. If the entity is the same as before, its changes are merged,
    /// because a service may send only these.
    private func single(_ change: DynamicEntity, _ relation: String, into old: ODataValue?) throws -> ODataValue {
        if DeltaNames.removal(in: change) != nil { return .null }
        guard case .object(let before)? = old, isSame(change, before, relations[relation] ?? keys) else { return .object(change) }
        guard depth < Self.depthLimit else { return .object(change) }
        return .object(try inside(change).merged(change, into: before))
    }

    /// Returns the entity of a to-one relation with the changes that came for it (JSON Format 4.01, section 15). They are of the related
    /// entity, unless both are identified as different ones.
    private func relatedOne(
        _ entity: DynamicEntity, _ relation: String, _ delta: ODataValue, _ before: ODataValue?
    ) throws -> ODataValue {
        guard case .object = delta else { return .null }
        try checkDepth(relation)
        let merge = inside(entity)
        let entry = try DeltaEntry(delta, at: merge.place, isRelated: true)
        switch entry.kind {
        case .removed: return .null
        case .linked, .unlinked: throw linkInside(relation)
        case .changed:
            let keys = relations[relation] ?? self.keys
            guard case .object(let old)? = before else { return .object(try merge.merged(entry.payload, into: DynamicEntity())) }
            let areIdentified = Self.key(of: entry.payload, keys) != nil && Self.key(of: old, keys) != nil
            let isOther = areIdentified && !isSame(entry.payload, old, keys)
            return .object(try merge.merged(entry.payload, into: isOther ? DynamicEntity() : old))
        }
    }

    private func checkDepth(_ relation: String) throws {
        guard depth < Self.depthLimit else {
            throw place.corrupted("The changes of \(relation) nest more than \(Self.depthLimit) levels deep.")
        }
    }

    private func linkInside(_ relation: String) -> DecodingError {
        place.corrupted("The changes of \(relation) contain a link, which only the outermost changes may contain.")
    }

    /// Returns whether two payloads are of the same entity: by the key properties, which minimal metadata includes, or by the ids.
    private func isSame(_ change: DynamicEntity, _ before: DynamicEntity, _ keys: EntityKeys) -> Bool {
        guard let key = Self.key(of: change, keys), key == Self.key(of: before, keys) else { return false }
        // A relation to a base type may contain entities of several sets.
        guard let new = EntityMetadata(change).id.flatMap({ EntityKeys.set(ofID: $0) }),
            let old = EntityMetadata(before).id.flatMap({ EntityKeys.set(ofID: $0) })
        else { return true }
        return new == old
    }

    /// Returns the entities of a to-many relation with the changes that came.
    private func related(
        _ entity: DynamicEntity, _ relation: String, _ delta: ODataValue, _ before: [ODataValue]
    ) throws -> [ODataValue] {
        for suffix in ["@nextLink", "@odata.nextLink", "@delta@nextLink"] where entity[relation + suffix] != nil {
            throw DeltaError.incompleteRelation(relation)
        }
        guard case .array(let entries) = delta else { throw place.corrupted("The changes of \(relation) aren't an array or an object.") }
        let keys = relations[relation] ?? self.keys
        try checkDepth(relation)
        let merge = inside(entity)
        let inner = merge.place
        var list: [ODataValue?] = before
        // The positions of the entities by key, so that a long delta of a long relation takes linear time.
        var positions: [String: Int] = [:]
        for (position, value) in before.enumerated() {
            if case .object(let object) = value, let key = Self.key(of: object, keys) { positions[key] = position }
        }
        for value in entries {
            let entry = try DeltaEntry(value, at: inner, isRelated: true)
            switch entry.kind {
            case .changed:
                guard let key = Self.key(of: entry.payload, keys) else { throw DeltaError.unidentified(keys: keys.names) }
                if let position = positions[key], case .object(let old)? = list[position] {
                    list[position] = .object(try merge.merged(entry.payload, into: old))
                } else {
                    positions[key] = list.count
                    list.append(.object(try merge.merged(entry.payload, into: DynamicEntity())))
                }
            case .removed(let removed):
                guard let key = keys.text(of: removed.key) ?? removed.id.map({ keys.text(ofID: $0) ?? $0 }) else {
                    throw DeltaError.unidentified(keys: keys.names)
                }
                if let position = positions.removeValue(forKey: key) { list[position] = nil }
            case .linked, .unlinked:
                throw linkInside(relation)
            }
        }
        return list.compactMap(\.self)
    }

    /// Returns an entity with a link added to or removed from a relation; `nil` if the relation isn't loaded.
    func changing(_ link: ChangedLink, of entity: DynamicEntity, adds: Bool) -> DynamicEntity? {
        guard let value = entity[link.relationship] else { return nil }
        let keys = relations[link.relationship] ?? self.keys
        let target = link.target.map { keys.text(ofID: $0) ?? $0 }
        let reference = link.target.map { ODataValue.object(["@odata.id": .string($0)]) }
        func isTarget(_ value: ODataValue) -> Bool { value.object.flatMap { Self.key(of: $0, keys) } == target }
        var result = entity
        switch value {
        case .array(let elements):
            guard let reference else { return nil }
            if !adds {
                result[link.relationship] = .array(elements.filter { !isTarget($0) })
            } else if !elements.contains(where: isTarget) {
                result[link.relationship] = .array(elements.list + [reference])
            }
        case .object, .null:
            if adds {
                guard let reference else { return nil }
                if !isTarget(value) { result[link.relationship] = reference }
            } else if target == nil || isTarget(value) {
                result[link.relationship] = .null
            }
        default: return nil
        }
        return result
    }

    /// Returns the key of a related entity: of its key properties, or of its id.
    private static func key(of payload: DynamicEntity, _ keys: EntityKeys) -> String? {
        if let text = keys.text(of: payload) { return text }
        return EntityMetadata(payload).id.map { keys.text(ofID: $0) ?? $0 }
    }
}
