package import Foundation

/// A call without a table entry: a value that modifiers change and that is sent through the same chain when its result is requested.
///
/// Only ``value(_:)``, ``response(_:)``, ``send()`` and ``stream()`` send the call.
///
///     let user: User = try await client.http.get("/users/%%0%%", id).value()
///     try await client.http.post("/users").body(user).accepting(.created).send()
///     let found: [User] = try await client.http.get("/users").query("name", "Ada").timeout(.seconds(5)).value()
public struct ServiceCall: Sendable {
    enum Target: Sendable {
        /// A route below the service root.
        case route
        /// A path below the service root with its query, both percent-encoded by the caller.
        case encoded(String)
        /// A URL from one of the service's responses, on the service root's origin.
        case link(URL)
        /// A URL outside the service: no credentials and no client headers.
        case outside(URL)
    }

    let client: WebServiceClient
    var descriptor: EndpointDescriptor
    var arguments: [(any Sendable)?]
    /// The labels of labeled arguments, by position.
    var labels: [Int: String] = [:]
    var target = Target.route
    var options = CallOptions.none
    /// The call's name in errors and metrics, used if method and route identify it poorly.
    var key: String?
    var route: String?
    /// The secrets of a stored call, which are masked in all texts.
    var secretTexts: [String] = []
    /// The settings of the descriptor, if they are shared: such a call is compiled with others of its kind.
    private(set) var shared: SharedCallSettings?

    init(client: WebServiceClient, descriptor: EndpointDescriptor, arguments: [(any Sendable)?] = []) {
        self.client = client
        self.descriptor = descriptor
        self.arguments = arguments
    }

    // MARK: Modifiers

    private func with(_ change: (inout ServiceCall) -> Void) -> ServiceCall {
        var copy = self
        change(&copy)
        return copy
    }

    /// Sets the value of the placeholders with a label, such as `%%tenant%%` for `tenant`, in the client's service root, in the headers of
    /// client and class, and in the call's own route.
    ///
    ///     // With the service root "https://%%tenant%%.example.com":
    ///     client.http.get("/users/%%0%%", id).argument("tenant", "acme")
    ///
    /// Numbered placeholders in a root or a header, such as `%%0%%`, take the call's arguments by position, as in declared calls.
    public func argument(_ label: String, _ value: (any Sendable)?) -> ServiceCall {
        with {
            $0.labels[$0.arguments.count] = label
            $0.arguments.append(value)
        }
    }

    /// Adds a query item. An array is written by the array strategy; `nil` adds no item.
    public func query(_ name: String, _ value: (any Sendable)?) -> ServiceCall {
        with {
            $0.arguments.append(value)
            $0.descriptor = $0.descriptor.query(name, .argument($0.arguments.count - 1))
        }
    }

    /// Adds the fields of a value as query items: a struct's properties or a dictionary's entries.
    public func query(_ value: any Sendable) -> ServiceCall {
        with {
            $0.arguments.append(value)
            $0.descriptor = $0.descriptor.query(.argument($0.arguments.count - 1))
        }
    }

    /// Sets a header; `nil` sets none.
    public func header(_ name: HTTPFields.Name, _ value: String?) -> ServiceCall {
        with {
            $0.arguments.append(value)
            $0.descriptor = $0.descriptor.header(name, "%%\($0.arguments.count - 1)%%")
        }
    }

    /// Sets the body: `Data`, a `RequestBody` or a `MultipartForm` directly, any `Encodable` through the serializer.
    public func body(_ value: any Sendable) -> ServiceCall {
        with {
            $0.arguments.append(value)
            $0.descriptor = $0.descriptor.body(.argument($0.arguments.count - 1))
        }
    }

    /// Allows a body in a GET: see ``EndpointDescriptor/allowingBody()``.
    public func allowingBody() -> ServiceCall {
        describing { $0.allowingBody() }
    }

    /// Sets the deadline of the whole call.
    public func timeout(_ total: Duration) -> ServiceCall {
        with { $0.options.timeout = total }
    }

    /// Sets the call's priority in the client's queue.
    public func priority(_ priority: CallPriority) -> ServiceCall {
        describing { $0.priority(priority) }
    }

    /// Changes the request, after the client's preparers.
    public func prepare(_ prepare: @escaping @Sendable (inout ServiceRequest) async throws -> Void) -> ServiceCall {
        with { $0.options.prepare = prepare }
    }

    /// Applies any endpoint modifier to this call.
    ///
    ///     client.http.get("/report").describing { $0.decoding(at: "rows").retry(RetryPolicy()) }
    public func describing(_ change: (EndpointDescriptor) -> EndpointDescriptor) -> ServiceCall {
        with {
            $0.descriptor = change($0.descriptor)
            $0.shared = nil
        }
    }

    /// Names the call, so that the program can find, share or replace it while it runs: see ``EndpointDescriptor/identifier(_:_:)``.
    public func identifier(_ template: String, _ policy: CallIdentifier.Policy = .replace) -> ServiceCall {
        describing { $0.identifier(template, policy) }
    }

    /// Sets the statuses that count as success.
    public func accepting(_ statuses: StatusSet) -> ServiceCall {
        describing { $0.accepting(statuses) }
    }

    /// Decodes the value at a path inside the payload.
    public func decoding(at root: String) -> ServiceCall {
        describing { $0.decoding(at: root) }
    }

    /// Decodes the value at a path of separate names, for names that contain a dot.
    public func decoding(at names: [String]) -> ServiceCall {
        describing { $0.decoding(at: names) }
    }

    /// Skips decoding: the result is the unchanged body as bytes or text.
    public func raw() -> ServiceCall {
        describing { $0.raw() }
    }

    /// Sets whether and how the call is retried.
    public func retry(_ policy: RetryPolicy) -> ServiceCall {
        describing { $0.retry(policy) }
    }

    /// States that several requests have the same effect as one: see ``EndpointDescriptor/idempotent(_:)``.
    public func idempotent(_ isIdempotent: Bool = true) -> ServiceCall {
        describing { $0.idempotent(isIdempotent) }
    }

    /// Sets the call's idempotency key; without one, it is generated. See ``IdempotencyKey``.
    public func idempotencyKey(_ key: String? = nil) -> ServiceCall {
        describing { descriptor in
            let keyed = descriptor.idempotencyKey()
            return key.map { keyed.attribute(IdempotencyKey.Given($0)) } ?? keyed
        }
    }

    /// States that a person waits for the call: see ``Solicited``.
    public func solicited() -> ServiceCall {
        describing { $0.solicited() }
    }

    /// Names the call in errors, logs and metrics.
    package func named(_ key: String, route: String) -> ServiceCall {
        with {
            $0.key = key
            $0.route = route
        }
    }

    /// Replaces the call's settings by settings that it shares with other calls. Calls with the same settings and the same form are
    /// compiled once; a later ``describing(_:)`` ends that.
    package func sharing(_ settings: SharedCallSettings) -> ServiceCall {
        with {
            $0.descriptor.settings = settings.settings
            $0.shared = settings
        }
    }

    /// Sets a header to a text that isn't an argument, and so is compiled with the call. It must not contain placeholders.
    package func constantHeader(_ name: HTTPFields.Name, _ value: String) -> ServiceCall {
        with { $0.descriptor = $0.descriptor.header(name, value) }
    }

    /// Sends no body, whatever the method.
    package func withoutBody() -> ServiceCall {
        with { $0.descriptor = $0.descriptor.withoutBody() }
    }

    // MARK: Results

    /// Sends the call and returns its value.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func value<Value: Decodable>(_ type: Value.Type = Value.self) async throws -> Value {
        try await response(type).value
    }

    /// Sends the call and returns the value with its response.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func response<Value: Decodable>(_ type: Value.Type = Value.self) async throws -> ServiceResponse<Value> {
        let dispatcher = try dispatcher()
        return try await dispatcher.response(to: try bound(dispatcher))
    }

    /// Sends the call and discards the response's body after reading it.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    @discardableResult
    public func send() async throws -> ServiceResponse<NoContent> {
        try await response(NoContent.self)
    }

    /// Sends the call and returns the body as a stream.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled. Reading the body throws the same errors.
    public func stream() async throws -> ServiceResponse<ResponseBody> {
        let dispatcher = try dispatcher()
        return try await dispatcher.stream(to: try bound(dispatcher))
    }

    /// Sends the call and returns a stream whose reader throws the call's errors. Failures are read up to the limit for bodies.
    ///
    /// - Parameter keeps: Whether the caller judges a response itself, so that its body is returned whatever its status.
    package func openStream(
        keeping keeps: @Sendable (TransportResponse) -> Bool = { _ in false }
    ) async throws -> (response: ServiceResponse<ResponseBody>, errors: StreamErrors) {
        let dispatcher = try dispatcher()
        let (response, reader) = try await dispatcher.streamWithReader(
            to: try bound(dispatcher), failuresUpTo: dispatcher.endpoint.bodyLimit, keeping: keeps)
        return (response, StreamErrors(reader: reader))
    }

    /// The call's URL before the chain runs.
    ///
    /// - Throws: ``ServiceError``.
    package func url() throws -> URL {
        try bound(try dispatcher()).request.url
    }

    /// The call's fields before the chain runs.
    ///
    /// - Throws: ``ServiceError``.
    package func headers() throws -> HTTPFields {
        try bound(try dispatcher()).request.headers
    }

    func dispatcher() throws -> Dispatcher {
        let state = client.state
        if !state.faults.isEmpty { throw state.tableError(state.faults, call: identity(in: state)) }
        let endpoint =
            if let shared {
                try state.endpoint(of: CallKind(self, shared)) { try compiled(for: state, isKept: true) }
            } else {
                try compiled(for: state, isKept: false)
            }
        return Dispatcher(state: state, endpoint: endpoint, options: options)
    }

    /// The call's endpoint.
    ///
    /// - Parameter isKept: Whether there will be more calls of it.
    private func compiled(for state: ClientState, isKept: Bool) throws -> ResolvedEndpoint {
        let name = MethodName(baseName: "call", labels: arguments.indices.map { labels[$0] ?? "_" })
        let root = try root(of: state, for: name)
        let headers = try commonHeaders(of: state, for: name)
        var (plan, faults) = EndpointCompiler.compile(descriptor, for: name, root: root, headers: headers)
        plan.label = label
        if let route { plan.route = route }
        plan.secretTexts = secretTexts
        faults += CapabilityCheck.faults(
            plan.settings, key: plan.label.map(SecretMask.text(ofURL:)), capabilities: state.configuration.transport.capabilities)
        faults += RetryCheck.faults(
            of: plan, key: plan.label.map(SecretMask.text(ofURL:)) ?? "", under: state.levels[plan.method].settings.attributes)
        guard faults.isEmpty else {
            let call = identity(in: state)
            throw state.tableError(faults.map { $0.under(call.key) }, call: call, isOwn: true)
        }
        return state.resolve(plan, isDeclared: isKept)
    }

    private var label: String { key ?? "\(descriptor.method) \(descriptor.route.text)" }

    /// The call's identity, even if the call can't be made.
    func identity(in state: ClientState) -> CallIdentity {
        CallIdentity(
            client: state.clientName, key: SecretMask.text(ofURL: label), route: SecretMask.text(ofURL: route ?? descriptor.route.text))
    }

    func bound(_ dispatcher: Dispatcher) throws -> Dispatcher.BoundRequest {
        switch target {
        case .route: try dispatcher.bind(arguments)
        case .encoded(let text): try dispatcher.bind(arguments, target: text)
        case .link(let url): try dispatcher.bind(arguments, to: url, isForeign: false)
        case .outside(let url): try dispatcher.bind(arguments, to: url, isForeign: true)
        }
    }
}

extension ServiceCall: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Client, method, route, and the types of the arguments. Their values are omitted, because they may be secrets.
    public var description: String { MaskedMirror.text(of: customMirror, type: "ServiceCall") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``, part by part. A dump shows no secrets.
    public var customMirror: Mirror {
        let place =
            switch target {
            case .route: SecretMask.text(ofURL: route ?? descriptor.route.text)
            case .encoded(let text): SecretMask.text(ofURL: text)
            case .link(let url), .outside(let url): SecretMask.text(of: url)
            }
        let types = arguments.map { MaskedMirror.typeName(of: $0) }
        return Mirror(
            self,
            children: [
                "client": MaskedMirror.typeName(of: client), "target": place, "descriptor": descriptor, "arguments": types,
                "labels": labels.values.sorted(),
            ])
    }
}

// Binds calls without a table entry to a service root and to headers with placeholders.
extension ServiceCall {
    /// The service root if it has placeholders and the call needs it.
    ///
    /// - Throws: ``ServiceError`` if the call has no value for a placeholder.
    func root(of state: ClientState, for name: MethodName) throws -> String? {
        if case .outside = target { return nil }
        guard let root = state.rootTemplate else { return nil }
        try check(
            Template.placeholders(in: root), for: name, of: state, in: "the service root",
            otherwise: "give the client a service root without placeholders")
        return root
    }

    /// The headers of client and class with placeholders that the call doesn't replace.
    ///
    /// - Throws: ``ServiceError`` if the call has no value for a placeholder.
    func commonHeaders(of state: ClientState, for name: MethodName) throws -> [HTTPFields.Field] {
        if case .outside = target { return [] }
        let headers = state.levels.templates[descriptor.method]
        guard !headers.isEmpty else { return [] }
        let replaced = Set(descriptor.headers.compactMap(\.name))
        for field in headers where !replaced.contains(field.name) {
            // Other text between the marks can't be a name, and may be part of a secret.
            let names = Template.placeholders(in: field.value).filter { $0.utf8.count <= 40 && HTTPFields.Name.isToken($0) }
            try check(
                names, for: name, of: state, in: "the header \(field.name)",
                otherwise: "replace the header with .header(\"\(field.name)\", …)")
        }
        return headers
    }

    private func check(
        _ placeholders: [String], for name: MethodName, of state: ClientState, in place: String, otherwise: String
    ) throws {
        for placeholder in placeholders {
            guard case .failure = ArgumentNames(name, ignoring: []).resolve(placeholder) else { continue }
            let isPosition = Int(placeholder) != nil
            let cause = ArgumentError(
                argument: isPosition ? "argument \(placeholder)" : "argument \"\(placeholder)\"", place: place,
                reason: "the call has no value for it. "
                    + (isPosition ? "Pass it after the route" : "Add .argument(\"\(placeholder)\", …) to the call") + ", or \(otherwise).")
            throw ServiceError(
                call: identity(in: state), stage: .binding, kind: .argument, message: cause.description, cause: cause)
        }
    }
}
