/// Describes one endpoint: method, route, and everything that is said of its calls. A value that is changed by modifiers.
///
///     "issues(owner:name:filter:)": .get("/repos/%%owner%%/%%name%%/issues").query(.argument(2))
///
/// In a route `%%N%%` stands for the argument at a zero-based position and `%%label%%` for the one of a label; both are encoded for the
/// place they stand in. A `uriTemplate` is one of RFC 6570, whose variables are labels or positions.
public struct EndpointDescriptor: Sendable {
    enum Route: Sendable, Hashable {
        case template(String)
        case uriTemplate(String)

        var text: String {
            switch self {
            case .template(let text), .uriTemplate(let text): text
            }
        }
    }

    enum QueryPart: Sendable {
        /// A pair whose value is a template.
        case template(name: String, value: String)
        /// A pair, or several, from an argument.
        case named(String, EndpointArgument)
        /// The fields of an argument.
        case reflected(EndpointArgument)
    }

    enum HeaderPart: Sendable {
        case template(HTTPFields.Name, String)
        /// The fields of an argument, a header each.
        case reflected(EndpointArgument)
    }

    enum BodyPart: Sendable {
        /// The one argument that nothing else uses, for methods that have a body as a rule.
        case implicit
        case argument(EndpointArgument)
        case none
    }

    let method: ServiceRequest.Method
    let route: Route
    var query: [QueryPart] = []
    var headers: [HeaderPart] = []
    var body: BodyPart = .implicit
    /// Whether a method that has no body as a rule may have one.
    var allowsBody = false
    /// The wire names that lead to the value inside the payload.
    var root: [String] = []
    var cacheIdentifier: String?
    var ignored: Set<String> = []
    var settings = EndpointSettings()

    init(method: ServiceRequest.Method, route: Route) {
        self.method = method
        self.route = route
    }

    /// An endpoint of any method.
    public static func endpoint(_ method: ServiceRequest.Method, _ path: String) -> EndpointDescriptor {
        EndpointDescriptor(method: method, route: .template(path))
    }

    /// An endpoint of any method whose route is an RFC 6570 template.
    public static func endpoint(_ method: ServiceRequest.Method, uriTemplate: String) -> EndpointDescriptor {
        EndpointDescriptor(method: method, route: .uriTemplate(uriTemplate))
    }

    /// A GET endpoint.
    public static func get(_ path: String) -> EndpointDescriptor { endpoint(.get, path) }
    /// A GET endpoint with an RFC 6570 template.
    public static func get(uriTemplate: String) -> EndpointDescriptor { endpoint(.get, uriTemplate: uriTemplate) }
    /// A HEAD endpoint.
    public static func head(_ path: String) -> EndpointDescriptor { endpoint(.head, path) }
    /// A HEAD endpoint with an RFC 6570 template.
    public static func head(uriTemplate: String) -> EndpointDescriptor { endpoint(.head, uriTemplate: uriTemplate) }
    /// A POST endpoint.
    public static func post(_ path: String) -> EndpointDescriptor { endpoint(.post, path) }
    /// A POST endpoint with an RFC 6570 template.
    public static func post(uriTemplate: String) -> EndpointDescriptor { endpoint(.post, uriTemplate: uriTemplate) }
    /// A PUT endpoint.
    public static func put(_ path: String) -> EndpointDescriptor { endpoint(.put, path) }
    /// A PUT endpoint with an RFC 6570 template.
    public static func put(uriTemplate: String) -> EndpointDescriptor { endpoint(.put, uriTemplate: uriTemplate) }
    /// A PATCH endpoint.
    public static func patch(_ path: String) -> EndpointDescriptor { endpoint(.patch, path) }
    /// A PATCH endpoint with an RFC 6570 template.
    public static func patch(uriTemplate: String) -> EndpointDescriptor { endpoint(.patch, uriTemplate: uriTemplate) }
    /// A DELETE endpoint.
    public static func delete(_ path: String) -> EndpointDescriptor { endpoint(.delete, path) }
    /// A DELETE endpoint with an RFC 6570 template.
    public static func delete(uriTemplate: String) -> EndpointDescriptor { endpoint(.delete, uriTemplate: uriTemplate) }
}

extension EndpointDescriptor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method, route, and the names and values of query items and header fields, secrets masked.
    public var description: String { MaskedMirror.text(of: customMirror, type: "EndpointDescriptor") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``, part by part: not even a dump shows secrets.
    public var customMirror: Mirror {
        let query = query.map { part in
            switch part {
            case .template(let name, let value):
                String(SecretMask.text(ofURL: "?\(URLEncoding.queryName(name))=\(value)").dropFirst())
            case .named(let name, let argument): "\(name)=\(argument)"
            case .reflected(let argument): "\(argument)"
            }
        }
        let headers = headers.map { part in
            switch part {
            case .template(let name, let value): HTTPFields.Field(name: name, value: value).description
            case .reflected(let argument): "\(argument)"
            }
        }
        return Mirror(
            self,
            children: [
                "method": method, "route": SecretMask.text(ofURL: route.text), "query": query, "headers": headers, "body": body,
                "root": root, "cacheIdentifier": cacheIdentifier.map(SecretMask.text(ofURL:)) ?? "nil", "ignored": ignored.sorted(),
                "statuses": settings.statuses?.description ?? "nil", "attributes": settings.attributes,
            ])
    }
}
