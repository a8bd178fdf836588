/// Writes elements as text. No other code escapes XML.
struct XMLWriter {
    private(set) var output: [UInt8] = []
    /// The charset, if it lacks characters; these are written as references.
    private let charset: TextEncoding?
    private var known: [Unicode.Scalar: Bool] = [:]
    /// The namespaces that the open elements bind each prefix to, and the prefixes that they bind to each namespace.
    private var namespaces: [String: [String]] = [:]
    private var prefixes: [String: [String]] = [:]
    /// The number of the last generated prefix.
    private var lastPrefix = 0

    init(encoding: TextEncoding) {
        charset = encoding.name.hasPrefix("utf-") ? nil : encoding
    }

    mutating func writeDeclaration(_ encoding: TextEncoding) {
        put("<?xml version=\"1.0\" encoding=\"")
        put(encoding.name.uppercased())
        put("\"?>\n")
    }

    /// Writes an element. Its nesting is bounded, so recursion is safe.
    mutating func write(_ element: XMLValue) throws {
        guard !element.nesting.isCut else {
            throw SerializationError(
                .encoding, "The element “\(SerializationError.excerpt(element.name.local))” nests more than 512 levels deep.")
        }
        var bindings: [(prefix: String, namespace: String)] = []
        for declaration in element.declarations { try declare(declaration, in: element, &bindings) }
        let name = try qualified(element.name, isAttribute: false, &bindings)
        var attributes: [(name: String, value: String)] = []
        var seen: Set<XMLName> = []
        for attribute in element.attributes {
            guard seen.insert(attribute.name).inserted else {
                throw SerializationError(
                    .encoding,
                    "The element “\(name)” has the attribute “\(SerializationError.excerpt(attribute.name.description))” twice: remove one."
                )
            }
            attributes.append((try qualified(attribute.name, isAttribute: true, &bindings), attribute.value))
        }
        put("<")
        try put(name: name)
        for binding in bindings {
            put(binding.prefix.isEmpty ? " xmlns" : " xmlns:")
            try put(name: binding.prefix)
            put("=\"")
            try put(escaping: binding.namespace, isAttribute: true)
            put("\"")
        }
        for attribute in attributes {
            put(" ")
            try put(name: attribute.name)
            put("=\"")
            try put(escaping: attribute.value, isAttribute: true)
            put("\"")
        }
        try writeContent(element, name)
        for binding in bindings {
            namespaces[binding.prefix]?.removeLast()
            prefixes[binding.namespace]?.removeLast()
        }
    }

    private mutating func writeContent(_ element: XMLValue, _ name: String) throws {
        let content = element.joined
        guard !content.isEmpty else { return put("/>") }
        put(">")
        // The parser doesn't read white space between elements as text, unless it is written as references.
        let isBlank = content.allSatisfy { if case .text(let text) = $0 { XMLCharacters.isBlank(text) } else { true } }
        let escapesBlanks = isBlank && content.count > 1
        for child in content {
            switch child {
            case .element(let element): try write(element)
            case .text(let text): try put(escaping: text, isAttribute: false, escapesBlanks: escapesBlanks)
            }
        }
        put("</")
        try put(name: name)
        put(">")
    }

    // MARK: Names

    private mutating func declare(
        _ declaration: XMLValue.Declaration, in element: XMLValue, _ bindings: inout [(prefix: String, namespace: String)]
    ) throws {
        let (prefix, namespace) = (declaration.prefix, declaration.namespace)
        guard XMLNamespaceScope.mayBind(prefix, to: namespace), prefix.isEmpty || XMLCharacters.isName(prefix) else {
            throw SerializationError(
                .encoding,
                "The prefix “\(SerializationError.excerpt(prefix))” can't be declared for the namespace "
                    + "“\(SerializationError.excerpt(namespace))”: choose another prefix.")
        }
        // A default namespace would capture an element that is in none.
        if prefix.isEmpty, element.name.namespace == nil, !namespace.isEmpty { return }
        guard prefix != "xml", namespaces[prefix]?.last ?? "" != namespace, !bindings.contains(where: { $0.prefix == prefix }) else {
            return
        }
        bind(prefix, to: namespace, &bindings)
    }

    private mutating func bind(_ prefix: String, to namespace: String, _ bindings: inout [(prefix: String, namespace: String)]) {
        bindings.append((prefix, namespace))
        namespaces[prefix, default: []].append(namespace)
        prefixes[namespace, default: []].append(prefix)
    }

    /// Returns a name with a prefix that is bound to its namespace. The prefix is declared if necessary.
    private mutating func qualified(
        _ name: XMLName, isAttribute: Bool, _ bindings: inout [(prefix: String, namespace: String)]
    ) throws -> String {
        guard XMLCharacters.isName(name.local) else {
            throw SerializationError(
                .encoding, "“\(SerializationError.excerpt(name.local))” isn't a name in XML: it must begin with a letter or an underscore.")
        }
        guard let namespace = name.namespace, !namespace.isEmpty else {
            if !isAttribute, let outer = namespaces[""]?.last, !outer.isEmpty { bind("", to: "", &bindings) }
            return name.local
        }
        if namespace == XMLName.xmlNamespace { return "xml:" + name.local }
        guard namespace != XMLName.xmlnsNamespace else {
            throw SerializationError(.encoding, "“\(name.local)” is a namespace declaration: put it in `declarations`.")
        }
        if let own = name.prefix, !isAttribute || !own.isEmpty, namespaces[own]?.last == namespace { return join(own, name.local) }
        if name.prefix == nil, !isAttribute, namespaces[""]?.last == namespace { return name.local }
        let usable = prefixes[namespace]?.last { (!isAttribute || !$0.isEmpty) && namespaces[$0]?.last == namespace }
        if let usable { return join(usable, name.local) }
        let prefix = freePrefix(name.prefix, isAttribute, bindings)
        bind(prefix, to: namespace, &bindings)
        return join(prefix, name.local)
    }

    /// The name's own prefix if it is free on this element, otherwise a new one. An element without a prefix gets a default namespace.
    private mutating func freePrefix(_ own: String?, _ isAttribute: Bool, _ bindings: [(prefix: String, namespace: String)]) -> String {
        let own = own ?? (isAttribute ? nil : "")
        if let own, !isAttribute || !own.isEmpty, !bindings.contains(where: { $0.prefix == own }), own != "xmlns", own != "xml",
            own.isEmpty || XMLCharacters.isName(own)
        {
            // An attribute must not take a prefix that the element's own name uses.
            if !isAttribute || namespaces[own]?.last == nil { return own }
        }
        while true {
            lastPrefix += 1
            let made = "ns\(lastPrefix)"
            if namespaces[made]?.last == nil { return made }
        }
    }

    private func join(_ prefix: String, _ local: String) -> String { prefix.isEmpty ? local : prefix + ":" + local }

    // MARK: Characters

    private mutating func put(_ text: String) { output.append(contentsOf: text.utf8) }

    private mutating func put(name: String) throws {
        if charset != nil, let missing = name.unicodeScalars.first(where: { !hasCharacter($0) }) {
            throw SerializationError(.charset, "The name “\(name)” has “\(missing)”, which \(charset?.name ?? "") lacks: use utf-8.")
        }
        put(name)
    }

    private mutating func put(escaping text: String, isAttribute: Bool, escapesBlanks: Bool = false) throws {
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x26: put("&amp;")
            case 0x3C: put("&lt;")
            case 0x3E: put("&gt;")
            case 0x22 where isAttribute: put("&quot;")
            case 0x0D: put("&#13;")
            case 0x09, 0x0A:
                if isAttribute || escapesBlanks { put("&#\(scalar.value);") } else { output.append(UInt8(scalar.value)) }
            case 0x20 where escapesBlanks: put("&#32;")
            case 0x20..<0x80: output.append(UInt8(scalar.value))
            default:
                guard XMLCharacters.isAllowed(scalar) else {
                    throw SerializationError(
                        .encoding,
                        "The character U+\(String(scalar.value, radix: 16, uppercase: true)) isn't allowed in XML, not even as a reference: "
                            + "remove it, or send Data.")
                }
                if charset != nil, !hasCharacter(scalar) {
                    put("&#\(scalar.value);")
                } else {
                    output.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
                }
            }
        }
    }

    private mutating func hasCharacter(_ scalar: Unicode.Scalar) -> Bool {
        guard let charset, scalar.value >= 0x80 else { return true }
        if let known = known[scalar] { return known }
        let has = (try? charset.encode(String(scalar))) != nil
        known[scalar] = has
        return has
    }
}
