import Foundation
import WebServiceClient

/// What a decoder brings along to all places in a payload.
final class PayloadSettings: Sendable {
    let types: TypeRegistry
    let context: ContextURL

    /// What the user gives types along for their decoding.
    let given: [CodingUserInfoKey: any Sendable]

    /// Whether what is decoded is thrown away: it only shows what a type asks for.
    let isTrial: Bool

    init(
        types: TypeRegistry = TypeRegistry(), context: ContextURL = ContextURL(nil), userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.types = types
        given = userInfo
        self.context = context
        isTrial = false
    }

    /// The same, to see what a type asks for.
    init(trialOf other: PayloadSettings) {
        types = other.types
        given = other.given
        context = other.context
        isTrial = true
    }

    var userInfo: [CodingUserInfoKey: Any] { given }
}

/// How values are spelled in a payload.
public struct PayloadFormat: Sendable, Hashable {
    /// The version of the protocol.
    public var version: ODataVersion
    /// Whether `Int64` and `Decimal` are written as texts, which readers with numbers of 53 bits want (JSON Format, section 3.2). The
    /// `Content-Type` has to say so; V2 writes them as texts in any case.
    public var isIEEE754Compatible: Bool

    /// How version 2 writes existing entities that a new one is related to.
    public var v2Bindings: V2BindingSpelling

    /// A format.
    public init(version: ODataVersion = .v4, isIEEE754Compatible: Bool = false, v2Bindings: V2BindingSpelling = .deferred) {
        self.version = version
        self.isIEEE754Compatible = isIEEE754Compatible
        self.v2Bindings = v2Bindings
    }

    /// The media type of payloads in this format.
    public var contentType: String {
        guard version != .v2 else { return "application/json" }
        let text = version >= .v401 ? "application/json;metadata=minimal" : "application/json;odata.metadata=minimal"
        return isIEEE754Compatible ? text + ";IEEE754Compatible=true" : text
    }

    /// The name of control information: `@odata.type`, and `@type` from 4.01 on. For a property the name is the property's with this behind it.
    public func controlName(_ name: String) -> String {
        version >= .v401 ? "@" + name : "@odata." + name
    }

    /// A type's name as control information has it: `#Sales.Person`; in 4.01 primitive types stand without `#`.
    public func typeReference(_ name: String) -> String {
        version >= .v401 && !name.contains(".") ? name : "#" + name
    }

    /// Whether wide numbers are written as texts.
    var hasTextNumbers: Bool { version == .v2 || isIEEE754Compatible }
}

/// How an existing entity is written in version 2 where a new one is related to it. Services differ, as the JSON format of version 2 defines
/// it for neither.
public enum V2BindingSpelling: String, Sendable, Hashable, CaseIterable {
    /// `{"__deferred":{"uri":"…"}}`, as relations come that weren't expanded: a link and never an entity, so that no service makes a new one of it.
    /// Olingo binds by it, one entity for each relation.
    case deferred = "__deferred"
    /// `{"__metadata":{"uri":"…"}}`, as Microsoft's services and SAP SuccessFactors want it. Others, Olingo among them, take it for a new entity
    /// without properties.
    case metadata = "__metadata"
}

/// Where in a payload a value is.
indirect enum PayloadPlace {
    case top
    case key(any CodingKey, in: PayloadPlace)
    /// Where a reader of the text stands.
    case within(any Decoder)

    var path: [any CodingKey] {
        var path: [any CodingKey] = []
        var place = self
        while case .key(let key, let outer) = place {
            path.append(key)
            place = outer
        }
        if case .within(let decoder) = place { return decoder.codingPath + path.reversed() }
        return path.reversed()
    }

    /// The contexts of the objects around the place where a reader of the text stands.
    var contexts: [String] {
        var place = self
        while case .key(_, let outer) = place { place = outer }
        if case .within(let decoder) = place { return JSONNode(decoder)?.contexts(withOwn: false) ?? [] }
        return []
    }
}

/// OData's JSON, read from the text without a tree of it.
///
/// There is one rule for what is read how. A type decodes itself from the text, where numbers may be texts and V2's wrappings are looked
/// through. Whoever wants more, by ``PayloadDecoder/of(_:)``, gets the tree of its own value with what stands beside that: types that OData
/// spells in its own way, relations, entities with what no type declares. The results are the same as from a tree of all of the payload.
struct PayloadDialect: JSONDialect {
    let settings: PayloadSettings

    /// The types with a spelling of their own. The numbers, texts and Booleans among them are read as JSON has them, or by ``integer(of:as:)``.
    func reads(_ type: any Any.Type) -> Bool {
        type is any PayloadReadable.Type && !(type is any BinaryInteger.Type || type is any BinaryFloatingPoint.Type)
            && type != Bool.self && type != String.self
    }

    func read<Value: Decodable>(_ type: Value.Type, from node: JSONNode) throws -> Value {
        if type == Decimal.self, let value = node.decimal as? Value { return value }
        return try PayloadDecoder(node, settings: settings).decode(type)
    }

    func integer<Value: FixedWidthInteger>(of text: String, as type: Value.Type) -> Value? {
        Value(text) ?? EdmDecimal(text)?.integer()
    }

    func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(of text: String, as type: Value.Type) -> Value? {
        EdmDecimal(text)?.floating(type)
    }

    func isAbsence(_ object: JSONNode) -> Bool {
        object.count == 1 && object.member("__deferred")?.isObject == true
    }

    func check(object: JSONNode) throws {
        if isAbsence(object) { throw try PayloadDecoder(object, settings: settings).notLoaded() }
    }

    func array(in node: JSONNode) throws -> JSONNode? {
        if node.isArray, node.controlNeighbours.isEmpty { return node }
        _ = try PayloadDecoder(node, settings: settings).wholeCollection()
        return node.isArray ? node : node.member("results")
    }

    func decoder(ofMember key: any CodingKey, in object: JSONNode) throws -> any Decoder {
        // Only what is said about the member: no tree of all the rest, which may hold what no tree can.
        var members = DynamicEntity()
        let name = key.stringValue
        try object.forEachMember { member, value in
            guard member == name || member.utf8.starts(with: (name + "@").utf8) else { return }
            members[member] = try ODataValue(value)
        }
        var payload = PayloadDecoder(.object(members), at: .within(object.decoder), settings: settings)
        // The place knows the contexts around the object.
        if let context = object.context { payload.contexts = [context] }
        return PayloadKeyedContainer<JSONKey>(decoder: payload, object: members).optional(key)
    }
}
