import Foundation
import WebServiceClient

extension ODataValue: Codable {
    /// Decodes any value.
    public init(from decoder: any Decoder) throws {
        if let payload = try PayloadDecoder.of(decoder) {
            self = payload.value
            return
        }
        if let object = try? decoder.container(keyedBy: JSONKey.self) {
            self = .object(try DynamicEntity(from: object))
            return
        }
        if var array = try? decoder.unkeyedContainer() {
            var values: [ODataValue] = []
            while !array.isAtEnd { values.append(try array.decode(ODataValue.self)) }
            self = .array(values)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Decimal.self), !value.isNaN {
            self = .decimal(EdmDecimal(value))
        } else {
            self = .decimal(EdmDecimal(try container.decode(Double.self)))
        }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let refusal {
            throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: refusal.description))
        }
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value.list)
        case .object(let value): try container.encode(value)
        }
    }
}

extension ODataValue {
    /// Parses a JSON text in UTF-8, with members in the payload's order and exact numbers. A leading byte order mark is skipped.
    ///
    /// - Throws: `DecodingError` with the problem and the byte's position: the errors of `JSONReader` and of ``init(_:)``.
    init(json text: Data) throws {
        let body = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text
        var names = EntityNamesCache()
        self = try JSONReader().withNode(of: body) { try ODataValue($0, &names) }
    }

    /// Parses the value that begins a text in UTF-8; returns `nil` if there is none, or anything but closing brackets follows it.
    init?(lastJSON text: Data) {
        guard let end = JSONReader.endOfValue(in: text) else { return nil }
        let closers: [UInt8] = [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "]"), UInt8(ascii: "}")]
        guard text[end...].allSatisfy({ closers.contains($0) }), let value = try? ODataValue(json: text[..<end]) else { return nil }
        self = value
    }

    /// Creates the tree of a value.
    ///
    /// - Parameter names: The names of the objects read before, which equal objects share.
    /// - Throws: `DecodingError` if a number's exponent is beyond a billion, or an object has a name twice, spelled in two canonically
    ///   equivalent forms.
    init(_ node: JSONNode, _ names: inout EntityNamesCache) throws {
        if let value = node.integer {
            self = .integer(value)
            return
        }
        switch node.content {
        case .null: self = .null
        case .boolean(let value): self = .boolean(value)
        case .string(let text): self = .string(text)
        case .number(let digits, let isWhole):
            guard let value = ODataValue(digits: digits, isWhole: isWhole) else {
                throw Self.corrupted(node, "The number's exponent is beyond a billion")
            }
            self = value
        case .array:
            var elements: [ODataValue] = []
            elements.reserveCapacity(node.count)
            try node.forEachElement { elements.append(try ODataValue($0, &names)) }
            self = .array(elements)
        case .object:
            let own: EntityNames
            do throws(EntityNamesCache.Repetition) {
                own = try names.names(of: node)
            } catch {
                throw Self.corrupted(node, "The name '\(error.name.prefix(60))' is in its object twice")
            }
            var values: [ODataValue] = []
            values.reserveCapacity(node.count)
            try node.forEachValue { values.append(try ODataValue($0, &names)) }
            self = .object(DynamicEntity(own, values))
        }
    }

    /// Creates a value from the digits of a valid JSON number; returns `nil` if its exponent is beyond a billion.
    init?(digits: String, isWhole: Bool) {
        // Minus zero keeps its sign, for decoding as Double.
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
        .dataCorrupted(.init(codingPath: node.decoder.codingPath, debugDescription: "\(text) (byte \(node.offset))."))
    }
}

extension ODataValue {
    /// The kind of value, for error texts.
    var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "a Boolean"
        case .integer, .decimal: "a number"
        case .string: "a text"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension DynamicEntity: Codable {
    /// Decodes all properties.
    public init(from decoder: any Decoder) throws {
        if let payload = try PayloadDecoder.of(decoder) {
            self = try Self.read(payload)
        } else {
            try self.init(from: try decoder.container(keyedBy: JSONKey.self))
        }
    }

    init(from container: KeyedDecodingContainer<JSONKey>) throws {
        for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            self[key.stringValue] = try container.decode(ODataValue.self, forKey: key)
        }
    }

    /// Encodes all properties.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: JSONKey.self)
        if let refusal = ODataValue.object(self).refusal {
            throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: refusal.description))
        }
        for property in properties { try container.encode(property.value, forKey: JSONKey(property.name)) }
    }
}

extension EdmDecimal: Codable {
    /// Decodes a number, or a string with one.
    public init(from decoder: any Decoder) throws {
        if let payload = try PayloadDecoder.of(decoder) {
            self = try Self.read(payload)
            return
        }
        let container = try decoder.singleValueContainer()
        if let whole = try? container.decode(Int64.self) {
            self.init(whole)
        } else if let text = try? container.decode(String.self) {
            guard let value = EdmDecimal(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text.prefix(60))' isn't a decimal number.")
            }
            self = value
        } else {
            self.init(try container.decode(Decimal.self))
        }
    }

    /// Encodes a number if the encoder can represent it exactly, otherwise a string. ``ODataEncoder`` writes the spelling of the service's
    /// version.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let decimal {
            try container.encode(decimal)
        } else {
            try container.encode(plainText ?? description)
        }
    }
}
