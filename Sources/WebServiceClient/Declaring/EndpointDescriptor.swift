/// Describes one endpoint: the method, the route and the settings of its calls. Modifiers return changed copies.
///
///     "issues(owner:name:filter:)": .get("/repos/%%owner%%/%%name%%/issues").query(.argument(2))
///
/// In a route `%%N%%` represents the argument at a zero-based position and `%%label%%` the argument with a label; both are percent-encoded
/// for the part of the URL that contains them. A `uriTemplate` is an RFC 6570 template, whose variables are labels or positions.
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

    enum QueryPart: Sendable, Hashable {
        /// A pair whose value is a template.
        case template(name: String, value: String)
        /// One or several pairs from an argument.
        case named(String, EndpointArgument, ArgumentStyle = ArgumentStyle())
        /// The fields of an argument.
        case reflected(EndpointArgument)
    }

    enum HeaderPart: Sendable, Hashable {
        case template(HTTPFields.Name, String)
        /// Values that were bound earlier, for example in a stored call. If it is empty, the field of client and class isn't sent.
        case bound(HTTPFields.Name, [String])
        /// The fields of an argument, one header each.
        case reflected(EndpointArgument)
        /// A value from an argument.
        case argument(HTTPFields.Name, EndpointArgument, ArgumentStyle)
        /// A cookie from an argument.
        case cookie(String, EndpointArgument, ArgumentStyle)

        /// The name of the field that the part replaces; `nil` if an argument decides it.
        var name: HTTPFields.Name? {
            switch self {
            case .template(let name, _), .bound(let name, _), .argument(let name, _, _): name
            case .reflected, .cookie: nil
            }
        }
    }

    enum BodyPart: Sendable, Hashable {
        /// The only unused argument, for methods that usually have a body.
        case implicit
        case argument(EndpointArgument)
        case none
    }

    let method: ServiceRequest.Method
    let route: Route
    var query: [QueryPart] = []
    var headers: [HeaderPart] = []
    var body: BodyPart = .implicit
    /// Whether a method that usually has no body may have one.
    var allowsBody = false
    /// The wire names that lead to the value inside the payload.
    var root: [String] = []
    var cacheIdentifier: String?
    /// The template of the call's identifier.
    var identifier: CallIdentifier?
    var ignored: Set<String> = []
    /// The labels of the arguments that calls may leave out; `nil` if calls have exactly the key's labels.
    var optional: Set<String>?
    /// The labels of arguments by their other names.
    var aliases: [String: String] = [:]
    /// The endpoint's own service root.
    var serviceRoot: String?
    /// The media types of the body, if they aren't the serializer's.
    var bodyTypes: BodyTypes?
    var settings = EndpointSettings()

    init(method: ServiceRequest.Method, route: Route) {
        self.method = method
        self.route = route
    }

    /// Creates an endpoint with any method.
    public static func endpoint(_ method: ServiceRequest.Method, _ path: String) -> EndpointDescriptor {
        EndpointDescriptor(method: method, route: .template(path))
    }

    /// Creates an endpoint with any method and an RFC 6570 template as its route.
    public static func endpoint(_ method: ServiceRequest.Method, uriTemplate: String) -> EndpointDescriptor {
        EndpointDescriptor(method: method, route: .uriTemplate(uriTemplate))
    }

    /// Creates a GET endpoint.
    public static func get(_ path: String) -> EndpointDescriptor { endpoint(.get, path) }
    /// Creates a GET endpoint with an RFC 6570 template.
    public static func get(uriTemplate: String) -> EndpointDescriptor { endpoint(.get, uriTemplate: uriTemplate) }
    /// Creates a HEAD endpoint.
    public static func head(_ path: String) -> EndpointDescriptor { endpoint(.head, path) }
    /// Creates a HEAD endpoint with an RFC 6570 template.
    public static func head(uriTemplate: String) -> EndpointDescriptor { endpoint(.head, uriTemplate: uriTemplate) }
    /// Creates a POST endpoint.
    public static func post(_ path: String) -> EndpointDescriptor { endpoint(.post, path) }
    /// Creates a POST endpoint with an RFC 6570 template.
    public static func post(uriTemplate: String) -> EndpointDescriptor { endpoint(.post, uriTemplate: uriTemplate) }
    /// Creates a PUT endpoint.
    public static func put(_ path: String) -> EndpointDescriptor { endpoint(.put, path) }
    /// Creates a PUT endpoint with an RFC 6570 template.
    public static func put(uriTemplate: String) -> EndpointDescriptor { endpoint(.put, uriTemplate: uriTemplate) }
    /// Creates a PATCH endpoint.
    public static func patch(_ path: String) -> EndpointDescriptor { endpoint(.patch, path) }
    /// Creates a PATCH endpoint with an RFC 6570 template.
    public static func patch(uriTemplate: String) -> EndpointDescriptor { endpoint(.patch, uriTemplate: uriTemplate) }
    /// Creates a DELETE endpoint.
    public static func delete(_ path: String) -> EndpointDescriptor { endpoint(.delete, path) }
    /// Creates a DELETE endpoint with an RFC 6570 template.
    public static func delete(uriTemplate: String) -> EndpointDescriptor { endpoint(.delete, uriTemplate: uriTemplate) }
}

extension EndpointDescriptor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method, the route, and the names and values of query items and header fields, with secrets masked.
    public var description: String { MaskedMirror.text(of: customMirror, type: "EndpointDescriptor") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The parts of ``description``: a dump doesn't show secrets either.
    public var customMirror: Mirror {
        let query = query.map { part in
            switch part {
            case .template(let name, let value):
                String(SecretMask.text(ofURL: "?\(URLEncoding.queryName(name))=\(value)").dropFirst())
            case .named(let name, let argument, _): "\(name)=\(argument)"
            case .reflected(let argument): "\(argument)"
            }
        }
        let headers = headers.map { part in
            switch part {
            case .template(let name, let value): HTTPFields.Field(name: name, value: value).description
            case .bound(let name, let values): HTTPFields.Field(name: name, value: values.joined(separator: ", ")).description
            case .reflected(let argument): "\(argument)"
            case .argument(let name, let argument, _): "\(name): \(argument)"
            case .cookie(let name, let argument, _): "Cookie: \(name)=\(argument)"
            }
        }
        let children: KeyValuePairs<String, Any> = [
            "method": method, "route": SecretMask.text(ofURL: route.text), "query": query, "headers": headers, "body": body,
            "root": root, "cacheIdentifier": cacheIdentifier.map(SecretMask.text(ofURL:)) ?? "nil",
            "identifier": identifier.map { SecretMask.text(ofURL: $0.description) } ?? "nil", "ignored": ignored.sorted(),
        ]
        // In two parts: the compiler needs too long for one expression.
        let parameters: KeyValuePairs<String, Any> = [
            "optional": optional?.sorted().description ?? "nil", "aliases": aliases,
            "serviceRoot": serviceRoot.map(SecretMask.text(ofURL:)) ?? "nil", "bodyTypes": bodyTypes?.types ?? [],
            "statuses": settings.statuses?.description ?? "nil", "attributes": settings.attributes,
        ]
        return Mirror(self, children: (Array(children) + Array(parameters)).map { (label: Optional($0.key), value: $0.value) })
    }
}

extension EndpointDescriptor {
    /// Returns a changed copy.
    package func with(_ change: (inout EndpointDescriptor) -> Void) -> EndpointDescriptor {
        var copy = self
        change(&copy)
        return copy
    }

    /// Returns whether another descriptor is the same except for its settings, which can't be compared.
    func differsOnlyInSettings(from other: EndpointDescriptor) -> Bool {
        let isSameRequest =
            method == other.method && route == other.route && headers == other.headers && query == other.query && body == other.body
            && allowsBody == other.allowsBody && serviceRoot == other.serviceRoot && bodyTypes == other.bodyTypes
        let hasSameArguments = ignored == other.ignored && optional == other.optional && aliases == other.aliases
        return isSameRequest && hasSameArguments && root == other.root && cacheIdentifier == other.cacheIdentifier
            && identifier == other.identifier
    }
}

/// Refers to an argument of a method in its descriptor, by position or label.
public struct EndpointArgument: Sendable, Hashable, CustomStringConvertible {
    enum Reference: Sendable, Hashable {
        case position(Int)
        case label(String)
    }

    let reference: Reference

    /// The argument at a zero-based position; arguments ignored by ``EndpointDescriptor/ignoring(_:)`` don't count.
    public static func argument(_ position: Int) -> EndpointArgument {
        EndpointArgument(reference: .position(position))
    }

    /// The argument with a label.
    public static func argument(_ label: String) -> EndpointArgument {
        EndpointArgument(reference: .label(label))
    }

    /// The position or the label.
    public var description: String {
        switch reference {
        case .position(let position): "\(position)"
        case .label(let label): label
        }
    }
}
