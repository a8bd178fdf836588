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
    /// Where it isn't known for sure what the type decodes, all are here.
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
        metadata = EntityMetadata(all)
        undeclared = all.undeclared(by: Entity.self)
    }
}

extension ODataEntity: Encodable where Entity: Encodable {
    /// Writes the entity's properties and the undeclared ones; of the metadata, nothing.
    public func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
        guard !undeclared.properties.isEmpty else { return }
        var container = encoder.container(keyedBy: JSONKey.self)
        for property in undeclared.properties {
            try container.encode(property.value, forKey: JSONKey(property.name))
        }
    }
}

extension FetchRequest {
    /// The same query, whose entities come with what the service says about them.
    public func withMetadata() -> FetchRequest<ODataEntity<Entity>> {
        var request = FetchRequest<ODataEntity<Entity>>(resource: resource)
        request.options = options
        return request
    }
}

extension EntityRequest {
    /// The same query, whose entity comes with what the service says about it.
    public func withMetadata() -> EntityRequest<ODataEntity<Entity>> {
        EntityRequest<ODataEntity<Entity>>(resource: resource, options: options)
    }
}
