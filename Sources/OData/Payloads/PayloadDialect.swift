import Foundation
import WebServiceClient

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
