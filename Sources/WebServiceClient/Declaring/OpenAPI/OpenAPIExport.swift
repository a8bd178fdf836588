import Foundation

extension ClientDescription {
    /// The description as an OpenAPI 3.1.1 document in JSON, for tools and readers that know that format. It ends with a line end.
    ///
    /// * An endpoint is an operation whose `operationId` is the base name of its method. Methods that share a base name have their labels
    ///   after it: `issues_owner_name`. The key is in `x-key`.
    /// * Arguments are parameters by their places, with the position in `x-argument`, or with the template in `x-template` if a value has
    ///   other text too. Types aren't known: values are texts or arrays of texts. A value that is always the same is a `const`. Only
    ///   constants and parameters of the path are required, because any other argument may be `nil`.
    /// * `Accept` and `Content-Type` become the media types of responses and bodies, which are JSON unless the table specifies others.
    ///   `Authorization`, and other fields and query items with a masked value, become security schemes. An operation without `security`
    ///   may need credentials, because authentication providers aren't part of a table.
    /// * OpenAPI has one operation per method and path, and eight methods. Further endpoints, and those with other methods, are in
    ///   `x-endpoints` of the same path item, as operations with an `x-method`.
    /// * `x-endpoint` of an operation is the whole ``Endpoint``, and `x-description` of the document is the rest of the description, with
    ///   the keys in table order. `x-notes` lists in words what OpenAPI can't express.
    ///
    /// The paths and their operations are in table order. The document has no secrets, like the description.
    ///
    /// - Parameter version: The version of the service's interface, which a table doesn't contain (OpenAPI 3.1.1 §4.8.2).
    public func openAPI(version: String = "1.0.0") -> String {
        OpenAPIExport(self).document(version: version).indentedJSON + "\n"
    }
}

/// Makes an OpenAPI document of a description.
struct OpenAPIExport {
    typealias Member = (String, JSONValue)

    /// A path with its operations.
    private struct PathItem {
        let path: String
        /// The names of the parameters in the path, in order.
        let parameters: [String]
        /// The operations that OpenAPI has a place for, by method in lower case.
        var operations: [(method: String, key: String, operation: JSONValue)] = []
        var others: [JSONValue] = []

        var json: JSONValue {
            let others = others.isEmpty ? [] : [("x-endpoints", JSONValue.array(others))]
            return .members(operations.map { ($0.method, $0.operation) } + others)
        }
    }

    /// The methods that a Path Item Object has members for (OpenAPI 3.1.1 §4.8.9).
    private static let methods: Set<String> = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"]

    private let description: ClientDescription
    private let server: OpenAPIExportServer
    private var items: [PathItem] = []
    /// The positions of the items by path, without the parameters' names: paths that differ only in these are identical (§4.8.8.1).
    private var positions: [String: Int] = [:]
    private var schemes: [(name: String, scheme: JSONValue)] = []

    init(_ description: ClientDescription) {
        self.description = description
        server = OpenAPIExportServer(description.defaults?.serviceRoot ?? "")
        for (endpoint, identifier) in zip(description.endpoints, Self.operationIdentifiers(of: description.endpoints)) {
            add(OpenAPIExportOperation(endpoint, of: description, rootQuery: server.query), identifier)
        }
    }

    /// The whole document.
    func document(version: String) -> JSONValue {
        var members: [Member] = [
            ("openapi", "3.1.1"),
            ("info", .members([("title", .string(description.client)), ("version", .string(version))])),
        ]
        if let server = server.json { members.append(("servers", .array([server]))) }
        members.append(("paths", .members(items.map { ($0.path, $0.json) })))
        if !schemes.isEmpty {
            let schemes = JSONValue.members(schemes.map { ($0.name, $0.scheme) })
            members.append(("components", .members([("securitySchemes", schemes)])))
        }
        members.append(("x-description", rest))
        return .members(members)
    }

    /// The parts of the description that the operations don't carry.
    private var rest: JSONValue {
        var rest = description
        rest.endpoints = []
        var value = Self.json(of: rest)
        value["endpoints"] = nil
        value["keys"] = .array(description.endpoints.map { .string($0.key) })
        return value
    }

    /// A part of the description as JSON.
    static func json(of value: some Encodable) -> JSONValue {
        JSONReader.value(of: ClientDescription.text(of: value))
    }

    // MARK: Operations

    private mutating func add(_ operation: OpenAPIExportOperation, _ identifier: String) {
        var operation = operation
        let index = position(of: operation.route)
        operation.route.renameParameters(items[index].parameters)
        let endpoint = operation.endpoint
        let first = items[index].operations.first { $0.method == endpoint.method.lowercased() }
        let hasPlace = Self.methods.contains(endpoint.method)
        if !hasPlace { operation.notes.append("OpenAPI 3.1 has no operations with the method \(endpoint.method).") }
        if hasPlace, let first { operation.notes.append("The path has one operation with the method, which is \(first.key).") }
        let security = operation.security.map { (name(of: $0), JSONValue.array([])) }
        let method: [Member] = hasPlace && first == nil ? [] : [("x-method", .string(endpoint.method))]
        let json = operation.json(identifier: identifier, method: method, security: security)
        if method.isEmpty {
            items[index].operations.append((endpoint.method.lowercased(), endpoint.key, json))
        } else {
            items[index].others.append(json)
        }
    }

    private mutating func position(of route: OpenAPIExportRoute) -> Int {
        if let known = positions[route.shape] { return known }
        positions[route.shape] = items.count
        items.append(PathItem(path: route.text, parameters: route.pathParameters))
        return items.count - 1
    }

    /// The name of a security scheme in the document's components, which is a word of ASCII characters (§4.8.7.1).
    private mutating func name(of scheme: OpenAPIExportOperation.Scheme) -> String {
        if let known = schemes.first(where: { $0.scheme == scheme.json }) { return known.name }
        let base = String(scheme.name.map { ($0.isASCII && ($0.isLetter || $0.isNumber)) || "._-".contains($0) ? $0 : "-" })
        let name = Self.unique(base.isEmpty ? "credentials" : base) { name in schemes.contains { $0.name == name } }
        schemes.append((name, scheme.json))
        return name
    }

    // MARK: Names

    /// The unique identifiers of the operations: a base name that no other endpoint has, or the base name with the labels.
    private static func operationIdentifiers(of endpoints: [Endpoint]) -> [String] {
        let names = endpoints.map { try? MethodName($0.key) }
        var counts: [String: Int] = [:]
        for name in names { counts[name?.baseName ?? "", default: 0] += 1 }
        // The base names that stay alone come first, so that no other identifier takes one of them.
        var taken = Set(counts.filter { $0.value == 1 }.keys)
        return zip(endpoints, names).map { endpoint, name in
            if let base = name?.baseName, counts[base] == 1 { return base }
            let labels = name?.labels.enumerated().map { $1 == "_" ? "\($0)" : $1 } ?? []
            let words = name.map { [$0.baseName] + labels } ?? endpoint.key.split { !$0.isLetter && !$0.isNumber }.map(String.init)
            let base = words.joined(separator: "_")
            let identifier = unique(base.isEmpty ? "operation" : base) { taken.contains($0) }
            taken.insert(identifier)
            return identifier
        }
    }

    private typealias Endpoint = ClientDescription.Endpoint

    /// The name, with a number if it is taken.
    static func unique(_ name: String, isTaken: (String) -> Bool) -> String {
        guard isTaken(name) else { return name }
        var number = 2
        while isTaken("\(name)_\(number)") { number += 1 }
        return "\(name)_\(number)"
    }
}

/// A service root in OpenAPI's terms: a server with variables (OpenAPI 3.1.1 §4.8.5), and a query for each operation.
struct OpenAPIExportServer {
    private let url: String
    /// The variables by the references in the root's placeholders.
    private let variables: [(name: String, reference: String)]
    /// The query without the question mark; empty if there is none.
    let query: String

    init(_ root: String) {
        let scalars = root.unicodeScalars
        let question = scalars.firstIndex { $0 == "?" } ?? scalars.endIndex
        query = question < scalars.endIndex ? String(root[scalars.index(after: question)...]) : ""
        var url = ""
        var variables: [(name: String, reference: String)] = []
        for piece in OpenAPIExportRoute.pieces(of: root[..<question]) {
            switch piece {
            case .literal(let text): url += text.replacing("{", with: "%7B").replacing("}", with: "%7D")
            case .argument(let reference):
                let name = OpenAPIExportNames.name(ofUnknown: reference)
                url += "{\(name)}"
                if !variables.contains(where: { $0.name == name }) { variables.append((name, reference)) }
            }
        }
        // The path of an operation begins with a slash.
        while url.last == "/", !url.hasSuffix("://") { url.removeLast() }
        self.url = url
        self.variables = variables
    }

    /// The Server Object; `nil` if there is no root.
    var json: JSONValue? {
        guard !url.isEmpty else { return nil }
        guard !variables.isEmpty else { return .members([("url", .string(url))]) }
        let variables = variables.map { name, reference in
            let text = "The argument \(reference) of each call."
            // A variable must have a default.
            return (name, JSONValue.members([("default", .string(name)), ("description", .string(text))]))
        }
        return .members([("url", .string(url)), ("variables", .members(variables))])
    }
}

extension JSONValue {
    /// Creates an object with its members in this order.
    static func members(_ members: [(String, JSONValue)]) -> JSONValue { .object(Members(members)) }
}

extension JSONReader {
    /// The value of a text that is known to be JSON; null if it isn't.
    fileprivate static func value(of text: String) -> JSONValue {
        (try? JSONReader().decode(JSONValue.self, from: Data(text.utf8))) ?? .null
    }
}
