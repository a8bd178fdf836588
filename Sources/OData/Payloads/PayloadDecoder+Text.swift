import WebServiceClient

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
