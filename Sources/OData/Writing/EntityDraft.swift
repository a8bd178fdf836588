/// An entity that is being changed, and remembers what it was: an update carries what changed and nothing else.
///
///     var draft = EntityDraft(of: try await client.entity(request))
///     draft.age = 37
///     draft.nickname = nil                                              // null on the wire, since it had a value
///     try await client.update(request, with: draft)
///
/// It works over any `Codable` entity. What was `nil` and still is isn't written, be it null or never read; complex values are compared
/// property by property, collections and geographic values as a whole. A type with an `encode(to:)` of its own has to encode optionals by
/// `encodeIfPresent`, as the compiler's does, or a value that becomes `nil` isn't seen. Relations (``ToOne``, ``ToMany``) are changed by
/// ``bind(_:to:)`` or by references, never as values: to do so is an error.
@dynamicMemberLookup
public struct EntityDraft<Entity: Encodable & Sendable>: Sendable {
    /// The entity as it was.
    public let original: Entity
    /// The entity as it is to be.
    public var value: Entity
    /// The properties that the Swift type doesn't declare, as they are to be.
    public var undeclared = DynamicEntity()
    private var originalUndeclared = DynamicEntity()
    /// The version of the entity that the changes belong to: the update fails where the service has another one.
    public var etag: String?
    /// Relations to existing entities.
    public var bindings: [EntityBinding] = []

    /// A draft of an entity that nothing more is known of.
    public init(of entity: Entity, etag: String? = nil) {
        original = entity
        value = entity
        self.etag = etag
    }

    /// A draft of an entity that was read with its metadata; its entity tag is kept.
    public init(of entity: ODataEntity<Entity>) {
        self.init(of: entity.value, etag: entity.metadata.etag)
        undeclared = entity.undeclared
        originalUndeclared = entity.undeclared
    }

    /// A property of the entity.
    public subscript<Member>(dynamicMember keyPath: WritableKeyPath<Entity, Member>) -> Member {
        get { value[keyPath: keyPath] }
        set { value[keyPath: keyPath] = newValue }
    }

    /// Lets a relation lead to an existing entity, in place of the one it led to.
    public mutating func bind(_ relation: String, to target: EntityReference) {
        bindings.append(EntityBinding(relation, to: target))
    }

    /// Adds existing entities to a relation.
    public mutating func bind(_ relation: String, toAll targets: [EntityReference]) {
        bindings.append(EntityBinding(relation, toAll: targets))
    }

    /// What changed, as it goes over the wire, without the bindings.
    ///
    /// - Throws: `EncodingError`, what the entity's own encoding throws, or ``ODataWriteError`` where a relation was changed as a value.
    public func changes(_ format: PayloadFormat = PayloadFormat()) throws -> DynamicEntity {
        let settings = PayloadEncoder.Settings(format, isDraft: true)
        let old = try PayloadEncoder.node(of: original, settings)
        let new = try PayloadEncoder.node(of: value, settings)
        var changes = DynamicEntity()
        if let changed = try new.difference(from: old, isNested: format.version != .v2) {
            guard case .object(let object) = changed else { throw ODataWriteError.notAnEntity("\(Entity.self)") }
            changes = object
        }
        for property in undeclared.properties where originalUndeclared[property.name] != property.value {
            changes[property.name] = property.value
        }
        return changes
    }
}

extension PayloadNode {
    /// What is other than it was; `nil` where nothing is.
    ///
    /// - Parameter isNested: whether of complex values only the changed properties count.
    func difference(from old: PayloadNode, isNested: Bool, isTop: Bool = true) throws -> ODataValue? {
        if isTop {
            // An entity without a Swift type has its properties in one value.
            takeApart()
            old.takeApart()
        }
        guard case .object(let members) = content, case .object(let others) = old.content, isNested || isTop else {
            let value = value
            return value == old.value ? nil : value
        }
        var changed = DynamicEntity()
        for (name, node) in members {
            let before = others.first { $0.name == name }?.node
            if node.isRelation || before?.isRelation == true {
                guard let before, node.value == before.value else { throw ODataWriteError.relationChanged(name) }
            } else if let before {
                changed[name] = try node.difference(from: before, isNested: isNested, isTop: false)
            } else {
                changed[name] = node.value
            }
        }
        return changed.properties.isEmpty ? nil : .object(changed)
    }
}
