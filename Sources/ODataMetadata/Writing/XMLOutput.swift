/// The text of an XML document that is being written, with the prefixes that it uses.
struct XMLOutput {
    private(set) var body = ""
    private var depth = 0
    private var isOpen = false
    /// Whether elements follow each other without line breaks and indentation. Within an element with text, these would be part of the
    /// text.
    private var isInline = false
    /// Prefixes by namespace, in the order of their first use.
    private(set) var prefixes: [(namespace: String, prefix: String)] = []
    private var prefixesByNamespace: [String: String] = [:]

    private static let wellKnown = [
        ServiceModel.Extensions.sap: "sap", ServiceModel.Extensions.dataServicesMetadata: "m",
        ServiceModel.Extensions.edmAnnotation: "annotation",
    ]

    init(depth: Int) { self.depth = depth }

    /// Returns another part of the document, with the same prefixes.
    func beginning(depth: Int) -> XMLOutput {
        var part = XMLOutput(depth: depth)
        part.prefixes = prefixes
        part.prefixesByNamespace = prefixesByNamespace
        return part
    }

    mutating func prefix(of namespace: String) -> String {
        if namespace == XMLNamespace.xml { return "xml" }
        if let known = prefixesByNamespace[namespace] { return known }
        let prefix = Self.wellKnown[namespace] ?? "ns\(prefixes.count + 1)"
        prefixes.append((namespace, prefix))
        prefixesByNamespace[namespace] = prefix
        return prefix
    }

    /// Writes an element with attributes, except those that are `nil`, and with the output of `content`.
    mutating func element(
        _ name: String, _ attributes: [(String, String?)] = [], extensions: ServiceModel.Extensions = ServiceModel.Extensions(),
        content: (inout XMLOutput) -> Void = { _ in }
    ) {
        begin(name)
        for case (let name, let value?) in attributes { attribute(name, value) }
        // A model created by code can have attributes that are invalid in XML or that the element already has.
        for extra in extensions.attributes where ReadingState.isXMLName(extra.name) {
            if extra.namespace.isEmpty, attributes.contains(where: { $0.0 == extra.name }) { continue }
            attribute(extra.namespace.isEmpty ? extra.name : prefix(of: extra.namespace) + ":" + extra.name, extra.value)
        }
        isOpen = true
        depth += 1
        content(&self)
        for extra in extensions.elements { element(extra) }
        depth -= 1
        end(name)
    }

    /// Writes an element with a text, followed by the output of `content`.
    mutating func element(_ name: String, text: String, content: (inout XMLOutput) -> Void = { _ in }) {
        begin(name)
        body += ">"
        inline(text, content)
        end(name, isIndented: false)
    }

    /// Writes an element of unknown meaning.
    mutating func element(_ extra: ServiceModel.Extensions.Element) {
        var name = extra.name
        var attributes: [(String, String?)] = []
        if extra.namespace.isEmpty {
            attributes.append(("xmlns", ""))
        } else if extra.namespace != XMLNamespace.edm {
            name = prefix(of: extra.namespace) + ":" + name
        }
        let extensions = ServiceModel.Extensions(attributes: extra.attributes, elements: extra.children)
        if extra.text.isEmpty {
            element(name, attributes, extensions: extensions)
            return
        }
        begin(name)
        for case (let name, let value?) in attributes { attribute(name, value) }
        for extra in extra.attributes {
            attribute(extra.namespace.isEmpty ? extra.name : prefix(of: extra.namespace) + ":" + extra.name, extra.value)
        }
        body += ">"
        inline(extra.text) { output in
            for child in extra.children { output.element(child) }
        }
        end(name, isIndented: false)
    }

    /// Writes a text, and the output of `content` after it in the same line.
    private mutating func inline(_ text: String, _ content: (inout XMLOutput) -> Void) {
        let wasInline = isInline
        isInline = true
        Self.escape(text, to: &body, isAttribute: false)
        content(&self)
        isInline = wasInline
    }

    private mutating func attribute(_ name: String, _ value: String) {
        body += " " + name + "=\""
        Self.escape(value, to: &body, isAttribute: true)
        body += "\""
    }

    /// Writes the beginning of a start tag, in a new line.
    private mutating func begin(_ name: String) {
        if isOpen { body += isInline ? ">" : ">\n" }
        isOpen = false
        indent()
        body += "<" + name
    }

    private mutating func indent() {
        if !isInline { body += String(repeating: "  ", count: depth) }
    }

    private mutating func end(_ name: String, isIndented: Bool = true) {
        if isOpen {
            body += " />"
            isOpen = false
        } else {
            if isIndented { indent() }
            body += "</" + name + ">"
        }
        if !isInline { body += "\n" }
    }

    static func escape(_ text: String, to output: inout String, isAttribute: Bool) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": output += "&amp;"
            case "<": output += "&lt;"
            case ">": output += "&gt;"
            case "\"": output += isAttribute ? "&quot;" : "\""
            case "\n": output += isAttribute ? "&#10;" : "\n"
            case "\t": output += isAttribute ? "&#9;" : "\t"
            case "\r": output += "&#13;"
            default:
                // XML 1.0 doesn't allow other control characters, not even as references.
                let isAllowed = scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
                output.unicodeScalars.append(isAllowed ? scalar : "\u{FFFD}")
            }
        }
    }
}
