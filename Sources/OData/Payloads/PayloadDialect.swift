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
        if node.isArray, node.neighbours(behind: UInt8(ascii: "@")).isEmpty { return node }
        _ = try PayloadDecoder(node, settings: settings).wholeCollection()
        return node.isArray ? node : node.member("results")
    }

    func decoder(ofMember key: any CodingKey, in object: JSONNode) throws -> any Decoder {
        let payload = try PayloadDecoder(object, settings: settings)
        return PayloadKeyedContainer<PayloadKey>(decoder: payload, object: payload.value.object ?? DynamicEntity()).optional(key)
    }
}

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
        for (name, value) in node.neighbours(behind: UInt8(ascii: "@")) { neighbours[name] = try ODataValue(value) }
        parent = neighbours
    }
}

extension ODataValue {
    /// The tree of a value.
    ///
    /// - Throws: `DecodingError` where a number's exponent is beyond all use, or a name is in an object twice, spelled in two canonical forms.
    init(_ node: JSONNode) throws {
        switch node.content {
        case .null: self = .null
        case .boolean(let value): self = .boolean(value)
        case .string(let text): self = .string(text)
        case .number(let digits, let isWhole):
            guard let value = ODataValue(digits: digits, isWhole: isWhole) else {
                throw Self.corrupted(node, "The number's exponent is beyond a billion.")
            }
            self = value
        case .array:
            var elements: [ODataValue] = []
            elements.reserveCapacity(node.count)
            try node.forEachElement { elements.append(try ODataValue($0)) }
            self = .array(elements)
        case .object:
            var object = DynamicEntity()
            try node.forEachMember { name, value in
                guard object.append(name, try ODataValue(value)) else {
                    throw Self.corrupted(node, "The name '\(name.prefix(60))' is in its object twice.")
                }
            }
            self = .object(object)
        }
    }

    /// A JSON number by its digits, which are known to be one; `nil` where its exponent is beyond a billion.
    init?(digits: String, isWhole: Bool) {
        // Minus zero is a number of its own for whoever reads a Double.
        if isWhole {
            self =
                digits == "-0"
                ? .decimal(EdmDecimal(digits: digits)) : Int64(digits).map { .integer($0) } ?? .decimal(EdmDecimal(digits: digits))
            return
        }
        let exponent = digits.utf8.reversed().prefix { (0x30...0x39).contains($0) }.count
        let hasExponent = digits.utf8.contains { $0 | 0x20 == UInt8(ascii: "e") }
        guard !hasExponent || exponent < 9 || EdmDecimal(digits) != nil else { return nil }
        self = .decimal(EdmDecimal(digits: digits))
    }

    private static func corrupted(_ node: JSONNode, _ text: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: node.decoder.codingPath, debugDescription: text))
    }
}
