import WebServiceClient

/// A value whose type is named in the payload: an entity or complex value of a derived type.
///
///     let animals = try await client.fetch(FetchRequest<Polymorphic<any Animal>>(from: "Animals"))
///
/// The client's ``TypeRegistry`` maps the name to a Swift type. For an unregistered name it uses the nearest registered base, otherwise
/// `Base` itself if that is decodable, or the only registered type without a base that fits. Decoders other than ``ODataDecoder`` have no
/// registry. Undeclared properties are in ``undeclared``.
public struct Polymorphic<Base: Sendable>: Sendable {
    /// The value.
    public let value: Base
    /// The service's name of the type, if the payload has it: in the entity or, for a whole response, in its context URL.
    public let typeName: String?
    /// The metadata of the entity.
    public let metadata: EntityMetadata
    /// The properties that the Swift type doesn't declare, in the payload's order.
    public let undeclared: DynamicEntity

    /// Creates a value for writing, with the name of its type; `nil` uses the ``TypeRegistry``.
    public init(_ value: Base, typeName: String? = nil) {
        self.value = value
        self.typeName = typeName
        metadata = EntityMetadata()
        undeclared = DynamicEntity()
    }
}

extension Polymorphic: Decodable {
    /// Decodes the value as the type for its name.
    ///
    /// - Throws: `DecodingError` with the type's name if no Swift type is known for it.
    public init(from decoder: any Decoder) throws {
        let types = PayloadDecoder.settings(of: decoder)?.types ?? TypeRegistry()
        let entity = try DynamicEntity(from: decoder)
        metadata = EntityMetadata(entity, linkBase: PayloadDecoder.linkBase(inside: decoder))
        typeName = metadata.typeName ?? Self.contextType(of: metadata, decoder)
        let container = try decoder.singleValueContainer()
        let found: any (Decodable & Sendable)
        if let nearest = typeName.flatMap({ types.nearest(to: $0) }) {
            found = try container.decode(nearest.type)
        } else if let base = Base.self as? any (Decodable & Sendable).Type {
            found = try container.decode(base)
        } else {
            // A protocol doesn't identify a type. If exactly one root type fits, it is the declared type.
            var fitting: [any (Decodable & Sendable)] = []
            for root in types.roots {
                if let value = try? container.decode(root.type), value is Base { fitting.append(value) }
            }
            guard fitting.count == 1, let only = fitting.first else { throw Self.unknown(typeName, container) }
            found = only
        }
        guard let value = found as? Base else { throw Self.unknown(typeName, container) }
        self.value = value
        undeclared = entity.undeclared(beside: found, decoder)
    }

    /// Returns the type in the context URL. Services leave it out of the entities then (JSON Format 4.01, section 4.5.3).
    private static func contextType(of metadata: EntityMetadata, _ decoder: any Decoder) -> String? {
        if let own = metadata.context { return ContextURL.typeName(in: own) }
        // The context is that of the payload's own entities, and not of those inside of them.
        let path = decoder.codingPath
        let names = path.filter { $0.intValue == nil }.map(\.stringValue)
        guard path.isEmpty || path.last?.intValue != nil, path.count - names.count <= 1,
            names.allSatisfy({ ["value", "results", "d"].contains($0) })
        else { return nil }
        return PayloadDecoder.settings(of: decoder)?.context.text.flatMap { ContextURL.typeName(in: $0) }
    }

    private static func unknown(_ typeName: String?, _ container: any SingleValueDecodingContainer) -> DecodingError {
        let name = typeName.map { "'\($0)'" } ?? "without a name"
        return DecodingError.dataCorruptedError(
            in: container,
            debugDescription:
                "No Swift type that is a \(Base.self) is known for the type \(name): register one for it or for its base type.")
    }
}

extension Polymorphic: Encodable {
    /// Encodes the value with the name of its type, and the undeclared properties with the types that the service sent. If both contain a
    /// property, the value's is written.
    ///
    /// - Throws: `EncodingError` if the value isn't `Encodable`.
    public func encode(to encoder: any Encoder) throws {
        guard let encodable = value as? any Encodable else {
            throw EncodingError.invalidValue(
                ValueText.describable(value),
                .init(codingPath: encoder.codingPath, debugDescription: "\(Swift.type(of: value)) isn't Encodable."))
        }
        // Uses the dynamic type, since the static type may be a protocol.
        if let payload = encoder as? PayloadEncoder, let name = typeName ?? payload.settings.types.name(of: Swift.type(of: encodable)) {
            payload.writeType(name)
        }
        try encodable.encode(to: encoder)
        try undeclared.encode(behind: encodable, types: metadata.propertyTypes, to: encoder)
    }
}
