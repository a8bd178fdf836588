import Foundation

/// Switches the fault plans of a client's endpoints on, for tests.
///
///     let faults = FaultInjection(seed: 7, plans: ["search(text:page:)": FaultPlan(share: 0.2, of: .connectionLost)])
///     let client = Shop(serviceRoot: server.url.absoluteString) { $0.faults = faults }
///     …
///     #expect(faults.faultCount(for: "search(text:page:)") > 0)
///
/// Faults come in place of the transport, so that everything above it, such as retries, circuit breakers and deadlines, behaves as with a
/// real service. Each endpoint has its own count, which all clients with this value share. With the same seed and the same order of
/// requests, the same requests fail.
public final class FaultInjection: Sendable {
    private struct State {
        var turns: [String: FaultTurns] = [:]
        var requests: [String: Int] = [:]
        var faults: [String: Int] = [:]
    }

    private let seed: UInt64
    private let clock: any Clock<Duration>
    private let plans: [String: FaultPlan]
    private let state = Locked(State())

    /// Creates an injection.
    ///
    /// - Parameters:
    ///   - seed: The seed of the random choices.
    ///   - clock: The clock of latencies and of requests without a response.
    ///   - plans: Plans by endpoint key. They take precedence over ``EndpointDescriptor/faults(_:)`` of the endpoint, its class and client.
    public init(seed: UInt64 = 0, clock: any Clock<Duration> = ContinuousClock(), plans: [String: FaultPlan] = [:]) {
        self.seed = seed
        self.clock = clock
        self.plans = plans
    }

    /// Returns the number of requests of an endpoint, with and without faults. Endpoints without a plan aren't counted.
    public func requestCount(for key: String) -> Int { state.withLock { $0.requests[key] ?? 0 } }

    /// Returns the number of requests of an endpoint that failed.
    public func faultCount(for key: String) -> Int { state.withLock { $0.faults[key] ?? 0 } }

    /// The problems of the plans, each with its key, problem and fix.
    var faults: [(key: String, problem: String, fix: String)] {
        plans.sorted { $0.key < $1.key }.flatMap { key, plan in plan.faults.map { (key, $0.problem, $0.fix) } }
    }

    /// Sends a request, or fails it by its endpoint's plan.
    func response(
        to request: ServiceRequest, _ context: CallContext, send: @escaping @Sendable () async throws -> TransportResponse
    ) async throws -> TransportResponse {
        let key = context.identity.key
        guard let plan = plans[key] ?? context.attributes[FaultPlan.self] else { return try await send() }
        let (delay, fault) = state.withLock { state in
            let turn = state.turns[key, default: FaultTurns(plan, seed: seed, key: key)].next()
            state.requests[key, default: 0] += 1
            if turn.fault != nil { state.faults[key, default: 0] += 1 }
            return turn
        }
        let limit = request.timeouts.firstByte
        if delay > .zero {
            try await sleep(for: min(delay, limit ?? delay), context)
            if let limit, delay >= limit { throw Self.timedOut(request, limit) }
        }
        guard let fault else { return try await send() }
        return try await outcome(of: fault, request, context, send)
    }

    private func outcome(
        of fault: InjectedFault, _ request: ServiceRequest, _ context: CallContext, _ send: @Sendable () async throws -> TransportResponse
    ) async throws -> TransportResponse {
        switch fault {
        case .status(let status, let seconds):
            let fields: HTTPFields = seconds.map { ["Retry-After": String($0)] } ?? [:]
            return TransportResponse(status: status, headers: fields, url: request.url, httpVersion: "HTTP/1.1")
        case .connectionLost, .reset(0): throw Self.lost(request)
        case .cut(let count), .reset(let count):
            var response = try await send()
            let host = request.origin?.host ?? "the service"
            let error = TransportError(.truncated, "The connection to \(host) ended in the body (an injected fault).")
            response.body = Self.body(response.body, cutAfter: max(0, count), with: error)
            return response
        case .noResponse:
            guard let limit = request.timeouts.firstByte else {
                // Without a limit, only the deadline of the whole call or its cancellation ends the wait.
                while true { try await sleep(for: .seconds(3_600), context) }
            }
            try await sleep(for: limit, context)
            throw Self.timedOut(request, limit)
        }
    }

    private func sleep(for duration: Duration, _ context: CallContext) async throws {
        try await ChildWork.run(unless: context.record.cancellation) { [clock] in try await clock.sleep(for: duration.bounded) }
    }

    private static func body(_ body: ResponseBody, cutAfter count: Int, with error: TransportError) -> ResponseBody {
        let rest = Locked(count)
        let reader = PieceReader(body)
        return ResponseBody(
            expectedLength: body.expectedLength,
            next: {
                guard rest.withLock({ $0 }) > 0, let piece = try await reader.next() else { throw error }
                return rest.withLock { rest in
                    let shown = piece.prefix(rest)
                    rest -= shown.count
                    return shown
                }
            },
            cancel: { body.cancel() })
    }

    private static func lost(_ request: ServiceRequest) -> TransportError {
        let host = request.origin?.host ?? "the service"
        return TransportError(.connectionLost, "The connection to \(host) ended before the response (an injected fault).")
    }

    private static func timedOut(_ request: ServiceRequest, _ limit: Duration) -> TransportError {
        let host = request.origin?.host ?? "the service"
        return TransportError(
            .timedOutWaiting, "No response came from \(host) within \(limit.text), set by timeouts.firstByte (an injected fault).")
    }
}

extension FaultInjection: CustomStringConvertible {
    /// The keys with plans.
    public var description: String { "FaultInjection(seed: \(seed), plans: \(plans.keys.sorted()))" }
}
