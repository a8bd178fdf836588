import Foundation
import WebServiceClient

/// The settings shared by all places of a payload.
final class PayloadSettings: Sendable {
    let types: TypeRegistry
    let context: ContextURL

    /// The user's `userInfo` for decoding.
    let given: [CodingUserInfoKey: any Sendable]

    /// Whether the result is discarded because decoding only records the property names.
    let isTrial: Bool

    init(
        types: TypeRegistry = TypeRegistry(), context: ContextURL = ContextURL(nil), userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.types = types
        given = userInfo
        self.context = context
        isTrial = false
    }

    /// Creates settings for recording the property names of a type.
    init(trialOf other: PayloadSettings) {
        types = other.types
        given = other.given
        context = other.context
        isTrial = true
    }

    var userInfo: [CodingUserInfoKey: Any] { given }
}

/// The spelling of values in a payload.
public struct PayloadFormat: Sendable, Hashable {
    /// The version of the protocol.
    public var version: ODataVersion
    /// Whether `Int64` and `Decimal` are written as strings, for readers with numbers of 53 bits (JSON Format, section 3.2). The
    /// `Content-Type` must declare this, as ``contentType`` does. V2 always writes strings.
    public var isIEEE754Compatible: Bool

    /// The spelling of links to existing entities in version 2.
    public var v2Bindings: V2BindingSpelling

    /// Creates a format.
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

    /// Returns the name of control information: `@odata.type`, or `@type` from 4.01 on. For a property, it follows the property's name.
    public func controlName(_ name: String) -> String {
        version >= .v401 ? "@" + name : "@odata." + name
    }

    /// Returns a type's name for control information: `#Sales.Person`. In 4.01, primitive types have no `#`.
    public func typeReference(_ name: String) -> String {
        version >= .v401 && !name.contains(".") ? name : "#" + name
    }

    /// Whether wide numbers are written as strings.
    var hasTextNumbers: Bool { version == .v2 || isIEEE754Compatible }
}

/// The spelling of links to existing entities in version 2. Services differ, as the JSON format of version 2 doesn't define one.
public enum V2BindingSpelling: String, Sendable, Hashable, CaseIterable {
    /// `{"__deferred":{"uri":"…"}}`, like relations that weren't expanded: always a link, so that no service creates a new entity from it.
    /// Olingo supports it for one entity per relation.
    case deferred = "__deferred"
    /// `{"__metadata":{"uri":"…"}}`, required by Microsoft's services and SAP SuccessFactors. Others, such as Olingo, create a new entity
    /// without properties from it.
    case metadata = "__metadata"
}

/// The position of a value in a payload.
indirect enum PayloadPlace {
    case top
    case key(any CodingKey, in: PayloadPlace)
    /// The position of a text decoder.
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

    /// The contexts of the objects around the position of a text decoder.
    var contexts: [String] {
        var place = self
        while case .key(_, let outer) = place { place = outer }
        if case .within(let decoder) = place { return JSONNode(decoder)?.contexts(withOwn: false) ?? [] }
        return []
    }
}

/// OData's JSON, decoded from text without a tree.
///
/// A type decodes itself from the text, where numbers may be strings and V2's envelopes are unwrapped. Types that need more call
/// ``PayloadDecoder/of(_:)`` for the tree of their value with its control information: types with an OData spelling, relations, and
/// entities with undeclared properties. The results are the same as from a tree of the whole payload.
struct PayloadDialect: JSONDialect {
    let settings: PayloadSettings

    /// Returns whether a type has an OData spelling. Numbers, strings and Booleans are excluded: they are read as JSON or by
    /// ``integer(of:as:)``.
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
        // Includes only the member and its control information: other members may not be representable as a tree.
        var members = DynamicEntity()
        let name = key.stringValue
        try object.forEachMember { member, value in
            guard member == name || member.utf8.starts(with: (name + "@").utf8) else { return }
            members[member] = try ODataValue(value)
        }
        var payload = PayloadDecoder(.object(members), at: .within(object.decoder), settings: settings)
        // The place provides the contexts around the object.
        if let context = object.context { payload.contexts = [context] }
        return PayloadKeyedContainer<JSONKey>(decoder: payload, object: members).optional(key)
    }
}
