import WebServiceClient

/// A value whose type the payload names: an entity or complex value of a derived type.
///
///     let animals = try await client.fetch(FetchRequest<Polymorphic<any Animal>>(from: "Animals"))
///
/// The client's ``TypeRegistry`` says which Swift type stands for a name; for one that isn't registered it is the nearest base that is,
/// else `Base` itself where that can be decoded, or the one registered type without a base that fits. Other decoders than ``ODataDecoder`` know
/// no registry. What the Swift type doesn't declare stays in ``undeclared``.
public struct Polymorphic<Base: Sendable>: Sendable {
    /// The value.
    public let value: Base
    /// The service's name of the type, where the payload says it.
    public let typeName: String?
    /// What the service says about the entity.
    public let metadata: EntityMetadata
    /// The properties that the Swift type doesn't declare, in the payload's order.
    public let undeclared: DynamicEntity

    /// A value to be written, of a type by its name; `nil` leaves it to the ``TypeRegistry``.
    public init(_ value: Base, typeName: String? = nil) {
        self.value = value
        self.typeName = typeName
        metadata = EntityMetadata()
        undeclared = DynamicEntity()
    }
}

extension Polymorphic: Decodable {
    /// Reads the value as the type that its name stands for.
    ///
    /// - Throws: `DecodingError` where no Swift type is known for it, naming the type.
    public init(from decoder: any Decoder) throws {
        let types = PayloadDecoder.settings(of: decoder)?.types ?? TypeRegistry()
        let entity = try DynamicEntity(from: decoder)
        metadata = EntityMetadata(entity, linkBase: PayloadDecoder.linkBase(inside: decoder))
        typeName = metadata.typeName
        let container = try decoder.singleValueContainer()
        let found: any (Decodable & Sendable)
        if let nearest = typeName.flatMap({ types.nearest(to: $0) }) {
            found = try container.decode(nearest.type)
        } else if let base = Base.self as? any (Decodable & Sendable).Type {
            found = try container.decode(base)
        } else {
            // A protocol names no type. Where one root alone fits, it is the declared type.
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

    private static func unknown(_ typeName: String?, _ container: any SingleValueDecodingContainer) -> DecodingError {
        let name = typeName.map { "'\($0)'" } ?? "that isn't named"
        return DecodingError.dataCorruptedError(
            in: container,
            debugDescription:
                "No Swift type that is a \(Base.self) is known for the type \(name): register one, or what the type derives from.")
    }
}

extension Polymorphic: Encodable {
    /// Writes the value with the name of its type, and the undeclared properties with the types that the service said. Where both have a
    /// property, the value's counts.
    ///
    /// - Throws: `EncodingError` where the value isn't `Encodable`.
    public func encode(to encoder: any Encoder) throws {
        guard let encodable = value as? any Encodable else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: encoder.codingPath, debugDescription: "\(Swift.type(of: value)) isn't Encodable."))
        }
        // Of the value itself, whose static type may be a protocol.
        if let payload = encoder as? PayloadEncoder, let name = typeName ?? payload.settings.types.name(of: Swift.type(of: encodable)) {
            payload.writeType(name)
        }
        try encodable.encode(to: encoder)
        try undeclared.encode(behind: encodable, types: metadata.propertyTypes, to: encoder)
    }
}
