import Foundation

/// A value of an OpenAPI document with its JSON pointer (RFC 6901), as a URI fragment. The name of another document is in front.
struct OpenAPINode {
    let json: JSONNode
    let pointer: String

    /// The value of a member; `nil` if it is missing or null.
    subscript(_ name: String) -> OpenAPINode? {
        guard let member = json.member(name), !member.isNull else { return nil }
        return OpenAPINode(json: member, pointer: pointer + "/" + Self.escaped(name))
    }

    /// The text, if the value is one.
    var text: String? { if case .string(let text) = json.content { text } else { nil } }

    /// The text of a value that YAML reads as a number or a Boolean if it isn't quoted, such as a version or a port.
    var scalarText: String? {
        switch json.content {
        case .string(let text), .number(let text, isWhole: _): text
        case .boolean(let flag): "\(flag)"
        case .null, .array, .object: nil
        }
    }

    /// The Boolean, if the value is one.
    var flag: Bool? { if case .boolean(let flag) = json.content { flag } else { nil } }

    func forEachMember(_ body: (_ name: String, _ value: OpenAPINode) -> Void) {
        json.forEachMember { name, value in
            body(name, OpenAPINode(json: value, pointer: pointer + "/" + Self.escaped(name)))
        }
    }

    func forEachElement(_ body: (OpenAPINode) -> Void) {
        var index = 0
        json.forEachElement { element in
            body(OpenAPINode(json: element, pointer: pointer + "/\(index)"))
            index += 1
        }
    }

    /// The texts, numbers and Booleans of an array as texts; other values are left out.
    var texts: [String] {
        var texts: [String] = []
        forEachElement { if let text = $0.scalarText { texts.append(text) } }
        return texts
    }

    /// The name of the other document that the value is in; empty for the main one.
    var documentName: Substring { pointer.prefix { $0 != "#" } }

    private static func escaped(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        return name.replacing("~", with: "~0").replacing("/", with: "~1")
    }
}

/// An OpenAPI document while it is read: resolves references when they are needed, and collects what is left out.
final class OpenAPIDocument {
    /// The maximum number of consecutive references.
    private static let referenceLimit = 32
    /// The maximum number of notes; further ones are only counted.
    private static let noteLimit = 1_000

    let root: OpenAPINode
    /// The URL that the document states or came from; if none is known, one below which relative references stay apart.
    private let base: URL?
    /// The other documents by their names.
    private var others: [Substring: OpenAPINode] = [:]
    /// The names of the documents by their URLs; the main one has an empty name.
    private var names: [String: Substring] = [:]
    /// Why documents can't be read, by their names.
    private let unreadable: [String: String]
    /// The targets of references by document and text; `nil` for those that can't be resolved.
    private var targets: [String: OpenAPINode?] = [:]
    private var noted: [String] = []
    private var uncounted = 0
    private(set) var faults: [String] = []

    /// - Parameters:
    ///   - others: The documents that references may lead to, by their URLs, which may be relative to the main document's.
    ///   - unreadable: Why other documents can't be read, by their URLs. This is a fault only if a reference leads to them.
    ///   - url: The URL of the main document.
    init(_ root: JSONNode, others: [String: JSONNode] = [:], unreadable: [String: String] = [:], from url: URL? = nil) {
        self.root = OpenAPINode(json: root, pointer: "#")
        self.unreadable = unreadable
        // The document's own statement takes precedence (OpenAPI 3.2.0, "Establishing the Base URI").
        let own = self.root["$self"]?.text.flatMap { URL(string: $0, relativeTo: url)?.absoluteURL }.flatMap { $0.scheme == nil ? nil : $0 }
        base = own ?? url ?? URL(string: "http://document.invalid/" + String(repeating: "-/", count: 16))
        for url in [own, url] { if let url { names[Self.address(url)] = "" } }
        for name in (Array(others.keys) + Array(unreadable.keys)).sorted() {
            guard let address = URL(string: name, relativeTo: base).map(Self.address), !name.contains("#"), !name.isEmpty else {
                fault(self.root, "the name \"\(Self.shown(name))\" of a document isn't a URL without fragment")
                continue
            }
            // The main document may be among them.
            if names[address] == "" { continue }
            if let other = names.updateValue(name[...], forKey: address) {
                fault(self.root, "the documents \"\(Self.shown(String(other)))\" and \"\(Self.shown(name))\" have the same URL")
            }
            if let json = others[name] { self.others[name[...]] = OpenAPINode(json: json, pointer: name + "#") }
        }
    }

    /// The name of a document for messages.
    static func shown(_ name: String) -> String { SerializationError.excerpt(SecretMask.text(ofURL: name)) }

    private static func address(_ url: URL) -> String {
        url.absoluteURL.absoluteString.split(separator: "#", omittingEmptySubsequences: false).first.map(String.init) ?? ""
    }

    /// The notes in the order in which they were found.
    var notes: [String] { uncounted == 0 ? noted : noted + ["\(uncounted) more parts are left out"] }

    /// Notes a part that is left out or read in another way.
    func note(_ node: OpenAPINode, _ text: String) {
        note(at: node.pointer, text)
    }

    func note(at pointer: String, _ text: String) {
        guard noted.count < Self.noteLimit else {
            uncounted += 1
            return
        }
        noted.append(Self.line(pointer, text))
    }

    /// Reports a fault, with which the document can't be used.
    func fault(_ node: OpenAPINode, _ text: String) {
        if faults.count < Self.noteLimit { faults.append(Self.line(node.pointer, text)) }
    }

    private static func line(_ pointer: String, _ text: String) -> String {
        let place = pointer.hasPrefix("#") ? pointer : SecretMask.text(ofURL: pointer)
        return "\(VisibleText.of(SerializationError.excerpt(place, upTo: 300))): \(VisibleText.of(text))"
    }

    /// Returns the object that a node is or refers to; `nil` if there is none, which is noted.
    ///
    /// References are resolved one by one, when they are needed: documents have cycles, and expanding them takes minutes.
    func object(_ node: OpenAPINode) -> OpenAPINode? {
        var node = node
        for _ in 0..<Self.referenceLimit {
            guard node.json.isObject else {
                note(node, "it isn't an object, and is left out")
                return nil
            }
            guard let reference = node["$ref"] else { return node }
            guard let text = reference.text else {
                note(reference, "the reference isn't a text, and is left out")
                return nil
            }
            guard let target = target(text, of: reference) else { return nil }
            node = target
        }
        note(node, "more than \(Self.referenceLimit) references lead from one to the next, or they form a cycle; it is left out")
        return nil
    }

    private func target(_ text: String, of reference: OpenAPINode) -> OpenAPINode? {
        let key = "\(reference.documentName)\n\(text)"
        if let known = targets[key] { return known }
        let found = find(text, of: reference)
        targets[key] = .some(found)
        return found
    }

    private func find(_ text: String, of reference: OpenAPINode) -> OpenAPINode? {
        let shown = text.hasPrefix("#") ? SerializationError.excerpt(text) : Self.shown(text)
        let address = text.prefix { $0 != "#" }
        let name = address.isEmpty ? reference.documentName : name(of: String(address), in: reference.documentName)
        if let name, let reason = unreadable[String(name)] {
            fault(reference, reason)
            return nil
        }
        guard let name, var node = name.isEmpty ? root : others[name] else {
            note(
                reference,
                "the reference \"\(shown)\" to another document isn't followed, and is left out: give the document to "
                    + "ServiceProfile(openAPI:documents:), or bundle the documents into one")
            return nil
        }
        guard let pointer = URLEncoding.decode(String(text.dropFirst(address.count + 1))), pointer.isEmpty || pointer.hasPrefix("/") else {
            note(reference, "the reference \"\(shown)\" isn't a JSON pointer, and is left out")
            return nil
        }
        // "other.yaml#/" is written for the whole document.
        if pointer == "/", node[""] == nil { return node }
        for part in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let name = String(part).replacing("~1", with: "/").replacing("~0", with: "~")
            guard let next = node.json.isArray ? element(name, of: node) : node[name] else {
                note(reference, "nothing is at \"\(shown)\", so the reference is left out")
                return nil
            }
            node = next
        }
        return node
    }

    /// The name of the document that a reference in another one leads to; `nil` if the program didn't give it.
    private func name(of address: String, in document: Substring) -> Substring? {
        let source = document.isEmpty ? base : URL(string: String(document), relativeTo: base)
        return URL(string: address, relativeTo: source?.absoluteURL).flatMap { names[Self.address($0)] }
    }

    private func element(_ name: String, of node: OpenAPINode) -> OpenAPINode? {
        // Elements are found one after the other, so that long arrays would take quadratic time.
        guard let index = Int(name), index >= 0, index < min(node.json.count, 10_000) else { return nil }
        var (found, count): (JSONNode?, Int) = (nil, 0)
        node.json.forEachElement { element in
            if count == index { found = element }
            count += 1
        }
        return found.map { OpenAPINode(json: $0, pointer: "\(node.pointer)/\(index)") }
    }
}
