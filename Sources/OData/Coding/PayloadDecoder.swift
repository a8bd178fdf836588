import WebServiceClient

/// A decoder of a payload's value by OData's rules: it reads numbers from strings too, unwraps V2's envelopes, and gives types access to
/// the control information of a property.
struct PayloadDecoder: Decoder {
    let value: ODataValue
    let place: PayloadPlace
    /// The object that contains the value as a property, and the property's name.
    var parent: DynamicEntity?
    var name: String?
    /// Whether the property is present.
    var isPresent = true
    /// The context URLs of the objects around the value, without the payload's own and, when decoding from text, without those of outer
    /// objects.
    var contexts: [String] = []
    let settings: PayloadSettings
    /// Records which properties of the value are decoded.
    var recorder: NameRecorder?

    var codingPath: [any CodingKey] { place.path }
    var userInfo: [CodingUserInfoKey: Any] { settings.userInfo }

    init(_ value: ODataValue, at place: PayloadPlace = .top, settings: PayloadSettings) {
        self.value = value
        self.place = place
        self.settings = settings
    }

    /// The control information of the property.
    var control: ControlInformation {
        ControlInformation(entity: parent ?? DynamicEntity(), property: name ?? "")
    }

    /// The link that V2 sends in place of a relation that wasn't expanded.
    var deferredLink: String? {
        value.object.flatMap(PayloadDecoder.deferredLink)
    }

    static func deferredLink(_ object: DynamicEntity) -> String? {
        guard object.count == 1, let deferred = object["__deferred"]?.object else { return nil }
        return deferred["uri"]?.string ?? ""
    }

    func child(_ value: ODataValue, _ key: any CodingKey) -> PayloadDecoder {
        var child = PayloadDecoder(value, at: .key(key, in: place), settings: settings)
        child.contexts = contexts
        return child
    }

    /// The base of relative links in the value's control information, such as a relation's or a stream's.
    var linkBase: LinkBase { LinkBase(root: settings.context, inner: place.contexts + contexts) }

    /// Returns the decoder for the members of an object, adding the object's context. The settings already contain the payload's context.
    func entering(_ object: DynamicEntity) -> PayloadDecoder {
        if case .top = place { return self }
        guard let context = PageShape.context(of: object) else { return self }
        var inside = self
        inside.contexts.append(context)
        return inside
    }

    /// Returns the base of the relative links in an object's own control information.
    static func linkBase(inside decoder: any Decoder) -> LinkBase {
        if let payload = decoder as? PayloadDecoder {
            return payload.value.object.map { payload.entering($0).linkBase } ?? payload.linkBase
        }
        guard let node = JSONNode(decoder), let dialect = node.dialect as? PayloadDialect else { return LinkBase() }
        return LinkBase(root: dialect.settings.context, inner: node.contexts(withOwn: true))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = value else { throw mismatch([String: ODataValue].self, "an object") }
        if PayloadDecoder.deferredLink(object) != nil { throw notLoaded() }
        if !place.isTop, CollectionEnvelope.elements(in: object) != nil, settings.context.text == nil,
            !CollectionEnvelope.isRead(by: type)
        {
            throw collectionForOne()
        }
        return KeyedDecodingContainer(PayloadKeyedContainer<Key>(decoder: entering(object), object: object))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        PayloadUnkeyedContainer(decoder: self, elements: try wholeCollection())
    }

    /// Returns the elements of a collection without a next link.
    func wholeCollection() throws -> [ODataValue] {
        let page = try collection()
        guard let link = page.nextLink else { return page.elements }
        throw corrupted(
            "The collection continues at a next link, \(NextLink.shown(link)), which an array can't hold: declare the property as ToMany."
        )
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        PayloadSingleContainer(decoder: self)
    }

    /// Returns a collection with its count and next link, which are control information (V4) or members of an envelope (V2).
    func collection() throws -> (elements: [ODataValue], count: Int64?, nextLink: String?) {
        switch value {
        case .array(let elements):
            guard parent != nil else { return (elements.list, nil, nil) }
            return (elements.list, control["count"]?.integer, control["nextLink"]?.string)
        case .object(let object):
            if PayloadDecoder.deferredLink(object) != nil { throw notLoaded() }
            if let elements = object["results"]?.array {
                return (elements, object["__count"]?.integer, object["__next"].flatMap { NextLink.text($0) })
            }
            // The whole payload is a collection, such as a function's result.
            if case .top = place, let elements = object["value"]?.array {
                return (elements, nil, ControlInformation(entity: object)["nextLink"]?.string)
            }
            throw mismatch([ODataValue].self, "an array")
        default:
            throw mismatch([ODataValue].self, "an array")
        }
    }

    /// Decodes a value of any type: by OData's spelling if the type has one, otherwise by the type's own decoding.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let readable = type as? any PayloadReadable.Type, let value = try readable.read(self) as? Value { return value }
        return try Value(from: self)
    }

    // MARK: Errors

    func mismatch(_ type: any Any.Type, _ wanted: String) -> DecodingError {
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "\(wanted) is needed, not \(value.kind).")
        return value.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func corrupted(_ text: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: text))
    }

    func notLoaded() -> DecodingError {
        corrupted("The relation wasn't loaded: expand it, or declare the property as ToOne or ToMany.")
    }

    func collectionForOne() -> DecodingError {
        let text = "One object is needed, not a collection ('results'): declare the property as an array or as ToMany."
        return .typeMismatch([String: ODataValue].self, .init(codingPath: codingPath, debugDescription: text))
    }
}

/// The object that version 2 puts around a collection: `{"results": […], "__count": "2", "__next": "…"}`. Payloads of version 4, which
/// have a context URL, have no envelopes.
enum CollectionEnvelope {
    static let names: Set<String> = ["results", "__count", "__next", "__metadata"]

    /// Returns the elements if an object is an envelope and no entity.
    static func elements(in object: DynamicEntity) -> [ODataValue]? {
        guard object.count <= names.count, let elements = object["results"]?.array, names.isSuperset(of: object.names) else { return nil }
        return elements
    }

    /// Returns whether a type with these keys decodes the envelope itself. Another type whose properties are all optional would be read
    /// without any of them.
    static func isRead(by keys: any CodingKey.Type) -> Bool {
        ["results", "__count", "__next"].contains { keys.init(stringValue: $0) != nil }
    }
}

// Trees for types that can't be decoded from text.
extension PayloadDecoder {
    /// Returns a decoder with the tree of a value, or `nil` for decoders of other libraries.
    static func of(_ decoder: any Decoder) throws -> PayloadDecoder? {
        if let payload = decoder as? PayloadDecoder { return payload }
        guard let node = JSONNode(decoder), let dialect = node.dialect as? PayloadDialect else { return nil }
        return try PayloadDecoder(node, settings: dialect.settings)
    }

    /// Returns the settings of this library's decoders, or `nil` for others.
    static func settings(of decoder: any Decoder) -> PayloadSettings? {
        (decoder as? PayloadDecoder)?.settings ?? (JSONNode(decoder)?.dialect as? PayloadDialect)?.settings
    }

    init(_ node: JSONNode, settings: PayloadSettings) throws {
        self.init(try settings.tree(node), at: .within(node.decoder), settings: settings)
        guard let name = node.name else { return }
        self.name = name
        var neighbours = DynamicEntity()
        for (name, value) in node.controlNeighbours { neighbours[name] = try settings.tree(value) }
        parent = neighbours
    }
}

extension JSONNode {
    /// Returns the context URLs of the objects around the value, outermost first, followed by its own.
    func contexts(withOwn: Bool) -> [String] {
        var contexts: [String] = []
        var node = withOwn ? self : container
        while let object = node {
            if let context = object.context { contexts.append(context) }
            node = object.container
        }
        return contexts.reversed()
    }

    /// The context URL of an object, if it has one.
    var context: String? {
        for name in PageShape.contextNames {
            if case .string(let text)? = member(name)?.content { return text }
        }
        return nil
    }

    /// The control information of a property.
    var controlNeighbours: [(name: String, value: JSONNode)] {
        neighbours(behind: UInt8(ascii: "@"), suffixes: ControlInformation.propertySuffixes)
    }
}

extension KeyedDecodingContainer {
    /// Decodes a value that also uses control information and so may exist without the property itself. Returns `nil` if a decoder of
    /// another library doesn't have the property.
    func decodeWithNeighbours<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        // Most relations are absent, and the decoders of this library know which have no control information either. Others may throw.
        if case .none? = try? decode(JSONNeighbours.self, forKey: key) { return nil }
        if contains(key) { return try decodePlainly(type, forKey: key) }
        let decoder: any Decoder
        do {
            decoder = try superDecoder(forKey: key)
        } catch DecodingError.keyNotFound {
            return nil
        }
        guard let payload = try PayloadDecoder.of(decoder) else { return nil }
        return try Value(from: payload)
    }
}
