/// Parses a text in UTF-8 into a tree: XML 1.0 (fifth edition) with namespaces, without a document type.
///
/// Foundation's XMLParser isn't suitable. On Linux a name that isn't UTF-8 crashes the process, truncated texts and texts with two roots
/// are accepted, references to entities of a document type vanish without an error, depth isn't bounded, and every program links libxml2.
/// XML without document types is small, and this parser reads it more than twice as fast.
///
/// It is one loop over the bytes with a list of open elements, without recursion, and visits each byte a bounded number of times.
struct XMLTextParser {
    struct Open {
        let node: Int
        var last = 0
        /// The tag's name in the text.
        let name: Range<Int>
        /// The number of bindings before the element's own.
        let bindings: Int
        let keepsBlanks: Bool
        var hasElements = false
        var hasBlanks = false
        var hasCharacters = false
    }

    let text: UnsafeBufferPointer<UInt8>
    private let limits: XMLLimits
    private let documentType: XMLDocumentType
    var index = 0
    private(set) var open: [Open] = []
    private var tree: XMLTree
    private var scope = XMLNamespaceScope()
    var hasRoot = false
    var hasDocumentType = false

    /// Parses a text.
    ///
    /// - Throws: ``XMLSyntaxError``.
    static func tree(of bytes: [UInt8], limits: XMLLimits, documentType: XMLDocumentType) throws -> XMLTree {
        try bytes.withUnsafeBufferPointer { text in
            var parser = XMLTextParser(text: text, tree: XMLTree(bytes: bytes), limits: limits, documentType: documentType)
            try parser.run()
            return parser.tree
        }
    }

    private init(text: UnsafeBufferPointer<UInt8>, tree: XMLTree, limits: XMLLimits, documentType: XMLDocumentType) {
        self.text = text
        self.tree = tree
        self.limits = limits
        self.documentType = documentType
    }

    private mutating func run() throws {
        guard text.count <= limits.boundedSize else {
            throw fault(.limit, "The XML is larger than the limit of \(limits.boundedSize) bytes, which XMLLimits.size sets", at: 0)
        }
        try skipDeclaration()
        while index < text.count {
            if text[index] == UInt8(ascii: "<") {
                try readMarkup()
            } else if open.isEmpty {
                guard XMLCharacters.isBlank(text[index]) else {
                    throw fault(.syntax, "Text was found \(hasRoot ? "after" : "before") the root element")
                }
                index += 1
            } else {
                try readText()
            }
        }
        guard open.isEmpty else {
            throw fault(.truncated, "The XML ends before “\(shown(open[open.count - 1].name))” does: it was cut short")
        }
        guard hasRoot else { throw fault(.truncated, "The XML has no root element") }
    }

    // MARK: Markup

    private mutating func readMarkup() throws {
        guard index + 1 < text.count else { throw fault(.truncated, "The XML ends within a tag: it was cut short") }
        switch text[index + 1] {
        case UInt8(ascii: "/"): try readEndTag()
        case UInt8(ascii: "?"): try skipInstruction()
        case UInt8(ascii: "!"): try readDeclaration()
        default: try readStartTag()
        }
    }

    private mutating func readDeclaration() throws {
        if begins(with: "<!--") {
            index += 4
            let end = try find("--", for: "a comment")
            guard end + 2 < text.count, text[end + 2] == UInt8(ascii: ">") else {
                throw fault(.syntax, "“--” isn't allowed in a comment", at: end)
            }
            try checkCharacters(index..<end)
            index = end + 3
        } else if begins(with: "<![CDATA["), !open.isEmpty {
            let start = index
            index += 9
            let end = try find("]]>", for: "a CDATA section")
            try checkCharacters(index..<end)
            // Even an empty section is text that its author wrote.
            append(text: index..<end, form: text[index..<end].contains(0x0D) ? .section : .literal, offset: start, isBlank: false)
            index = end + 3
        } else if begins(with: "<!DOCTYPE"), open.isEmpty, !hasRoot {
            guard documentType == .skipped else {
                throw fault(
                    .documentType,
                    "The XML has a document type (<!DOCTYPE>), which isn't read: skip it with XMLDecoder.documentType = .skipped")
            }
            try skipDocumentType()
        } else {
            throw fault(.syntax, "“<!” begins nothing that is allowed here")
        }
    }

    private mutating func readEndTag() throws {
        let start = index
        guard let element = open.last else { throw fault(.syntax, "An end tag was found outside of the root element") }
        index += 2
        // Comparing with the start tag's name is quicker than reading a name.
        let end = index + element.name.count
        guard end < text.count, text[index..<end].elementsEqual(text[element.name]),
            text[end] == UInt8(ascii: ">") || XMLCharacters.isBlank(text[end])
        else {
            if end >= text.count { throw fault(.truncated, "The XML ends within a tag: it was cut short") }
            throw fault(.syntax, "“</\(shown(element.name))>” was expected here", at: start)
        }
        index = end
        skipBlanks()
        guard index < text.count else { throw fault(.truncated, "The XML ends within a tag: it was cut short") }
        guard text[index] == UInt8(ascii: ">") else { throw fault(.syntax, "“>” must end an end tag") }
        index += 1
        close()
    }

    /// Ends the innermost element. White space between its child elements isn't text.
    private mutating func close() {
        guard let element = open.popLast() else { return }
        scope.end(to: element.bindings)
        guard element.hasElements, element.hasBlanks, !element.hasCharacters, !element.keepsBlanks else { return }
        var last = 0
        var child = Int(tree.nodes[element.node].first)
        tree.nodes[element.node].first = 0
        while child != 0 {
            let next = Int(tree.nodes[child].next)
            if !tree.nodes[child].isText {
                if last == 0 { tree.nodes[element.node].first = UInt32(child) } else { tree.nodes[last].next = UInt32(child) }
                last = child
            }
            child = next
        }
        if last != 0 { tree.nodes[last].next = 0 }
    }

    private mutating func readStartTag() throws {
        let start = index
        guard !hasRoot || !open.isEmpty else { throw fault(.syntax, "A second root element was found") }
        guard open.count < limits.boundedDepth else {
            throw fault(.limit, "The XML is nested more than \(limits.boundedDepth) elements deep, the bound that XMLLimits.depth sets")
        }
        index += 1
        let name = try readName("an element's name")
        let bindings = scope.count
        let attributes = try readAttributes(of: name)
        let isEmpty = text[index] == UInt8(ascii: "/")
        index += isEmpty ? 2 : 1

        let node = tree.nodes.count
        let parent = open.last?.node ?? 0
        var keepsBlanks = open.last?.keepsBlanks ?? false
        tree.nodes.append(
            XMLTree.Node(
                name: try resolve(name, isAttribute: false), parent: UInt32(parent), start: UInt32(tree.attributes.count),
                detail: attributes.declarations, offset: UInt32(start)))
        for attribute in attributes.plain {
            let name = try resolve(attribute.name, isAttribute: true)
            tree.attributes.append(
                XMLTree.Attribute(
                    name: name, start: UInt32(attribute.value.lowerBound), count: UInt32(attribute.value.count),
                    isLiteral: attribute.isLiteral))
            if tree.names[Int(name)].name == Self.space { keepsBlanks = text[attribute.value].elementsEqual("preserve".utf8) }
        }
        tree.nodes[node].count = UInt32(attributes.plain.count)
        try checkTwins(of: node, at: start)
        link(node, isText: false)
        hasRoot = true
        let element = Open(node: node, name: name, bindings: bindings, keepsBlanks: keepsBlanks)
        open.append(element)
        if isEmpty { close() }
    }

    private static let space = XMLName("space", namespace: XMLName.xmlNamespace)

    /// Adds a node to the children of the innermost element.
    private mutating func link(_ node: Int, isText: Bool) {
        guard !open.isEmpty else { return }
        let top = open.count - 1
        if open[top].last == 0 { tree.nodes[open[top].node].first = UInt32(node) } else { tree.nodes[open[top].last].next = UInt32(node) }
        open[top].last = node
        if !isText { open[top].hasElements = true }
    }

    private struct RawAttribute {
        let name: Range<Int>
        let value: Range<Int>
        let isLiteral: Bool
    }

    /// Reads attributes up to the tag's end, and enters the namespaces that they declare.
    private mutating func readAttributes(of tag: Range<Int>) throws -> (plain: [RawAttribute], declarations: UInt32) {
        var plain: [RawAttribute] = []
        var declared: [XMLValue.Declaration] = []
        while true {
            let start = index
            skipBlanks()
            guard index < text.count else { throw fault(.truncated, "The XML ends within the tag “\(shown(tag))”: it was cut short") }
            if text[index] == UInt8(ascii: ">") { break }
            if text[index] == UInt8(ascii: "/") {
                guard index + 1 < text.count else {
                    throw fault(.truncated, "The XML ends within the tag “\(shown(tag))”: it was cut short")
                }
                guard text[index + 1] == UInt8(ascii: ">") else { throw fault(.syntax, "“>” must follow “/” in a tag") }
                break
            }
            guard index > start else { throw fault(.syntax, "White space must separate the attributes of “\(shown(tag))”") }
            guard plain.count + declared.count < limits.boundedAttributes else {
                throw fault(
                    .limit,
                    "The element “\(shown(tag))” has more than \(limits.boundedAttributes) attributes, the bound that XMLLimits.attributes sets"
                )
            }
            let attribute = try readAttribute()
            guard let prefix = declaredPrefix(attribute.name) else {
                plain.append(attribute)
                continue
            }
            let uri = value(of: attribute)
            guard !declared.contains(where: { $0.prefix == prefix }) else {
                throw fault(.syntax, "The attribute “\(shown(attribute.name))” occurs twice", at: attribute.name.lowerBound)
            }
            guard XMLNamespaceScope.mayBind(prefix, to: uri) else {
                throw fault(
                    .namespace, "The namespace “\(SerializationError.excerpt(uri))” can't be declared by “\(shown(attribute.name))”",
                    at: attribute.name.lowerBound)
            }
            declared.append(XMLValue.Declaration(prefix: prefix, namespace: uri))
        }
        guard !declared.isEmpty else { return (plain, 0) }
        scope.begin(declared)
        // Many services repeat the same declarations on each element of a list.
        if tree.declarations.last != declared { tree.declarations.append(declared) }
        return (plain, UInt32(tree.declarations.count - 1))
    }

    private mutating func readAttribute() throws -> RawAttribute {
        let name = try readName("an attribute's name")
        skipBlanks()
        guard index < text.count else { throw fault(.truncated, "The XML ends within a tag: it was cut short") }
        guard text[index] == UInt8(ascii: "=") else { throw fault(.syntax, "“=” must follow the attribute's name “\(shown(name))”") }
        index += 1
        skipBlanks()
        guard index < text.count else { throw fault(.truncated, "The XML ends within a tag: it was cut short") }
        let quote = text[index]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw fault(.syntax, "The value of the attribute “\(shown(name))” must be in quotation marks")
        }
        index += 1
        let start = index
        var isLiteral = true
        while index < text.count {
            let byte = text[index]
            if byte == quote {
                index += 1
                return RawAttribute(name: name, value: start..<index - 1, isLiteral: isLiteral)
            }
            switch byte {
            case UInt8(ascii: "<"): throw fault(.syntax, "“<” isn't allowed in the value of the attribute “\(shown(name))”: it is “&lt;”")
            case UInt8(ascii: "&"):
                isLiteral = false
                index = try reference()
            case 0x09, 0x0A, 0x0D:
                isLiteral = false
                index += 1
            default:
                try checkCharacter(at: index)
                index += 1
            }
        }
        throw fault(.truncated, "The XML ends within a tag: it was cut short")
    }

    private func value(of attribute: RawAttribute) -> String {
        var bytes: [UInt8] = []
        XMLReferences.append(text[attribute.value], isAttribute: true, readsReferences: true, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The prefix that an attribute's name declares, empty for the default namespace; `nil` if it declares none.
    private func declaredPrefix(_ name: Range<Int>) -> String? {
        guard name.count >= 5, text[name].starts(with: "xmlns".utf8) else { return nil }
        if name.count == 5 { return "" }
        return text[name.lowerBound + 5] == UInt8(ascii: ":") ? string(name.lowerBound + 6..<name.upperBound) : nil
    }

    private func checkTwins(of node: Int, at start: Int) throws {
        let range = tree.attributes(of: node)
        guard range.count > 1 else { return }
        let identities = range.map { tree.names[Int(tree.attributes[$0].name)].identity }
        var seen: Set<UInt32> = []
        for (place, identity) in identities.enumerated() {
            let isTwin = range.count <= 8 ? identities[..<place].contains(identity) : !seen.insert(identity).inserted
            guard isTwin else { continue }
            let name = SerializationError.excerpt(tree.name(ofAttribute: range.lowerBound + place).qualified, upTo: 40)
            throw fault(.syntax, "The attribute “\(name)” occurs twice", at: start)
        }
    }

    // MARK: Text

    private mutating func readText() throws {
        let start = index
        var isBlank = true
        var form = XMLTree.Form.literal
        while index < text.count, text[index] != UInt8(ascii: "<") {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "&"):
                index = try reference()
                form = .escaped
                // White space as a reference is text.
                isBlank = false
                continue
            case 0x0D: form = .escaped
            case 0x20, 0x0A, 0x09: break
            case UInt8(ascii: "]"):
                isBlank = false
                if begins(with: "]]>") { throw fault(.syntax, "“]]>” isn't allowed in text: it is “]]&gt;”") }
            default:
                isBlank = false
                if byte < 0x20 || byte == 0xEF { try checkCharacter(at: index) }
            }
            index += 1
        }
        append(text: start..<index, form: form, offset: start, isBlank: isBlank)
    }

    private mutating func append(text range: Range<Int>, form: XMLTree.Form, offset: Int, isBlank: Bool) {
        let node = tree.nodes.count
        let parent = open.last?.node ?? 0
        tree.nodes.append(
            XMLTree.Node(
                name: XMLTree.Node.textName, parent: UInt32(parent), start: UInt32(range.lowerBound), count: UInt32(range.count),
                detail: form.rawValue, offset: UInt32(offset)))
        link(node, isText: true)
        if isBlank { open[open.count - 1].hasBlanks = true } else { open[open.count - 1].hasCharacters = true }
    }

    private func reference() throws -> Int {
        if let (_, end) = XMLReferences.scalar(at: index, in: text) { return end }
        let name = text[(index + 1)...].prefix(40).prefix { $0 != UInt8(ascii: ";") && $0 > 0x20 && $0 != UInt8(ascii: "<") }
        guard name.endIndex < text.count else { throw fault(.truncated, "The XML ends within a reference: it was cut short") }
        let shown = SerializationError.excerpt(String(decoding: name, as: UTF8.self), upTo: 40)
        guard name.first.map({ $0 != UInt8(ascii: "#") }) ?? false, text[name.endIndex] == UInt8(ascii: ";") else {
            throw fault(.syntax, "“&” must begin a reference to an allowed character, such as “&amp;” or “&#38;”")
        }
        throw fault(.documentType, "The entity “&\(shown);” isn't one of the five of XML, and document types aren't read")
    }

    private mutating func resolve(_ name: Range<Int>, isAttribute: Bool) throws -> UInt32 {
        let raw = UnsafeBufferPointer(rebasing: text[name])
        if let known = scope.known(raw, isAttribute: isAttribute) { return known }
        let parts = string(name).split(separator: ":", maxSplits: 1).map(String.init)
        let prefix = parts.count == 2 ? parts[0] : nil
        guard let local = parts.last, let namespace = scope.namespace(of: prefix, isAttribute: isAttribute) else {
            throw fault(.namespace, "The prefix of “\(shown(name))” isn't declared", at: name.lowerBound)
        }
        let resolved = XMLName(local, namespace: namespace.isEmpty ? nil : namespace, prefix: prefix)
        let index = tree.index(of: resolved)
        scope.remember(index, for: raw, isAttribute: isAttribute)
        return index
    }
}
