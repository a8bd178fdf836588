/// A parameter of an operation (OpenAPI 3.1.1 §4.8.12).
struct OpenAPIExportParameter {
    enum Place: String {
        case path, query, header, cookie
    }

    var name: String
    let place: Place
    var schema: JSONValue
    /// Whether each request has the parameter; always true in paths.
    var isRequired: Bool
    /// The serialization; `nil` for the place's default.
    var style: String?
    var explode: Bool?
    var allowsReserved = false
    var allowsEmptyValue = false
    /// Whether the value is a JSON text, which has a media type in place of a schema.
    var isJSON = false
    /// The argument that the value comes from.
    var argument: JSONValue?
    /// Extensions in their order.
    var extensions: [OpenAPIExport.Member] = []
    /// Whether the name isn't sent, such as the name of an object whose fields are query items.
    var hasFreeName = false
    /// Whether the value is masked and doesn't come from an argument.
    var isSecret = false
    /// Whether OpenAPI has no parameters of this kind.
    var isInexpressible = false

    init(_ name: String, _ place: Place, schema: JSONValue) {
        self.name = name
        self.place = place
        self.schema = schema
        isRequired = place == .path
    }

    /// The place and the name, which are unique in an operation. The names of header fields are case-insensitive.
    var identity: String { place.rawValue + " " + (place == .header ? name.lowercased() : name) }

    /// The Parameter Object.
    var json: JSONValue {
        var members: [OpenAPIExport.Member] = [("name", .string(name)), ("in", .string(place.rawValue))]
        if isRequired { members.append(("required", true)) }
        if allowsEmptyValue { members.append(("allowEmptyValue", true)) }
        if isJSON {
            members.append(("content", ["application/json": [:]]))
        } else {
            if let style { members.append(("style", .string(style))) }
            if let explode { members.append(("explode", .boolean(explode))) }
            if allowsReserved { members.append(("allowReserved", true)) }
            members.append(("schema", schema))
        }
        if let argument { members.append(("x-argument", argument)) }
        return .members(members + extensions)
    }
}

/// The arguments of an endpoint's method, by the references of its templates.
struct OpenAPIExportNames {
    private let names: ArgumentNames?
    private let arguments: [ClientDescription.Argument]

    init(_ endpoint: ClientDescription.Endpoint) {
        arguments = endpoint.arguments ?? []
        let ignored = Set(arguments.filter { $0.position == nil }.map(\.label))
        names = (try? MethodName(endpoint.key)).map { ArgumentNames($0, ignoring: ignored) }
    }

    private func position(of reference: String) -> Int? {
        guard case .success(let position)? = names?.resolve(reference) else { return nil }
        return position
    }

    /// The label of an argument, or a name with its position. The name of a reference to no argument is the reference.
    func name(of reference: String) -> String {
        guard let names, let position = position(of: reference) else { return Self.name(ofUnknown: reference) }
        return names.labels[position] == "_" ? "argument\(position)" : names.labels[position]
    }

    /// A name for a reference whose argument isn't known. It has no characters that delimit paths or templates.
    static func name(ofUnknown reference: String) -> String {
        guard Int(reference) == nil, !reference.isEmpty else { return "argument\(reference)" }
        return String(reference.map { "{}/?#".contains($0) ? "_" : $0 })
    }

    /// The position of an argument; the reference if there is no such argument.
    func argument(_ reference: String) -> JSONValue { position(of: reference).map { .number($0) } ?? .string(reference) }

    /// Whether an argument is part of a header field or a query item, even if its template is masked.
    func fill(_ place: OpenAPIExportParameter.Place, named name: String) -> Bool {
        arguments.contains { argument in
            argument.places.contains { $0.lowercased() == "\(place.rawValue) \(name.lowercased())" }
        }
    }

    /// A parameter whose value is a template.
    func parameter(
        _ name: String, _ place: OpenAPIExportParameter.Place, _ value: [OpenAPIExportRoute.Piece], isURITemplate: Bool = false
    ) -> OpenAPIExportParameter {
        var parameter = OpenAPIExportParameter(name, place, schema: ["type": "string"])
        let text = OpenAPIExportRoute.text(of: value, isURITemplate)
        let hasArgument = value.contains { if case .argument = $0 { true } else { false } }
        parameter.isRequired = !hasArgument
        if text.contains(SecretMask.mask) {
            let isFilled = fill(place, named: name)
            parameter.isSecret = !isFilled && text == SecretMask.mask
            parameter.isRequired = !isFilled
            parameter.extensions.append(("x-value", .string(text)))
        } else if !hasArgument {
            parameter.schema = .members([("const", .string(text))])
        } else if value.count == 1, case .argument(let reference)? = value.first {
            parameter.argument = argument(reference)
        } else {
            parameter.schema = .members([("type", "string"), ("pattern", .string(Self.pattern(of: value)))])
            parameter.extensions.append(("x-template", .string(text)))
        }
        return parameter
    }

    /// The regular expression that values of a template match (ECMA-262).
    private static func pattern(of pieces: [OpenAPIExportRoute.Piece]) -> String {
        var pattern = "^"
        for piece in pieces {
            switch piece {
            case .argument: pattern += "[\\s\\S]*"
            case .literal(let text):
                for scalar in text.unicodeScalars {
                    if "\\^$.|?*+()[]{}".unicodeScalars.contains(scalar) { pattern += "\\" }
                    pattern.unicodeScalars.append(scalar)
                }
            }
        }
        return pattern + "$"
    }
}
