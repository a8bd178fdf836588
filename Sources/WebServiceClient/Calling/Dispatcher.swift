import Foundation

/// Runs one call: binds, sends through the chain, reads, judges, decodes. Every error that it throws names the call.
///
/// The async functions of the common path are inlined, here and in the chain's stages. An async function queries the runtime for its
/// executor on each entry and return, under the task's lock; without inlining, a call makes about forty such queries. Their other parts
/// are functions that aren't inlined: whatever an async function contains is memory that each call holds until its response arrives.
struct Dispatcher: Sendable {
    let state: ClientState
    let endpoint: ResolvedEndpoint
    let options: CallOptions
    /// The beginning of the call, by the clock of the stages that keep its deadline.
    var started: MonotonicInstant

    init(state: ClientState, endpoint: ResolvedEndpoint, options: CallOptions = .none) {
        self.state = state
        self.endpoint = endpoint
        self.options = options
        started = state.runtime.clock.now()
    }

    /// The result of the chain, before the response's body is read. A class, because a call that waits keeps what it copies.
    final class Exchange: Sendable {
        let record: CallRecord
        /// The last request sent: prepared and redirected, but without what authentication adds.
        let request: ServiceRequest
        let response: TransportResponse
        /// The wait that the response asks for, if it is a failure.
        let askedWait: Duration?
        /// Whether an error handler accepted an exchange without a response.
        let isAcceptedFailure: Bool

        init(
            record: CallRecord, request: ServiceRequest, response: TransportResponse, askedWait: Duration? = nil,
            isAcceptedFailure: Bool = false
        ) {
            self.record = record
            self.request = request
            self.response = response
            self.askedWait = askedWait
            self.isAcceptedFailure = isAcceptedFailure
        }

        /// The request with all secrets that the response may repeat, for errors.
        var requestOfErrors: ServiceRequest {
            var request = request
            request.secrets = record.secrets(adding: request.secrets)
            return request
        }
    }

    // MARK: Results

    /// Performs a call and returns its value.
    @inline(__always)
    func value<Value: Decodable>(_ arguments: [(any Sendable)?]) async throws -> Value {
        if let result = ResultKind.stream(Value.self) { return try await streamed(result, as: Value.self, to: bind(arguments)).value }
        return try await received(bind(arguments)).value
    }

    /// Performs a call and returns its value with the response.
    @inline(__always)
    func response<Value: Decodable>(_ arguments: [(any Sendable)?]) async throws -> ServiceResponse<Value> {
        try await response(to: try bind(arguments))
    }

    /// Sends a bound request and returns its value with the response.
    @inline(__always)
    func response<Value: Decodable>(to bound: BoundRequest) async throws -> ServiceResponse<Value> {
        if let result = ResultKind.stream(Value.self) { return try await streamed(result, as: Value.self, to: bound) }
        let (value, response): (Value, _) = try await received(bound)
        var result = ServiceResponse(
            value: value, status: response.status, headers: response.headers, url: response.url,
            duration: state.runtime.clock.now() - started,
            httpVersion: response.httpVersion, report: response.report)
        result.secrets = response.secrets
        result.source = response.source
        return result
    }

    /// Sends a bound request, reads and judges the response, and decodes the value.
    @inline(__always)
    private func received<Value: Decodable>(_ bound: BoundRequest) async throws -> (value: Value, response: TransportResponse) {
        let (record, place) = try begin(bound)
        defer { end(place) }
        let turn = record.attributes.isEmpty ? nil : record.attributes[OfferedTurn.self]?.take()
        var reader = ResponseReader(endpoint: endpoint, exchange: try await send(turned(bound, by: turn, record), record))
        do {
            let body = try await read(&reader)
            try await reader.judge(body, takesEmpty: ResultKind.takesEmpty(Value.self))
            let value = try completed(Value.self, from: body, reader, turn)
            return (value, reader.exchange.response)
        } catch {
            throw ended(error, reader)
        }
    }

    /// Decodes the value of a successful call. From then on the call can't be cancelled any more.
    @inline(never)
    private func completed<Value: Decodable>(
        _ type: Value.Type, from body: Data, _ reader: ResponseReader, _ turn: (any CallTurn)?
    ) throws -> Value {
        try checkCancellation()
        let value = try reader.decode(type, from: body)
        turn?.note(body, by: reader)
        try checkCancellation()
        if let cause = reader.exchange.record.cancellation.finish() { throw cause }
        state.canary?.note(endpoint.plan.key, error: nil, generation: state.profileGeneration)
        return value
    }

    /// Ends a call after an error in its response. Cancellation takes precedence over any other error.
    @inline(never)
    private func ended(_ error: any Error, _ reader: ResponseReader) -> any Error {
        if let cause = reader.exchange.record.cancellation.finish() { return reader.ended(by: cause, error) }
        if Task.isCancelled { return CancellationError() }
        state.canary?.note(endpoint.plan.key, error: error, generation: state.profileGeneration)
        return error
    }

    /// Returns the complete body. If the body ends early, the error handler decides, as for any failed exchange; if it accepts, the body is
    /// empty.
    @inline(__always)
    private func read(_ reader: inout ResponseReader) async throws -> Data {
        do {
            return try await reader.body()
        } catch let failure as ServiceError {
            reader = try await accepted(failure, reader)
            return Data()
        }
    }

    /// Asks the error handler about a body that ended early, and returns an empty response if it accepts.
    @inline(never)
    private func accepted(_ failure: ServiceError, _ reader: ResponseReader) async throws -> ResponseReader {
        let exchange = reader.exchange
        guard let handler = endpoint.settings.errorHandler, exchange.record.cancellation.cause == nil else { throw failure }
        return ResponseReader(
            endpoint: endpoint, exchange: try await judge(failure, with: handler, request: exchange.request, exchange.record))
    }

    // MARK: Sending

    /// A request with the details that the chain needs.
    struct BoundRequest: Sendable {
        var request: ServiceRequest
        var origin: Origin?
        var isForeign = false
        var cacheIdentifier: String?
        /// The identifier of the endpoint's template.
        var identifier: CallIdentifier?
        /// Whether the caller reads the body as a stream.
        var isStream = false
    }

    /// Binds a call to a path below the service root.
    ///
    /// - Parameter target: The percent-encoded path and query that replace the endpoint's.
    @inline(never)
    func bind(_ arguments: [(any Sendable)?], target: String? = nil) throws -> BoundRequest {
        var binder = RequestBinder(endpoint, arguments, target: target)
        if endpoint.plan.serviceRoot != nil { binder.allowedOrigins = state.allowedOrigins }
        do {
            let (request, origin) = try binder.request(root: state.root)
            return BoundRequest(
                request: request, origin: origin, cacheIdentifier: try binder.cacheIdentifier(), identifier: try binder.identifier())
        } catch {
            // The arguments may not fit the route of a new profile.
            state.canary?.noteUnbound(endpoint.plan.key, generation: state.profileGeneration)
            throw wrap(error, stage: .binding, request: nil, secrets: binder.secrets)
        }
    }

    /// Binds a call to an absolute URL. Query items, headers and body are bound as usual; the URL is used unchanged.
    func bind(_ arguments: [(any Sendable)?], to url: URL, isForeign: Bool) throws -> BoundRequest {
        let binder = RequestBinder(endpoint, arguments)
        let url = ServiceRoot.withoutWebSocketScheme(url)
        do {
            guard let origin = Origin(url), origin.scheme == "http" || origin.scheme == "https" else {
                throw InvalidRequest(message: "\"\(SecretMask.text(of: url))\" isn't an absolute http or https URL: give one.")
            }
            let service = try isForeign ? state.root?.origin : (state.root ?? binder.boundRoot())?.origin
            guard isForeign || origin == service || state.allowedOrigins.contains(origin) else {
                throw InvalidRequest(
                    message:
                        "\(SecretMask.text(of: url)) leaves the service's origin; use http.request(outside:), which sends no credentials."
                )
            }
            let request = try binder.request(absolute: url, isForeign: isForeign)
            return BoundRequest(
                request: request, origin: service, isForeign: isForeign, cacheIdentifier: try binder.cacheIdentifier(),
                identifier: try binder.identifier())
        } catch {
            throw wrap(error, stage: .binding, request: nil, secrets: binder.secrets)
        }
    }

    /// Begins a call: from here on it is listed, and can be cancelled.
    ///
    /// - Returns: The call's record and its place in the list; a dry run isn't listed.
    @inline(never)
    func begin(_ bound: BoundRequest) throws -> (CallRecord, LiveCalls.Place?) {
        let attributes = attributes
        if !attributes.isEmpty { try checkAddedAttributes() }
        let record = record(
            of: bound, attributes, success: endpoint.success,
            identifier: attributes.isEmpty ? bound.identifier : try identifier(bound, attributes))
        if let dryRun = DryRun.current, dryRun.isPending {
            if dryRun.catches(state.client) {
                try dryRun.take(CapturedCall(dispatcher: self, bound: bound, attributes: attributes))
                return (record, nil)
            }
            try check(bound, against: dryRun)
        }
        return (record, try list(record, bound))
    }

    /// Refuses a call whose own attributes make no sense, as a client with such settings refuses all calls.
    @inline(never)
    private func checkAddedAttributes() throws {
        guard let added = CallAttributes.current?.attributes(for: state.client) else { return }
        var settings = EndpointSettings()
        settings.attributes = added
        // The digest stage refuses an invalid one as a fault of the request.
        settings.attributes[ExpectedDigest.self] = nil
        let key = endpoint.identity.key
        let faults = SettingsCheck.faults(settings, key: key) + RetryCheck.faults(added, key: key)
        guard faults.isEmpty else { throw state.tableError(faults, call: endpoint.identity, isOwn: true) }
    }

    /// Refuses a call that isn't the one that an enclosing request needs.
    @inline(never)
    func check(_ bound: BoundRequest, against dryRun: DryRun?) throws {
        guard let refusal = dryRun?.refusal(of: state.client) else { return }
        throw wrap(refusal, stage: .binding, request: bound.request)
    }

    /// The handle that the call belongs to; `nil` without a handle.
    @inline(__always)
    var run: CallRun? { CallRun.current.flatMap { $0.client == state.client ? $0 : nil } }

    /// Creates the record of a bound request.
    @inline(__always)
    func record(
        of bound: BoundRequest, _ attributes: EndpointAttributes, success: StatusSet, identifier: CallIdentifier?
    ) -> CallRecord {
        CallRecord(
            identity: endpoint.identity, attributes: attributes, serviceOrigin: bound.origin, isForeign: bound.isForeign,
            cacheIdentifier: bound.cacheIdentifier, diagnostics: state.configuration.diagnostics,
            outside: bound.isForeign ? bound.request : nil, hasURLBuilder: endpoint.settings.urlBuilder != nil, success: success,
            identifier: identifier, isStream: bound.isStream, bodyLimit: endpoint.bodyLimit, progress: run?.progress,
            profileGeneration: state.profileGeneration)
    }

    /// Lists a call: from here on it can be cancelled.
    @inline(__always)
    func list(_ record: CallRecord, _ bound: BoundRequest) throws -> LiveCalls.Place {
        do {
            let place = try state.runtime.calls.begin(record, started: started)
            run?.attach(record)
            return place
        } catch {
            throw wrap(error, stage: .chain, request: bound.request)
        }
    }

    func end(_ place: LiveCalls.Place?) {
        if let place { state.runtime.calls.end(place) }
    }

    /// Returns a function that ends a call with its body, once.
    func ending(_ record: CallRecord, _ place: LiveCalls.Place?) -> @Sendable () -> Void {
        let hasEnded = Locked(false)
        return {
            let isFirst = hasEnded.withLock { hasEnded in
                defer { hasEnded = true }
                return !hasEnded
            }
            guard isFirst else { return }
            _ = record.cancellation.finish()
            end(place)
        }
    }

    /// The identifier of the call's attributes, or else of the endpoint's template.
    private func identifier(_ bound: BoundRequest, _ attributes: EndpointAttributes) throws -> CallIdentifier? {
        guard let own = attributes[CallIdentifier.self] else { return bound.identifier }
        guard !own.text.isEmpty else {
            throw wrap(
                InvalidRequest(message: "The call's identifier is empty: give the attribute CallIdentifier a text."), stage: .binding,
                request: bound.request)
        }
        return own
    }

    /// Returns the request of one call of a series, or the request itself.
    @inline(never)
    private func turned(_ bound: BoundRequest, by turn: (any CallTurn)?, _ record: CallRecord) throws -> BoundRequest {
        guard let turn else { return bound }
        do {
            return try turn.changed(bound, record.attributes, allowedOrigins: state.allowedOrigins)
        } catch {
            _ = record.cancellation.finish()
            throw wrap(error, stage: .binding, request: bound.request)
        }
    }

    /// Sends a request through the chain.
    @inline(__always)
    func send(_ bound: BoundRequest, _ record: CallRecord) async throws -> Exchange {
        let (request, context) = start(bound, record)
        do {
            try checkCancellation()
            try record.cancellation.check()
            return exchange(record, request, try await response(to: request, context))
        } catch {
            return try await judged(error, of: request, record)
        }
    }

    /// The request with the call's deadline, and the context that it passes through the chain with.
    @inline(never)
    private func start(_ bound: BoundRequest, _ record: CallRecord) -> (ServiceRequest, CallContext) {
        var request = bound.request
        if let timeout = options.timeout { request.timeouts.total = timeout }
        if let total = request.timeouts.total { request.end = started.advanced(by: total) }
        var context = CallContext(record)
        context.prepare = options.prepare
        return (request, context)
    }

    @inline(never)
    private func exchange(_ record: CallRecord, _ request: ServiceRequest, _ response: TransportResponse) -> Exchange {
        let end = record.end
        return Exchange(record: record, request: end.request ?? request, response: response, askedWait: end.askedWait)
    }

    /// Wraps the error of a call without a response, and asks the error handler about it.
    @inline(never)
    private func judged(_ error: any Error, of bound: ServiceRequest, _ record: CallRecord) async throws -> Exchange {
        let last = record.exchange
        var request = last?.request ?? bound
        request.secrets = record.secrets(adding: request.secrets)
        // A call that is cancelled now can't fail in another way any more, and the error handler isn't asked.
        let cause = record.cancellation.cause
        let wrapped = wrap(
            cause ?? error, stage: .chain, request: request, answer: last?.answer, askedWait: record.end.askedWait,
            isByProvider: record.hasProviderFailed)
        guard cause == nil, let handler = endpoint.settings.errorHandler, let failure = wrapped as? ServiceError else {
            _ = record.cancellation.finish()
            throw wrapped
        }
        do {
            return try await judge(failure, with: handler, request: request, record)
        } catch {
            guard let cause = record.cancellation.finish() else { throw error }
            throw wrap(cause, stage: .chain, request: request, answer: last?.answer)
        }
    }

    /// The attributes of the endpoint, overridden by those of the call.
    var attributes: EndpointAttributes {
        let own = endpoint.settings.attributes
        guard let added = CallAttributes.current?.attributes(for: state.client) else { return own }
        return own.overlaid(by: added)
    }

    /// Sends a request through the chain and returns the response. A dry run of this client is passed on in the context. The task-local
    /// values are cleared: calls that interceptors make are sent, and don't inherit attributes.
    @inline(__always)
    private func response(to request: ServiceRequest, _ context: CallContext) async throws -> TransportResponse {
        if DryRun.current == nil, CallAttributes.current == nil, CallRun.current == nil { return try await chain(request, context) }
        return try await responseWithoutLocals(to: request, context)
    }

    @inline(never)
    private func responseWithoutLocals(to request: ServiceRequest, _ context: CallContext) async throws -> TransportResponse {
        var context = context
        if let dryRun = DryRun.current, dryRun.catches(state.client) {
            if let answer = dryRun.takeAnswer(to: request) { return answer }
            if dryRun.isPending { context.dryRun = dryRun }
        }
        return try await DryRun.$current.withValue(nil) { [context] in
            try await CallAttributes.$current.withValue(nil) {
                try await CallRun.$current.withValue(nil) { try await chain(request, context) }
            }
        }
    }

    /// Runs the chain. If the call has a total deadline and code of the program takes part, which may wait for anything, a task of its own
    /// keeps the deadline. Otherwise each stage and the transport keep it.
    @inline(__always)
    private func chain(_ request: ServiceRequest, _ context: CallContext) async throws -> TransportResponse {
        let chain = context.attributes.isEmpty && context.record.identifier == nil ? state.chain.plain : state.chain.full
        guard let end = request.end, context.prepare != nil || state.runsOtherCode else { return try await chain(request, context) }
        return try await runUntil(end, request, context, chain)
    }

    /// Runs the chain in a task that ends at the deadline.
    @inline(never)
    private func runUntil(
        _ end: MonotonicInstant, _ request: ServiceRequest, _ context: CallContext, _ chain: @escaping NextInterceptor
    ) async throws -> TransportResponse {
        let deadline = ChildWork.Deadline(instant: end, clock: state.runtime.clock) { ChildWork.timedOut(request) }
        return try await ChildWork.run(unless: context.record.cancellation, until: deadline) { try await chain(request, context) }
    }

    /// Asks the error handler about an exchange without a response.
    private func judge(
        _ failure: ServiceError, with handler: any ErrorHandler, request: ServiceRequest, _ record: CallRecord
    ) async throws -> Exchange {
        let outcome = CallOutcome(
            call: endpoint.identity, request: request, result: .failure(failure.cause ?? failure), isSuccess: false)
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
            return Exchange(
                record: record, request: request, response: TransportResponse(status: 0, url: request.url), isAcceptedFailure: true)
        }
    }

    func checkCancellation() throws {
        if Task.isCancelled { throw CancellationError() }
    }

    /// Wraps any error in a ``ServiceError`` of this call. Cancellation and dry runs pass unchanged.
    func wrap(
        _ error: any Error, stage: ServiceError.Stage, request: ServiceRequest?, answer: CallRecord.Answer? = nil,
        askedWait: Duration? = nil, secrets: RequestSecrets? = nil, isByProvider: Bool = false
    ) -> any Error {
        let secrets = request?.secrets ?? secrets
        let response = answer.map {
            ResponseSummary(
                status: $0.status, headers: $0.headers, url: $0.url, body: Data(), isCut: true, secrets: secrets, askedWait: askedWait)
        }
        return ErrorWrapper(call: endpoint.identity, request: request, response: response, secrets: secrets, isByProvider: isByProvider)
            .wrap(error, stage: stage)
    }
}
