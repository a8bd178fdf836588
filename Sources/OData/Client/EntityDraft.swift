import WebServiceClient

/// An entity being changed, with its original value: an update sends only the changed properties.
///
///     var draft = EntityDraft(of: try await client.entity(request))
///     draft.age = 37
///     draft.nickname = nil                                              // null on the wire, since it had a value
///     try await client.update(request, with: draft)
///
/// A draft works with any `Codable` entity. A property that was `nil` and still is isn't written, whether it was null or never read.
/// Complex values are compared property by property, collections and geographic values as a whole. A removed member, such as an entry of a
/// dictionary, becomes null; only a ``Presence`` that becomes absent is left unchanged. Relations (``ToOne``, ``ToMany``) are changed by
/// ``bind(_:to:)`` or by references; changing them as values is an error.
@dynamicMemberLookup
public struct EntityDraft<Entity: Encodable & Sendable>: Sendable {
    /// The original entity.
    public let original: Entity
    /// The changed entity.
    public var value: Entity
    /// The properties that the Swift type doesn't declare, with their changes.
    public var undeclared = DynamicEntity()
    private var originalUndeclared = DynamicEntity()
    /// The types of undeclared properties, if the service sent them.
    private var propertyTypes: [String: String] = [:]
    /// The service's name of the entity's type, if it sent one. In version 4 changes include it.
    public var typeName: String?
    /// The version of the entity that the changes apply to. The update fails if the service has another one.
    public var etag: String?
    /// Relations to existing entities.
    public var bindings: [EntityBinding] = []

    /// Creates a draft of an entity without metadata.
    public init(of entity: Entity, etag: String? = nil) {
        original = entity
        value = entity
        self.etag = etag ?? (entity as? any WritableItem).flatMap { EntityMetadata($0.record).etag }
    }

    /// Creates a draft of an entity with its metadata; its entity tag is kept.
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

    /// Sets a relation to an existing entity, replacing the current one.
    public mutating func bind(_ relation: String, to target: EntityReference) {
        bindings.append(EntityBinding(relation, to: target))
    }

    /// Clears a to-one relation, in the same request as the other changes. ``ODataClient/removeReference(_:if:)`` clears it in a request
    /// without other changes.
    public mutating func unbind(_ relation: String) {
        bindings.append(EntityBinding(clearing: relation))
    }

    /// Adds existing entities to a relation.
    public mutating func bind(_ relation: String, toAll targets: [EntityReference]) {
        bindings.append(EntityBinding(relation, toAll: targets))
    }

    /// Returns the changes as they are sent, without the bindings.
    ///
    /// If anything changed, values of derived types include their type names.
    ///
    /// - Parameters:
    ///   - format: The spelling of the payload.
    ///   - types: The types that derive from others.
    ///   - userInfo: The `Encoder.userInfo` for the entity's own encoding.
    /// - Throws: `EncodingError`, an error of the entity's own encoding, or ``ODataWriteError`` if a relation was changed as a value.
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
            if let item = value as? any WritableItem, ItemSetting.checks(userInfo) {
                changes = try item.settable(object, from: old.value.object, in: .update)
            }
        }
        for property in undeclared.properties {
            let before = originalUndeclared[property.name]
            if let before, before.isSame(as: property.value) { continue }
            // The type that the service sent applies to the value that it sent.
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

    /// Adds the entity's type to the changes if it is missing and needed.
    func typed(_ changes: DynamicEntity, _ format: PayloadFormat, _ types: TypeRegistry) -> DynamicEntity {
        let name = format.controlName("type")
        guard format.version != .v2, let typeName = typeName ?? types.derivedName(of: type(of: value)), changes.count > 0,
            changes["@odata.type"] == nil, changes["@type"] == nil
        else { return changes }
        return DynamicEntity([.init(name, .string(format.typeReference(typeName)))] + changes.properties)
    }
}

extension PayloadNode {
    /// The names of an object's type member in 4.0, in 4.01 and in version 2.
    private static let typeNames: Set<String> = ["@odata.type", "@type", "__metadata"]

    /// Returns the difference from an old payload, or `nil` if there is none.
    ///
    /// A removed member becomes null, because an omitted member stays unchanged (Protocol 4.01, section 11.4.3). This includes a
    /// dictionary's entry and the previous case of an enum.
    ///
    /// - Parameter isNested: Whether only the changed properties of complex values are included.
    func difference(from old: PayloadNode, isNested: Bool, isTop: Bool = true) throws -> ODataValue? {
        if isTop || isNested && !isGeographic && !old.isGeographic {
            // A value without a Swift type has all its properties in one node.
            takeApart()
            old.takeApart()
        }
        guard case .object(let members) = content, case .object(let others) = old.content, isNested || isTop else {
            let value = value
            return value.isSame(as: old.value) ? nil : value
        }
        let type = typeMember(in: members)
        // Values of different types have no properties in common.
        guard isTop || type?.value == typeMember(in: others)?.value else { return value }
        var changed = DynamicEntity()
        for (name, node) in members where !Self.typeNames.contains(name) {
            let before = others.first { $0.name == name }?.node
            if node.isRelation || before?.isRelation == true {
                guard let before, node.value.isSame(as: before.value) else { throw ODataWriteError.relationChanged(name) }
            } else if let before {
                changed[name] = try node.difference(from: before, isNested: isNested, isTop: false)
            } else {
                changed[name] = node.value
            }
        }
        let names = Set(members.map(\.name))
        for (name, node) in others
        where !names.contains(name) && !node.isRelation && !node.mayBeAbsent && ControlInformation.isProperty(name) {
            changed[name] = node.value.ofNothing
        }
        guard changed.count > 0 else { return nil }
        // Without its type, a service takes a value of a derived type for one of the declared type.
        return .object(type.map { DynamicEntity([$0] + changed.properties) } ?? changed)
    }

    /// A Boolean value that indicates whether the node is GeoJSON, which isn't a complex value.
    private var isGeographic: Bool {
        switch content {
        case .value(.object(let object)): object.isGeographic
        case .object(let members): GeoJSONNames.are(Set(members.map(\.name)))
        default: false
        }
    }

    private func typeMember(in members: [(name: String, node: PayloadNode)]) -> DynamicEntity.Property? {
        guard let (name, node) = members.first(where: { Self.typeNames.contains($0.name) }) else { return nil }
        guard name == "__metadata" else { return DynamicEntity.Property(name, node.value) }
        return node.value["type"].map { DynamicEntity.Property(name, .object(["type": $0])) }
    }
}

extension ODataValue {
    /// The value that removes this one: null, or an empty collection, since a collection is never null.
    var ofNothing: ODataValue {
        if case .array = self { .array([]) } else { .null }
    }

    /// Returns whether both values are written alike. Strings are compared by their scalars, because `==` treats two Unicode forms of a
    /// letter as equal.
    func isSame(as other: ODataValue) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)):
            left.nesting.isCut == right.nesting.isCut && left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.object(let left), .object(let right)):
            left.nesting.isCut == right.nesting.isCut && left.count == right.count
                && (0..<left.count).allSatisfy {
                    left.name(at: $0) == right.name(at: $0) && left.value(at: $0).isSame(as: right.value(at: $0))
                }
        default: self == other
        }
    }
}
