import Foundation

/// A parsed XML text: its elements and texts in document order, in flat arrays. They take a bounded multiple of the text's memory and need
/// no recursion.
struct XMLTree {
    /// An element or a text. Indices refer to the tree's arrays; 0, the root's, means none for `next` and `first`.
    struct Node {
        /// The index of the name; `textName` for a text.
        var name: UInt32
        var parent: UInt32
        var next: UInt32 = 0
        /// The first child of an element.
        var first: UInt32 = 0
        /// The first attribute of an element, or the first byte of a text.
        var start: UInt32
        /// The number of attributes of an element, or of bytes of a text.
        var count: UInt32 = 0
        /// The namespace declarations of an element, or the form of a text.
        var detail: UInt32 = 0
        /// The first byte of the node in the text.
        var offset: UInt32

        static let textName = UInt32.max
        var isText: Bool { name == Self.textName }
    }

    struct Attribute {
        let name: UInt32
        let start: UInt32
        let count: UInt32
        let isLiteral: Bool
    }

    /// How the bytes of a text or attribute represent its characters.
    enum Form: UInt32 {
        /// As they are.
        case literal
        /// With references and line ends to convert.
        case escaped
        /// A CDATA section with line ends to convert.
        case section
    }

    let bytes: [UInt8]
    var nodes: ContiguousArray<Node> = []
    var attributes: ContiguousArray<Attribute> = []
    /// The names with their prefixes, each with the number of its namespace and local part.
    var names: ContiguousArray<(name: XMLName, identity: UInt32)> = []
    /// The lists of namespace declarations; the first one is empty.
    var declarations: ContiguousArray<[XMLValue.Declaration]> = [[]]
    /// The index of the first name with each namespace and local part.
    private var firsts: [XMLName: UInt32] = [:]

    init(bytes: [UInt8]) { self.bytes = bytes }

    static let root = 0

    /// Returns the index of a name. The name is added if the first one with its namespace and local part has another prefix.
    mutating func index(of name: XMLName) -> UInt32 {
        let new = UInt32(names.count)
        guard let first = firsts[name] else {
            firsts[name] = new
            names.append((name, new))
            return new
        }
        if names[Int(first)].name.prefix == name.prefix { return first }
        names.append((name, first))
        return new
    }

    func name(_ node: Int) -> XMLName { names[Int(nodes[node].name)].name }

    /// Calls a closure with each child of an element.
    @inline(__always) func forEachChild(of node: Int, _ body: (Int) throws -> Void) rethrows {
        var child = nodes[node].first
        while child != 0 {
            try body(Int(child))
            child = nodes[Int(child)].next
        }
    }

    /// The child elements of an element.
    func elements(of node: Int) -> [Int] {
        var found: [Int] = []
        forEachChild(of: node) { if !nodes[$0].isText { found.append($0) } }
        return found
    }

    /// The child elements that a search for a name finds.
    func elements(of node: Int, named name: XMLName) -> [Int] {
        let namespace = self.name(node).namespace
        var found: [Int] = []
        // Most lookups meet few distinct names, in runs.
        var last: (name: UInt32, isFound: Bool)?
        forEachChild(of: node) { child in
            let index = nodes[child].name
            guard index != Node.textName else { return }
            if last?.name != index { last = (index, name.finds(names[Int(index)].name, inside: namespace)) }
            if last?.isFound == true { found.append(child) }
        }
        return found
    }

    /// Whether a search should use an index.
    func hasManyChildren(_ node: Int) -> Bool {
        var (child, count) = (nodes[node].first, 0)
        while child != 0, count < 64 {
            child = nodes[Int(child)].next
            count += 1
        }
        return child != 0
    }

    func hasElements(_ node: Int) -> Bool {
        var child = nodes[node].first
        while child != 0 {
            if !nodes[Int(child)].isText { return true }
            child = nodes[Int(child)].next
        }
        return false
    }

    func hasText(_ node: Int) -> Bool {
        var child = nodes[node].first
        while child != 0 {
            if nodes[Int(child)].isText { return true }
            child = nodes[Int(child)].next
        }
        return false
    }

    /// The indices of an element's attributes.
    func attributes(of node: Int) -> Range<Int> {
        let node = nodes[node]
        return Int(node.start)..<Int(node.start) + Int(node.count)
    }

    /// The attribute that a search for a name finds.
    func attribute(_ name: XMLName, of node: Int) -> Int? {
        attributes(of: node).first { name.finds(attribute: self.name(ofAttribute: $0)) }
    }

    func name(ofAttribute index: Int) -> XMLName { names[Int(attributes[index].name)].name }

    func value(ofAttribute index: Int) -> String {
        let attribute = attributes[index]
        let range = Int(attribute.start)..<Int(attribute.start) + Int(attribute.count)
        if attribute.isLiteral { return string(range) }
        var text: [UInt8] = []
        bytes.withUnsafeBufferPointer { XMLReferences.append($0[range], isAttribute: true, readsReferences: true, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The text of an element, without the texts of its child elements.
    func text(of node: Int) -> String {
        let first = Int(nodes[node].first)
        guard first != 0 else { return "" }
        if nodes[first].next == 0, nodes[first].isText { return text(first) }
        var whole = ""
        forEachChild(of: node) { if nodes[$0].isText { whole += text($0) } }
        return whole
    }

    /// The characters of a text node.
    func text(_ index: Int) -> String {
        let node = nodes[index]
        let range = Int(node.start)..<Int(node.start) + Int(node.count)
        guard let form = Form(rawValue: node.detail), form != .literal else { return string(range) }
        var text: [UInt8] = []
        text.reserveCapacity(range.count)
        bytes.withUnsafeBufferPointer {
            XMLReferences.append($0[range], isAttribute: false, readsReferences: form == .escaped, to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private func string(_ range: Range<Int>) -> String {
        bytes.withUnsafeBufferPointer { String(decoding: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self) }
    }

    /// The line and column of a node.
    func position(of node: Int) -> XMLPosition {
        bytes.withUnsafeBufferPointer { XMLPosition(offset: Int(nodes[node].offset), in: $0) }
    }

    /// The path of an element, such as `/order/item[2]`: elements with the same name are counted from 1, as in XPath.
    func path(of node: Int) -> String {
        var parts: [String] = []
        var node = node
        while true {
            let name = SerializationError.excerpt(self.name(node).qualified, upTo: 40)
            guard node != Self.root else { return "/" + ([name] + parts.reversed()).joined(separator: "/") }
            let parent = Int(nodes[node].parent)
            let identity = names[Int(nodes[node].name)].identity
            let twins = elements(of: parent).filter { names[Int(nodes[$0].name)].identity == identity }
            parts.append(twins.count == 1 ? name : name + "[\((twins.firstIndex(of: node) ?? 0) + 1)]")
            node = parent
        }
    }

    /// The place of a node, for messages.
    func place(of node: Int) -> String {
        let position = position(of: node)
        return "\(path(of: node)), line \(position.line), column \(position.column)"
    }

    /// The untyped value of an element. Its nesting is bounded by the reader.
    func value(of node: Int) -> XMLValue {
        var children = XMLValue.Content()
        forEachChild(of: node) { child in
            if nodes[child].isText { children.append(text: text(child)) } else { children.append(element: value(of: child)) }
        }
        return XMLValue(
            name(node),
            attributes: attributes(of: node).map { XMLValue.Attribute(name(ofAttribute: $0), value(ofAttribute: $0)) },
            children: children.finished(), declarations: declarations[Int(nodes[node].detail)])
    }
}

/// References to characters and to the five entities that need no declaration (XML 1.0 §4.1 and §4.6).
enum XMLReferences {
    /// Reads the reference whose `&` is at an index; `nil` if it isn't one of these, or the character isn't allowed.
    static func scalar(at start: Int, in text: UnsafeBufferPointer<UInt8>) -> (scalar: Unicode.Scalar, end: Int)? {
        // The longest entity name has four letters. A number may have any number of leading zeros; about thirty are accepted.
        let limit = min(text.count, start + 40)
        guard let end = text[start..<limit].firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let body = text[(start + 1)..<end]
        guard body.first == UInt8(ascii: "#") else {
            return named(body).map { ($0, end + 1) }
        }
        let isHex = body.dropFirst().first == UInt8(ascii: "x")
        let digits = body.dropFirst(isHex ? 2 : 1)
        guard !digits.isEmpty else { return nil }
        var number: UInt32 = 0
        for byte in digits {
            let digit: UInt32
            switch byte {
            case 0x30...0x39: digit = UInt32(byte) - 0x30
            case 0x61...0x66 where isHex: digit = UInt32(byte) - 0x57
            case 0x41...0x46 where isHex: digit = UInt32(byte) - 0x37
            default: return nil
            }
            number = number * (isHex ? 16 : 10) + digit
            guard number <= 0x10FFFF else { return nil }
        }
        guard let scalar = Unicode.Scalar(number), XMLCharacters.isAllowed(scalar) else { return nil }
        return (scalar, end + 1)
    }

    private static func named(_ name: Slice<UnsafeBufferPointer<UInt8>>) -> Unicode.Scalar? {
        if name.elementsEqual("amp".utf8) { return "&" }
        if name.elementsEqual("lt".utf8) { return "<" }
        if name.elementsEqual("gt".utf8) { return ">" }
        if name.elementsEqual("quot".utf8) { return "\"" }
        return name.elementsEqual("apos".utf8) ? "'" : nil
    }

    /// Appends characters with normalized line ends (XML 1.0 §2.11) and attribute values (§3.3.3). The text's references have been checked.
    static func append(
        _ text: Slice<UnsafeBufferPointer<UInt8>>, isAttribute: Bool, readsReferences: Bool, to result: inout [UInt8]
    ) {
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "&") where readsReferences:
                guard let (scalar, end) = scalar(at: index, in: text.base) else {
                    result.append(byte)
                    index += 1
                    continue
                }
                result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
                index = end
                continue
            case 0x0D:
                if index + 1 < text.endIndex, text[index + 1] == 0x0A { index += 1 }
                result.append(isAttribute ? 0x20 : 0x0A)
            case 0x0A, 0x09: result.append(isAttribute ? 0x20 : byte)
            default: result.append(byte)
            }
            index += 1
        }
    }
}
