/// An endpoint in OpenAPI's terms (OpenAPI 3.1.1 §4.8.10).
struct OpenAPIExportOperation {
    /// A security scheme (§4.8.27) with a name for the document's components.
    struct Scheme {
        let name: String
        let json: JSONValue

        /// A scheme of the `Authorization` field.
        static func http(_ scheme: String) -> Scheme {
            Scheme(name: scheme, json: .members([("type", "http"), ("scheme", .string(scheme))]))
        }

        /// A secret in a field or query item.
        static func apiKey(_ place: OpenAPIExportParameter.Place, _ name: String) -> Scheme {
            Scheme(name: name, json: .members([("type", "apiKey"), ("in", .string(place.rawValue)), ("name", .string(name))]))
        }
    }

    let endpoint: ClientDescription.Endpoint
    var route: OpenAPIExportRoute
    var notes: [String] = []
    /// The schemes. The operation needs all of them.
    private(set) var security: [Scheme] = []
    private let names: OpenAPIExportNames
    private let media: OpenAPIExportMedia
    /// The parameters outside the path.
    private var parameters: [OpenAPIExportParameter] = []
    /// The parameters that OpenAPI can't express.
    private var others: [OpenAPIExportParameter] = []

    /// Creates the operation of an endpoint.
    ///
    /// - Parameter rootQuery: The query of the service root, which precedes the endpoint's.
    init(_ endpoint: ClientDescription.Endpoint, of description: ClientDescription, rootQuery: String) {
        self.endpoint = endpoint
        names = OpenAPIExportNames(endpoint)
        media = OpenAPIExportMedia(endpoint, of: description)
        route = OpenAPIExportRoute(endpoint, names)
        // An absolute root of the endpoint replaces the common one with its query.
        let ownRoot = endpoint.serviceRoot.flatMap { $0.hasPrefix("/") ? nil : OpenAPIExportServer($0) }
        let rootQuery = ownRoot?.query ?? rootQuery
        if !rootQuery.isEmpty {
            var root = OpenAPIExportRoute(names)
            root.addQuery(rootQuery[...])
            for parameter in root.query { add(parameter) }
            notes += root.notes
        }
        for parameter in route.query { add(parameter) }
        for part in endpoint.query { addQuery(part) }
        for part in media.fields { addHeader(part) }
        notes = route.notes + notes + media.notes
        if let builder = media.setting(\.urlBuilder) { notes.append("\(builder) builds the URL, which may differ.") }
    }

    private mutating func add(_ parameter: OpenAPIExportParameter) {
        var parameter = parameter
        let isTaken = { [parameters] (name: String) in
            var other = parameter
            other.name = name
            return parameters.contains { $0.identity == other.identity }
        }
        if parameter.hasFreeName { parameter.name = OpenAPIExport.unique(parameter.name, isTaken: isTaken) }
        if parameter.isSecret {
            security.append(.apiKey(parameter.place, parameter.name))
        } else if parameter.isInexpressible {
            others.append(parameter)
        } else if isTaken(parameter.name) {
            others.append(parameter)
            notes.append("The \(parameter.place.rawValue) parameter \(parameter.name) occurs again, with another value.")
        } else {
            parameters.append(parameter)
        }
    }

    // MARK: Query and headers

    private mutating func addQuery(_ part: ClientDescription.Part) {
        guard let argument = part.argument else {
            return add(names.parameter(part.name, .query, OpenAPIExportRoute.pieces(of: part.value ?? "")))
        }
        if part.name == "…" {
            var parameter = OpenAPIExportParameter(names.name(of: argument), .query, schema: ["type": "object"])
            parameter.hasFreeName = true
            parameter.style = "form"
            parameter.explode = true
            parameter.argument = names.argument(argument)
            return add(parameter)
        }
        let style = part.style.flatMap { ArgumentStyle(text: $0) } ?? ArgumentStyle()
        let schema = JSONValue.members([("type", ["string", "array"]), ("items", ["type": "string"])])
        var parameter = OpenAPIExportParameter(part.name, .query, schema: style.objects == nil ? schema : OpenAPIExportRoute.anyValue)
        parameter.argument = names.argument(argument)
        parameter.isRequired = isRequired(argument)
        parameter.isJSON = style.format == .json
        parameter.allowsReserved = style.keepsReserved
        parameter.style = "form"
        let arrays = style.arrays ?? media.setting(\.arrays).flatMap { FieldReflection.ArrayStrategy(rawValue: $0) } ?? .repeatedKey
        parameter.explode = arrays == .repeatedKey || arrays == .brackets
        switch arrays {
        case .space: parameter.style = "spaceDelimited"
        case .pipe: parameter.style = "pipeDelimited"
        case .brackets where style.objects == .nested: parameter.style = "deepObject"
        case .brackets:
            parameter.extensions.append(("x-arrays", .string(arrays.rawValue)))
            notes.append("The elements of an array in \(part.name) are query items with the name \(part.name)[].")
        case .comma, .repeatedKey: break
        }
        add(parameter)
    }

    /// Whether calls always send an argument: those of other endpoints may be `nil`.
    private func isRequired(_ reference: String) -> Bool {
        guard endpoint.takesPartOfLabels == true, let position = names.argument(reference).int else { return false }
        return endpoint.arguments?.first { $0.position == position }?.isOptional != true
    }

    /// Adds a header field or a cookie from an argument.
    private mutating func addArgument(_ argument: String, _ part: ClientDescription.Part) {
        var text = part.style ?? ""
        var parameter = OpenAPIExportParameter(part.name, .header, schema: OpenAPIExportRoute.anyValue)
        parameter.style = "simple"
        if let cookie = part.cookieName {
            parameter = OpenAPIExportParameter(cookie, .cookie, schema: OpenAPIExportRoute.anyValue)
            parameter.style = "form"
            text = part.styleOfCookie ?? ""
        }
        let style = ArgumentStyle(text: text) ?? ArgumentStyle()
        parameter.argument = names.argument(argument)
        parameter.isRequired = isRequired(argument)
        parameter.isJSON = style.format == .json
        parameter.explode = style.objects == .spread
        switch part.cookieName == nil ? part.name.lowercased() : "" {
        // OpenAPI ignores parameters with these names (§4.8.12.2).
        case "accept", "content-type":
            parameter.isInexpressible = true
            notes.append("The field \(part.name) comes from an argument.")
            add(parameter)
        case "authorization": security.append(.apiKey(.header, part.name))
        default: add(parameter)
        }
    }

    private mutating func addHeader(_ part: ClientDescription.Part) {
        if part.name == "…" {
            var parameter = OpenAPIExportParameter("…", .header, schema: ["type": "object"])
            parameter.argument = part.argument.map(names.argument)
            parameter.isInexpressible = true
            notes.append("The fields of \(part.argument.map(names.name(of:)) ?? "an argument") are header fields.")
            return add(parameter)
        }
        if let argument = part.argument { return addArgument(argument, part) }
        // A field without a value isn't sent.
        guard let value = part.value else { return }
        let parameter = names.parameter(part.name, .header, OpenAPIExportRoute.pieces(of: value))
        switch part.name.lowercased() {
        // OpenAPI ignores parameters with these names (§4.8.12.2).
        case "accept", "content-type": return
        case "authorization":
            let words = value.split(separator: " ")
            let isHTTP = words.count > 1 && words[0] != SecretMask.mask && words[0].utf8.allSatisfy { $0 < 128 }
            security.append(isHTTP ? .http(words[0].lowercased()) : .apiKey(.header, part.name))
        default: add(parameter)
        }
    }

    // MARK: Result

    /// The Operation Object.
    ///
    /// - Parameters:
    ///   - method: The method if the operation's place doesn't imply it.
    ///   - security: The names of the security schemes in the document's components.
    func json(identifier: String, method: [OpenAPIExport.Member], security: [OpenAPIExport.Member]) -> JSONValue {
        var members: [OpenAPIExport.Member] = [("operationId", .string(identifier)), ("x-key", .string(endpoint.key))] + method
        if let server = route.server ?? endpoint.serviceRoot {
            members.append(("servers", .array([OpenAPIExportServer(server).json ?? ["url": "/"]])))
        }
        let all = route.parameters + parameters
        if !all.isEmpty { members.append(("parameters", .array(all.map(\.json)))) }
        if let body { members.append(("requestBody", body)) }
        members.append(("responses", media.responses))
        if !security.isEmpty { members.append(("security", .array([.members(security)]))) }
        if !others.isEmpty { members.append(("x-parameters", .array(others.map(\.json)))) }
        if !notes.isEmpty { members.append(("x-notes", .array(notes.map { .string($0) }))) }
        members.append(("x-endpoint", OpenAPIExport.json(of: endpoint)))
        return .members(members)
    }

    /// The Request Body Object; `nil` if no argument is the body.
    private var body: JSONValue? {
        guard let argument = endpoint.arguments?.first(where: { $0.places.contains("body") }) else { return nil }
        let content = JSONValue.members(media.sent.map { ($0, JSONValue.members([("schema", [:])] + media.encoding(of: $0))) })
        let isRequired = endpoint.takesPartOfLabels == true && argument.isOptional != true
        return .members(
            (isRequired ? [("required", true)] : [])
                + [("content", content), ("x-argument", argument.position.map { .number($0) } ?? .null)])
    }
}
