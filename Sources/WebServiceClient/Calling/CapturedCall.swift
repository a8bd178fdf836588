import Foundation

/// A bound call from which a transfer makes its requests. A closure of the program makes the call, which isn't sent itself.
///
/// Each request passes through the whole chain, with the call's attributes and total deadline. The requests don't have the endpoint's
/// identifier, because requests with the same identifier would replace each other.
struct CapturedCall: Sendable {
    let dispatcher: Dispatcher
    /// The bound request.
    var bound: Dispatcher.BoundRequest
    /// The attributes of endpoint and call.
    var attributes: EndpointAttributes

    /// A successful response, or one whose status the transfer judges.
    struct Answer: Sendable {
        let response: TransportResponse
        let reader: ResponseReader
        /// The body. Its errors are reported as errors of the call.
        var body: ResponseBody { response.body.failing(as: reader.broken) }
    }

    var clock: CallClock { dispatcher.state.runtime.clock }
    var diagnostics: Diagnostics { dispatcher.state.configuration.diagnostics }
    var identity: CallIdentity { dispatcher.endpoint.identity }

    /// The retry policy of the call.
    var retryPolicy: RetryPolicy {
        let policy = attributes[RetryPolicy.self] ?? dispatcher.state.configuration.retry
        return attributes[Solicited.self]?.isSolicited == true ? policy.solicited : policy
    }

    /// The end of the call's total time.
    var end: MonotonicInstant? {
        let total = dispatcher.options.timeout ?? bound.request.timeouts.total
        return total.map(dispatcher.started.advanced)
    }

    /// The progress of the handle that the call belongs to; `nil` without a handle.
    var progress: CallProgress? { dispatcher.run?.progress }

    /// Captures the first call that a closure makes with a client.
    ///
    /// - Returns: `nil` if the closure makes none.
    /// - Throws: The closure's error if it makes no call.
    static func of<Client: WebServiceClient, Result>(
        _ client: Client, isolation: isolated (any Actor)? = #isolation, _ body: (Client) async throws -> Result
    ) async throws -> CapturedCall? {
        let captured = Locked<CapturedCall?>(nil)
        let dryRun = DryRun(client: client) { call in captured.withLock { $0 = $0 ?? call as? CapturedCall } }
        do {
            _ = try await DryRun.$current.withValue(dryRun) { try await body(client) }
        } catch {
            guard let call = captured.withLock({ $0 }) else { throw error }
            return call
        }
        return captured.withLock { $0 }
    }

    /// Captures a call without a table entry.
    init(_ call: ServiceCall) throws {
        dispatcher = try call.dispatcher()
        bound = try call.bound(dispatcher)
        attributes = dispatcher.attributes
    }

    init(dispatcher: Dispatcher, bound: Dispatcher.BoundRequest, attributes: EndpointAttributes) {
        (self.dispatcher, self.bound, self.attributes) = (dispatcher, bound, attributes)
    }

    /// Sends a request of the call.
    ///
    /// - Parameters:
    ///   - own: The statuses that the transfer judges itself. Neither the error handler nor the retry stage sees them as failures.
    ///   - change: Changes the bound request.
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    func send(judging own: StatusSet, _ change: (inout ServiceRequest) -> Void) async throws -> Answer {
        var bound = bound
        (bound.isStream, bound.identifier, bound.cacheIdentifier) = (true, nil, nil)
        change(&bound.request)
        try dispatcher.check(bound, against: DryRun.current)
        let endpoint = dispatcher.endpoint
        let record = dispatcher.record(of: bound, attributes, success: endpoint.success.union(own), identifier: nil)
        let end = dispatcher.ending(record, try dispatcher.list(record, bound))
        do {
            let exchange = try await dispatcher.send(bound, record)
            let reader = ResponseReader(endpoint: endpoint, exchange: exchange)
            do {
                let judged = own.contains(exchange.response.status) ? exchange.response.body : try await reader.judgedStream()
                try dispatcher.checkCancellation()
                try record.cancellation.check()
                var response = exchange.response
                response.body = judged.observed(check: { try record.cancellation.check() }, ended: end)
                if judged.data != nil { end() }
                return Answer(response: response, reader: reader)
            } catch {
                exchange.response.body.cancel()
                if let cause = record.cancellation.cause { throw reader.ended(by: cause, error) }
                throw error
            }
        } catch {
            end()
            try dispatcher.checkCancellation()
            throw error
        }
    }

    /// Waits between two requests. The call is listed during the wait, so that it can be cancelled.
    func pause(_ duration: Duration) async throws {
        guard duration > .zero else { return try dispatcher.checkCancellation() }
        let record = dispatcher.record(of: bound, attributes, success: .success, identifier: nil)
        let end = dispatcher.ending(record, try dispatcher.list(record, bound))
        defer { end() }
        do {
            try await clock.sleep(duration, unless: record.cancellation)
        } catch {
            throw dispatcher.wrap(error, stage: .chain, request: bound.request)
        }
    }
}
