import Foundation

/// Runs one call: binds, sends through the chain, reads, judges, decodes. Every error that leaves it says which call it was.
///
/// What most calls pass is inlined, here and in the chain's stages: an asynchronous function asks the runtime for its executor as it is
/// entered and as it is returned to, under the task's lock, and a call had some forty such questions.
struct Dispatcher: Sendable {
    let state: ClientState
    let endpoint: ResolvedEndpoint
    let options: CallOptions
    let started = MonotonicInstant.now

    init(state: ClientState, endpoint: ResolvedEndpoint, options: CallOptions = .none) {
        self.state = state
        self.endpoint = endpoint
        self.options = options
    }

    /// What came back from the chain, the body still unread.
    struct Exchange: Sendable {
        /// As it was sent at last: prepared, and to where redirects led, without what authentication adds.
        let request: ServiceRequest
        let response: TransportResponse
        /// Whether an error handler accepted an exchange that brought no response.
        var isAcceptedFailure = false
    }

    // MARK: Results

    /// The value of a call.
    @inline(__always)
    func value<Value: Decodable>(_ arguments: [(any Sendable)?]) async throws -> Value {
        try await received(bind(arguments)).value
    }

    /// The value of a call with its response.
    @inline(__always)
    func response<Value: Decodable>(_ arguments: [(any Sendable)?]) async throws -> ServiceResponse<Value> {
        try await response(to: try bind(arguments))
    }

    /// The value of a bound request with its response.
    @inline(__always)
    func response<Value: Decodable>(to bound: BoundRequest) async throws -> ServiceResponse<Value> {
        let (value, response): (Value, _) = try await received(bound)
        var result = ServiceResponse(
            value: value, status: response.status, headers: response.headers, url: response.url, duration: MonotonicInstant.now - started,
            httpVersion: response.httpVersion, report: response.report)
        result.secrets = response.secrets
        return result
    }

    /// The value of a bound request, and the response that it was in.
    @inline(__always)
    private func received<Value: Decodable>(_ bound: BoundRequest) async throws -> (value: Value, response: TransportResponse) {
        var reader = ResponseReader(endpoint: endpoint, exchange: try await send(bound))
        do {
            let body = try await read(&reader)
            try await reader.judge(body, takesEmpty: ResultKind.takesEmpty(Value.self))
            try checkCancellation()
            let value = try reader.decode(Value.self, from: body)
            try checkCancellation()
            return (value, reader.exchange.response)
        } catch {
            // Cancelled is cancelled, whatever else went wrong meanwhile.
            try checkCancellation()
            throw error
        }
    }

    /// All of the body. The error handler is asked about one that breaks off, as about any exchange that fails.
    @inline(__always)
    private func read(_ reader: inout ResponseReader) async throws -> Data {
        do {
            return try await reader.body()
        } catch let failure as ServiceError {
            guard let handler = endpoint.settings.errorHandler else { throw failure }
            reader = ResponseReader(
                endpoint: endpoint, exchange: try await judge(failure, with: handler, request: reader.exchange.request))
            return Data()
        }
    }

    // MARK: Sending

    /// A request with what the chain needs to know of it.
    struct BoundRequest: Sendable {
        var request: ServiceRequest
        var origin: Origin?
        var isForeign = false
        var cacheIdentifier: String?
    }

    /// The request of a call beneath the service root.
    ///
    /// - Parameter target: the path and query, percent-encoded, in place of the endpoint's.
    func bind(_ arguments: [(any Sendable)?], target: String? = nil) throws -> BoundRequest {
        let binder = RequestBinder(endpoint, arguments, target: target)
        do {
            let (request, origin) = try binder.request(root: state.root)
            return BoundRequest(request: request, origin: origin, cacheIdentifier: try binder.cacheIdentifier())
        } catch {
            throw wrap(error, stage: .binding, request: nil, secrets: binder.secrets)
        }
    }

    /// The request of a call to an absolute URL: query items, headers and body are bound as ever, the URL is taken as it is.
    func bind(_ arguments: [(any Sendable)?], to url: URL, isForeign: Bool) throws -> BoundRequest {
        let binder = RequestBinder(endpoint, arguments)
        do {
            guard let origin = Origin(url), origin.scheme == "http" || origin.scheme == "https" else {
                throw InvalidRequest(message: "\"\(SecretMask.text(of: url))\" is no absolute http or https URL.")
            }
            let service = try isForeign ? state.root?.origin : (state.root ?? binder.boundRoot())?.origin
            guard isForeign || origin == service || state.allowedOrigins.contains(origin) else {
                throw InvalidRequest(
                    message:
                        "The link \(SecretMask.text(of: url)) leaves the service's origin; call it with http.request(outside:), without credentials."
                )
            }
            let request = try binder.request(absolute: url, isForeign: isForeign)
            return BoundRequest(
                request: request, origin: service, isForeign: isForeign, cacheIdentifier: try binder.cacheIdentifier())
        } catch {
            throw wrap(error, stage: .binding, request: nil, secrets: binder.secrets)
        }
    }

    /// Sends a request through the chain.
    @inline(__always)
    func send(_ bound: BoundRequest) async throws -> Exchange {
        var request = bound.request
        if let timeout = options.timeout { request.timeouts.total = timeout }
        if let total = request.timeouts.total { request.end = started.advanced(by: total) }
        var context = CallContext(
            CallRecord(
                identity: endpoint.identity, attributes: endpoint.settings.attributes, serviceOrigin: bound.origin,
                isForeign: bound.isForeign, cacheIdentifier: bound.cacheIdentifier, diagnostics: state.configuration.diagnostics,
                outside: bound.isForeign ? request : nil, hasURLBuilder: endpoint.settings.urlBuilder != nil))
        context.prepare = options.prepare
        do {
            try checkCancellation()
            let response = try await response(to: request, &context)
            return Exchange(request: context.record.request ?? request, response: response)
        } catch {
            let last = context.record.exchange
            request = last?.request ?? request
            let wrapped = wrap(
                error, stage: .chain, request: request, answer: last?.answer, isByProvider: context.record.hasProviderFailed)
            guard let handler = endpoint.settings.errorHandler, let failure = wrapped as? ServiceError else { throw wrapped }
            return try await judge(failure, with: handler, request: request)
        }
    }

    /// What the chain answers. A dry run of this client goes along in the context, and none is seen by what is called inside the chain.
    @inline(__always)
    private func response(to request: ServiceRequest, _ context: inout CallContext) async throws -> TransportResponse {
        guard let dryRun = DryRun.current else { return try await state.chain(request, context) }
        if dryRun.catches(state.client) { context.dryRun = dryRun }
        return try await DryRun.$current.withValue(nil) { [context] in try await state.chain(request, context) }
    }

    /// Asks the error handler about an exchange that brought no response.
    private func judge(_ failure: ServiceError, with handler: any ErrorHandler, request: ServiceRequest) async throws -> Exchange {
        let outcome = CallOutcome(
            call: endpoint.identity, request: RequestSummary(request), result: .failure(failure.cause ?? failure), isSuccess: false)
        switch await handler.verdict(on: outcome) {
        case .default:
            throw failure
        case .fail(let cause):
            var refused = failure
            refused.kind = .refused
            refused.message = ServiceError.masked("The error handler refused the outcome: \(ServiceError.text(of: cause))", refused.secrets)
            refused.cause = cause
            refused.errorBody = (cause as? any ErrorBodyCarrier)?.anyBody
            throw refused
        case .accept:
            return Exchange(request: request, response: TransportResponse(status: 0, url: request.url), isAcceptedFailure: true)
        }
    }

    func checkCancellation() throws {
        if Task.isCancelled { throw CancellationError() }
    }

    /// Any error as a ``ServiceError`` of this call; cancellation and dry runs pass as they are.
    private func wrap(
        _ error: any Error, stage: ServiceError.Stage, request: ServiceRequest?, answer: CallRecord.Answer? = nil,
        secrets: RequestSecrets? = nil, isByProvider: Bool = false
    ) -> any Error {
        let secrets = request?.secrets ?? secrets
        let response = answer.map {
            ResponseSummary(status: $0.status, headers: $0.headers, url: $0.url, body: Data(), isCut: true, secrets: secrets)
        }
        return ErrorWrapper(call: endpoint.identity, request: request, response: response, secrets: secrets, isByProvider: isByProvider)
            .wrap(error, stage: stage)
    }
}

// Bodies that are read as they arrive.
extension Dispatcher {
    /// The body of a call as it arrives, whose reader fails as the call itself does; failures are judged with the first 64 KiB of theirs.
    func stream(to bound: BoundRequest) async throws -> ServiceResponse<ResponseBody> {
        var bound = bound
        // Nothing is parsed.
        if !endpoint.hasOwnAccept { bound.request.headers[.accept] = "*/*" }
        let (response, reader) = try await streamWithReader(to: bound)
        return response.map { $0.failing(as: reader.broken) }
    }

    /// The same, with what makes the call's errors of whatever goes wrong while the body is read.
    ///
    /// - Parameter limit: how much of a failure's body is judged, in bytes.
    func streamWithReader(
        to bound: BoundRequest, failuresUpTo limit: Int = ResponseSummary.bodyLimit
    ) async throws -> (response: ServiceResponse<ResponseBody>, reader: ResponseReader) {
        let exchange = try await send(bound)
        let reader = ResponseReader(endpoint: endpoint, exchange: exchange)
        let body: ResponseBody
        do {
            body = try await reader.judgedStream(failuresUpTo: limit)
            try checkCancellation()
        } catch {
            try checkCancellation()
            throw error
        }
        let response = exchange.response
        var result = ServiceResponse(
            value: body, status: response.status, headers: response.headers, url: response.url,
            duration: MonotonicInstant.now - started, httpVersion: response.httpVersion, report: response.report)
        result.secrets = response.secrets
        return (result, reader)
    }
}
