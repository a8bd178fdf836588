/// A route in OpenAPI's terms: a path with parameters, and query parameters.
struct OpenAPIExportRoute {
    /// A part of a template.
    enum Piece {
        case literal(String)
        /// A label, a position, or a variable of a URI template.
        case argument(String)
    }

    /// A part of a path.
    private enum Segment {
        /// A percent-encoded text.
        case literal(String)
        case parameter(OpenAPIExportParameter)
    }

    private let names: OpenAPIExportNames
    private var path: [Segment] = []
    /// The query parameters, in order.
    private(set) var query: [OpenAPIExportParameter] = []
    /// The scheme and authority of an absolute route, which the client refuses.
    private(set) var server: String?
    private(set) var notes: [String] = []

    /// Creates a route without path and query.
    init(_ names: OpenAPIExportNames) { self.names = names }

    init(_ endpoint: ClientDescription.Endpoint, _ names: OpenAPIExportNames) {
        self.names = names
        let isURITemplate = endpoint.routeKind == "uriTemplate"
        var route = endpoint.route
        if let scheme = Substring(route.unicodeScalars.prefix { $0 != "{" && $0 != "?" }).range(ofMark: "://") {
            let end = route[scheme.upperBound...].unicodeScalars.firstIndex { $0 == "/" || $0 == "?" } ?? route.endIndex
            server = String(route[..<end])
            route = String(route[end...])
            notes.append("The client refuses the route, because it is an absolute URL.")
        }
        if isURITemplate, let template = try? URITemplate(route) {
            addURITemplate(template)
        } else {
            if isURITemplate { notes.append("The route isn't a URI template.") }
            addTemplate(route)
        }
        nameParameters()
        if text == "/", endpoint.route.isEmpty || endpoint.route.hasPrefix("?") {
            notes.append("The request's path is the server's, without a slash at its end.")
        }
    }

    // MARK: Results

    /// The parameters of the path, in order.
    var parameters: [OpenAPIExportParameter] {
        path.compactMap { if case .parameter(let parameter) = $0 { parameter } else { nil } }
    }

    /// The names of the path's parameters, in order.
    var pathParameters: [String] { parameters.map(\.name) }

    /// The path with the names of its parameters.
    var text: String { text { "{\($0)}" } }

    /// The path without these names.
    var shape: String { text { _ in "{}" } }

    private func text(_ parameter: (String) -> String) -> String {
        let whole = path.map { segment in
            switch segment {
            case .literal(let text): text
            case .parameter(let value): parameter(value.name)
            }
        }
        // The client joins root and path with one slash.
        return "/" + whole.joined().drop { $0 == "/" }
    }

    /// Gives the path's parameters the names of another path with the same shape.
    mutating func renameParameters(_ names: [String]) {
        var rest = names[...]
        for (index, segment) in path.enumerated() {
            guard case .parameter(var parameter) = segment, let name = rest.popFirst() else { continue }
            if parameter.style == "matrix", parameter.name != name {
                notes.append("Requests have the name \(parameter.name) in place of \(name).")
            }
            parameter.name = name
            path[index] = .parameter(parameter)
        }
    }

    /// Makes the names of the path's parameters unique.
    private mutating func nameParameters() {
        var unique: [String] = []
        for name in pathParameters {
            unique.append(OpenAPIExport.unique(name) { unique.contains($0) })
        }
        renameParameters(unique)
    }

    // MARK: Templates

    /// Splits a text at its placeholders.
    static func pieces(of text: some StringProtocol) -> [Piece] {
        let parts = String(text).split(mark: "%%")
        return parts.enumerated().compactMap { index, part in
            // Marks without a second one are part of the text.
            if !index.isMultiple(of: 2) { return index < parts.count - 1 ? .argument(String(part)) : .literal("%%" + part) }
            return part.isEmpty ? nil : .literal(String(part))
        }
    }

    private mutating func addTemplate(_ route: String) {
        var text = Substring(route)
        if let hash = text.unicodeScalars.firstIndex(of: "#") {
            notes.append("The fragment of the route is never sent.")
            text = text[..<hash]
        }
        let question = text.unicodeScalars.firstIndex(of: "?") ?? text.endIndex
        let pieces = Self.pieces(of: text[..<question])
        for piece in pieces {
            switch piece {
            case .literal(let text):
                let segments = text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
                let encoded = segments.map { URLEncoding.repaired(String($0), allowing: .pathSegment) }
                path.append(.literal(encoded.joined(separator: "/").replacing("{", with: "%7B").replacing("}", with: "%7D")))
            case .argument(let reference):
                var parameter = OpenAPIExportParameter(names.name(of: reference), .path, schema: ["type": "string"])
                parameter.argument = names.argument(reference)
                if pieces.count == 1 {
                    parameter.extensions.append(("x-allowReserved", true))
                    notes.append("The argument \(parameter.name) is a path, whose slashes aren't encoded.")
                }
                path.append(.parameter(parameter))
            }
        }
        guard question < text.endIndex else { return }
        addQuery(text[text.unicodeScalars.index(after: question)...])
    }

    /// Adds the pairs of a plain query.
    mutating func addQuery(_ text: Substring) {
        for pair in text.unicodeScalars.split(separator: "&") { addPair(Self.pieces(of: Substring(pair)), isURITemplate: false) }
    }

    /// Adds a pair in URL text, such as `page=%%0%%`.
    private mutating func addPair(_ pieces: [Piece], isURITemplate: Bool) {
        var name: [Piece] = []
        var value: [Piece]?
        for piece in pieces {
            if value == nil, case .literal(let text) = piece, let equals = text.unicodeScalars.firstIndex(of: "=") {
                if equals > text.startIndex { name.append(.literal(String(text[..<equals]))) }
                let rest = text[text.unicodeScalars.index(after: equals)...]
                value = rest.isEmpty ? [] : [.literal(String(rest))]
            } else if value == nil {
                name.append(piece)
            } else {
                value?.append(piece)
            }
        }
        guard !name.isEmpty || value != nil else { return }
        let literals = (value ?? []).compactMap { if case .literal(let text) = $0 { text } else { nil } }
        let plain = (value ?? []).map { piece in
            if case .literal(let text) = piece { Piece.literal(URLEncoding.decode(text) ?? text) } else { piece }
        }
        let label = Self.text(of: name, isURITemplate)
        let isFixed = name.allSatisfy { if case .literal = $0 { true } else { false } }
        var parameter = names.parameter(
            isFixed ? URLEncoding.decode(label) ?? label : label, .query, plain, isURITemplate: isURITemplate)
        parameter.allowsReserved = literals.contains { $0.utf8.contains { ":/?#[]@!$'()*+,;".utf8.contains($0) } }
        if value == nil {
            parameter.allowsEmptyValue = true
            notes.append("The query item \(label) has no \"=\".")
        }
        if !isFixed {
            parameter.isInexpressible = true
            notes.append("The name of the query item \(label) comes from an argument.")
        }
        query.append(parameter)
    }

    /// Returns the text that declares the pieces.
    static func text(of pieces: [Piece], _ isURITemplate: Bool) -> String {
        pieces.map { piece in
            switch piece {
            case .literal(let text): text
            case .argument(let reference): isURITemplate ? "{\(reference)}" : "%%\(reference)%%"
            }
        }.joined()
    }
}

// URI templates (RFC 6570), whose operators are OpenAPI's styles (OpenAPI 3.1.1 appendix C).
extension OpenAPIExportRoute {
    private mutating func addURITemplate(_ template: URITemplate) {
        var isQuery = false
        // The pieces of the query's pair that isn't complete yet.
        var pair: [Piece] = []
        for part in template.parts {
            switch part {
            case .literal(let bytes):
                var text = Substring(String(decoding: bytes, as: UTF8.self))
                if let hash = text.unicodeScalars.firstIndex(of: "#") {
                    notes.append("The fragment of the route is never sent.")
                    text = text[..<hash]
                }
                if !isQuery {
                    let question = text.unicodeScalars.firstIndex(of: "?") ?? text.endIndex
                    let literal = text[..<question].replacing("[", with: "%5B").replacing("]", with: "%5D")
                    if !literal.isEmpty { path.append(.literal(String(literal))) }
                    guard question < text.endIndex else { continue }
                    isQuery = true
                    text = text[text.unicodeScalars.index(after: question)...]
                }
                for (index, item) in text.unicodeScalars.split(separator: "&", omittingEmptySubsequences: false).enumerated() {
                    if index > 0 { complete(&pair) }
                    if !item.isEmpty { pair.append(.literal(String(item))) }
                }
            case .expression(.fragment, _):
                notes.append("The fragment of the route is never sent.")
            case .expression(let kind, let variables) where kind == .query || kind == .continuation:
                isQuery = true
                complete(&pair)
                query += variables.map { parameter($0, .query, "form") }
            case .expression(let kind, let variables):
                if isQuery { addToPair(&pair, kind, variables) } else { addToPath(kind, variables) }
            }
        }
        complete(&pair)
    }

    private mutating func complete(_ pair: inout [Piece]) {
        if !pair.isEmpty { addPair(pair, isURITemplate: true) }
        pair = []
    }

    private mutating func addToPath(_ kind: URITemplate.Operator, _ variables: [URITemplate.Variable]) {
        let separator = String(decoding: [kind.separator], as: UTF8.self)
        for (index, variable) in variables.enumerated() {
            var style = "simple"
            switch kind {
            case .label: style = "label"
            case .parameter: style = "matrix"
            case .path: path.append(.literal("/"))
            default: if index > 0 { path.append(.literal(separator)) }
            }
            var parameter = parameter(variable, .path, style)
            if kind == .reserved {
                parameter.extensions.append(("x-allowReserved", true))
                notes.append("Reserved characters in the argument \(variable.name) aren't encoded.")
            }
            if kind == .path, variable.modifier == .explode {
                notes.append("Each element of the argument \(variable.name) is a segment of the path.")
            }
            path.append(.parameter(parameter))
        }
        if kind == .path { notes.append("A segment whose value is missing is omitted with its slash.") }
    }

    private mutating func addToPair(_ pair: inout [Piece], _ kind: URITemplate.Operator, _ variables: [URITemplate.Variable]) {
        for (index, variable) in variables.enumerated() {
            if let first = index == 0 ? kind.first : kind.separator {
                if kind != .reserved || index > 0 { pair.append(.literal(String(decoding: [first], as: UTF8.self))) }
            }
            if kind.isNamed { pair.append(.literal(variable.name + "=")) }
            pair.append(.argument(variable.name))
            if variable.modifier != .none { notes.append("The modifier of \(variable.name) inside a query item is in the route only.") }
        }
    }

    private mutating func parameter(
        _ variable: URITemplate.Variable, _ place: OpenAPIExportParameter.Place, _ style: String
    ) -> OpenAPIExportParameter {
        let name = place == .path ? names.name(of: variable.name) : variable.name
        var parameter = OpenAPIExportParameter(name, place, schema: Self.anyValue)
        parameter.argument = names.argument(variable.name)
        parameter.style = style
        parameter.explode = variable.modifier == .explode
        if case .prefix(let length) = variable.modifier {
            parameter.schema = .members([("type", "string"), ("maxLength", .number(length))])
            notes.append("Only the first \(length) characters of the argument \(variable.name) are sent.")
        }
        // Named expansions contain the variable's name; others don't, so that any name fits.
        if place == .path, style == "matrix" { parameter.name = variable.name }
        return parameter
    }

    /// A schema of texts, and of arrays and structures of texts.
    static let anyValue: JSONValue = .members([
        ("type", ["string", "array", "object"]), ("items", ["type": "string"]), ("additionalProperties", ["type": "string"]),
    ])
}
