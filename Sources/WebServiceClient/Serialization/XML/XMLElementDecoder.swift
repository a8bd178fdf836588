import Foundation

/// Elements that a key selects.
struct XMLSelection {
    let nodes: [Int]
    /// The element that contains them, or would contain them.
    let parent: Int
    /// Whether the key itself names the wrapper or leads to the values.
    let isExplicit: Bool
    /// Whether there is an element, or at least its wrapper.
    let exists: Bool
}

/// The place that a decoder decodes.
enum XMLPlace {
    /// One element.
    case element(Int)
    /// The elements of a key: one value, or a list.
    case list(XMLSelection)
    /// An attribute and its element.
    case attribute(Int, of: Int)
    /// An element's text.
    case text(of: Int)
    /// An element whose name selects the case of an enum.
    case choice(Int)
    /// A list of such elements.
    case choices([Int], in: Int)
    /// Nothing, in an element.
    case missing(in: Int)

    /// The element for messages.
    var node: Int {
        switch self {
        case .element(let node), .attribute(_, let node), .text(let node), .choice(let node), .choices(_, let node), .missing(let node):
            node
        case .list(let list): list.nodes.count == 1 ? list.nodes[0] : list.parent
        }
    }

    /// Whether an empty text here is that of an empty element.
    var isElement: Bool {
        switch self {
        case .element, .list, .choice: true
        case .attribute, .text, .choices, .missing: false
        }
    }
}

/// Decodes the value at a place of a text; it is also its single-value container.
struct XMLElementDecoder: Decoder {
    let state: XMLDecodingState
    let place: XMLPlace
    let codingPath: [any CodingKey]
    /// Whether keys are names without notation, as in a dictionary.
    var hasLiteralKeys = false

    var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if case .choice(let node) = place {
            return KeyedDecodingContainer(
                XMLKeyedDecoding(
                    state: state, node: Int(state.tree.nodes[node].parent), only: node, hasLiteralKeys: hasLiteralKeys,
                    codingPath: codingPath))
        }
        let node = try state.element(at: place, codingPath, for: [String: Any].self)
        state.reads(keysOf: node)
        return KeyedDecodingContainer(
            XMLKeyedDecoding(state: state, node: node, only: nil, hasLiteralKeys: hasLiteralKeys, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        XMLListDecoding(state: state, places: try state.places(ofListAt: place, codingPath), parent: place.node, codingPath: codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    /// The element at the place as an untyped value.
    func untyped() throws -> XMLValue {
        let node = try state.element(at: place, codingPath, for: XMLValue.self)
        return state.tree.value(of: node)
    }
}

extension XMLElementDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { state.isNil(place) }
    func decode(_ type: String.Type) throws -> String { try state.text(at: place, codingPath, for: type) }
    func decode(_ type: Bool.Type) throws -> Bool { try state.bool(at: place, codingPath) }
    func decode(_ type: Double.Type) throws -> Double { try state.floating(at: place, codingPath) }
    func decode(_ type: Float.Type) throws -> Float { try state.floating(at: place, codingPath) }
    func decode(_ type: Int.Type) throws -> Int { try state.integer(at: place, codingPath) }
    func decode(_ type: Int8.Type) throws -> Int8 { try state.integer(at: place, codingPath) }
    func decode(_ type: Int16.Type) throws -> Int16 { try state.integer(at: place, codingPath) }
    func decode(_ type: Int32.Type) throws -> Int32 { try state.integer(at: place, codingPath) }
    func decode(_ type: Int64.Type) throws -> Int64 { try state.integer(at: place, codingPath) }
    func decode(_ type: UInt.Type) throws -> UInt { try state.integer(at: place, codingPath) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try state.integer(at: place, codingPath) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try state.integer(at: place, codingPath) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try state.integer(at: place, codingPath) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try state.integer(at: place, codingPath) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: Int128.Type) throws -> Int128 { try state.integer(at: place, codingPath) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func decode(_ type: UInt128.Type) throws -> UInt128 { try state.integer(at: place, codingPath) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try state.decode(type, at: place, codingPath) }
}

// The values of places.
extension XMLDecodingState {
    /// Decodes a value of any type, including those that the rules have strategies for.
    func decode<Value: Decodable>(_ type: Value.Type, at place: XMLPlace, _ path: [any CodingKey]) throws -> Value {
        let special: Any?
        switch type {
        case is String.Type: special = try text(at: place, path, for: type)
        case is Date.Type: special = try value(at: place, path, for: type, expected: rules.dates.expected, rules.dates.read)
        case is Data.Type: special = try value(at: place, path, for: type, expected: "\(rules.data)", rules.data.data)
        case is Decimal.Type: special = try value(at: place, path, for: type, expected: "a decimal number", DecimalText.decimal)
        case is URL.Type: special = try value(at: place, path, for: type, expected: "a URL") { $0.isEmpty ? nil : URL(string: $0) }
        default: special = nil
        }
        // A cast of nil to an optional type would succeed.
        if let special, let value = special as? Value { return value }
        let decoder = XMLElementDecoder(state: self, place: place, codingPath: path, hasLiteralKeys: type is any JSONStringDictionary.Type)
        return try nested(path) { try Value(from: decoder) }
    }

    /// The one element at a place.
    func element(at place: XMLPlace, _ path: [any CodingKey], for type: Any.Type) throws -> Int {
        switch place {
        case .element(let node), .choice(let node): return node
        case .list(let list):
            if list.nodes.count == 1 { return list.nodes[0] }
            if list.nodes.isEmpty { throw missing(type, path, in: list.parent) }
            throw mismatch(type, path, "one element is needed, and there are \(list.nodes.count): declare an array", list.nodes[1])
        case .attribute(_, let node): throw mismatch(type, path, "an element is needed, and this is an attribute", node)
        case .text(let node): throw mismatch(type, path, "an element is needed, and this is its text", node)
        case .choices(_, let node): throw mismatch(type, path, "one element is needed, and these are all: declare an array", node)
        case .missing(let node): throw missing(type, path, in: node)
        }
    }

    /// The places of a list's values.
    func places(ofListAt place: XMLPlace, _ path: [any CodingKey]) throws -> [XMLPlace] {
        switch place {
        case .list(let list):
            guard case .wrapped(let item) = rules.lists, !list.isExplicit, !list.nodes.isEmpty else {
                return list.nodes.map { .element($0) }
            }
            let wrapper = try element(at: place, path, for: [Any].self)
            reads(keysOf: wrapper)
            let items = elements(of: wrapper, named: try name(of: item))
            reads(elements: items)
            if items.isEmpty { try expectNoText(in: wrapper, path) }
            return items.map { .element($0) }
        case .element(let node), .choice(let node):
            let elements = tree.elements(of: node)
            if elements.isEmpty { try expectNoText(in: node, path) }
            return elements.map { .element($0) }
        case .choices(let nodes, _): return nodes.map { .choice($0) }
        case .missing:
            hasReadAbsentList = true
            return []
        case .attribute(_, let node), .text(let node):
            throw mismatch([Any].self, path, "a list of elements is needed, and this is one text", node)
        }
    }

    /// Refuses an element that has a text in place of a list's elements, so that the text isn't lost.
    private func expectNoText(in node: Int, _ path: [any CodingKey]) throws {
        guard !tree.hasElements(node) else { return }
        let text = XMLCharacters.trimmed(tree.text(of: node))
        guard !text.isEmpty else { return }
        throw mismatch([Any].self, path, "a list of elements is needed, and this is the text “\(TextValue.shown(text, path))”", node)
    }

    func isNil(_ place: XMLPlace) -> Bool {
        switch place {
        case .missing: true
        case .list(let list): list.nodes.isEmpty || list.nodes.count == 1 && isNil(element: list.nodes[0])
        case .element(let node), .choice(let node): isNil(element: node)
        case .attribute, .text, .choices: false
        }
    }

    private func isNil(element node: Int) -> Bool {
        isMarkedNil(node) || rules.nils == .emptyElement && tree.nodes[node].first == 0 && tree.attributes(of: node).isEmpty
    }

    private func isMarkedNil(_ node: Int) -> Bool {
        guard let attribute = tree.attribute(.schemaNil, of: node) else { return false }
        return ["true", "1"].contains(XMLCharacters.trimmed(tree.value(ofAttribute: attribute)))
    }

    /// The text at a place, verbatim.
    func text(at place: XMLPlace, _ path: [any CodingKey], for type: Any.Type) throws -> String {
        switch place {
        case .attribute(let index, _): return tree.value(ofAttribute: index)
        case .text(let node): return tree.text(of: node)
        default:
            let node = try element(at: place, path, for: type)
            guard !tree.hasElements(node) else {
                throw mismatch(type, path, "a text is needed, and the element has child elements", node)
            }
            if tree.nodes[node].first == 0, isMarkedNil(node) { throw missing(type, path, in: node) }
            return tree.text(of: node)
        }
    }

    func bool(at place: XMLPlace, _ path: [any CodingKey]) throws -> Bool {
        try value(at: place, path, for: Bool.self, expected: "true, false, 1 or 0") { text in
            switch text {
            case "true", "1": true
            case "false", "0": false
            default: nil
            }
        }
    }

    func integer<Value: FixedWidthInteger>(at place: XMLPlace, _ path: [any CodingKey]) throws -> Value {
        try value(at: place, path, for: Value.self, expected: "a whole number of this type") { Value($0) }
    }

    func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(at place: XMLPlace, _ path: [any CodingKey]) throws -> Value {
        try value(at: place, path, for: Value.self, expected: "a number") { text in
            switch text {
            case "INF", "+INF": .infinity
            case "-INF": -.infinity
            case "NaN": .nan
            default: DecimalText.floating(text).flatMap { $0.isFinite ? $0 : nil }
            }
        }
    }

    private func value<Value>(
        at place: XMLPlace, _ path: [any CodingKey], for type: Any.Type, expected: String, _ read: (String) -> Value?
    ) throws -> Value {
        let text = XMLCharacters.trimmed(try text(at: place, path, for: type))
        guard let value = read(text) else {
            let isEmptyElement = text.isEmpty && place.isElement && rules.nils != .emptyElement
            let fix = isEmptyElement ? "; with XMLRules.nils = .emptyElement, an empty element is nil" : ""
            throw mismatch(type, path, "“\(TextValue.shown(text, path))” isn't \(expected)\(fix)", place.node)
        }
        return value
    }

    // MARK: Errors

    // Types that try alternatives drop most errors, and finding a place takes the time of the whole text. So the place is added at the end.

    /// The error for a value of another form, without its place: see ``located(_:)``.
    func mismatch(_ type: Any.Type, _ path: [any CodingKey], _ what: String, _ node: Int) -> DecodingError {
        .typeMismatch(
            type,
            DecodingError.Context(
                codingPath: path, debugDescription: "\(type) is needed: \(what).", underlyingError: XMLFaultNode(node: node)))
    }

    func missing(_ type: Any.Type, _ path: [any CodingKey], in node: Int) -> DecodingError {
        .valueNotFound(
            type,
            DecodingError.Context(
                codingPath: path, debugDescription: "\(type) is needed, and nothing was found.", underlyingError: XMLFaultNode(node: node)))
    }

    /// Adds the place in the text to an error of this decoder.
    func located(_ error: any Error) -> any Error {
        func located(_ context: DecodingError.Context) -> DecodingError.Context {
            guard let fault = context.underlyingError as? XMLFaultNode, context.debugDescription.hasSuffix(".") else { return context }
            let text = "\(context.debugDescription.dropLast()) (\(tree.place(of: fault.node)))."
            return DecodingError.Context(codingPath: context.codingPath, debugDescription: text)
        }
        switch error {
        case DecodingError.typeMismatch(let type, let context): return DecodingError.typeMismatch(type, located(context))
        case DecodingError.valueNotFound(let type, let context): return DecodingError.valueNotFound(type, located(context))
        case DecodingError.keyNotFound(let key, let context): return DecodingError.keyNotFound(key, located(context))
        default: return error
        }
    }
}

/// The node that a decoding error is about.
struct XMLFaultNode: Error {
    let node: Int
}
