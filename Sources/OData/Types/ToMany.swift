/// A relation to entities: not loaded, or the first page of them, which knows whether there are more.
///
/// ``ODataClient/entities(of:)`` gives all of them, whichever it is.
public struct ToMany<Entity> {
    /// The entities that came along, in the service's order; `nil` where the relation wasn't expanded.
    public var elements: [Entity]?
    /// The number of all related entities, where the query asked for it.
    public var count: Int64?
    /// The link to the rest as the service wrote it, where ``elements`` aren't all.
    public var nextLink: String?
    /// The link to the collection as the service wrote it: in V2, and in V4 with full metadata or by the service's choice.
    public var navigationLink: String?
    /// The context of the payload it came with, which relative links begin at.
    private var origin: PayloadContext?
    var context: String? { origin?.url }

    /// A relation that isn't loaded.
    public init() {}

    /// A relation that is loaded.
    public init(_ elements: [Entity], count: Int64? = nil, nextLink: String? = nil) {
        self.elements = elements
        self.count = count
        self.nextLink = nextLink
    }

    /// Whether the relation was expanded.
    public var isLoaded: Bool { elements != nil }

    /// Whether ``elements`` are all there are. Dynamics, for one, gives an empty array and a next link.
    public var isComplete: Bool { isLoaded && nextLink == nil }
}

extension ToMany: ODataCollection {
    /// The related entities.
    public typealias Member = Entity
}

extension ToMany: Sendable where Entity: Sendable {}
extension ToMany: Equatable where Entity: Equatable {}
extension ToMany: Hashable where Entity: Hashable {}

extension ToMany: ExpressibleByArrayLiteral {
    /// A relation that is loaded.
    public init(arrayLiteral elements: Entity...) {
        self.init(elements)
    }
}

extension ToMany: Decodable where Entity: Decodable {
    /// Reads the collection with its count and next link, in any version's shape.
    ///
    /// Decoders other than ``ODataDecoder`` have nothing to say about what stands beside a property: with them the next link of a page
    /// in V4 isn't seen.
    public init(from decoder: any Decoder) throws {
        self.init()
        guard let payload = try PayloadDecoder.of(decoder) else {
            var container = try decoder.unkeyedContainer()
            var elements: [Entity] = []
            while !container.isAtEnd { elements.append(try container.decode(Entity.self)) }
            self.elements = elements
            return
        }
        let link = payload.control["navigationLink"]?.string
        if let deferred = payload.deferredLink {
            navigationLink = deferred.isEmpty ? nil : deferred
        } else if payload.isPresent, !payload.value.isNull {
            let (values, count, nextLink) = try payload.collection()
            elements = try values.enumerated().map { try payload.child($1, PayloadKey(index: $0)).decode(Entity.self) }
            self.count = count
            self.nextLink = nextLink
            navigationLink = link
        } else {
            // A count or a link may come without the collection.
            count = payload.control["count"]?.integer
            nextLink = payload.control["nextLink"]?.string
            navigationLink = link
        }
        origin = payload.settings.context
    }
}

extension ToMany: Encodable where Entity: Encodable {
    /// Writes the elements.
    ///
    /// - Throws: `EncodingError` for a first page: written, it would stand for all.
    public func encode(to encoder: any Encoder) throws {
        let payload = encoder as? PayloadEncoder
        payload?.node.isRelation = true
        guard isComplete || !isLoaded || payload?.settings.isDraft == true else {
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "Only the relation's first page was loaded; written, it would stand for all."))
        }
        var container = encoder.singleValueContainer()
        try container.encode(elements ?? [])
    }
}

extension KeyedDecodingContainer {
    /// A relation, which is absent where it wasn't expanded.
    public func decode<Entity: Decodable>(_ type: ToMany<Entity>.Type, forKey key: Key) throws -> ToMany<Entity> {
        try decodeWithNeighbours(type, forKey: key) ?? ToMany<Entity>()
    }
}

extension KeyedEncodingContainer {
    /// Writes a relation, unless it isn't loaded.
    public mutating func encode<Entity: Encodable>(_ value: ToMany<Entity>, forKey key: Key) throws {
        if value.isLoaded { try encodePlainly(value, forKey: key) }
    }
}
