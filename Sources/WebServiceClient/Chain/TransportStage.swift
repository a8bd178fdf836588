/// The end of the chain: checks each request a last time before the transport sends it.
///
/// It rejects header names that aren't tokens and control characters in values from any stage, because engines may not check them.
struct TransportStage: Sendable {
    let transport: any Transport
    /// The same transport if it can end exchanges when their calls are cancelled.
    private let cancellable: (any CancellableTransport)?
    /// The faults that a test injects in place of the transport.
    private let faults: FaultInjection?
    /// The clock of the total deadline.
    private let clock: CallClock

    init(transport: any Transport, clock: CallClock, faults: FaultInjection? = nil) {
        self.transport = transport
        self.faults = faults
        self.clock = clock
        cancellable = transport as? any CancellableTransport
    }

    @inline(__always)
    func send(_ request: ServiceRequest, _ context: CallContext) async throws -> TransportResponse {
        var request = request
        try prepare(&request, context)
        // A single call site for each way out, so that the function keeps little while it waits.
        var response =
            if faults == nil, let cancellable, cancellable.canCancel(request) {
                try await cancellable.send(request, cancellation: context.record.cancellation)
            } else {
                try await otherwise(request, context)
            }
        complete(&response, of: request, context)
        return response
    }

    /// Checks a request, and gives it what the transport needs of the call.
    private func prepare(_ request: inout ServiceRequest, _ context: CallContext) throws {
        try Self.check(request)
        try request.timeouts.check(transport.capabilities)
        if request.webSocket != nil { try Self.checkWebSocket(transport.capabilities) }
        if let trust = request.trust, !trust.isStandard { try prepare(trust, of: &request, context) }
        // `DryRun.current`: an interceptor may make a dry run of the same call's `next`.
        if let dryRun = context.dryRun ?? DryRun.current { throw dryRun.stop(at: request) }
        try Task.checkCancellation()
        if let progress = context.record.progress { request = progress.observing(request) }
    }

    /// Notes the answer to a request.
    private func complete(_ response: inout TransportResponse, of request: ServiceRequest, _ context: CallContext) {
        if let secrets = request.secrets { response.secrets = secrets }
        if let url = context.shownURL { response.url = url }
        context.record.isAnswered(by: response, to: request, exchange: context.exchange)
    }

    /// Sends a request with faults, or over a transport that can't cancel it.
    @inline(never)
    private func otherwise(_ request: ServiceRequest, _ context: CallContext) async throws -> TransportResponse {
        let cancellation = context.record.cancellation
        guard let faults else { return try await cancelled(with: cancellation, request) }
        return try await faults.response(to: request, context) { try await cancelled(with: cancellation, request) }
    }

    /// Sends a request over a transport that only ends an exchange when its task is cancelled. Such a transport, a stub for example, may
    /// not keep the total deadline either: then the exchange ends here, if the head of the response hasn't arrived.
    private func cancelled(with cancellation: CallCancellation, _ request: ServiceRequest) async throws -> TransportResponse {
        let deadline = request.end.map { end in
            ChildWork.Deadline(instant: end, clock: clock) { ChildWork.timedOut(request) }
        }
        let response = try await ChildWork.run(unless: cancellation, until: deadline) { try await transport.send(request) }
        // The record forgets the handler when the call ends.
        if let cancel = response.body.canceller { _ = cancellation.onCancel(cancel) }
        return response
    }

    /// Restricts the client's identity to the origin of the service root, like credentials, even if a stage changed the URL or the policy.
    /// Throws if the transport would ignore the policy.
    private func prepare(_ trust: TrustPolicy, of request: inout ServiceRequest, _ context: CallContext) throws {
        if trust.identity != nil, context.isForeign || request.origin == nil || request.origin != context.serviceOrigin {
            request.trust = trust.withoutIdentity
        }
        try request.trust?.check(transport.capabilities, callTo: request.origin)
    }

    /// Throws if the transport would send the handshake of a WebSocket as a plain request.
    @inline(never)
    private static func checkWebSocket(_ capabilities: TransportCapabilities) throws {
        guard !capabilities.contains(.webSockets) else { return }
        throw TransportError(
            .unsupported, "This transport opens no WebSockets: give the client a CurlTransport, or the default transport of the platform.")
    }

    private static func check(_ request: ServiceRequest) throws {
        if request.commonFields?.areValid != true { try check(request.headers) }
        guard request.method.isValid else {
            throw InvalidRequest(message: "\"\(request.method)\" isn't a valid method: use only letters, digits and !#$%&'*+-.^_`|~.")
        }
        // Some transports don't check this.
        if let fault = RequestRules.fault(of: request.body) { throw InvalidRequest(message: fault) }
    }

    private static func check(_ headers: HTTPFields) throws {
        for field in headers where !field.isValid {
            guard field.name.isValid else {
                throw InvalidRequest(
                    message: "\"\(field.name.rawName)\" isn't a valid header name: use only letters, digits and !#$%&'*+-.^_`|~.")
            }
            guard !HTTPFields.Field.hasControls(field.value) else {
                throw InvalidRequest(message: "The value of the header \(field.name) \(HTTPFields.Field.fault(of: field.value)).")
            }
            throw InvalidRequest(message: RequestRules.blankType)
        }
    }
}

/// The error of an invalid request.
public struct InvalidRequest: DescribedError, Sendable {
    /// The fault and its fix.
    public let message: String

    init(message: String) {
        self.message = VisibleText.of(message)
    }

    /// The message.
    public var description: String { message }
}
