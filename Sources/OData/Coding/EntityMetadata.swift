public import Foundation

/// The metadata of one entity (JSON Format, section 4.6; V2's `__metadata`).
public struct EntityMetadata: Sendable, Hashable {
    /// An action or a function that the service offers for the entity.
    public struct Operation: Sendable, Hashable {
        /// The qualified name, such as `Sales.Approve`. Overloads of functions are followed by the names of their parameters.
        public var name: String
        /// The title for people.
        public var title: String?
        /// The unresolved URL to call; `nil` for the conventional URL.
        public var target: String?
    }

    /// The unresolved context URL.
    public var context: String?
    /// The qualified name of the entity's type, without `#`.
    public var typeName: String?
    /// The entity's unresolved id.
    public var id: String?
    /// The entity's version including its quotes, for conditional requests.
    public var etag: String?
    /// The unresolved link for reading the entity, if it differs from its id.
    public var readLink: String?
    /// The unresolved link for changing the entity, if it differs from its read link.
    public var editLink: String?
    /// The entity's own media, if it has any.
    public var media: EdmStream?
    /// The unresolved links of relations, by name.
    public var navigationLinks: [String: String] = [:]
    /// The unresolved links of the relations' references, by name.
    public var associationLinks: [String: String] = [:]
    /// The types of properties, by name, if the service sends them. `Edm.Int64` is `Int64`.
    public var propertyTypes: [String: String] = [:]
    /// The actions and functions that the service offers for the entity.
    public var operations: [Operation] = []
    /// Annotations of the entity, by their qualified names without `@`.
    public var annotations = DynamicEntity()
    /// Annotations of properties, by the properties' names.
    public var propertyAnnotations: [String: DynamicEntity] = [:]
    /// Unknown control information, unchanged.
    public var others = DynamicEntity()

    /// The base of relative links.
    var linkBase = LinkBase()

    /// Returns the resolved URL of a link of the entity: ``editLink``, ``readLink``, ``id``, one of ``navigationLinks``, an operation's
    /// target or a link of its ``media``. Relative links are resolved against the nearest context, the entity's or an outer one, and that
    /// against the URL of the payload (JSON Format 4.01, section 4.4). Returns `nil` if the link is `nil` or not a URL, or if its base is
    /// unknown.
    public func url(of link: String?) -> URL? { linkBase.url(of: link) }

    /// Creates empty metadata.
    public init() {}
}

extension EntityMetadata: Decodable {
    /// Decodes the metadata of an entity.
    public init(from decoder: any Decoder) throws {
        self.init(try DynamicEntity(from: decoder), linkBase: PayloadDecoder.linkBase(inside: decoder))
    }

    /// Creates the metadata from an entity's payload.
    public init(_ entity: DynamicEntity) {
        self.init(entity, linkBase: LinkBase())
    }

    init(_ entity: DynamicEntity, linkBase: LinkBase) {
        self.linkBase = linkBase
        for property in entity.properties { read(property.name, property.value) }
        var stream = EdmStream(ControlInformation(entity: entity))
        stream.data = entity["$value"].flatMap { EdmStream.inlineBytes($0, stream.contentType) }
        if !stream.isEmpty { media = stream }
        if let object = entity["__metadata"]?.object { readV2(object) }
        media?.linkBase = self.linkBase
    }

    private mutating func read(_ name: String, _ value: ODataValue) {
        if name.hasPrefix("#") {
            readOperation(String(name.dropFirst()), value)
        } else if let control = ControlInformation.name(name) {
            readOwn(control, name, value)
        } else if name.hasPrefix("@") {
            annotations[String(name.dropFirst())] = value
        } else if let at = name.firstIndex(of: "@") {
            let rest = name[at...]
            readProperty(String(name[..<at]), ControlInformation.name(rest), String(rest.dropFirst()), value)
        } else if let link = value.object.flatMap(PayloadDecoder.deferredLink), !link.isEmpty {
            navigationLinks[name] = link
        }
    }

    private mutating func readOwn(_ control: String, _ name: String, _ value: ODataValue) {
        switch control {
        case "context", "metadata": context = value.string
        case "type": typeName = value.string.map { ControlInformation.typeName($0) }
        case "id": id = value.string
        case "etag": etag = value.string
        case "readLink": readLink = value.string
        case "editLink": editLink = value.string
        case "mediaReadLink", "mediaEditLink", "mediaContentType", "mediaEtag", "mediaETag": break
        default: others[name] = value
        }
    }

    private mutating func readProperty(_ property: String, _ control: String?, _ annotation: String, _ value: ODataValue) {
        switch control {
        case "type": propertyTypes[property] = value.string.map { ControlInformation.typeName($0) }
        // The longer names are those of version 3.
        case "navigationLink", "navigationLinkUrl": navigationLinks[property] = value.string
        case "associationLink", "associationLinkUrl": associationLinks[property] = value.string
        default: propertyAnnotations[property, default: DynamicEntity()][annotation] = value
        }
    }

    /// Reads an operation; overloads may be a list.
    private mutating func readOperation(_ name: String, _ value: ODataValue) {
        for object in value.array?.compactMap(\.object) ?? [value.object ?? DynamicEntity()] {
            operations.append(Operation(name: name, title: object["title"]?.string, target: object["target"]?.string))
        }
    }

    private mutating func readV2(_ object: DynamicEntity) {
        // V2 has one URI, which is id, read link and edit link.
        id = object["id"]?.string ?? object["uri"]?.string
        editLink = object["uri"]?.string
        // Other links are relative to the service's root, where the entity's canonical URL is.
        if let editLink, NextLink.resolved(editLink, against: nil)?.scheme != nil { linkBase.inner.append(editLink) }
        typeName = object["type"]?.string
        etag = object["etag"]?.string
        let stream = EdmStream(v2: object)
        if !stream.isEmpty { media = stream }
        for kind in ["actions", "functions"] {
            for property in object[kind]?.object?.properties ?? [] {
                readOperation(ControlInformation.typeName(property.name), property.value)
            }
        }
        let known = ["id", "uri", "type", "etag", "media_src", "edit_media", "content_type", "media_etag", "actions", "functions"]
        for property in object.properties where !known.contains(property.name) { others[property.name] = property.value }
    }
}
