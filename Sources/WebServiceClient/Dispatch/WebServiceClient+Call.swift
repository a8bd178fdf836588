extension WebServiceClient {
    /// Calls the endpoint of the method that this stands in, and gives its value.
    ///
    ///     func repository(owner: String, name: String) async throws -> Repository { try await call(owner, name) }
    ///
    /// `Data` and `String` get the body as it is (an `ODataClient` reads them inside OData's JSON), an `Optional` is `nil` for 204, 205,
    /// empty bodies, and a 304 to a conditional GET or HEAD; anything else is decoded.
    ///
    /// - Parameters:
    ///   - arguments: the method's arguments, all of them and in their order, but for those that the descriptor ignores.
    ///   - prepare: changes the request, after the client's preparers.
    ///   - timeout: the deadline of the whole call.
    ///   - function: the key; leave it out.
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func call<Value: Decodable>(
        _ arguments: (any Sendable)?..., prepare: (@Sendable (inout ServiceRequest) async throws -> Void)? = nil,
        timeout: Duration? = nil, function: String = #function
    ) async throws -> Value {
        try await dispatcher(function, prepare, timeout).value(arguments)
    }

    /// Calls the endpoint of the method that this stands in, for its effect: the body is read and left.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func call(
        _ arguments: (any Sendable)?..., prepare: (@Sendable (inout ServiceRequest) async throws -> Void)? = nil,
        timeout: Duration? = nil, function: String = #function
    ) async throws {
        let _: NoContent = try await dispatcher(function, prepare, timeout).value(arguments)
    }

    /// Calls the endpoint of the method that this stands in, and gives the value with its response.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func call<Value: Decodable>(
        _ arguments: (any Sendable)?..., prepare: (@Sendable (inout ServiceRequest) async throws -> Void)? = nil,
        timeout: Duration? = nil, function: String = #function
    ) async throws -> ServiceResponse<Value> {
        try await dispatcher(function, prepare, timeout).response(arguments)
    }

    /// Calls the endpoint of the method that this stands in, and gives the body as it arrives.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func stream(
        _ arguments: (any Sendable)?..., prepare: (@Sendable (inout ServiceRequest) async throws -> Void)? = nil,
        timeout: Duration? = nil, function: String = #function
    ) async throws -> ServiceResponse<ResponseBody> {
        let dispatcher = try dispatcher(function, prepare, timeout)
        return try await dispatcher.stream(to: dispatcher.bind(arguments))
    }

    private func dispatcher(
        _ function: String, _ prepare: (@Sendable (inout ServiceRequest) async throws -> Void)?, _ timeout: Duration?
    ) throws -> Dispatcher {
        let state = state
        return Dispatcher(
            state: state, endpoint: try state.endpoint(for: function), options: CallOptions(prepare: prepare, timeout: timeout))
    }
}

/// Gives clients the members that need the subclass's own type.
public protocol ServiceClient: WebServiceClient {}

extension WebServiceClient: ServiceClient {}

extension ServiceClient {
    /// Gives the request that a call would send, without sending it: preparers and pre-emptive authentication run, the transport doesn't.
    ///
    /// Only calls of this client that the closure makes are caught, and the first one counts. What interceptors and authentication providers
    /// call on their way is sent: without a token the request wouldn't be the one that would be sent.
    ///
    ///     let request = try await github.dryRun { try await $0.repository(owner: "swiftlang", name: "swift") }
    ///
    /// - Parameters:
    ///   - isolation: the caller's, which the closure shares.
    ///   - body: makes the call.
    /// - Throws: ``DryRunError`` when the closure makes no call, ``ServiceError`` when the call fails before it would be sent.
    public func dryRun<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Self) async throws -> Result
    ) async throws -> ServiceRequest {
        let dryRun = DryRun(client: self)
        do {
            _ = try await DryRun.$current.withValue(dryRun) { try await body(self) }
        } catch {
            guard let request = dryRun.request else { throw error }
            return request
        }
        guard let request = dryRun.request else { throw DryRunError() }
        return request
    }
}
