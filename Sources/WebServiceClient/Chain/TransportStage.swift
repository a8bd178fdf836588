/// The end of the chain: the last look at a request before the transport gets it.
///
/// A header name that is no token, and control characters in a value, end here, whoever set them: no engine is trusted with them.
struct TransportStage: Sendable {
    let transport: any Transport

    @inline(__always)
    func send(_ request: ServiceRequest, _ context: CallContext) async throws -> TransportResponse {
        try Self.check(request)
        try request.timeouts.check(transport.capabilities)
        if let trust = request.trust, !trust.isStandard {
            var request = request
            try prepare(trust, of: &request, context)
            return try await exchange(request, context)
        }
        return try await exchange(request, context)
    }

    @inline(__always)
    private func exchange(_ request: ServiceRequest, _ context: CallContext) async throws -> TransportResponse {
        // The second one: an interceptor may make a dry run of its own call's `next`.
        if let dryRun = context.dryRun ?? DryRun.current { throw dryRun.stop(at: request) }
        try Task.checkCancellation()
        var response = try await transport.send(request)
        if let secrets = request.secrets { response.secrets = secrets }
        context.record.isAnswered(by: response, exchange: context.exchange)
        return response
    }

    /// A client's identity goes where its credentials go: to the origin of the service root, and nowhere else, whoever has set the URL or
    /// the policy on the way. A policy that the transport would ignore ends the call.
    private func prepare(_ trust: TrustPolicy, of request: inout ServiceRequest, _ context: CallContext) throws {
        if trust.identity != nil, context.isForeign || request.origin == nil || request.origin != context.serviceOrigin {
            request.trust = trust.withoutIdentity
        }
        try request.trust?.check(transport.capabilities, callTo: request.origin)
    }

    private static func check(_ request: ServiceRequest) throws {
        if request.commonFields?.areValid != true { try check(request.headers) }
        guard request.method.isValid else {
            throw InvalidRequest(message: "\"\(request.method)\" is no method: only letters, digits and !#$%&'*+-.^_`|~ may stand in it.")
        }
        // Also for transports that don't look.
        if let fault = RequestRules.fault(of: request.body) { throw InvalidRequest(message: fault) }
    }

    private static func check(_ headers: HTTPFields) throws {
        for field in headers {
            guard field.name.isValid else {
                throw InvalidRequest(
                    message: "\"\(field.name.rawName)\" is no header name: only letters, digits and !#$%&'*+-.^_`|~ may stand in it.")
            }
            guard !HTTPFields.Field.hasControls(field.value) else {
                throw InvalidRequest(message: "The value of the header \(field.name) \(HTTPFields.Field.fault(of: field.value)).")
            }
            guard field.isValid else { throw InvalidRequest(message: RequestRules.blankType) }
        }
    }
}

/// A request that can't be sent as it stands.
public struct InvalidRequest: DescribedError, Sendable {
    /// What is wrong and what to do.
    public let message: String

    init(message: String) {
        self.message = VisibleText.of(message)
    }

    /// The message.
    public var description: String { message }
}
