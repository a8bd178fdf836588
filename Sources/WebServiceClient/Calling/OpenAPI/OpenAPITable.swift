/// A table that this library exported as an OpenAPI document (``ClientDescription/openAPI(version:)``), from the extensions of that
/// document.
///
/// An endpoint is read from its `x-endpoint` if the operation around it is the one that the export makes of it: a document that was edited
/// means what it says in OpenAPI's terms.
struct OpenAPITable {
    private let description: ClientDescription
    /// The operations that the export makes of the description, by key and place.
    private let made: [String: JSONValue]
    private let server: JSONValue?
    private let hasCommonSecurity: Bool
    /// The service root of the table; `nil` if it has none, or has a secret.
    let root: String?
    /// The positions of the keys in the table.
    private let positions: [String: Int]

    /// Finds the table of a document; `nil` if this version of the library didn't export it.
    init?(_ document: OpenAPIDocument) {
        guard let rest = document.root["x-description"], var value = try? rest.json.decode(JSONValue.self) else { return nil }
        let keys = value["keys"]?.array?.compactMap(\.string) ?? []
        value["keys"] = nil
        value["endpoints"] = []
        guard var description = try? value.decode(ClientDescription.self), description.version == ClientDescription.currentVersion else {
            document.note(rest, "it isn't a description of version \(ClientDescription.currentVersion), so that the extensions aren't read")
            return nil
        }
        let positions = Dictionary(zip(keys, keys.indices), uniquingKeysWith: { first, _ in first })
        var endpoints: [(Int, ClientDescription.Endpoint)] = []
        // A copy of an operation doesn't change the names of the others.
        var found: Set<String> = []
        Self.forEachOperation(of: document) { _, _, node in
            guard let endpoint = Self.endpoint(of: node), found.insert(endpoint.key).inserted else { return }
            endpoints.append((positions[endpoint.key] ?? .max, endpoint))
        }
        // The sort isn't stable by itself, and operations have the document's order.
        description.endpoints = endpoints.indices.sorted { (endpoints[$0].0, $0) < (endpoints[$1].0, $1) }.map { endpoints[$0].1 }
        let export = OpenAPIExport(description).document(version: "")
        var made: [String: JSONValue] = [:]
        for (path, item) in export["paths"]?.object ?? [:] {
            for (method, operation) in item.object ?? [:] {
                for operation in method == "x-endpoints" ? operation.array ?? [] : [operation] {
                    made[Self.place(path, method, operation["x-key"]?.string ?? "")] = Self.essence(of: operation)
                }
            }
        }
        (self.description, self.made, self.positions) = (description, made, positions)
        server = export["servers"]
        hasCommonSecurity = document.root["security"] != nil
        root = description.defaults?.serviceRoot.flatMap { $0.contains(SecretMask.mask) ? nil : $0 }
    }

    /// Calls a closure with each operation of a document, also with those that OpenAPI has no place for.
    private static func forEachOperation(of document: OpenAPIDocument, _ body: (_ path: String, _ member: String, OpenAPINode) -> Void) {
        document.root["paths"]?.forEachMember { path, item in
            item.forEachMember { member, node in
                if member == "x-endpoints" { node.forEachElement { body(path, member, $0) } } else { body(path, member, node) }
            }
        }
    }

    private static func endpoint(of node: OpenAPINode) -> ClientDescription.Endpoint? {
        node["x-endpoint"].flatMap { try? $0.json.decode(ClientDescription.Endpoint.self) }
    }

    // MARK: Comparing

    /// Whether the document's servers are those of the table.
    func hasServers(of document: OpenAPIDocument) -> Bool {
        document.root["servers"].flatMap { try? $0.json.decode(JSONValue.self) } == server
    }

    private static func place(_ path: String, _ member: String, _ key: String) -> String { "\(path)\n\(member)\n\(key)" }

    /// The parts of an operation that decide what is sent and accepted: people add the others, such as summaries and schemas.
    private static func essence(of operation: JSONValue) -> JSONValue {
        let kept = ["operationId", "x-key", "x-method", "servers", "security", "x-parameters"].map { ($0, operation[$0] ?? .null) }
        let parameters = (operation["parameters"]?.array ?? []).map { parameter in
            var parameter = parameter
            for name in ["description", "example", "examples", "deprecated"] { parameter[name] = nil }
            return parameter
        }
        let body = operation["requestBody"]
        let responses = operation["responses"]?.object?.map { ($0.0, names($0.1["content"])) } ?? []
        return .members(
            kept + [
                ("parameters", .array(parameters)), ("body", names(body?["content"])),
                ("encodings", .array((body?["content"]?.object ?? [:]).map { $0.1["encoding"] ?? .null })),
                ("required", body?["required"] ?? .null), ("argument", body?["x-argument"] ?? .null), ("responses", .members(responses)),
            ])
    }

    private static func names(_ object: JSONValue?) -> JSONValue { .array((object?.object?.names ?? []).map { .string($0) }) }

    // MARK: Reading

    /// The endpoint of an operation; `nil` if it hasn't one that agrees with the operation, which is noted.
    ///
    /// - Parameters:
    ///   - member: The member of the path item: a method in lower case, or `x-endpoints`.
    ///   - requirements: The operation's security requirements, for an endpoint whose secrets the document doesn't have.
    func entry(
        for node: OpenAPINode, path: String, member: String, item: OpenAPINode, of document: OpenAPIDocument,
        requirements: SecurityRequirements?
    ) -> (position: Int, entry: EndpointTable.Entry)? {
        guard let extensionNode = node["x-endpoint"] else { return nil }
        func refuse(_ reason: String) -> (position: Int, entry: EndpointTable.Entry)? {
            document.note(extensionNode, reason + (member == "x-endpoints" ? "; it is left out" : "; the operation is read instead"))
            return nil
        }
        guard let endpoint = Self.endpoint(of: node), let value = try? node.json.decode(JSONValue.self) else {
            return refuse("it isn't the description of an endpoint")
        }
        guard made[Self.place(path, member, endpoint.key)] == Self.essence(of: value), item["parameters"] == nil, item["servers"] == nil
        else { return refuse("the operation was changed, so that it isn't the endpoint's") }
        guard let described = DescribedEndpoint(endpoint, of: description) else {
            return refuse("its route has a secret, which a document doesn't contain")
        }
        var descriptor = described.descriptor
        for text in described.omitted { document.note(extensionNode, text) }
        if described.lacksSecret || hasCommonSecurity, let requirements { descriptor = descriptor.attribute(requirements) }
        return (positions[endpoint.key] ?? .max, EndpointTable.Entry(key: endpoint.key, descriptor: descriptor))
    }
}
