/// The documentation of an endpoint that an OpenAPI document describes: an attribute, for diagnostics and help.
public struct OperationInfo: EndpointAttribute, Hashable, CustomStringConvertible {
    /// The `operationId`; `nil` if the operation has none.
    public let operationID: String?
    /// A short summary; `nil` if there is none.
    public let summary: String?
    /// The tags.
    public let tags: [String]
    /// Whether the operation shouldn't be used any more.
    public let isDeprecated: Bool
    /// The operation's JSON pointer in the document.
    public let pointer: String

    /// The operation's name, and whether it is deprecated.
    public var description: String { "operation(\(operationID ?? pointer)\(isDeprecated ? ", deprecated" : ""))" }
}

/// Reads an operation of an OpenAPI document as a descriptor (OpenAPI 3.1.1, "Operation Object").
struct OpenAPIOperation {
    /// Why an operation can't be called.
    struct Problem: Error {
        let pointer: String
        let text: String
    }

    /// The maximum number of parameters of an operation.
    private static let parameterLimit = 1_000
    /// The labels of the arguments that aren't parameters.
    private static let (bodyLabel, typeLabel) = ("body", "as")

    private let document: OpenAPIDocument
    private let node: OpenAPINode
    private let method: ServiceRequest.Method
    private let path: OpenAPIPath
    private var parameters: [OpenAPIParameter] = []
    private var bodyTypes: [String] = []
    private var encodings: [String: [String: PropertyEncoding]] = [:]
    private var hasBody = false
    private var requiresBody = false

    /// Reads an operation.
    ///
    /// - Parameter common: The parameters of the operation's path.
    init(
        _ node: OpenAPINode, method: ServiceRequest.Method, path: OpenAPIPath, common: [OpenAPINode], of document: OpenAPIDocument
    ) throws(Problem) {
        (self.document, self.node, self.method, self.path) = (document, node, method, path)
        try readParameters(common)
        try readBody()
        try addLabels()
    }

    // MARK: Parameters

    private mutating func readParameters(_ common: [OpenAPINode]) throws(Problem) {
        var nodes = common
        node["parameters"]?.forEachElement { nodes.append($0) }
        guard nodes.count <= Self.parameterLimit else {
            throw Problem(pointer: node.pointer, text: "it has more than \(Self.parameterLimit) parameters")
        }
        // The operation's parameters replace its path's parameters of the same place and name.
        var places: [String: Int] = [:]
        for reference in nodes {
            guard let object = document.object(reference) else { continue }
            do {
                guard let parameter = try OpenAPIParameter(object, of: document) else { continue }
                let key = parameter.place.rawValue + "/" + parameter.name
                if let index = places[key] {
                    parameters[index] = parameter
                } else {
                    places[key] = parameters.count
                    parameters.append(parameter)
                }
            } catch {
                guard error.canBeLeftOut else { throw Problem(pointer: object.pointer, text: error.text) }
                document.note(object, error.text + "; the parameter is left out")
            }
        }
        for name in path.names where places["path/" + name] == nil {
            document.note(node, "the path has {\(SerializationError.excerpt(name))}, which no parameter describes; it is a text")
            places["path/" + name] = parameters.count
            parameters.append(OpenAPIParameter(undescribed: name, pointer: node.pointer))
        }
        let names = Set(path.names)
        for parameter in parameters where parameter.place == .path && !names.contains(parameter.name) {
            document.note(
                at: parameter.pointer,
                "the path has no {\(SerializationError.excerpt(parameter.name))}, so the parameter is left out of \(node.pointer)")
        }
        parameters.removeAll { $0.place == .path && !names.contains($0.name) }
    }

    /// Gives each parameter an argument label: its name as a Swift name, with its place in front if several have the same.
    private mutating func addLabels() throws(Problem) {
        let names = parameters.map { MethodName.identifier(of: $0.name) }
        var counts: [String: Int] = [:]
        if hasBody { counts[Self.bodyLabel] = 1 }
        if hasTypeChoice { counts[Self.typeLabel] = 1 }
        for name in names { counts[name, default: 0] += 1 }
        var taken: Set<String> = []
        if hasBody { taken.insert(Self.bodyLabel) }
        if hasTypeChoice { taken.insert(Self.typeLabel) }
        for index in parameters.indices {
            var label = names[index]
            if counts[label, default: 0] > 1 { label = MethodName.identifier(parameters[index].place.rawValue, before: label) }
            guard !names[index].isEmpty, taken.insert(label).inserted else {
                let parameter = parameters[index]
                let shown = SerializationError.excerpt(parameter.name)
                let text =
                    names[index].isEmpty ? "\"\(shown)\" has no letters for a label" : "another parameter has the label of \"\(shown)\""
                guard !parameter.isRequired else { throw Problem(pointer: node.pointer, text: text) }
                document.note(at: parameter.pointer, text + "; the parameter is left out")
                continue
            }
            parameters[index].label = label
        }
        parameters.removeAll { $0.label.isEmpty }
    }

    /// The argument labels: what is required first, with the path's parameters in its order.
    private var labels: [String] {
        let byName = Dictionary(
            parameters.filter { $0.place == .path }.map { ($0.name, $0.label) }, uniquingKeysWith: { first, _ in first })
        var labels: [String] = []
        for name in path.names { if let label = byName[name], !labels.contains(label) { labels.append(label) } }
        labels += parameters.filter { $0.place != .path && $0.isRequired }.map(\.label)
        if hasBody, requiresBody { labels.append(Self.bodyLabel) }
        labels += parameters.filter { !$0.isRequired }.map(\.label)
        if hasBody, !requiresBody { labels.append(Self.bodyLabel) }
        if hasTypeChoice { labels.append(Self.typeLabel) }
        return labels
    }

    // MARK: Body

    private mutating func readBody() throws(Problem) {
        guard let reference = node["requestBody"], let body = document.object(reference) else { return }
        let isRequired = body["required"]?.flag ?? false
        let hasNone = method == .head || method == "TRACE"
        if method == .get || hasNone {
            guard !isRequired || hasNone else {
                throw Problem(
                    pointer: reference.pointer,
                    text: "a GET requires a body: declare it in the client's table with .allowingBody(), if the transport sends it")
            }
            document.note(reference, "the body of a \(method) is left out")
            return
        }
        hasBody = true
        requiresBody = isRequired
        body["content"]?.forEachMember { type, media in
            guard BodyTypes.problem(in: type) == nil else {
                document.note(media, "it isn't a media type, and is left out")
                return
            }
            bodyTypes.append(type)
            guard let type = MediaType(type), media["encoding"] != nil || media["$ref"] != nil else { return }
            if let encoding = document.object(media)?["encoding"] { readEncoding(encoding, of: type) }
        }
        // Media types that the library writes come before those that the program must write.
        let ranks = bodyTypes.map(Self.rank)
        bodyTypes = bodyTypes.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }.map { bodyTypes[$0] }
    }

    /// Reads how single properties are written (OpenAPI 3.1.1, "Encoding Object").
    private mutating func readEncoding(_ node: OpenAPINode, of type: MediaType) {
        let isForm = type.essence == "application/x-www-form-urlencoded"
        guard isForm || type.essence == "multipart/form-data" else {
            return document.note(node, "the encoding is left out, since \(type.essence) has no properties")
        }
        var found: [String: PropertyEncoding] = [:]
        node.forEachMember { name, property in
            guard let property = document.object(property) else { return }
            if property["headers"] != nil { document.note(property, "the fields of the part are left out: pass a MultipartForm") }
            var encoding = PropertyEncoding()
            if let text = property["contentType"]?.text {
                // Several types are a choice of the program.
                if MediaType(text).map({ !$0.isRange }) == true { encoding.contentType = text }
            }
            let stated = ["style", "explode", "allowReserved"].filter { property[$0] != nil }
            if isForm, !stated.isEmpty {
                let style = property["style"].map { $0.text.flatMap { OpenAPIParameter.Style(rawValue: $0) } } ?? .form
                if let style, style.fits(.query) {
                    let (arrays, objects) = style.strategies(exploding: property["explode"]?.flag ?? (style == .form))
                    encoding.style = ArgumentStyle(arrays: arrays, objects: objects)
                } else {
                    document.note(property, "the style isn't one of forms, and is left out")
                }
                if property["allowReserved"]?.flag == true { document.note(property, "reserved characters are encoded all the same") }
            } else if !stated.isEmpty {
                document.note(property, "the style of a part is left out: pass a MultipartForm")
            }
            if encoding != PropertyEncoding() { found[name] = encoding }
        }
        if !found.isEmpty { encodings[type.essence] = found }
    }

    private static func rank(_ text: String) -> Int {
        guard let type = MediaType(text) else { return 4 }
        if type.essence == "application/json" { return 0 }
        if type.subtype == "json" || type.suffix == "json" { return 1 }
        return type.isRange ? 3 : 2
    }

    /// Whether calls choose the media type.
    private var hasTypeChoice: Bool {
        hasBody && (bodyTypes.count > 1 || bodyTypes.contains { MediaType($0)?.isRange ?? false })
    }

    // MARK: Responses

    /// The documented statuses of success; `nil` if these are all. And the `Accept` field; `nil` for the client's.
    private func readResponses() -> (StatusSet?, String?) {
        var codes: [Int] = []
        var hasAll = false
        var types: [String] = []
        node["responses"]?.forEachMember { status, reference in
            if status == "2XX" { hasAll = true }
            let code = Int(status).flatMap { (200...299).contains($0) ? $0 : nil }
            guard code != nil || status == "2XX", let response = document.object(reference) else { return }
            if let code { codes.append(code) }
            response["content"]?.forEachMember { type, _ in if !types.contains(type) { types.append(type) } }
            if let links = response["links"], links.json.count > 0 { document.note(links, "links are left out") }
        }
        let statuses = codes.reduce(into: StatusSet()) { $0 = $0.union(.codes($1)) }
        return (hasAll || codes.isEmpty ? nil : statuses, accepted(types))
    }

    /// The types that can be decoded, if there are some; otherwise all.
    private func accepted(_ types: [String]) -> String? {
        let valid = types.filter { BodyTypes.problem(in: $0) == nil && HTTPFields.Field(name: .accept, value: $0).isValid }
        let json = valid.filter { type in
            guard let media = MediaType(type), media.parameters.isEmpty else { return false }
            return media.subtype == "json" || media.suffix == "json"
        }
        let accepted = json.isEmpty ? valid : json
        if accepted.isEmpty || accepted == ["application/json"] || accepted == ["*/*"] { return nil }
        return accepted.prefix(20).joined(separator: ", ")
    }

    // MARK: Result

    /// The endpoint, without its key and root.
    func entry(baseName: String, security: SecurityRequirements?, serviceRoot: String?) -> EndpointTable.Entry {
        let byName = Dictionary(parameters.filter { $0.place == .path }.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let template = path.template { byName[$0]?.expression ?? "" }
        var descriptor = EndpointDescriptor.endpoint(method, uriTemplate: template)
        for parameter in parameters { descriptor = parameter.added(to: descriptor) }
        if hasBody {
            descriptor = descriptor.body(.argument(Self.bodyLabel))
            if !bodyTypes.isEmpty {
                descriptor = descriptor.bodyTypes(bodyTypes, chosenBy: hasTypeChoice ? .argument(Self.typeLabel) : nil)
                    .with { $0.bodyTypes?.encodings = encodings }
            }
        } else {
            descriptor = descriptor.withoutBody()
        }
        var optional = parameters.filter { !$0.isRequired }.map(\.label)
        if hasBody, !requiresBody { optional.append(Self.bodyLabel) }
        if hasTypeChoice { optional.append(Self.typeLabel) }
        descriptor = descriptor.optional(optional)
        let (statuses, accept) = readResponses()
        if let statuses { descriptor = descriptor.accepting(statuses) }
        if let accept { descriptor = descriptor.header(.accept, accept) }
        if let security { descriptor = descriptor.attribute(security) }
        if let serviceRoot { descriptor = descriptor.serviceRoot(serviceRoot) }
        if let callbacks = node["callbacks"], callbacks.json.count > 0 { document.note(callbacks, "callbacks are left out") }
        descriptor = descriptor.attribute(
            OperationInfo(
                operationID: node["operationId"]?.scalarText, summary: node["summary"]?.text, tags: node["tags"]?.texts ?? [],
                isDeprecated: node["deprecated"]?.flag ?? false, pointer: node.pointer))
        let key = MethodName(baseName: baseName, labels: labels)
        return EndpointTable.Entry(key: key.description, descriptor: descriptor, isBareName: true)
    }
}
