/// An entity that is being changed, and remembers what it was: an update carries what changed and nothing else.
///
///     var draft = EntityDraft(of: try await client.entity(request))
///     draft.age = 37
///     draft.nickname = nil                                              // null on the wire, since it had a value
///     try await client.update(request, with: draft)
///
/// It works over any `Codable` entity. What was `nil` and still is isn't written, be it null or never read; complex values are compared
/// property by property, collections and geographic values as a whole. What was there and is there no more, such as an entry of a dictionary,
/// becomes null; only a ``Presence`` that becomes absent is left as it is. Relations (``ToOne``, ``ToMany``) are changed by ``bind(_:to:)`` or by
/// references, never as values: to do so is an error.
@dynamicMemberLookup
public struct EntityDraft<Entity: Encodable & Sendable>: Sendable {
    /// The entity as it was.
    public let original: Entity
    /// The entity as it is to be.
    public var value: Entity
    /// The properties that the Swift type doesn't declare, as they are to be.
    public var undeclared = DynamicEntity()
    private var originalUndeclared = DynamicEntity()
    /// The types of undeclared properties, where the service said them.
    private var propertyTypes: [String: String] = [:]
    /// The service's name of the entity's type, where it said one: the changes say it as well, in version 4.
    public var typeName: String?
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
        propertyTypes = entity.metadata.propertyTypes
        typeName = entity.metadata.typeName
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

    /// Cuts a relation to one, in the same request as the other changes; ``ODataClient/removeReference(_:if:)`` does it by itself.
    public mutating func unbind(_ relation: String) {
        bindings.append(EntityBinding(clearing: relation))
    }

    /// Adds existing entities to a relation.
    public mutating func bind(_ relation: String, toAll targets: [EntityReference]) {
        bindings.append(EntityBinding(relation, toAll: targets))
    }

    /// What changed, as it goes over the wire, without the bindings.
    ///
    /// Where anything did, values of derived types say what they are.
    ///
    /// - Parameters:
    ///   - format: how it is spelled.
    ///   - types: the types that derive from others.
    ///   - userInfo: what the entity's own encoding finds in `Encoder.userInfo`.
    /// - Throws: `EncodingError`, what the entity's own encoding throws, or ``ODataWriteError`` where a relation was changed as a value.
    public func changes(
        _ format: PayloadFormat = PayloadFormat(), types: TypeRegistry = TypeRegistry(), userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws -> DynamicEntity {
        let settings = PayloadEncoder.Settings(format, types: types, isDraft: true, userInfo: userInfo)
        let old = try PayloadEncoder.node(of: original, settings)
        let new = try PayloadEncoder.node(of: value, settings)
        var changes = DynamicEntity()
        if let changed = try new.difference(from: old, isNested: format.version != .v2) {
            guard case .object(let object) = changed else { throw ODataWriteError.notAnEntity("\(Entity.self)") }
            changes = object
        }
        for property in undeclared.properties {
            let before = originalUndeclared[property.name]
            if let before, before.isSame(as: property.value) { continue }
            // The type that the service said is that of the value it sent.
            if before?.kind == property.value.kind, let type = format.typeAnnotation(of: property, propertyTypes) {
                changes[type.name] = type.value
            }
            changes[property.name] = property.value
        }
        for property in originalUndeclared.properties where undeclared[property.name] == nil {
            changes[property.name] = property.value.ofNothing
        }
        return typed(changes, format, types)
    }

    /// Changes that say the entity's type, where they don't yet and it is known to matter.
    func typed(_ changes: DynamicEntity, _ format: PayloadFormat, _ types: TypeRegistry) -> DynamicEntity {
        let name = format.controlName("type")
        guard format.version != .v2, let typeName = typeName ?? types.derivedName(of: type(of: value)), !changes.properties.isEmpty,
            changes["@odata.type"] == nil, changes["@type"] == nil
        else { return changes }
        return DynamicEntity([.init(name, .string(format.typeReference(typeName)))] + changes.properties)
    }
}
