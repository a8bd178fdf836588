public import Foundation
import WebServiceClient

/// One page of a collection (JSON Format, section 4.5).
public struct ODataPage<Entity: Decodable & Sendable>: Sendable {
    /// The entities of this page.
    public var entities: [Entity]
    /// The number of all matching entities, if the request asked for it.
    public var count: Int64?
    /// The unresolved link to the next page, or `nil` on the last one. It is opaque: follow it without changing it.
    public var nextLink: String?
    /// The unresolved link to later changes, if there is one.
    public var deltaLink: String?
    /// The unresolved context URL.
    public var context: String?
    /// Annotations of the collection, by their qualified names without `@`; names of annotations of its `value` begin with `value@`.
    public var annotations = DynamicEntity()
    /// The actions and functions that the service offers for the collection.
    public var operations: [EntityMetadata.Operation] = []
    /// Unknown control information, unchanged, and other members of the page.
    public var others = DynamicEntity()

    /// The base of relative links, except for ``context``, which can be set.
    var linkBase = LinkBase()

    /// Returns the resolved URL of ``nextLink``, ``deltaLink`` or an operation's target. Relative links are resolved against ``context``,
    /// and that against the URL of the page (JSON Format 4.01, section 4.4). Returns `nil` if the link is `nil` or not a URL, or if its
    /// base is unknown.
    public func url(of link: String?) -> URL? {
        LinkBase(root: ContextURL(context, page: linkBase.root?.page)).url(of: link)
    }

    /// Creates a page.
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
    /// Decodes a page of 4.0, of 4.01 (with or without the prefix `odata.`), of V2 (with or without `d` and `results`), or of V3's light
    /// form.
    ///
    /// - Throws: ``ODataErrorBody`` if an error replaces or follows the entities, which services send when they fail midway.
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
        // The first version of OData has the array directly in `d`.
        case .array: (object, name) = (DynamicEntity(), "")
        case .object(let found):
            if let error = ODataErrorBody(in: found) { throw error }
            (object, name) = (found, found["value"] == nil ? "results" : "value")
        default: throw payload.mismatch([ODataValue].self, "a page of entities")
        }
        guard let values = payload.value.array ?? object[name]?.array else {
            let names = object.count == 0 ? "nothing" : object.properties.prefix(10).map { "'\($0.name)'" }.joined(separator: ", ")
            throw payload.corrupted("No page of entities: there is neither an array 'value' nor 'results', but \(names).")
        }
        // A service that fails midway may still close the array after its error.
        if let last = values.last?.object, last.count == 1, let error = ODataErrorBody(in: last) { throw error }
        let place = name.isEmpty ? payload : payload.child(.null, JSONKey(name))
        entities = try values.enumerated().map { try place.child($1, JSONKey(index: $0)).decode(Entity.self) }
        try read(object, payload)
        linkBase = root.linkBase
    }

    /// Reads the members around the entities.
    private mutating func read(_ object: DynamicEntity, _ payload: PayloadDecoder) throws {
        let control = ControlInformation(entity: object)
        // Services that support IEEE754Compatible numbers write the count as a string if asked to; V2 always does.
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

    /// The names of the member with the entities, in V4 and V2.
    private static var names: [String] { ["value", "results"] }

    /// Returns whether no other property of the page represents a member.
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

    /// Decodes V4's formats from decoders of other libraries.
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
