import WebServiceClient

/// Decodes from a payload's value, by OData's rules: numbers also from texts, V2's wrappings looked through, and what stands beside a
/// property at hand for the types that want it.
struct PayloadDecoder: Decoder {
    let value: ODataValue
    let place: PayloadPlace
    /// The object that the value is a property of, and the property's name.
    var parent: DynamicEntity?
    var name: String?
    /// Whether the property is there at all.
    var isPresent = true
    /// The context URLs of the objects around the value, without the payload's own and, where a text is read, those of its outer objects.
    var contexts: [String] = []
    let settings: PayloadSettings
    /// Learns which properties of the value are asked for.
    var recorder: NameRecorder?

    var codingPath: [any CodingKey] { place.path }
    var userInfo: [CodingUserInfoKey: Any] { settings.userInfo }

    init(_ value: ODataValue, at place: PayloadPlace = .top, settings: PayloadSettings) {
        self.value = value
        self.place = place
        self.settings = settings
    }

    /// What the payload says about the property that the value is.
    var control: ControlInformation {
        ControlInformation(entity: parent ?? DynamicEntity(), property: name ?? "")
    }

    /// What V2 puts in place of relations that weren't expanded: where they are.
    var deferredLink: String? {
        value.object.flatMap(PayloadDecoder.deferredLink)
    }

    static func deferredLink(_ object: DynamicEntity) -> String? {
        guard object.properties.count == 1, let deferred = object["__deferred"]?.object else { return nil }
        return deferred["uri"]?.string ?? ""
    }

    func child(_ value: ODataValue, _ key: any CodingKey) -> PayloadDecoder {
        var child = PayloadDecoder(value, at: .key(key, in: place), settings: settings)
        child.contexts = contexts
        return child
    }

    /// What relative links begin at that stand beside the value: a relation's, a stream's.
    var linkBase: LinkBase { LinkBase(root: settings.context, inner: place.contexts + contexts) }

    /// The decoder for what is inside of an object, whose own context counts there. The payload's own is the settings' already.
    func entering(_ object: DynamicEntity) -> PayloadDecoder {
        if case .top = place { return self }
        guard let context = PageShape.context(of: object) else { return self }
        var inside = self
        inside.contexts.append(context)
        return inside
    }

    /// What the relative links begin at that an object says of itself.
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
        return KeyedDecodingContainer(PayloadKeyedContainer<Key>(decoder: entering(object), object: object))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        PayloadUnkeyedContainer(decoder: self, elements: try wholeCollection())
    }

    /// The elements of a collection that doesn't go on elsewhere.
    func wholeCollection() throws -> [ODataValue] {
        let page = try collection()
        guard let link = page.nextLink else { return page.elements }
        throw corrupted(
            "The collection goes on behind a next link, \(NextLink.shown(link)), which an array can't hold: declare the property as ToMany."
        )
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        PayloadSingleContainer(decoder: self)
    }

    /// A collection with what is said beside it (V4), or around it (V2).
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
            // A whole payload's collection, such as a function's.
            if case .top = place, let elements = object["value"]?.array {
                return (elements, nil, ControlInformation(entity: object)["nextLink"]?.string)
            }
            throw mismatch([ODataValue].self, "an array")
        default:
            throw mismatch([ODataValue].self, "an array")
        }
    }

    /// The value as any type: as OData spells it where we know how, else by the type's own decoding.
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
}

// What reads from the text gets a tree where it wants one.
extension PayloadDecoder {
    /// A decoder with the tree of a value, where this library's decoders read; `nil` with others.
    static func of(_ decoder: any Decoder) throws -> PayloadDecoder? {
        if let payload = decoder as? PayloadDecoder { return payload }
        guard let node = JSONNode(decoder), let dialect = node.dialect as? PayloadDialect else { return nil }
        return try PayloadDecoder(node, settings: dialect.settings)
    }

    /// What this library's decoders bring along; `nil` with others.
    static func settings(of decoder: any Decoder) -> PayloadSettings? {
        (decoder as? PayloadDecoder)?.settings ?? (JSONNode(decoder)?.dialect as? PayloadDialect)?.settings
    }

    init(_ node: JSONNode, settings: PayloadSettings) throws {
        self.init(try ODataValue(node), at: .within(node.decoder), settings: settings)
        guard let name = node.name else { return }
        self.name = name
        var neighbours = DynamicEntity()
        for (name, value) in node.controlNeighbours { neighbours[name] = try ODataValue(value) }
        parent = neighbours
    }
}

extension JSONNode {
    /// The context URLs that the objects around the value say, from the outside in, and its own.
    func contexts(withOwn: Bool) -> [String] {
        var contexts: [String] = []
        var node = withOwn ? self : container
        while let object = node {
            if let context = object.context { contexts.append(context) }
            node = object.container
        }
        return contexts.reversed()
    }

    /// The context URL that the value says, if it is an object with one.
    var context: String? {
        for name in PageShape.contextNames {
            if case .string(let text)? = member(name)?.content { return text }
        }
        return nil
    }

    /// What is said about the property beside it, where it is one.
    var controlNeighbours: [(name: String, value: JSONNode)] {
        neighbours(behind: UInt8(ascii: "@"), suffixes: ControlInformation.propertySuffixes)
    }
}

extension KeyedDecodingContainer {
    /// A value that is made of what stands beside the property, too, and so may be there without it; `nil` where a decoder other than ours
    /// doesn't have the property.
    func decodeWithNeighbours<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
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
