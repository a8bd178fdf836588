import Foundation

/// A stage whose calls can share the rest of the chain. The rest then runs in a task that may outlive the call which began it, so that the
/// stage keeps it for longer than an interceptor may.
protocol SharingStage: Interceptor {
    /// Returns the chain from this stage on.
    func stage(before next: @escaping NextInterceptor) -> NextInterceptor
}

extension SharingStage {
    /// Outside a client's chain nothing is shared.
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        try await next(request, context)
    }
}

/// The exchanges that several calls of one client share while they are in flight: calls with the same identifier, and identical ones.
final class SharedExchanges: Sendable {
    /// The key of a shared exchange: the properties that its calls have in common.
    enum Key: Hashable, Sendable {
        case identifier(String, Origin?, partition: String)
        case request(RequestKey)
    }

    /// Everything that the exchange of a request without a body depends on. Credentials are added later, and are the same for all calls of
    /// one client to one origin with equal attributes.
    struct RequestKey: Hashable, Sendable {
        let method: ServiceRequest.Method
        let url: String
        let headers: HTTPFields
        let isForeign: Bool
        let serviceOrigin: Origin?
        let trust: UInt64?
        let timeouts: ServiceTimeouts
        let bodyLimit: Int
        /// The environment and the session.
        let partition: String
        /// See ``DecisiveAttribute``.
        let attributes: DecisiveAttributes
    }

    private let clock: CallClock
    private let running = Locked<[Key: SharedExchange]>([:])

    init(clock: CallClock) {
        self.clock = clock
    }

    /// The number of exchanges in flight.
    var count: Int { running.withLock { $0.count } }

    /// Returns the response of the exchange with a key. The first call begins it in a separate task, and later calls wait for the same
    /// exchange.
    ///
    /// The exchange has no total deadline, because each call has its own. It ends early when no call waits for it any more.
    ///
    /// - Parameter check: Throws if a call can't share the running exchange.
    func response(
        for key: Key, _ request: ServiceRequest, _ context: CallContext, _ next: @escaping NextInterceptor,
        _ check: (_ running: SharedExchange) throws -> Void
    ) async throws -> TransportResponse {
        let record = context.record
        let waiter = CallWaiter()
        let (exchange, number, isNew) = running.withLock { running in
            if let known = running[key], let number = known.join(waiter, record) { return (known, number, false) }
            let made = SharedExchange(request, record)
            // A new exchange takes its first call.
            let number = made.join(waiter, record) ?? 0
            running[key] = made
            return (made, number, true)
        }
        defer { leave(exchange, number, key) }
        if isNew {
            begin(exchange, key, request, context, next)
        } else {
            try check(exchange)
        }
        record.joins(exchange.record)
        let cancelTimer = request.end.map { end in
            clock.schedule(clock.now().duration(to: end)) { waiter.end(.failure(ChildWork.timedOut(request))) }
        }
        defer { cancelTimer?() }
        try await waiter.wait(unless: record.cancellation)
        return try exchange.response()
    }

    private func begin(
        _ exchange: SharedExchange, _ key: Key, _ request: ServiceRequest, _ context: CallContext, _ next: @escaping NextInterceptor
    ) {
        var request = request
        request.end = nil
        if request.timeouts.total != nil { request.timeouts.total = nil }
        let shared = context.shared(exchange.record)
        // It inherits the task-local values and the priority of the first call.
        let task = Task { [request] in
            let outcome: Result<SharedExchange.Answer, any Error>
            do {
                outcome = .success(await SharedExchange.Answer(try await next(request, shared), limit: shared.record.bodyLimit))
            } catch {
                outcome = .failure(error)
            }
            self.remove(exchange, key)
            exchange.end(outcome)
        }
        exchange.runs(as: task)
    }

    private func leave(_ exchange: SharedExchange, _ number: Int, _ key: Key) {
        guard let task = exchange.leave(number) else { return }
        remove(exchange, key)
        exchange.record.cancellation.cancel(CallCancelled(reason: "Every call that waited for the exchange has ended."))
        task.cancel()
    }

    /// Removes an exchange, but not a later one with the same key.
    private func remove(_ exchange: SharedExchange, _ key: Key) {
        running.withLock { if $0[key] === exchange { $0[key] = nil } }
    }
}

/// One exchange that several calls wait for.
final class SharedExchange: Sendable {
    /// A response with the bytes of its body.
    struct Answer: Sendable {
        let head: TransportResponse
        let body: Data
        /// The error that ended the body.
        let failure: (any Error)?

        /// Reads the body of a response.
        init(_ response: TransportResponse, limit: Int) async {
            var head = response
            var body = Data()
            var failure: (any Error)?
            do { try await response.body.collect(upTo: limit, into: &body) } catch { failure = error }
            head.body = ResponseBody()
            (self.head, self.body, self.failure) = (head, body, failure)
        }
    }

    private struct State {
        var waiters: [Int: (waiter: CallWaiter, progress: CallProgress?)] = [:]
        var count = 0
        var task: Task<Void, Never>?
        /// Whether no more calls can join.
        var isClosed = false
        var outcome: Result<Answer, any Error>?
    }

    /// The request of the first call.
    let request: ServiceRequest
    /// The state of the exchange; the calls' own records refer to it.
    let record: CallRecord
    private let state: Locked<State>

    init(_ request: ServiceRequest, _ first: CallRecord) {
        self.request = request
        let state = Locked(State())
        self.state = state
        record = first.shared(
            CallProgress { direction, progress in
                let waiting = state.withLock { $0.waiters.values.compactMap(\.progress) }
                for observer in waiting { observer.note(progress, of: direction) }
            })
    }

    /// Adds a call.
    ///
    /// - Returns: The call's number; `nil` if the exchange has ended or was given up.
    func join(_ waiter: CallWaiter, _ call: CallRecord) -> Int? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.count += 1
            state.waiters[state.count] = (waiter, call.progress)
            return state.count
        }
    }

    /// Removes a call.
    ///
    /// - Returns: The exchange's task if no other call waits for it.
    func leave(_ number: Int) -> Task<Void, Never>? {
        state.withLock { state in
            state.waiters[number] = nil
            guard state.waiters.isEmpty, !state.isClosed else { return nil }
            state.isClosed = true
            defer { state.task = nil }
            return state.task
        }
    }

    /// Keeps the exchange's task. If the calls have left already, the task is cancelled.
    func runs(as task: Task<Void, Never>) {
        let isLate = state.withLock { state in
            guard !state.isClosed else { return state.outcome == nil }
            state.task = task
            return false
        }
        if isLate { task.cancel() }
    }

    /// Ends the exchange, and the wait of its calls.
    func end(_ outcome: Result<Answer, any Error>) {
        let waiting = state.withLock { state in
            state.isClosed = true
            state.outcome = outcome
            state.task = nil
            return state.waiters.values.map(\.waiter)
        }
        _ = record.cancellation.finish()
        for waiter in waiting { waiter.end(.success(())) }
    }

    /// Returns the response, with a separate body for each call.
    func response() throws -> TransportResponse {
        guard let outcome = state.withLock({ $0.outcome }) else { throw CancellationError() }
        let answer = try outcome.get()
        var response = answer.head
        guard let failure = answer.failure else {
            response.body = ResponseBody(answer.body)
            return response
        }
        let rest = Locked<Data?>(answer.body.isEmpty ? nil : answer.body)
        response.body = ResponseBody(
            expectedLength: nil,
            next: {
                let piece = rest.withLock { rest in
                    defer { rest = nil }
                    return rest
                }
                guard let piece else { throw failure }
                return piece
            },
            cancel: {})
        return response
    }
}
