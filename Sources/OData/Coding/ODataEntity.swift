import WebServiceClient

/// An entity with its metadata and the properties that its Swift type doesn't declare.
///
///     for try await person in client.entities(matching: request.withMetadata()) { print(person.name, person.metadata.etag ?? "") }
@dynamicMemberLookup
public struct ODataEntity<Entity> {
    /// The entity.
    public var value: Entity
    /// The metadata of the entity.
    public var metadata: EntityMetadata
    /// The properties that the Swift type doesn't declare, in the payload's order: dynamic properties of open types and later additions.
    ///
    /// If the type's decoded properties aren't known in advance, these are the ones that its decoding didn't request.
    public var undeclared: DynamicEntity

    /// Creates an entity.
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
    /// Decodes the entity, its metadata and the undeclared properties.
    public init(from decoder: any Decoder) throws {
        let linkBase = PayloadDecoder.linkBase(inside: decoder)
        if let node = JSONNode(decoder), node.isObject, let settings = PayloadDecoder.settings(of: decoder), !settings.isTrial {
            let catalog = PropertyCatalog.of(Entity.self)
            if catalog.decodedNames != nil {
                // The entity decodes itself from the text; only what it doesn't declare is read besides.
                let rest = try settings.rest(of: node, besides: catalog.decoded.set)
                value = try decoder.singleValueContainer().decode(Entity.self)
                metadata = EntityMetadata(rest, linkBase: linkBase)
                undeclared = rest.undeclared(besides: catalog.decoded.set)
                return
            }
        }
        // Types that read themselves from a text don't do so from a tree.
        guard let payload = try PayloadDecoder.of(decoder), !(Entity.self is any JSONReadable.Type) else {
            let all = try DynamicEntity(from: decoder)
            value = try decoder.singleValueContainer().decode(Entity.self)
            metadata = EntityMetadata(all, linkBase: linkBase)
            undeclared = all.undeclared(by: Entity.self, decoder)
            return
        }
        let all = try DynamicEntity.read(payload)
        let (value, declared) = try payload.decodeDeclared(Entity.self)
        self.value = value
        metadata = EntityMetadata(all, linkBase: linkBase)
        undeclared = declared.map { all.undeclared(besides: $0) } ?? DynamicEntity()
    }
}

extension ODataEntity: Encodable where Entity: Encodable {
    /// Encodes the entity's properties, the undeclared ones with the types that the service sent and, except in version 2, the type's name.
    /// If both contain a property, the entity's is written.
    public func encode(to encoder: any Encoder) throws {
        if let payload = encoder as? PayloadEncoder, let name = typeName(for: payload.settings) { payload.writeType(name) }
        try value.encode(to: encoder)
        try undeclared.encode(behind: value, types: metadata.propertyTypes, to: encoder)
    }
}

extension ODataEntity where Entity: Encodable {
    /// Returns the type name to write: the one the value's type is registered as, otherwise the service's, which may be a derived type.
    private func typeName(for settings: PayloadEncoder.Settings) -> String? {
        if let name = settings.types.derivedName(of: type(of: value)) { return name }
        // An entity without a Swift type has it among its properties; version 2 sends it for every entity.
        return settings.format.version == .v2 || value is any PayloadWritable ? nil : metadata.typeName
    }
}

extension FetchRequest {
    /// Returns the same query with metadata and undeclared properties for each entity. All properties are fetched unless some are selected.
    public func withMetadata() -> FetchRequest<ODataEntity<Entity>> {
        var request = FetchRequest<ODataEntity<Entity>>(resource: resource)
        request.options = options.keepingUndeclared
        return request
    }
}

extension EntityRequest {
    /// Returns the same query with metadata and undeclared properties for the entity. All properties are fetched unless some are selected.
    public func withMetadata() -> EntityRequest<ODataEntity<Entity>> {
        EntityRequest<ODataEntity<Entity>>(resource: resource, options: options.keepingUndeclared)
    }
}
