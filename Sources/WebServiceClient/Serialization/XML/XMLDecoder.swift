public import Foundation

/// Decodes values from XML.
///
///     struct Order: Decodable {
///         var id: Int
///         var note: String?
///         var lines: [Line]
///         enum CodingKeys: String, CodingKey { case id = "@id", note, lines = "lines/line" }
///     }
///     let order = try XMLDecoder().decode(Order.self, from: data)
///
/// ``XMLRules`` describes the forms of coding keys and the strategies. Numbers, Booleans and dates may have white space at their ends;
/// integers of any width and `Decimal` are exact, floating-point numbers may be `INF`, `-INF` and `NaN` (XML Schema part 2). A text is read
/// verbatim from an element without child elements. A missing element is an error, unless an optional or a list is read.
///
/// The text must be well-formed XML 1.0 with namespaces, in any charset that a byte order mark, the `Content-Type` or the XML declaration
/// names. No document type is read and nothing outside the text is loaded, which prevents attacks through entities.
///
/// Errors are `DecodingError`, with the element's path, line and column in the description.
public struct XMLDecoder: Sendable {
    /// How values map to XML.
    public var rules: XMLRules
    /// The bounds of the text.
    public var limits = XMLLimits()
    /// How a document type declaration is treated. Default: it is refused.
    public var documentType: XMLDocumentType = .refused
    /// Whether elements, attributes and text that a type doesn't read are an error. Default: false; they are ignored.
    public var refusesUnknown = false
    /// The user info of the decoders.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates a decoder.
    public init(_ rules: XMLRules = XMLRules()) { self.rules = rules }

    /// Decodes a value from an XML text, or from an element inside it.
    ///
    /// - Parameters:
    ///   - data: The text.
    ///   - path: The names, in the notation of coding keys but unconverted, that lead from the root element to the value; empty for the
    ///     root itself. A name leads to all elements that have it, which a list reads; a number is the index of one of them, from 0. A list
    ///     is empty if the last name has no element, because XML has no other empty list without a wrapper.
    ///   - contentType: The `Content-Type` of the text, if it has one; its charset applies.
    /// - Throws: `DecodingError`, whose underlying error is an ``XMLSyntaxError`` if the text isn't XML or exceeds the bounds, or the error
    ///   of the type's own coding; ``SerializationError`` if an element of the path is missing, or the charset is unknown or wrong.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, at path: [String] = [], contentType: String? = nil
    ) throws -> Value {
        let state = XMLDecodingState(tree: try tree(of: data, contentType: contentType), decoder: self)
        try checkRoot(type, state, isWhole: path.isEmpty)
        var absent: SerializationError?
        let place = path.isEmpty ? XMLPlace.element(XMLTree.root) : try state.place(at: path, absent: &absent)
        let value: Value
        do { value = try state.decode(type, at: place, []) } catch { throw absent ?? state.located(error) }
        if let absent, !state.hasReadAbsentList { throw absent }
        if refusesUnknown { try state.checkUnknown() }
        return value
    }

    private func tree(of data: Data, contentType: String?) throws -> XMLTree {
        let bytes = try XMLSource.utf8(of: data, contentType: contentType)
        do {
            return try XMLTextParser.tree(of: bytes, limits: limits, documentType: documentType)
        } catch let error as XMLSyntaxError {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: error.description, underlyingError: error))
        }
    }

    private func checkRoot(_ type: Any.Type, _ state: XMLDecodingState, isWhole: Bool) throws {
        guard let expected = rules.rootName ?? (isWhole ? (type as? any XMLRootNamed.Type)?.xmlRootName : nil) else { return }
        let name = try state.name(of: expected)
        let found = state.tree.name(XMLTree.root)
        guard name.finds(found, inside: rules.namespaces[""]) else {
            throw DecodingError.typeMismatch(
                type,
                DecodingError.Context(
                    codingPath: [],
                    debugDescription:
                        "The root element “\(name)” is needed, and “\(SerializationError.excerpt(found.description))” was found "
                        + "(\(state.tree.place(of: XMLTree.root)))."))
        }
    }
}

/// The state of one decoder call: the text, the settings and the depth.
final class XMLDecodingState {
    let tree: XMLTree
    let rules: XMLRules
    let userInfo: [CodingUserInfoKey: Any]
    private let refusesUnknown: Bool
    private var keys: [String: XMLKey] = [:]
    private var nesting = 0
    /// Whether a list was read where there is no element.
    var hasReadAbsentList = false
    /// The child elements of large elements by their local names: scanning them for each key of a dictionary would take quadratic time.
    private var children: [Int: [String: [Int]]] = [:]
    /// The elements that were read by keys, and the parts of them that were read.
    private var keyed: Set<Int> = []
    private var readElements: Set<Int> = []
    private var readAttributes: Set<Int> = []
    private var readTexts: Set<Int> = []

    init(tree: XMLTree, decoder: XMLDecoder) {
        self.tree = tree
        rules = decoder.rules
        userInfo = decoder.userInfo
        refusesUnknown = decoder.refusesUnknown
    }

    func key(_ key: any CodingKey, isLiteral: Bool, _ path: [any CodingKey]) throws -> XMLKey {
        if isLiteral { return XMLKey(literal: key.stringValue) }
        if let known = keys[key.stringValue] { return known }
        do {
            let made = try XMLKey(key.stringValue, rules)
            keys[key.stringValue] = made
            return made
        } catch {
            throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: error.description))
        }
    }

    /// The name in a setting, to which the key strategy doesn't apply.
    func name(of text: String) throws -> XMLName {
        var rules = rules
        rules.keys = .asDeclared
        do {
            return try XMLKey.name(text, text, rules)
        } catch {
            throw SerializationError(.root, error.description)
        }
    }

    /// The child elements that a search for a name finds.
    func elements(of node: Int, named name: XMLName) -> [Int] {
        guard tree.hasManyChildren(node) else { return tree.elements(of: node, named: name) }
        let namespace = tree.name(node).namespace
        return (index(of: node)[name.local] ?? []).filter { name.finds(tree.name($0), inside: namespace) }
    }

    private func index(of node: Int) -> [String: [Int]] {
        if let known = children[node] { return known }
        var index: [String: [Int]] = [:]
        for child in tree.elements(of: node) { index[tree.name(child).local, default: []].append(child) }
        children[node] = index
        return index
    }

    /// Three times the depth of a text, since optionals and other wrappers may come between its elements.
    private static let nestingLimit = 3 * XMLLimits.greatestDepth

    func nested<Value>(_ path: [any CodingKey], _ body: () throws -> Value) throws -> Value {
        guard nesting < Self.nestingLimit else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: path, debugDescription: "More than \(Self.nestingLimit) values decode themselves inside each other here."))
        }
        nesting += 1
        defer { nesting -= 1 }
        return try body()
    }

    // MARK: A root inside

    /// Returns the place that a path leads to.
    ///
    /// - Parameter absent: The error for values other than lists if the last name has no element.
    func place(at path: [String], absent: inout SerializationError?) throws -> XMLPlace {
        var nodes = [XMLTree.root]
        for (depth, part) in path.enumerated() {
            if let index = Int(part), depth > 0 {
                guard nodes.indices.contains(index) else {
                    throw SerializationError.missingRoot(
                        path, after: depth, found: "there are \(nodes.count) elements of this name, counted from 0")
                }
                nodes = [nodes[index]]
                continue
            }
            let name = try name(of: part)
            let next = nodes.flatMap { elements(of: $0, named: name) }
            guard !next.isEmpty else {
                let keys = Set(nodes.prefix(10).flatMap { tree.elements(of: $0).prefix(100).map { tree.name($0).description } })
                let error = SerializationError.missingRoot(
                    path, after: depth, found: "there are \(SerializationError.list(ofKeys: Array(keys)))")
                guard depth == path.count - 1 else { throw error }
                absent = error
                return .missing(in: nodes[0])
            }
            nodes = next
        }
        if Int(path.last ?? "") != nil, let node = nodes.first { return .element(node) }
        return .list(XMLSelection(nodes: nodes, parent: Int(tree.nodes[nodes[0]].parent), isExplicit: true, exists: true))
    }

    // MARK: What isn't read

    func reads(keysOf node: Int) { if refusesUnknown { keyed.insert(node) } }
    func reads(elements: [Int]) { if refusesUnknown { readElements.formUnion(elements) } }
    func reads(attribute: Int) { if refusesUnknown { readAttributes.insert(attribute) } }
    func reads(textOf node: Int) { if refusesUnknown { readTexts.insert(node) } }

    /// - Throws: `DecodingError.dataCorrupted` for the first part of an element that was read by keys, and that no key read.
    func checkUnknown() throws {
        for node in keyed.sorted() {
            for attribute in tree.attributes(of: node) where !readAttributes.contains(attribute) {
                let name = tree.name(ofAttribute: attribute)
                guard name.namespace != XMLName.xmlNamespace, name.namespace != XMLName.schemaNil.namespace else { continue }
                throw unknown("attribute “\(SerializationError.excerpt(name.description))”", node)
            }
            for child in tree.elements(of: node) where !readElements.contains(child) {
                throw unknown("element “\(SerializationError.excerpt(tree.name(child).description))”", child)
            }
            if !readTexts.contains(node), !XMLCharacters.isBlank(tree.text(of: node)) { throw unknown("text", node) }
        }
    }

    private func unknown(_ what: String, _ node: Int) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(codingPath: [], debugDescription: "The \(what) is unknown to the type (\(tree.place(of: node)))."))
    }
}

/// Converts the bytes of an XML text.
enum XMLSource {
    /// Returns the text in UTF-8.
    ///
    /// The charset is that of the byte order mark, else of the `Content-Type`, else UTF-16 or UTF-32 if there are zero bytes at the
    /// beginning, else that of the XML declaration, else UTF-8 (RFC 7303 §3, XML 1.0 appendix F). A declaration of UTF-16 in a text that
    /// isn't UTF-16, as .NET writes it, is ignored.
    ///
    /// - Throws: ``SerializationError`` if the charset is unknown, or the bytes aren't valid in it.
    static func utf8(of data: Data, contentType: String?) throws -> [UInt8] {
        if let mark = TextEncoding.byteOrderMark(of: data) { return try bytes(data, mark.encoding) }
        if let named = try TextEncoding.named(in: contentType) { return try bytes(data, named) }
        if data.prefix(4).contains(0) { return Array(try TextEncoding.utf8(from: data, contentType: nil)) }
        guard let name = declaredCharset(of: data) else { return try bytes(data, .utf8) }
        let encoding = try TextEncoding.named(name)
        let isWide = encoding.name.hasPrefix("utf-16") || encoding.name.hasPrefix("utf-32")
        return try bytes(data, isWide ? .utf8 : encoding)
    }

    private static func bytes(_ data: Data, _ encoding: TextEncoding) throws -> [UInt8] {
        // Most texts are ASCII, which is UTF-8 already.
        if encoding == .utf8, data.withUnsafeBytes({ $0.allSatisfy { $0 < 0x80 } }) { return Array(data) }
        return Array(try encoding.decode(data).utf8)
    }

    /// The charset in the XML declaration.
    private static func declaredCharset(of data: Data) -> String? {
        let head = Array(data.prefix(256))
        guard head.starts(with: "<?xml".utf8), let end = head.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        var pairs = XMLPseudoAttributes(head[5..<end])
        while let (name, value) = pairs.next() { if name == "encoding" { return value } }
        return nil
    }
}
