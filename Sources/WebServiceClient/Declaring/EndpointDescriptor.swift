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

extension EndpointDescriptor {
    /// A copy with a change.
    package func with(_ change: (inout EndpointDescriptor) -> Void) -> EndpointDescriptor {
        var copy = self
        change(&copy)
        return copy
    }

    // MARK: Request

    /// Adds the fields of an argument as query items: a struct's properties by their wire names, a dictionary's entries. An OData query, such as
    /// a `FetchRequest`, adds its options; its path must be the endpoint's.
    public func query(_ argument: EndpointArgument) -> EndpointDescriptor {
        with { $0.query.append(.reflected(argument)) }
    }

    /// Adds a query item from an argument: an array gives several by the array strategy, `nil` none.
    public func query(_ name: String, _ argument: EndpointArgument) -> EndpointDescriptor {
        with { $0.query.append(.named(name, argument)) }
    }

    /// Adds query items whose values are templates, such as `["state": "open", "q": "%%0%%"]`. A pair with a `nil` argument is left out.
    public func query(_ items: KeyValuePairs<String, String>) -> EndpointDescriptor {
        with { for (name, value) in items { $0.query.append(.template(name: name, value: value)) } }
    }

    /// Sets headers whose values are templates. A header with a `nil` argument is left out; it wins over the class's and the client's.
    public func headers(_ headers: KeyValuePairs<HTTPFields.Name, String>) -> EndpointDescriptor {
        with { for (name, value) in headers { $0.headers.append(.template(name, value)) } }
    }

    /// Sets one header whose value is a template.
    public func header(_ name: HTTPFields.Name, _ value: String) -> EndpointDescriptor {
        with { $0.headers.append(.template(name, value)) }
    }

    /// Sets a header for each field of an argument.
    public func headers(_ argument: EndpointArgument) -> EndpointDescriptor {
        with { $0.headers.append(.reflected(argument)) }
    }

    /// Makes an argument the body, for any method but HEAD and TRACE; a GET says ``allowingBody()`` too. Without this the one argument that nothing else uses is the body of POST, PUT and PATCH.
    public func body(_ argument: EndpointArgument) -> EndpointDescriptor {
        with { $0.body = .argument(argument) }
    }

    /// Lets a GET have a body, for services that search by one, and makes the one argument that nothing else uses the body of any method.
    ///
    ///     "search(query:)": .get("/products/_search").allowingBody()
    ///
    /// RFC 9110 §9.3.1 gives such a body no meaning: caches, proxies and servers may drop it or refuse the request. A client whose transport
    /// sends none is refused before its first call, see ``TransportCapabilities/bodiesWithGET``. HEAD and TRACE never have one.
    public func allowingBody() -> EndpointDescriptor {
        with {
            $0.allowsBody = true
            if $0.method == .get { $0.settings.capabilities.insert(.bodiesWithGET) }
        }
    }

    /// Sends no body, also with POST, PUT and PATCH.
    public func withoutBody() -> EndpointDescriptor {
        with { $0.body = .none }
    }

    /// Writes the body, and by default reads the answer, with this serializer.
    public func serializer(_ serializer: any SerializationDelegate) -> EndpointDescriptor {
        with { $0.settings.serializer = serializer }
    }

    /// How an array in a query, in a form or in headers is written. Headers know the comma only, else each value is a field of its own; a
    /// ``FormSerializer`` that was given rules keeps them.
    public func arrays(_ strategy: FieldReflection.ArrayStrategy) -> EndpointDescriptor {
        with { $0.settings.arrays = strategy }
    }

    /// Makes the URL with this builder.
    public func urlBuilder(_ builder: any URLBuilder) -> EndpointDescriptor {
        with { $0.settings.urlBuilder = builder }
    }

    /// Leaves arguments of these labels out: closures such as `prepare`, which the method hands to `call` by itself.
    public func ignoring(_ labels: String...) -> EndpointDescriptor {
        with { $0.ignored.formUnion(labels) }
    }

    // MARK: Response

    /// The statuses that count as success, in place of the class's and the client's.
    public func accepting(_ statuses: StatusSet) -> EndpointDescriptor {
        with {
            $0.settings.statuses = statuses
            $0.settings.moreStatuses = nil
        }
    }

    /// Statuses that count as success too.
    public func alsoAccepting(_ statuses: StatusSet) -> EndpointDescriptor {
        with { $0.settings.moreStatuses = $0.settings.moreStatuses?.union(statuses) ?? statuses }
    }

    /// Reads the value at a place inside the payload: wire names separated by dots, numbers for places in arrays.
    public func decoding(at root: String) -> EndpointDescriptor {
        decoding(at: EndpointSettings.components(of: root))
    }

    /// The same with the names one by one, for those that have a dot in them.
    public func decoding(at names: [String]) -> EndpointDescriptor {
        with { $0.root = names }
    }

    /// Reads the response with this parser, whatever its `Content-Type`.
    public func decoding(with parser: any SerializationDelegate) -> EndpointDescriptor {
        with { $0.settings.parsing = .forced(parser) }
    }

    /// Reads nothing: the result is the bytes, or the text, of the body as it is.
    public func raw() -> EndpointDescriptor {
        with { $0.settings.parsing = .off }
    }

    /// Decides what a finished exchange means, in place of the class's and the client's handler.
    public func errorHandler(_ handler: any ErrorHandler) -> EndpointDescriptor {
        with { $0.settings.errorHandler = handler }
    }

    /// The most bytes of a response body that are read into memory.
    public func bodyLimit(_ bytes: Int) -> EndpointDescriptor {
        with { $0.settings.bodyLimit = bytes }
    }

    // MARK: The way there

    /// Names what is kept of the call's response, by a template: `"orders/%%0%%"`. An interceptor of yours that keeps responses reads it
    /// from the call's context. A call whose template has a `nil` argument has no identifier.
    ///
    /// Arguments stand in it as they are: with `"%%0%%/%%1%%"`, `a/b` and `c` have the identifier of `a` and `b/c`.
    public func cacheIdentifier(_ template: String) -> EndpointDescriptor {
        with { $0.cacheIdentifier = template }
    }

    /// The deadlines, in place of the class's and the client's.
    public func timeouts(_ timeouts: ServiceTimeouts) -> EndpointDescriptor {
        with {
            $0.settings.timeouts = timeouts
            $0.settings.totalTimeout = nil
        }
    }

    /// The deadline of the whole call; the other deadlines stay the class's and the client's.
    public func timeout(_ total: Duration) -> EndpointDescriptor {
        with { $0.settings.totalTimeout = total }
    }

    /// What happens to redirects.
    public func redirects(_ policy: RedirectPolicy) -> EndpointDescriptor {
        attribute(policy)
    }

    /// Whether and how the call is repeated.
    public func retry(_ policy: RetryPolicy) -> EndpointDescriptor {
        attribute(policy)
    }

    /// Whom the call trusts and who it is, in place of the class's and the client's policy as a whole.
    ///
    /// A client whose transport can't honour it is refused before its first call.
    public func trust(_ policy: TrustPolicy) -> EndpointDescriptor {
        with { $0.settings.trust = policy }
    }

    /// What the transport must be able to do; a client whose transport can't is refused before its first call.
    public func requiring(_ capabilities: TransportCapabilities) -> EndpointDescriptor {
        with { $0.settings.capabilities.formUnion(capabilities) }
    }

    /// Sets an attribute of one's own, which interceptors read back by its type.
    public func attribute(_ attribute: some EndpointAttribute) -> EndpointDescriptor {
        with { $0.settings.attributes.set(attribute) }
    }
}

/// Names an argument of a method in its descriptor, by position or by label.
public struct EndpointArgument: Sendable, Hashable, CustomStringConvertible {
    enum Reference: Sendable, Hashable {
        case position(Int)
        case label(String)
    }

    let reference: Reference

    /// The argument at a zero-based position; arguments left out by ``EndpointDescriptor/ignoring(_:)`` don't count.
    public static func argument(_ position: Int) -> EndpointArgument {
        EndpointArgument(reference: .position(position))
    }

    /// The argument of a label.
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
