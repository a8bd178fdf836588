import WebServiceClient

/// An entity with what the service says about it, and with the properties that its Swift type doesn't declare.
///
///     for try await person in client.entities(matching: request.withMetadata()) { print(person.name, person.metadata.etag ?? "") }
@dynamicMemberLookup
public struct ODataEntity<Entity> {
    /// The entity.
    public var value: Entity
    /// What the service says about it.
    public var metadata: EntityMetadata
    /// The properties that the Swift type doesn't declare, in the payload's order: those of open types, and those that came later.
    ///
    /// Where it isn't known beforehand what the type decodes, these are the ones that its decoding didn't ask for.
    public var undeclared: DynamicEntity

    /// An entity.
    public init(_ value: Entity, metadata: EntityMetadata = EntityMetadata(), undeclared: DynamicEntity = DynamicEntity()) {
        self.value = value
        self.metadata = metadata
        self.undeclared = undeclared
    }

    /// A property of the entity.
    public subscript<Member>(dynamicMember keyPath: KeyPath<Entity, Member>) -> Member {
        value[keyPath: keyPath]
    }
}

extension ODataEntity: Sendable where Entity: Sendable {}
extension ODataEntity: Equatable where Entity: Equatable {}
extension ODataEntity: Hashable where Entity: Hashable {}

extension ODataEntity: Decodable where Entity: Decodable {
    /// Reads entity, metadata and the rest.
    public init(from decoder: any Decoder) throws {
        let all = try DynamicEntity(from: decoder)
        value = try decoder.singleValueContainer().decode(Entity.self)
        metadata = EntityMetadata(all, linkBase: PayloadDecoder.linkBase(inside: decoder))
        undeclared = all.undeclared(by: Entity.self, decoder)
    }
}

extension ODataEntity: Encodable where Entity: Encodable {
    /// Writes the entity's properties, and the undeclared ones with the types that the service said; of the other metadata, the type's
    /// name, except in version 2. Where both have a property, the entity's counts.
    public func encode(to encoder: any Encoder) throws {
        if let payload = encoder as? PayloadEncoder, let name = typeName(for: payload.settings) { payload.writeType(name) }
        try value.encode(to: encoder)
        try undeclared.encode(behind: value, types: metadata.propertyTypes, to: encoder)
    }
}

extension ODataEntity where Entity: Encodable {
    /// The type to be said: the one that the value's is registered as, or that the service said, as the Swift type may stand for its base.
    private func typeName(for settings: PayloadEncoder.Settings) -> String? {
        if let name = settings.types.derivedName(of: type(of: value)) { return name }
        // An entity without a Swift type has it among its properties; version 2 says it of every entity.
        return settings.format.version == .v2 || value is any PayloadWritable ? nil : metadata.typeName
    }
}

extension FetchRequest {
    /// The same query, whose entities come with what the service says about them, and with what their type doesn't declare: all properties
    /// are fetched, unless some are selected.
    public func withMetadata() -> FetchRequest<ODataEntity<Entity>> {
        var request = FetchRequest<ODataEntity<Entity>>(resource: resource)
        request.options = options.keepingUndeclared
        return request
    }
}

extension EntityRequest {
    /// The same query, whose entity comes with what the service says about it, and with what its type doesn't declare: all properties are
    /// fetched, unless some are selected.
    public func withMetadata() -> EntityRequest<ODataEntity<Entity>> {
        EntityRequest<ODataEntity<Entity>>(resource: resource, options: options.keepingUndeclared)
    }
}
