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

extension PayloadNode {
    /// What says the type of an object: in 4.0, in 4.01, in version 2.
    private static let typeNames: Set<String> = ["@odata.type", "@type", "__metadata"]

    /// What is other than it was; `nil` where nothing is.
    ///
    /// A member that is no more becomes null, since what isn't mentioned stays as it is (Protocol 4.01, section 11.4.3): so does a dictionary's
    /// entry, or what an enum was before.
    ///
    /// - Parameter isNested: whether of complex values only the changed properties count.
    func difference(from old: PayloadNode, isNested: Bool, isTop: Bool = true) throws -> ODataValue? {
        if isTop || isNested && !isGeographic && !old.isGeographic {
            // What has no Swift type has its properties in one value.
            takeApart()
            old.takeApart()
        }
        guard case .object(let members) = content, case .object(let others) = old.content, isNested || isTop else {
            let value = value
            return value.isSame(as: old.value) ? nil : value
        }
        let type = typeMember(in: members)
        // A value of another type has nothing in common with the one before.
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
        for (name, node) in others where !names.contains(name) && !node.isRelation && !node.mayBeAbsent && Self.isProperty(name) {
            changed[name] = node.value.ofNothing
        }
        guard !changed.properties.isEmpty else { return nil }
        // A service takes a value of a derived type for one of the declared type where it isn't said.
        return .object(type.map { DynamicEntity([$0] + changed.properties) } ?? changed)
    }

    /// Whether it is GeoJSON, which is no complex value.
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

    /// Whether it is a property's name, and not that of what the service said beside it.
    private static func isProperty(_ name: String) -> Bool {
        !name.contains("@") && !name.hasPrefix("#") && name != "__metadata" && !name.hasPrefix("odata.")
    }
}

extension ODataValue {
    /// What takes its place when it is removed: null, or no elements, as a collection is never null.
    var ofNothing: ODataValue {
        if case .array = self { .array([]) } else { .null }
    }

    /// Whether both are written alike. Texts are compared by their scalars: `==` takes two Unicode forms of a letter for the same.
    func isSame(as other: ODataValue) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)):
            left.nesting.isCut == right.nesting.isCut && left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.object(let left), .object(let right)):
            left.nesting.isCut == right.nesting.isCut && left.properties.count == right.properties.count
                && zip(left.properties, right.properties).allSatisfy { $0.name == $1.name && $0.value.isSame(as: $1.value) }
        default: self == other
        }
    }
}
