/// An XML element without a Swift type: its name, attributes, texts and child elements, in order.
///
///     let feed = try XMLDecoder().decode(XMLValue.self, from: data)
///     let titles = feed.elements("entry").compactMap { $0["title"]?.text }
///     let language = feed[attribute: "xml:lang"]
///
/// White space between child elements isn't part of a value, unless the element has other text or `xml:space="preserve"`; all other text is
/// kept exactly. Comments and instructions aren't part of a value, either. Two values are equal if their names, attributes, texts and
/// children are equal and in the same order; prefixes don't matter.
///
/// Values nest at most 512 levels deep. Deeper ones are dropped, and then writing the value throws an error.
public struct XMLValue: Sendable, CustomStringConvertible {
    /// A part of an element's content.
    public enum Child: Sendable, Hashable {
        /// Text, with references resolved.
        case text(String)
        /// An element.
        case element(XMLValue)
    }

    /// An attribute.
    public struct Attribute: Sendable, Hashable {
        /// The name, which is in no namespace if it has no prefix.
        public var name: XMLName
        /// The value, with references resolved.
        public var value: String

        /// Creates an attribute.
        public init(_ name: XMLName, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A namespace declaration, `xmlns` or `xmlns:prefix`. Values such as `xsi:type="p:Item"` may need one.
    public struct Declaration: Sendable, Hashable {
        /// The prefix; empty for the default namespace.
        public var prefix: String
        /// The URI; empty if the declaration unsets the default namespace.
        public var namespace: String

        /// Creates a declaration.
        public init(prefix: String, namespace: String) {
            self.prefix = prefix
            self.namespace = namespace
        }
    }

    /// The name.
    public var name: XMLName
    /// The attributes, without namespace declarations.
    public var attributes: [Attribute]
    /// The namespace declarations of this element, which its own text and attributes may use. They take no part in comparisons.
    public var declarations: [Declaration]
    private var content: [Child]
    private(set) var nesting: ValueNesting

    /// Creates an element.
    public init(_ name: XMLName, attributes: [Attribute] = [], children: [Child] = [], declarations: [Declaration] = []) {
        self.name = name
        self.attributes = attributes
        self.declarations = declarations
        content = children
        nesting = ValueNesting()
        bound()
    }

    /// Creates an element with a text.
    public init(_ name: XMLName, text: String) {
        self.init(name, children: text.isEmpty ? [] : [.text(text)])
    }

    /// The texts and child elements.
    public var children: [Child] {
        get { content }
        set {
            content = newValue
            bound()
        }
    }

    /// Appends a text or a child element.
    public mutating func append(_ child: Child) {
        content.append(child)
        bound(content.count - 1)
    }

    private mutating func bound() {
        nesting = ValueNesting()
        for index in content.indices { bound(index) }
    }

    /// Drops the contents of a child that nests too deeply, and counts it.
    private mutating func bound(_ index: Int) {
        guard case .element(let element) = content[index] else { return }
        guard element.nesting.isTooDeep(for: XMLLimits.greatestDepth) else { return nesting.add(element.nesting) }
        var cut = XMLValue(element.name)
        cut.nesting = .cut
        content[index] = .element(cut)
        nesting.add(.cut)
    }

    /// The text, without the texts of child elements; empty if there is none.
    public var text: String {
        var text = ""
        for case .text(let part) in content { text += part }
        return text
    }

    /// The child elements.
    public var elements: [XMLValue] {
        content.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The child elements with a name; see ``XMLName`` for how namespaces are compared.
    public func elements(_ name: XMLName) -> [XMLValue] {
        elements.filter { name.finds($0.name, inside: self.name.namespace) }
    }

    /// The first child element with a name.
    public subscript(_ name: XMLName) -> XMLValue? {
        for case .element(let element) in content where name.finds(element.name, inside: self.name.namespace) { return element }
        return nil
    }

    /// The child element at an index, counted from 0; `nil` if there is none.
    public subscript(_ index: Int) -> XMLValue? {
        let elements = elements
        return elements.indices.contains(index) ? elements[index] : nil
    }

    /// The value of an attribute; setting `nil` removes it. The prefix `xml` needs no namespace.
    public subscript(attribute name: XMLName) -> String? {
        get {
            let name = Self.expanded(name)
            return attributes.first { name.finds(attribute: $0.name) }?.value
        }
        set {
            let name = Self.expanded(name)
            let index = attributes.firstIndex { name.finds(attribute: $0.name) }
            switch (index, newValue) {
            case (let index?, let value?): attributes[index].value = value
            case (let index?, nil): attributes.remove(at: index)
            case (nil, let value?): attributes.append(Attribute(name.written(inside: nil), value))
            case (nil, nil): break
            }
        }
    }

    private static func expanded(_ name: XMLName) -> XMLName {
        guard name.namespace == nil, name.local.hasPrefix("xml:") else { return name }
        return XMLName(String(name.local.dropFirst(4)), namespace: XMLName.xmlNamespace, prefix: "xml")
    }

    /// The XML of the value, or the reason why it has none.
    public var description: String {
        do {
            return try xml()
        } catch {
            return "\(error)"
        }
    }

    /// Returns the value's XML, without a declaration or added white space. Reading it gives an equal value.
    ///
    /// - Throws: ``SerializationError`` if a name or a character isn't allowed in XML, an attribute occurs twice, or the value nested too
    ///   deeply.
    public func xml() throws -> String {
        var writer = XMLWriter(encoding: .utf8)
        try writer.write(self)
        return String(decoding: writer.output, as: UTF8.self)
    }
}

extension XMLValue: Hashable {
    /// Returns whether the names, attributes, texts and children are equal and in the same order. Adjacent texts count as one.
    public static func == (one: XMLValue, other: XMLValue) -> Bool {
        one.name == other.name && one.attributes == other.attributes && one.joined == other.joined
            && one.nesting.isCut == other.nesting.isCut
    }

    /// Hashes the name, the attributes and the content.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(attributes)
        hasher.combine(joined)
    }

    /// The content with adjacent texts joined and without empty ones.
    var joined: [Child] {
        var previous = false
        let isJoined = content.allSatisfy { child in
            guard case .text(let text) = child else {
                previous = false
                return true
            }
            defer { previous = true }
            return !previous && !text.isEmpty
        }
        if isJoined { return content }
        var joined = Content()
        for child in content {
            switch child {
            case .text(let text): joined.append(text: text)
            case .element(let element): joined.append(element: element)
            }
        }
        return joined.finished()
    }

    /// Collects content with adjacent texts joined and without empty ones.
    struct Content {
        private var children: [Child] = []
        private var text = ""

        mutating func append(text: String) { self.text += text }

        mutating func append(element: XMLValue) {
            end()
            children.append(.element(element))
        }

        mutating func finished() -> [Child] {
            end()
            return children
        }

        private mutating func end() {
            guard !text.isEmpty else { return }
            children.append(.text(text))
            text = ""
        }
    }
}

extension XMLValue: Codable {
    /// Decodes an element: from XML the element itself, from other formats a text with its XML.
    ///
    /// - Throws: `DecodingError.dataCorrupted` with an ``XMLSyntaxError`` if the text isn't XML.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? XMLElementDecoder {
            self = try decoder.untyped()
            return
        }
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            let tree = try XMLTextParser.tree(of: Array(text.utf8), limits: XMLLimits(), documentType: .refused)
            self = tree.value(of: XMLTree.root)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: container.codingPath, debugDescription: "\(error)", underlyingError: error))
        }
    }

    /// Encodes the element: in XML as itself, in other formats as a text with its XML.
    ///
    /// - Throws: ``SerializationError`` if the value has no XML.
    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? XMLElementEncoder { return try encoder.encode(untyped: self) }
        var container = encoder.singleValueContainer()
        try container.encode(try xml())
    }
}
