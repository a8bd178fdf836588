import Foundation

/// Whether and when a second, equal request is sent because the first has no response yet. The response that comes first counts.
///
/// Hedging shortens the rare waits for a slow replica or a dead connection. It is for endpoints whose calls are cheap for the service: in
/// exchange for the time, the service gets more requests.
///
///     "price(id:)": .get("/prices/%%id%%").hedged(after: .milliseconds(300))
///
/// The stage hedges requests that have a safe method (RFC 9110 §9.2.1) and a replayable body, and sends other requests once. It sends at
/// most one more request for each attempt, and none in a dry run. It is sent
/// * when no head of a response has arrived after the delay;
/// * at once when the first request fails before it: with a lost connection or none, a time-out, or a status of 500, 502, 503 or 504
///   without `Retry-After`.
///
/// The first response that isn't a failure (408, 429, or 500 and above) is the attempt's. The other request is cancelled then. If both
/// requests fail, the attempt fails as the first did; a response takes precedence over an error, and one with `Retry-After` over both.
public struct HedgingPolicy: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    enum Delay: Sendable, Hashable, Codable {
        case fixed(Duration)
        case percentile(Double)
        case none
    }

    let delay: Delay

    /// Sends the second request after a delay.
    ///
    /// - Parameter delay: A time longer than nearly all calls take. A shorter one doubles the load.
    public static func after(_ delay: Duration) -> HedgingPolicy { HedgingPolicy(delay: .fixed(delay)) }

    /// Sends the second request after the time within which this share of the endpoint's earlier requests were answered. Until there are
    /// 50, none is hedged.
    ///
    /// - Parameter percentile: A number above 0 and below 1. With 0.95, about one request in twenty is sent twice.
    public static func afterPercentile(_ percentile: Double) -> HedgingPolicy { HedgingPolicy(delay: .percentile(percentile)) }

    /// Sends no second request, regardless of the settings of class and client.
    public static let off = HedgingPolicy(delay: .none)

    /// The problems of the values, each with its fix.
    ///
    /// - Parameter timeouts: The deadlines of the same calls.
    func faults(_ timeouts: ServiceTimeouts) -> [(problem: String, fix: String)] {
        switch delay {
        case .none: return []
        case .percentile(let percentile):
            guard percentile > 0, percentile < 1 else {
                return [("the percentile is \(percentile)", "use a number above 0 and below 1, such as 0.95")]
            }
            return []
        case .fixed(let delay):
            guard delay > .zero else { return [("the delay is \(delay.text)", "use a positive duration, or a percentile")] }
            for (name, deadline) in [("total", timeouts.total), ("firstByte", timeouts.firstByte)] {
                guard let deadline, delay >= deadline else { continue }
                return [
                    (
                        "the delay of \(delay.text) isn't less than the deadline \(name), \(deadline.text), so no second request is sent",
                        "use a shorter delay or a longer deadline"
                    )
                ]
            }
            return []
        }
    }

    /// The delay.
    public var description: String {
        switch delay {
        case .fixed(let delay): "HedgingPolicy(after: \(delay.text))"
        case .percentile(let percentile): "HedgingPolicy(afterPercentile: \(percentile))"
        case .none: "HedgingPolicy(off)"
        }
    }
}

extension HedgingPolicy {
    package init?(described text: String) {
        if text == Self.off.description {
            self = .off
        } else if let delay = text.inside("HedgingPolicy(after: ").flatMap({ Duration(text: $0) }) {
            self = .after(delay)
        } else if let percentile = text.inside("HedgingPolicy(afterPercentile: ").flatMap({ Double($0) }) {
            self = .afterPercentile(percentile)
        } else {
            return nil
        }
    }
}

/// The stage of the chain that sends a second request when the first is slow: see ``HedgingPolicy``.
///
/// It is inside retries, which see one attempt, and outside the circuit breaker and the queue, through which both requests pass.
///
/// Both requests run in child tasks, so they have the task-local values of the call, and none of them outlives the stage: the stage ends
/// when the cancelled request has ended. The transport ends it promptly, as for any cancelled call.
struct Hedging: Interceptor {
    let clock: CallClock
    let latencies: LatencyRegistry
    /// Pays for the second request from the client's budget of repeats. A second request that isn't paid for isn't sent. It is never paid
    /// back: when all calls are slow, hedging must end, even though its requests succeed.
    var pay: @Sendable () -> Bool = { true }

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        guard let policy = context.attributes[HedgingPolicy.self], policy != .off else { return try await next(request, context) }
        return try await respond(to: request, policy, context, next)
    }

    private func respond(
        to request: ServiceRequest, _ policy: HedgingPolicy, _ context: CallContext, _ next: NextInterceptor
    ) async throws -> TransportResponse {
        guard request.method.isSafe, request.body?.isReplayable ?? true, !context.isDryRun, DryRun.current == nil else {
            return try await next(request, context)
        }
        let start = clock.now()
        switch policy.delay {
        case .none:
            return try await next(request, context)
        case .fixed(let delay):
            return try await race(request, context, after: delay, next).get()
        case .percentile(let percentile):
            let (key, origin) = (context.identity.key, request.origin)
            guard let delay = latencies.latency(of: key, at: origin, percentile: percentile) else {
                let response = try await next(request, context)
                if !Self.isFailure(response.status) { latencies.add(clock.now() - start, of: key, at: origin) }
                return response
            }
            let outcome = try await race(request, context, after: delay, next)
            // The first request may have been given up, so its time may be shorter than a complete exchange. It is still counted, because
            // without slow requests the percentile would decrease further and further.
            if !outcome.isFailure { latencies.add(clock.now() - start, of: key, at: origin) }
            return try outcome.get()
        }
    }

    // MARK: The race

    /// Sends the request, and a second time if the first is slow or fails. It returns when both have ended.
    private func race(
        _ request: ServiceRequest, _ context: CallContext, after delay: Duration, _ next: NextInterceptor
    ) async throws -> Outcome {
        let box = Mailbox()
        let cancelTimer = clock.schedule(max(.zero, delay.bounded)) { box.post(.due) }
        defer { cancelTimer() }
        async let _: Void = send(request, context, next, to: box)
        var held: Outcome?
        var reason = "there is no response after \(delay.text)"
        if case .ended(_, let outcome) = await box.next() {
            guard outcome.allowsSecond else { return outcome }
            held = outcome
            reason = "the first request ended with \(outcome.text)"
        }
        guard !Task.isCancelled, context.record.cancellation.cause == nil, pay() else {
            if let held { return held }
            while true {
                if case .ended(_, let outcome) = await box.next() { return outcome }
            }
        }
        context.diagnostics.report(.init(.debug, "\(reason); the request is sent a second time", call: context.identity))
        context.record.countHedge()
        var hedge = (request: request, context: context)
        hedge.context.isHedge = true
        // The call reports the progress of one request.
        hedge.request.uploadProgress = nil
        async let _: Void = send(hedge.request, hedge.context, next, to: box)
        let (winner, isHedge) = await decide(box, held)
        for case .ended(_, let outcome) in box.close() { outcome.discard() }
        context.record.keepsHedge(isHedge)
        return winner
    }

    /// Waits for the first response that isn't a failure; if there is none, for both.
    private func decide(_ box: Mailbox, _ held: Outcome?) async -> (winner: Outcome, isHedge: Bool) {
        var held: (outcome: Outcome, isHedge: Bool)? = held.map { ($0, false) }
        while true {
            guard case .ended(let isHedge, let outcome) = await box.next() else { continue }
            guard outcome.isFailure, !outcome.isFinal else {
                held?.outcome.discard()
                return (outcome, isHedge)
            }
            guard let other = held else {
                held = (outcome, isHedge)
                continue
            }
            // The outcome of the first request counts, unless the outcome of the second has more information.
            let (first, second) = isHedge ? (other.outcome, outcome) : (outcome, other.outcome)
            let (winner, loser) = second.rank > first.rank ? (second, first) : (first, second)
            loser.discard()
            return (winner, second.rank > first.rank)
        }
    }

    /// Sends one request and posts how it ends.
    private func send(_ request: ServiceRequest, _ context: CallContext, _ next: NextInterceptor, to box: Mailbox) async {
        let outcome: Outcome
        do {
            let response = try await next(request, context)
            // A response that is kept while the other request runs must not hold its connection or its slot, which the other may wait for.
            outcome = .response(Self.isFailure(response.status) ? await Self.inMemory(response) : response)
        } catch {
            outcome = .error(error)
        }
        if !box.post(.ended(isHedge: context.isHedge, outcome)) { outcome.discard() }
    }

    fileprivate static func isFailure(_ status: Int) -> Bool { status == 408 || status == 429 || status >= 500 }

    /// Returns the response with its body in memory. A body of more than 64 KiB, or one that breaks off, is left to its reader.
    private static func inMemory(_ response: TransportResponse) async -> TransportResponse {
        guard response.body.data == nil else { return response }
        let body = response.body
        var response = response
        var bytes = Data()
        var failure: (any Error)?
        do {
            var pieces = body.makeAsyncIterator()
            while bytes.count <= 64 * 1024, let piece = try await pieces.next() { bytes.append(piece) }
            if bytes.count <= 64 * 1024 {
                response.body = ResponseBody(bytes)
                return response
            }
        } catch {
            failure = error
        }
        let read = Locked<Data?>(bytes)
        response.body = ResponseBody(
            expectedLength: body.expectedLength,
            next: { [failure] in
                let bytes = read.withLock { read in
                    defer { read = nil }
                    return read
                }
                if let bytes, !bytes.isEmpty { return bytes }
                if let failure { throw failure }
                var pieces = body.makeAsyncIterator()
                return try await pieces.next()
            },
            cancel: { body.cancel() })
        return response
    }
}

extension Hedging {
    /// How a request ended.
    fileprivate enum Outcome: Sendable {
        case response(TransportResponse)
        case error(any Error)

        func get() throws -> TransportResponse {
            switch self {
            case .response(let response): return response
            case .error(let error): throw error
            }
        }

        var isFailure: Bool {
            if case .response(let response) = self { Hedging.isFailure(response.status) } else { true }
        }

        /// Whether the call must end without a wait: the body of a failed response isn't in memory, so it still holds its connection.
        var isFinal: Bool {
            if case .response(let response) = self { response.body.data == nil } else { false }
        }

        /// Whether a second request may succeed at once.
        var allowsSecond: Bool {
            switch self {
            case .response(let response):
                [500, 502, 503, 504].contains(response.status) && !response.headers.contains(.retryAfter) && !isFinal
            case .error(let error as TransportError):
                [.cannotConnect, .connectionLost, .timedOutConnecting, .timedOutWaiting].contains(error.code)
            case .error: false
            }
        }

        /// The amount of information in the outcome of a failed request.
        var rank: Int {
            if case .response(let response) = self { response.headers.contains(.retryAfter) ? 2 : 1 } else { 0 }
        }

        /// A description of the request's outcome, for diagnostics.
        var text: String {
            switch self {
            case .response(let response): "status \(response.status)"
            case .error(let error as TransportError): error.code.rawValue
            case .error(let error): String(describing: type(of: error))
            }
        }

        func discard() {
            if case .response(let response) = self { response.body.cancel() }
        }
    }

    /// Passes events to the stage, in their order.
    fileprivate final class Mailbox: Sendable {
        enum Event: Sendable {
            /// The delay has passed.
            case due
            case ended(isHedge: Bool, Outcome)
        }

        private struct State {
            var events: [Event] = []
            var reader: CheckedContinuation<Event, Never>?
            var isClosed = false
        }

        private let state = Locked(State())

        /// Adds an event.
        ///
        /// - Returns: Whether the stage receives it.
        @discardableResult
        func post(_ event: Event) -> Bool {
            let (isOpen, reader) = state.withLock { state -> (Bool, CheckedContinuation<Event, Never>?) in
                guard !state.isClosed else { return (false, nil) }
                defer { state.reader = nil }
                if state.reader == nil { state.events.append(event) }
                return (true, state.reader)
            }
            reader?.resume(returning: event)
            return isOpen
        }

        /// Waits for the next event. Each request posts its end, also when it is cancelled, so the wait ends with them.
        func next() async -> Event {
            await withCheckedContinuation { continuation in
                let event: Event? = state.withLock { state in
                    guard state.events.isEmpty else { return state.events.removeFirst() }
                    state.reader = continuation
                    return nil
                }
                if let event { continuation.resume(returning: event) }
            }
        }

        /// Refuses further events.
        ///
        /// - Returns: The events that weren't read.
        func close() -> [Event] {
            state.withLock { state in
                state.isClosed = true
                defer { state.events = [] }
                return state.events
            }
        }
    }
}
