public import Foundation
import HTTPTransport

/// Encodes values as XML.
///
///     var rules = XMLRules()
///     rules.rootName = "order"
///     let data = try XMLEncoder(rules).encode(order)
///
/// ``XMLRules`` describes the forms of coding keys and the strategies. Elements and attributes are written in the order in which the type
/// encodes them: by default, the order of its properties. Dictionaries are sorted by key. Text is escaped, and a character that XML doesn't
/// allow is an error. No white space is added, so that the decoder reads the same texts.
///
/// The root element has ``XMLRules/rootName``, or the type's ``XMLRootNamed/xmlRootName``, or the Swift name of a struct, class or enum
/// that isn't generic, by the key strategy. Other values have the name of their kind: `array`, `dictionary`, `string`, `number`, `boolean`,
/// `date`, `data`, else `value`.
public struct XMLEncoder: Sendable {
    /// How values map to XML.
    public var rules: XMLRules
    /// The charset. Characters that it lacks are written as references. Default: UTF-8.
    public var encoding: TextEncoding = .utf8
    /// Whether the text begins with an XML declaration. Default: true.
    public var writesDeclaration = true
    /// The user info of the encoders.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates an encoder.
    public init(_ rules: XMLRules = XMLRules()) { self.rules = rules }

    /// Encodes a value.
    ///
    /// - Throws: `EncodingError` if a value has no place in XML, such as a list in an attribute, or if values nest more than 512 levels
    ///   deep; ``SerializationError`` if a name or character isn't allowed in XML; the error of the value's own coding.
    public func encode(_ value: any Encodable) throws -> Data {
        let element = try element(of: value)
        var writer = XMLWriter(encoding: encoding)
        if writesDeclaration { writer.writeDeclaration(encoding) }
        try writer.write(element)
        guard encoding != .utf8 else { return Data(writer.output) }
        return try encoding.encode(String(decoding: writer.output, as: UTF8.self))
    }

    /// Returns the untyped element of a value.
    ///
    /// - Throws: `EncodingError`, ``SerializationError``, or the error of the value's own coding.
    public func element(of value: any Encodable) throws -> XMLValue {
        let state = XMLEncodingState(rules, userInfo)
        let root = XMLElementNode(try rootName(of: value), state)
        try state.encode(value, into: .element(root), [])
        if let fault = state.fault { throw fault }
        var element = root.value()
        var declared = rules.namespaces.sorted { $0.key < $1.key }.map { XMLValue.Declaration(prefix: $0.key, namespace: $0.value) }
        if rules.nils == .schemaNil, let namespace = XMLName.schemaNil.namespace {
            declared.append(XMLValue.Declaration(prefix: "xsi", namespace: namespace))
        }
        element.declarations += declared.filter { new in !element.declarations.contains { $0.prefix == new.prefix } }
        return element
    }

    private func rootName(of value: any Encodable) throws -> XMLName {
        let type = type(of: value)
        var rules = rules
        if let name = rules.rootName ?? (type as? any XMLRootNamed.Type)?.xmlRootName {
            rules.keys = .asDeclared
            return try XMLEncodingState.name(name, rules).written(inside: rules.namespaces[""])
        }
        return XMLName(Self.kind(of: value) ?? rules.keys.name(of: String(describing: type)), namespace: rules.namespaces[""])
    }

    /// The name of a value's kind; `nil` for a type whose own name suits.
    private static func kind(of value: any Encodable) -> String? {
        switch value {
        case is String, is URL, is UUID: "string"
        case is Bool: "boolean"
        case is any BinaryInteger, is any BinaryFloatingPoint, is Decimal: "number"
        case is Date: "date"
        case is Data: "data"
        case is any JSONStringDictionary: "dictionary"
        case is any ExpressibleByArrayLiteral: "array"
        default: XMLCharacters.isName(String(describing: type(of: value))) ? nil : "value"
        }
    }
}

/// An element that is being written.
final class XMLElementNode {
    enum Item {
        case text(String)
        case element(XMLElementNode)
        case untyped(XMLValue)
    }

    var name: XMLName
    var attributes: [XMLValue.Attribute] = []
    var items: [Item] = []
    var declarations: [XMLValue.Declaration] = []
    private let state: XMLEncodingState
    private let depth: Int

    init(_ name: XMLName, _ state: XMLEncodingState, depth: Int = 1) {
        self.name = name
        self.state = state
        self.depth = depth
    }

    /// The finished element. The encoder bounds the nesting.
    func value() -> XMLValue {
        XMLValue(
            name, attributes: attributes,
            children: items.map { item in
                switch item {
                case .text(let text): .text(text)
                case .element(let element): .element(element.value())
                case .untyped(let value): .element(value)
                }
            }, declarations: declarations)
    }

    func add(element name: XMLName) -> XMLElementNode {
        guard depth < XMLLimits.greatestDepth else {
            state.record(state.invalid("Elements nest more than \(XMLLimits.greatestDepth) levels deep.", []), [])
            return XMLElementNode(name, state)
        }
        let element = XMLElementNode(name, state, depth: depth + 1)
        items.append(.element(element))
        return element
    }

    /// Sorts the child elements from an index onwards by name; the elements of a list stay in order.
    func sortElements(from first: Int) {
        let named = items[first...].enumerated().map { item in
            if case .element(let element) = item.element { (element.name.local, item.offset) } else { ("", item.offset) }
        }
        items[first...] = ArraySlice(named.sorted { $0 < $1 }.map { items[first + $0.1] })
    }

    /// The child element with a name, which is the wrapper that other keys share, or a new one.
    func wrapper(_ name: XMLName) -> XMLElementNode {
        for case .element(let element) in items where element.name == name { return element }
        return add(element: name)
    }
}

/// The state of one encoder call: the settings, the depth, and the first fault of a method that can't throw.
final class XMLEncodingState {
    let rules: XMLRules
    let userInfo: [CodingUserInfoKey: Any]
    private(set) var fault: EncodingError?
    private var keys: [String: XMLKey] = [:]
    private var nesting = 0
    /// The value that is being encoded, for errors.
    private var current: Any = ()

    init(_ rules: XMLRules, _ userInfo: [CodingUserInfoKey: Any]) {
        self.rules = rules
        self.userInfo = userInfo
    }

    func record(_ error: any Error, _ path: [any CodingKey]) {
        guard fault == nil else { return }
        fault = error as? EncodingError ?? invalid("\(error)", path)
    }

    func invalid(_ what: String, _ path: [any CodingKey]) -> EncodingError {
        .invalidValue(ValueText.describable(current), EncodingError.Context(codingPath: path, debugDescription: what))
    }

    static func name(_ text: String, _ rules: XMLRules) throws -> XMLName {
        do {
            return try XMLKey.name(text, text, rules)
        } catch {
            throw SerializationError(.encoding, error.description)
        }
    }

    func key(_ key: any CodingKey, isLiteral: Bool, _ path: [any CodingKey]) throws -> XMLKey {
        if isLiteral {
            guard XMLCharacters.isName(key.stringValue) else {
                throw invalid("The key “\(SerializationError.excerpt(key.stringValue))” of a dictionary isn't a name in XML.", path)
            }
            return XMLKey(literal: key.stringValue)
        }
        if let known = keys[key.stringValue] { return known }
        do {
            let made = try XMLKey(key.stringValue, rules)
            keys[key.stringValue] = made
            return made
        } catch {
            throw invalid(error.description, path)
        }
    }

    /// Three times the depth of a text, since optionals and other wrappers may come between its elements.
    private static let nestingLimit = 3 * XMLLimits.greatestDepth

    /// Encodes a value of any type, including those that the rules have strategies for.
    func encode(_ value: any Encodable, into target: XMLTarget, _ path: [any CodingKey]) throws {
        current = value
        guard nesting < Self.nestingLimit else {
            throw invalid("More than \(Self.nestingLimit) values encode themselves inside each other here.", path)
        }
        nesting += 1
        defer { nesting -= 1 }
        switch value {
        case let text as String: try put(text, target, path)
        case let date as Date:
            // Not the date itself: describing some dates can crash the process.
            current = date.timeIntervalSince1970
            guard let text = rules.dates.write(date) else { throw invalid("The date can't be written in \(rules.dates.expected).", path) }
            try put(text, target, path)
        case let data as Data: try put(rules.data.text(of: data), target, path)
        case let url as URL: try put(url.absoluteString, target, path)
        case let number as Decimal:
            guard number.isFinite else { throw invalid("The number isn't finite.", path) }
            try put(number.description, target, path)
        case is any JSONStringDictionary:
            // The order of a dictionary differs between processes.
            let node = open(target, path)
            let first = node.items.count
            try value.encode(to: XMLElementEncoder(state: self, target: .element(node), codingPath: path, hasLiteralKeys: true))
            node.sortElements(from: first)
        default:
            try value.encode(to: XMLElementEncoder(state: self, target: target, codingPath: path))
        }
        if let fault { throw fault }
    }

    /// Writes a simple value's text.
    func put(_ text: String, _ target: XMLTarget, _ path: [any CodingKey]) throws {
        switch target {
        case .element(let node), .text(let node): if !text.isEmpty { node.items.append(.text(text)) }
        case .child(let parent, let name), .wrapped(let parent, let name), .item(let parent, let name):
            let child = parent.add(element: name)
            if !text.isEmpty { child.items.append(.text(text)) }
        case .attribute(let parent, let name):
            guard !parent.attributes.contains(where: { $0.name == name }) else {
                throw invalid("The attribute “\(name)” is written twice.", path)
            }
            parent.attributes.append(XMLValue.Attribute(name, text))
        case .choice: throw invalid("A simple value has no name here: encode an enum with a case for each element.", path)
        }
    }

    func putNil(_ target: XMLTarget, _ path: [any CodingKey]) throws {
        switch target {
        case .attribute, .text: return
        case .element(let node): node.attributes.append(XMLValue.Attribute(.schemaNil, "true"))
        case .item(let parent, let name): parent.add(element: name).attributes.append(XMLValue.Attribute(.schemaNil, "true"))
        case .child(let parent, let name), .wrapped(let parent, let name):
            switch rules.nils {
            case .missing: return
            case .schemaNil: parent.add(element: name).attributes.append(XMLValue.Attribute(.schemaNil, "true"))
            case .emptyElement: _ = parent.add(element: name)
            }
        case .choice: throw invalid("nil has no name here: leave it out of the list.", path)
        }
    }

    /// The element for a value with contents.
    func open(_ target: XMLTarget, _ path: [any CodingKey]) -> XMLElementNode {
        switch target {
        case .element(let node), .choice(let node): return node
        case .child(let parent, let name), .wrapped(let parent, let name), .item(let parent, let name): return parent.add(element: name)
        case .attribute(_, let name):
            record(invalid("The attribute “\(name)” needs a simple value: remove the “@” from the coding key.", path), path)
        case .text: record(invalid("An element's text needs a simple value.", path), path)
        }
        return XMLElementNode(XMLName("_", namespace: nil), self)
    }
}

/// The place where an encoder writes.
enum XMLTarget {
    /// Into an element that exists.
    case element(XMLElementNode)
    /// Into a new child element; a list becomes one per value.
    case child(of: XMLElementNode, XMLName)
    /// The same, inside a wrapper that the key names.
    case wrapped(of: XMLElementNode, XMLName)
    /// Into a new child element, which is one value of a list.
    case item(of: XMLElementNode, XMLName)
    case attribute(of: XMLElementNode, XMLName)
    case text(of: XMLElementNode)
    /// Among the child elements of an element, with the name that the value itself chooses.
    case choice(in: XMLElementNode)
}
