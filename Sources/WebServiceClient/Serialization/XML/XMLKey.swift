/// A coding key's place in XML; see ``XMLRules`` for the notation.
struct XMLKey {
    enum Leaf {
        case element(XMLName)
        case attribute(XMLName)
        /// `#text`.
        case text
        /// `*`.
        case elements
        /// `_0`, the key of an enum case's unlabeled value: the element of the case itself.
        case itself
    }

    /// The elements around the leaf, from outside.
    private(set) var wrappers: [XMLName] = []
    private(set) var leaf: Leaf = .itself

    /// The reason why a coding key has no place.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// Creates the place of a key.
    ///
    /// - Throws: ``Fault`` with the key and the fix.
    init(_ key: String, _ rules: XMLRules) throws(Fault) {
        if key == "_0" { return }
        var parts = Self.parts(of: key)
        let last = parts.popLast() ?? ""
        for part in parts { wrappers.append(try Self.name(part, key, rules)) }
        if last == "#text" {
            leaf = .text
        } else if last == "*" {
            leaf = .elements
        } else if last.utf8.first == UInt8(ascii: "@") {
            leaf = .attribute(try Self.name(String(last.dropFirst()), key, rules))
        } else {
            let name = try Self.name(last, key, rules)
            leaf = rules.attributes.contains(key) ? .attribute(name) : .element(name)
        }
    }

    /// Creates the place of a dictionary's key, which is an element's name without any notation.
    init(literal key: String) {
        leaf = .element(XMLName(key, namespace: nil))
    }

    /// The parts between slashes, except slashes in a namespace.
    private static func parts(of key: String) -> [String] {
        var parts = [""]
        var isInside = false
        for character in key.unicodeScalars {
            if character == "{" { isInside = true }
            if character == "}" { isInside = false }
            if character == "/", !isInside { parts.append("") } else { parts[parts.count - 1].unicodeScalars.append(character) }
        }
        return parts
    }

    /// Reads a name: with a namespace in braces, with a prefix, or plain.
    static func name(_ text: String, _ key: String, _ rules: XMLRules) throws(Fault) -> XMLName {
        var name = XMLName(text)
        if name.namespace == nil, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) {
            let prefix = String(text[..<colon])
            guard let namespace = prefix == "xml" ? XMLName.xmlNamespace : rules.namespaces[prefix] else {
                throw Fault(
                    description: "The coding key “\(key)” has the prefix “\(prefix)”, which XMLRules.namespaces lacks: add it there, or "
                        + "write the namespace in braces before the name.")
            }
            name = XMLName(String(text[text.utf8.index(after: colon)...]), namespace: namespace, prefix: prefix)
        }
        name.local = rules.keys.name(of: name.local)
        guard XMLCharacters.isName(name.local) else {
            throw Fault(
                description: "The coding key “\(SerializationError.excerpt(key))” names no element or attribute of XML: give it a name "
                    + "that begins with a letter or an underscore.")
        }
        return name
    }

    /// The coding keys that may name an element, the likeliest first.
    static func keys(of name: XMLName, _ rules: XMLRules) -> [String] {
        let local = rules.keys.key(of: name.local)
        var keys = local == name.local ? [local] : [local, name.local]
        guard let namespace = name.namespace else { return keys }
        keys.append("{\(namespace)}\(local)")
        for (prefix, known) in rules.namespaces.sorted(by: { $0.key < $1.key }) where known == namespace && !prefix.isEmpty {
            keys.append("\(prefix):\(local)")
        }
        keys.append("{*}\(local)")
        return keys
    }
}
