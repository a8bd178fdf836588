/// A parameter of an operation (OpenAPI 3.1.1, "Parameter Object").
struct OpenAPIParameter {
    /// The places of parameters.
    enum Place: String, CaseIterable {
        case path, query, header, cookie
    }

    /// The styles of parameters (OpenAPI 3.2.0, "Style Values").
    enum Style: String, CaseIterable {
        case matrix, label, simple, form, spaceDelimited, pipeDelimited, deepObject, cookie

        /// The style of parameters that state none.
        static func standard(for place: Place) -> Style {
            switch place {
            case .path, .header: .simple
            case .query, .cookie: .form
            }
        }

        /// The ways in which the style writes lists and structures in a query or a form.
        func strategies(exploding: Bool) -> (FieldReflection.ArrayStrategy, FieldReflection.ObjectStrategy) {
            switch self {
            case .spaceDelimited: (.space, .joined)
            case .pipeDelimited: (.pipe, .joined)
            case .deepObject: (.brackets, .nested)
            default: exploding ? (.repeatedKey, .spread) : (.comma, .joined)
            }
        }

        func fits(_ place: Place) -> Bool {
            switch self {
            case .matrix, .label: place == .path
            case .simple: place == .path || place == .header
            case .form: place == .query || place == .cookie
            case .spaceDelimited, .pipeDelimited, .deepObject: place == .query
            case .cookie: place == .cookie
            }
        }
    }

    let name: String
    let place: Place
    let isRequired: Bool
    let style: Style
    let explodes: Bool
    let allowsReserved: Bool
    /// Whether the value is a JSON text.
    let isJSON: Bool
    let pointer: String
    /// The argument label, once it is known.
    var label = ""

    /// The header parameters that other parts of the document describe (OpenAPI 3.1.1, "Fixed Fields").
    private static let ignoredHeaders: Set<String> = ["accept", "content-type", "authorization"]

    /// Why a parameter can't be used.
    struct Problem: Error {
        let text: String
        /// Whether operations can be called without the parameter.
        let canBeLeftOut: Bool
    }

    /// Reads a parameter; `nil` if the specification ignores it.
    init?(_ node: OpenAPINode, of document: OpenAPIDocument) throws(Problem) {
        let isRequired = node["required"]?.flag ?? false
        func problem(_ text: String) -> Problem { Problem(text: text, canBeLeftOut: !isRequired) }
        guard let name = node["name"]?.scalarText, !name.isEmpty else { throw problem("the parameter has no name: add \"name\"") }
        let shown = SerializationError.excerpt(name)
        // `querystring` with a form is read as a query parameter whose value is a structure (OpenAPI 3.2.0, "Parameter Object").
        let isForm = node["in"]?.text == "querystring" && node["content"]?.json.names == ["application/x-www-form-urlencoded"]
        guard let text = node["in"]?.text, let place = isForm ? .query : Place(rawValue: text) else {
            let text = node["in"]?.text.map { "is in \"\(SerializationError.excerpt($0))\"" } ?? "has no place"
            throw problem(
                "the parameter \"\(shown)\" \(text), and known places are path, query, header, cookie, and querystring with "
                    + "application/x-www-form-urlencoded")
        }
        if place == .header, Self.ignoredHeaders.contains(name.lowercased()) {
            document.note(node, "the header \"\(shown)\" is ignored by the specification: media types and security schemes set it")
            return nil
        }
        if place == .header || place == .cookie, !HTTPFields.Name.isToken(name) {
            throw problem("\"\(shown)\" can't be a \(place.rawValue)'s name: use letters, digits, - and _")
        }
        var style = Style.standard(for: place)
        if let stated = node["style"] {
            guard let known = stated.text.flatMap({ Style(rawValue: $0) }), known.fits(place) else {
                let fitting = Style.allCases.filter { $0.fits(place) }.map(\.rawValue).joined(separator: " or ")
                throw problem(
                    "the style \"\(SerializationError.excerpt(stated.text ?? ""))\" of the \(place.rawValue) parameter \"\(shown)\" isn't "
                        + "one for its place: use \(fitting)")
            }
            style = known
        }
        if style == .cookie { document.note(node, "the style cookie asks for no encoding, but \"\(shown)\" is percent-encoded") }
        var isJSON = false
        if let content = node["content"], !isForm {
            guard let type = content.json.names.first, content.json.count == 1 else {
                throw problem("the content of the parameter \"\(shown)\" hasn't exactly one media type: state one")
            }
            let media = MediaType(type)
            isJSON = media?.subtype == "json" || media?.suffix == "json"
            if !isJSON || place == .path {
                document.note(content, "the parameter \"\(shown)\" is \(SerializationError.excerpt(type)): pass its text")
                isJSON = false
            }
            style = Style.standard(for: place)
        }
        var explodes = node["explode"]?.flag ?? (style == .form || style == .cookie)
        if style == .spaceDelimited || style == .pipeDelimited, explodes {
            document.note(
                node, "the style \(style.rawValue) of \"\(shown)\" isn't defined with explode, so it is written like form with explode")
            style = .form
            explodes = true
        }
        if style == .deepObject, let schema = node["schema"], Self.type(of: schema, document) == "array" {
            document.note(node, "deepObject isn't defined for arrays, so \"\(shown)\" is written as \(shown)[]=…")
        }
        self.name = name
        self.place = place
        // A path parameter is always required.
        self.isRequired = isRequired || place == .path
        self.style = style
        self.explodes = explodes
        allowsReserved = node["allowReserved"]?.flag ?? false
        self.isJSON = isJSON
        pointer = node.pointer
    }

    /// A path parameter that the path names and the document doesn't describe.
    init(undescribed name: String, pointer: String) {
        self.name = name
        place = .path
        (isRequired, style, explodes, allowsReserved, isJSON) = (true, .simple, false, false, false)
        self.pointer = pointer
    }

    private static func type(of schema: OpenAPINode, _ document: OpenAPIDocument) -> String? {
        // Only the type is read, so what else the schema has needs no note.
        schema["type"]?.text ?? (schema["$ref"] == nil ? nil : document.object(schema)?["type"]?.text)
    }

    /// The parameter's expression in a URI template (RFC 6570).
    var expression: String {
        let operation =
            switch style {
            case .matrix: ";"
            case .label: "."
            default: allowsReserved ? "+" : ""
            }
        return "{\(operation)\(variable)\(explodes ? "*" : "")}"
    }

    /// The parameter's name as a template's variable.
    private var variable: String {
        URLEncoding.encode(name, allowing: Self.variableAlphabet)
    }

    private static let variableAlphabet = URLEncoding.Alphabet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")

    /// Returns the descriptor with the parameter; for a path parameter, with an alias if its name isn't the label.
    func added(to descriptor: EndpointDescriptor) -> EndpointDescriptor {
        let argument = EndpointArgument.argument(label)
        let format: ArgumentFormat = isJSON ? .json : .fields
        switch place {
        case .path:
            // Templates read digits as positions, and only matrix writes the variable's name; so a differing name becomes an alias.
            return name == label ? descriptor : descriptor.alias(name, of: label)
        case .header: return descriptor.header(HTTPFields.Name(name), argument, exploding: explodes, as: format)
        case .cookie: return descriptor.cookie(name, argument, exploding: explodes, as: format)
        case .query:
            let (arrays, objects) = style.strategies(exploding: explodes)
            return descriptor.query(name, argument, arrays: arrays, objects: objects, as: format, keepingReserved: allowsReserved)
        }
    }
}

/// The path of an operation, split at the names of its parameters.
struct OpenAPIPath {
    /// The texts around the names, one more than these.
    private let literals: [String]
    /// The names between the braces.
    let names: [String]

    /// Splits a path; `nil` if its braces aren't balanced, or a name is empty.
    init?(_ text: String) {
        var literals: [String] = []
        var names: [String] = []
        var rest = text.unicodeScalars[...]
        while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            guard rest[open] == "{", let close = rest[rest.index(after: open)...].firstIndex(where: { $0 == "{" || $0 == "}" }),
                rest[close] == "}", close > rest.index(after: open)
            else { return nil }
            literals.append(String(rest[..<open]))
            names.append(String(rest[rest.index(after: open)..<close]))
            rest = rest[rest.index(after: close)...]
        }
        literals.append(String(rest))
        self.literals = literals
        self.names = names
    }

    /// The URI template with the expressions of the parameters.
    func template(_ expression: (_ name: String) -> String) -> String {
        zip(literals, names).map { $0 + expression($1) }.joined() + (literals.last ?? "")
    }
}
