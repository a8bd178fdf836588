import Foundation

/// Binds the arguments of a call to an endpoint: what comes out is the request, before the chain.
struct RequestBinder {
    let endpoint: ResolvedEndpoint
    let arguments: [(any Sendable)?]
    /// Path and query, percent-encoded, in place of the endpoint's path.
    let target: String?

    init(_ endpoint: ResolvedEndpoint, _ arguments: [(any Sendable)?], target: String? = nil) {
        self.endpoint = endpoint
        self.arguments = arguments
        self.target = target
    }

    var plan: EndpointPlan { endpoint.plan }

    /// The request of the call.
    ///
    /// - Throws: ``ArgumentError``, ``InvalidRequest``, ``BodyEncodingError``, or the URL builder's error.
    func request(root fixedRoot: ServiceRoot?) throws -> (request: ServiceRequest, origin: Origin) {
        guard arguments.count == plan.names.count else {
            throw InvalidRequest(
                message:
                    "The call gives \(arguments.count) arguments and the key has \(plan.names.count): pass each argument of the method "
                    + "to call(…), in its order, and leave closures out with .ignoring(…).")
        }
        guard let root = try fixedRoot ?? boundRoot() else {
            throw InvalidRequest(message: "The client has no service root: give it one, such as \"https://api.example.com/v1\".")
        }
        return (try request(url: url(root), headers: endpoint.headers), root.origin)
    }

    /// The request of a call to an absolute URL. Its query gets the endpoint's items; a foreign one gets none of the client's headers.
    func request(absolute url: URL, isForeign: Bool) throws -> ServiceRequest {
        var target = url
        if !plan.query.isEmpty {
            var items = ""
            for part in plan.query { append(try text(of: part, at: url.path), to: &items) }
            var text = url.absoluteString.prefix { $0 != "#" }
            while text.last == "?" || text.last == "&" { text.removeLast() }
            let separator = text.contains("?") ? "&" : "?"
            guard let extended = items.isEmpty ? url : URL(string: text + separator + items) else {
                throw InvalidRequest(message: "The query items don't fit \"\(SecretMask.text(of: url))\".")
            }
            target = extended
        }
        return try request(url: target, headers: isForeign ? foreignHeaders : endpoint.headers)
    }

    /// What a call to somebody else carries: nothing of the client's and the class's, only what the call itself says.
    var foreignHeaders: HTTPFields {
        var headers: HTTPFields = ["User-Agent": ClientState.userAgent, "Accept": endpoint.accepted]
        for case .fixed(let name, let value) in plan.headers { headers[name] = value }
        return headers
    }

    func request(url: URL, headers: HTTPFields) throws -> ServiceRequest {
        var request = ServiceRequest(method: plan.method, url: url, headers: headers, sharing: endpoint.requestDetails)
        if !plan.secretArguments.isEmpty { request.secrets = secrets }
        try bindHeaders(&request.headers)
        try bindBody(&request)
        return request
    }

    /// What is secret in the request: the client's own fields, and the values of the arguments whose labels say so.
    var secrets: RequestSecrets? {
        var texts: [String] = []
        for position in plan.secretArguments where arguments.indices.contains(position) {
            guard let argument = arguments[position] else { continue }
            if let text = try? ArgumentText.text(of: argument) {
                texts.append(text)
            } else if let fields = try? FieldReflection(arrays: .repeatedKey).fields(of: argument, named: "value") {
                texts += fields.compactMap(\.value)
            }
        }
        return RequestSecrets(rules: endpoint.headerRules, texts: texts)
    }

    func error(_ position: Int, _ place: String, _ reason: String) -> ArgumentError {
        ArgumentError(argument: plan.names.description(of: position), place: place, reason: reason)
    }

    /// The text of an argument; `nil` for `nil`.
    func text(_ position: Int, in place: String) throws -> String? {
        guard let argument = arguments[position] else { return nil }
        do {
            return try ArgumentText.text(of: argument)
        } catch {
            throw self.error(position, place, reason(error, position))
        }
    }

    /// Why an argument can't be where it is to go.
    func reason(_ error: any Error, _ position: Int) -> String {
        arguments[position] is any QueryArgument ? Self.misplacedQuery(position) : ServiceError.text(of: error)
    }

    static func misplacedQuery(_ position: Int) -> String {
        "it is a query: let the endpoint say .query(.argument(\(position))), or give the query to the client's own methods, such as fetch(_:)."
    }

    /// A template with its arguments put in and passed through `encode`; `nil` when an argument is `nil`.
    func text(
        _ template: Template, in place: String, encode: (_ value: String, _ position: Int) throws -> String
    ) throws -> String? {
        if let literal = template.literal { return literal }
        var result = ""
        for piece in template.pieces {
            switch piece {
            case .literal(let text):
                result += text
            case .argument(let position):
                guard let value = try text(position, in: place) else { return nil }
                result += try encode(value, position)
            }
        }
        return result
    }
}
