import Foundation
import WebServiceClient

/// The settings shared by all places of a payload.
final class PayloadSettings: Sendable {
    let types: TypeRegistry
    let context: ContextURL

    /// The user's `userInfo` for decoding.
    let given: [CodingUserInfoKey: any Sendable]

    /// The names of the objects that were read as trees.
    let names = Locked(EntityNamesCache())

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

/// The position of a value in a payload.
indirect enum PayloadPlace {
    case top
    case key(any CodingKey, in: PayloadPlace)
    /// The position of a text decoder.
    case within(any Decoder)

    /// Whether it is the root of a payload, whose envelope is removed before the value is decoded.
    var isTop: Bool { if case .top = self { true } else { false } }

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

    /// Control information follows the name of its property.
    var neighbourMark: UInt8 { UInt8(ascii: "@") }

    func integer<Value: FixedWidthInteger>(of text: String, as type: Value.Type) -> Value? {
        Value(text) ?? EdmDecimal(text)?.integer()
    }

    func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(of text: String, as type: Value.Type) -> Value? {
        EdmDecimal(text)?.floating(type)
    }

    func isAbsence(_ object: JSONNode) -> Bool {
        object.count == 1 && object.member("__deferred")?.isObject == true
    }

    func check(object: JSONNode, by keys: any CodingKey.Type) throws {
        if isAbsence(object) { throw try PayloadDecoder(object, settings: settings).notLoaded() }
        guard object.count <= CollectionEnvelope.names.count, object.member("results")?.isArray == true,
            CollectionEnvelope.names.isSuperset(of: object.names), settings.context.text == nil, !CollectionEnvelope.isRead(by: keys)
        else { return }
        throw try PayloadDecoder(object, settings: settings).collectionForOne()
    }

    func array(in node: JSONNode) throws -> JSONNode? {
        if node.isArray, node.controlNeighbours.isEmpty { return node }
        _ = try PayloadDecoder(node, settings: settings).wholeCollection()
        return node.isArray ? node : node.member("results")
    }

    func decoder(ofMember key: any CodingKey, in object: JSONNode) throws -> any Decoder {
        // Includes only the member and its control information: other members may not be representable as a tree.
        var members = DynamicEntity()
        for (member, value) in object.members(key.stringValue, neighboursBehind: neighbourMark) {
            members[member] = try settings.tree(value)
        }
        var payload = PayloadDecoder(.object(members), at: .within(object.decoder), settings: settings)
        // The place provides the contexts around the object.
        if let context = object.context { payload.contexts = [context] }
        return PayloadKeyedContainer<JSONKey>(decoder: payload, object: members).optional(key)
    }
}
