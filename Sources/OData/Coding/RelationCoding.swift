import Foundation
import WebServiceClient

extension ToMany: Decodable where Entity: Decodable {
    /// Decodes the collection with its count and next link, in the format of any version.
    ///
    /// Decoders other than ``ODataDecoder`` can't access control information, so that V4's next link is missing.
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
            elements = try values.enumerated().map { try payload.child($1, JSONKey(index: $0)).decode(Entity.self) }
            self.count = count
            self.nextLink = nextLink
            navigationLink = link
        } else {
            // A count or a link may be present without the collection.
            count = payload.control["count"]?.integer
            nextLink = payload.control["nextLink"]?.string
            navigationLink = link
        }
        linkBase = payload.linkBase
    }
}

extension ToMany: Encodable where Entity: Encodable {
    /// Encodes the elements.
    ///
    /// - Throws: `EncodingError` if only the first page is loaded: the service would take it for the whole relation.
    public func encode(to encoder: any Encoder) throws {
        let payload = encoder as? PayloadEncoder
        payload?.node.isRelation = true
        guard isComplete || !isLoaded || payload?.settings.isDraft == true else {
            throw EncodingError.invalidValue(
                ValueText.describable(self),
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "Only the relation's first page is loaded, and the service would treat it as the whole relation."))
        }
        var container = encoder.singleValueContainer()
        try container.encode(elements ?? [])
    }
}

extension KeyedDecodingContainer {
    /// Decodes a relation, which is absent if it wasn't expanded.
    public func decode<Entity: Decodable>(_ type: ToMany<Entity>.Type, forKey key: Key) throws -> ToMany<Entity> {
        try decodeWithNeighbours(type, forKey: key) ?? ToMany<Entity>()
    }

    /// Decodes a relation, or `nil` if the payload has neither its entities nor its count or links.
    public func decodeIfPresent<Entity: Decodable>(_ type: ToMany<Entity>.Type, forKey key: Key) throws -> ToMany<Entity>? {
        // Other libraries' decoders can't decode null as a collection.
        if contains(key), try decodeNil(forKey: key), try PayloadDecoder.of(superDecoder(forKey: key)) == nil { return nil }
        let relation = try decode(type, forKey: key)
        let isSilent = !relation.isLoaded && relation.count == nil && relation.nextLink == nil && relation.navigationLink == nil
        return isSilent ? nil : relation
    }
}

extension KeyedEncodingContainer {
    /// Encodes a relation, unless it isn't loaded.
    public mutating func encode<Entity: Encodable>(_ value: ToMany<Entity>, forKey key: Key) throws {
        if value.isLoaded { try encodePlainly(value, forKey: key) }
    }

    /// Encodes a relation, unless it is `nil` or isn't loaded.
    public mutating func encodeIfPresent<Entity: Encodable>(_ value: ToMany<Entity>?, forKey key: Key) throws {
        if value?.isLoaded ?? true { try encodePlainlyIfPresent(value, forKey: key) }
    }
}

extension ToOne: Decodable where Entity: Decodable {
    /// Decodes the entity, null, V2's deferred link, or the navigation link.
    public init(from decoder: any Decoder) throws {
        if let payload = try PayloadDecoder.of(decoder) {
            if let link = payload.deferredLink {
                self = .notLoaded(link: link.isEmpty ? nil : payload.absolute(link))
                return
            }
            guard payload.isPresent else {
                self = .notLoaded(link: (payload.control["navigationLink"]?.string).map { payload.absolute($0) })
                return
            }
            self = payload.value.isNull ? .null : .value(try payload.decode(Entity.self))
            return
        }
        let isNull = try decoder.singleValueContainer().decodeNil()
        self = isNull ? .null : .value(try Entity(from: decoder))
    }
}

extension PayloadDecoder {
    /// Resolves a link if its base is known by now. The context may still follow after the entities of a page.
    fileprivate func absolute(_ link: String) -> String {
        let context = settings.context
        guard context.page != nil, context.text != nil || context.isBeforeVersion4 || !context.mayCome else { return link }
        return linkBase.url(of: link)?.absoluteString ?? link
    }
}

extension ToOne: Encodable where Entity: Encodable {
    /// Encodes the entity or null. A relation that isn't loaded is null in an array, which can't omit it.
    public func encode(to encoder: any Encoder) throws {
        (encoder as? PayloadEncoder)?.node.isRelation = true
        try value.encode(to: encoder)
    }
}

extension KeyedDecodingContainer {
    /// Decodes a relation, which is absent if it wasn't expanded.
    public func decode<Entity: Decodable>(_ type: ToOne<Entity>.Type, forKey key: Key) throws -> ToOne<Entity> {
        try decodeWithNeighbours(type, forKey: key) ?? .notLoaded(link: nil)
    }

    /// Decodes a relation, or `nil` if the payload has neither its entity or null nor a link.
    public func decodeIfPresent<Entity: Decodable>(_ type: ToOne<Entity>.Type, forKey key: Key) throws -> ToOne<Entity>? {
        let relation = try decode(type, forKey: key)
        return relation.isLoaded || relation.link != nil ? relation : nil
    }
}

extension KeyedEncodingContainer {
    /// Encodes a relation, unless it isn't loaded.
    public mutating func encode<Entity: Encodable>(_ value: ToOne<Entity>, forKey key: Key) throws {
        if value.isLoaded { try encodePlainly(value, forKey: key) }
    }

    /// Encodes a relation, unless it is `nil` or isn't loaded.
    public mutating func encodeIfPresent<Entity: Encodable>(_ value: ToOne<Entity>?, forKey key: Key) throws {
        if value?.isLoaded ?? true { try encodePlainlyIfPresent(value, forKey: key) }
    }
}
