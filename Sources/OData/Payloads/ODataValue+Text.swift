import WebServiceClient

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

extension ODataValue {
    /// What it is, for errors.
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
