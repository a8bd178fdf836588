public import Foundation

/// What a service says about one entity beside its properties (JSON Format, section 4.6; V2's `__metadata`).
public struct EntityMetadata: Sendable, Hashable {
    /// An action or a function that the service offers for the entity.
    public struct Operation: Sendable, Hashable {
        /// The qualified name, such as `Sales.Approve`; overloads of functions have their parameters' names behind it.
        public var name: String
        /// What it is called, for people.
        public var title: String?
        /// Where it is called, as the service wrote it; `nil` where the convention says it.
        public var target: String?
    }

    /// The context URL as the service wrote it.
    public var context: String?
    /// The qualified name of the entity's type, without `#`.
    public var typeName: String?
    /// The entity's id as the service wrote it.
    public var id: String?
    /// The entity's version, with its quotes, as conditional requests send it back.
    public var etag: String?
    /// Where the entity is read, as the service wrote it, if not at its id.
    public var readLink: String?
    /// Where the entity is changed, as the service wrote it, if not at its read link.
    public var editLink: String?
    /// The entity's own media, where it has some.
    public var media: EdmStream?
    /// Where relations lead, by their names, as the service wrote it.
    public var navigationLinks: [String: String] = [:]
    /// Where the references of relations are, by their names, as the service wrote it.
    public var associationLinks: [String: String] = [:]
    /// The types of properties, by their names, where the service says them: `Edm.Int64` stands as `Int64`.
    public var propertyTypes: [String: String] = [:]
    /// The actions and functions that the service offers for the entity.
    public var operations: [Operation] = []
    /// Annotations of the entity, by their qualified names without `@`.
    public var annotations = DynamicEntity()
    /// Annotations of properties, by the properties' names.
    public var propertyAnnotations: [String: DynamicEntity] = [:]
    /// Control information that this library has no name for, as it is.
    public var others = DynamicEntity()

    /// What relative links begin at.
    var linkBase = LinkBase()

    /// The URL behind a link of the entity, such as ``editLink``, ``readLink``, ``id``, one of ``navigationLinks``, an operation's target or a link
    /// of its ``media``: relative ones begin at the entity's context or the nearest one around it, and that at the URL of the payload (JSON Format
    /// 4.01, section 4.4). `nil` where the link is none or no URL, or where it begins isn't known.
    public func url(of link: String?) -> URL? { linkBase.url(of: link) }

    /// Metadata that says nothing.
    public init() {}
}

extension EntityMetadata: Decodable {
    /// Reads what an entity's payload says.
    public init(from decoder: any Decoder) throws {
        self.init(try DynamicEntity(from: decoder), linkBase: PayloadDecoder.linkBase(inside: decoder))
    }

    /// What an entity's payload says.
    public init(_ entity: DynamicEntity) {
        self.init(entity, linkBase: LinkBase())
    }

    init(_ entity: DynamicEntity, linkBase: LinkBase) {
        self.linkBase = linkBase
        for property in entity.properties { read(property.name, property.value) }
        let stream = EdmStream(ControlInformation(entity: entity))
        if !stream.isEmpty { media = stream }
        if let object = entity["__metadata"]?.object { readV2(object) }
        media?.linkBase = linkBase
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
        case "navigationLink": navigationLinks[property] = value.string
        case "associationLink": associationLinks[property] = value.string
        default: propertyAnnotations[property, default: DynamicEntity()][annotation] = value
        }
    }

    /// Overloads may come as a list.
    private mutating func readOperation(_ name: String, _ value: ODataValue) {
        for object in value.array?.compactMap(\.object) ?? [value.object ?? DynamicEntity()] {
            operations.append(Operation(name: name, title: object["title"]?.string, target: object["target"]?.string))
        }
    }

    private mutating func readV2(_ object: DynamicEntity) {
        // V2 knows one URI, which is id, read link and edit link at once.
        id = object["id"]?.string ?? object["uri"]?.string
        editLink = object["uri"]?.string
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
