public import Foundation
import WebServiceClient

/// One page of a collection as the service sent it (JSON Format, section 4.5).
public struct ODataPage<Entity: Decodable & Sendable>: Sendable {
    /// The entities of this page.
    public var entities: [Entity]
    /// The number of all entities that match, where the request asked for it.
    public var count: Int64?
    /// The link to the next page as the service wrote it, `nil` on the last one. It is opaque: follow it, don't change it.
    public var nextLink: String?
    /// The link to later changes as the service wrote it, where there is one.
    public var deltaLink: String?
    /// The context URL as the service wrote it.
    public var context: String?
    /// Annotations of the collection, by their qualified names without `@`; where they are of its `value`, that stands before it.
    public var annotations = DynamicEntity()
    /// The actions and functions that the service offers for the collection.
    public var operations: [EntityMetadata.Operation] = []
    /// Control information that this library has no name for, as it is, and whatever else stands beside the entities.
    public var others = DynamicEntity()

    /// What relative links begin at, but for ``context``, which can be set.
    var linkBase = LinkBase()

    /// The URL behind one of the links, ``nextLink`` or ``deltaLink``, or an operation's target: relative ones begin at ``context``, and that at the
    /// URL of the page (JSON Format 4.01, section 4.4). `nil` where the link is none or no URL, or where it begins isn't known.
    public func url(of link: String?) -> URL? {
        LinkBase(root: ContextURL(context, page: linkBase.root?.page)).url(of: link)
    }

    /// A page.
    public init(
        entities: [Entity], count: Int64? = nil, nextLink: String? = nil, deltaLink: String? = nil, context: String? = nil
    ) {
        self.entities = entities
        self.count = count
        self.nextLink = nextLink
        self.deltaLink = deltaLink
        self.context = context
    }
}

extension ODataPage: Decodable {
    /// Reads a page in the shape of 4.0 or of 4.01, whose control information may come without `odata.`, of V2 with `d` and `results` or
    /// without, or of V3's light form.
    ///
    /// - Throws: ``ODataErrorBody`` where there is an error instead of a page or behind it, as a service says that fails midway.
    public init(from decoder: any Decoder) throws {
        if let payload = try PayloadDecoder.of(decoder) {
            try self.init(payload)
        } else {
            try self.init(plain: decoder)
        }
    }

    private init(_ root: PayloadDecoder) throws {
        var payload = root
        if let object = root.value.object, object["value"] == nil, object["results"] == nil, let data = object["d"] {
            payload = root.child(data, JSONKey("d"))
        }
        let object: DynamicEntity
        let name: String
        switch payload.value {
        // The first version had the array itself in `d`.
        case .array: (object, name) = (DynamicEntity(), "")
        case .object(let found):
            if let error = ODataErrorBody(in: found) { throw error }
            (object, name) = (found, found["value"] == nil ? "results" : "value")
        default: throw payload.mismatch([ODataValue].self, "a page of entities")
        }
        guard let values = payload.value.array ?? object[name]?.array else {
            let names = object.properties.prefix(10).map { "'\($0.name)'" }.joined(separator: ", ")
            throw payload.corrupted("No page of entities: there is neither an array 'value' nor 'results', but \(names).")
        }
        // A service that fails midway may still close the array behind its error.
        if let last = values.last?.object, last.properties.count == 1, let error = ODataErrorBody(in: last) { throw error }
        let place = name.isEmpty ? payload : payload.child(.null, JSONKey(name))
        entities = try values.enumerated().map { try place.child($1, JSONKey(index: $0)).decode(Entity.self) }
        try read(object, payload)
        linkBase = root.linkBase
    }

    /// What stands beside the entities.
    private mutating func read(_ object: DynamicEntity, _ payload: PayloadDecoder) throws {
        let control = ControlInformation(entity: object)
        // Services that were asked for IEEE754Compatible numbers write the count as a text; V2 always does.
        if let number = control["count"] ?? object["__count"], !number.isNull {
            guard let count = number.integer else { throw payload.corrupted("The page's count isn't a whole number.") }
            self.count = count
        }
        if let link = control["nextLink"] ?? object["__next"], !link.isNull {
            guard let text = NextLink.text(link) else { throw payload.corrupted("The page's next link isn't a text.") }
            nextLink = text
        }
        deltaLink = (control["deltaLink"] ?? object["__delta"]).flatMap { NextLink.text($0) }
        context = control["context"]?.string ?? object["odata.metadata"]?.string
        let metadata = EntityMetadata(object)
        annotations = metadata.annotations
        operations = metadata.operations
        for name in Self.names {
            for annotation in metadata.propertyAnnotations[name]?.properties ?? [] {
                let name = name + "@" + annotation.name
                if !Self.isOther(name) { annotations[name] = annotation.value }
            }
        }
        for property in object.properties where Self.isOther(property.name) { others[property.name] = property.value }
    }

    /// Where the entities are, in V4 and V2.
    private static var names: [String] { ["value", "results"] }

    /// Whether nothing else of a page tells it.
    private static func isOther(_ name: String) -> Bool {
        if let control = ControlInformation.name(name) {
            return !["count", "nextLink", "deltaLink", "context", "metadata"].contains(control)
        }
        if name.hasPrefix("@") || name.hasPrefix("#") || names.contains(name) { return false }
        if let at = name.firstIndex(of: "@"), names.contains(String(name[..<at])), ControlInformation.name(name[at...]) == nil {
            return false
        }
        return !["__count", "__next", "__delta", "d"].contains(name)
    }

    /// V4's shapes from decoders other than ours.
    private init(plain decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: JSONKey.self)
        for name in ODataErrorBody.names where container.contains(JSONKey(name)) {
            if let error = try? ODataErrorBody(from: decoder) { throw error }
        }
        let value = JSONKey("value")
        guard container.contains(value) else {
            let hint = container.contains(JSONKey("d")) ? "it has the shape of OData 2 or 3" : "there is no 'value'"
            throw DecodingError.keyNotFound(
                value, DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "No page of entities: \(hint)."))
        }
        entities = try container.decode([Entity].self, forKey: value)
        var beside = DynamicEntity()
        for key in container.allKeys where key.stringValue.contains("@") || key.stringValue.hasPrefix("#") {
            beside[key.stringValue] = try container.decode(ODataValue.self, forKey: key)
        }
        try read(beside, PayloadDecoder(.object(beside), settings: PayloadSettings()))
    }
}
