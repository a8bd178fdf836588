/// Whether a call waits for the network while the system has none, and for how long.
///
///     "upload(photo:)": .put("/photos/%%0%%").waitingForNetwork(upTo: .seconds(600))
///
/// While the system reports no network, the call isn't sent. If a request fails before anything is sent (no address of the host, no
/// connection), and the system reports no network then, the request is sent again later, whatever its method, if its body can be replayed.
/// In both cases the call waits until
/// * the network is back, and then for a random time of up to two seconds, so that the calls of many clients don't start at once;
/// * half a minute has passed: the system may be wrong, so the request is tried, and the call may wait again;
/// * the time of this policy is over: the request is tried for the last time, and a failure is delivered;
/// * the call's deadline has passed, or the call, its task or its client has ended.
///
/// A waiting call holds no slot of the queue, and isn't an attempt of the ``RetryPolicy``. Calls to the loopback never wait. Calls to IP
/// addresses and `.local` names, which may be reachable without a default route, are tried before they wait.
public struct WaitingForNetwork: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    /// The longest time for which a call waits, all waits together; `nil` if it doesn't wait.
    public let limit: Duration?

    private init(limit: Duration?) {
        self.limit = limit
    }

    /// Waits up to a duration.
    ///
    /// - Parameter limit: The longest time for which a call waits; more than zero.
    public init(upTo limit: Duration) {
        self.limit = limit
    }

    /// Doesn't wait, which is the default. An endpoint uses it to override its client's setting.
    public static let off = WaitingForNetwork(limit: nil)

    /// The problems of the setting, each with its fix.
    var faults: [(problem: String, fix: String)] {
        guard let limit, limit <= .zero else { return [] }
        return [
            ("WaitingForNetwork waits up to \(limit.text)", "give .waitingForNetwork(upTo:) more than zero, or use WaitingForNetwork.off")
        ]
    }

    /// The setting, such as `WaitingForNetwork(up to 60 s)`.
    public var description: String { "WaitingForNetwork(\(limit.map { "up to \($0.text)" } ?? "off"))" }

    package init?(described text: String) {
        if text == Self.off.description {
            self = .off
        } else if let limit = text.inside("WaitingForNetwork(up to ").flatMap({ Duration(text: $0) }) {
            self.init(upTo: limit)
        } else {
            return nil
        }
    }
}

extension EndpointAttribute where Self == WaitingForNetwork {
    /// Waits for the network up to a duration.
    public static func waitingForNetwork(upTo limit: Duration) -> WaitingForNetwork { WaitingForNetwork(upTo: limit) }
}

/// The stage of the chain that holds calls back while there is no network (``WaitingForNetwork``), and notes which origins answer.
///
/// It is inside retries, so that waits aren't attempts, and outside the circuit breaker, the rate limit and the queue, so that a waiting
/// call takes no capacity from others.
struct NetworkWaiting: Interceptor {
    let reachability: Reachability
    /// Whether the outcome of each request is noted.
    let notesOutcomes: Bool
    let waits: NetworkWaits
    let clock: CallClock
    /// Observes the system as long as the chain exists.
    let watch = NetworkWatch()
    /// Makes random numbers between 0 and 1.
    var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// The longest wait before the request is tried.
    static let longestWait = Duration.seconds(30)
    /// The time over which calls are spread when the network is back.
    static let spread = Duration.seconds(2)

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        let limit = context.attributes.isEmpty ? nil : context.attributes[WaitingForNetwork.self]?.limit
        guard notesOutcomes || limit != nil, !context.isDryRun else { return try await next(request, context) }
        return try await watched(request, context, limit, next)
    }

    private func watched(
        _ request: ServiceRequest, _ context: CallContext, _ limit: Duration?, _ next: NextInterceptor
    ) async throws -> TransportResponse {
        let origin = request.origin
        var end: MonotonicInstant?
        if let limit {
            watch.begin(reachability)
            end = clock.now().advanced(by: limit)
            if !Self.isTriedFirst(origin?.host), reachability.isOffline(origin) { try await pause(request, context, until: end) }
        }
        while true {
            do {
                let response = try await next(request, context)
                if notesOutcomes { note(origin, response) }
                return response
            } catch let error as TransportError {
                if notesOutcomes, let origin { reachability.note(origin, failure: error.code) }
                guard let end, clock.now() < end, Self.provesNothingWasSent(error.code), request.body?.isReplayable ?? true,
                    reachability.isOffline(origin)
                else { throw error }
                try await pause(request, context, until: end, after: error)
            }
        }
    }

    /// Notes a response, unless a proxy or a captive portal sent it to ask for a login (RFC 6585 §6).
    private func note(_ origin: Origin?, _ response: TransportResponse) {
        if let origin, response.status != 511 { reachability.note(origin, failure: nil) }
    }

    /// Whether a failure shows that no part of the request has left this machine.
    static func provesNothingWasSent(_ code: TransportError.Code) -> Bool {
        code == .hostNotFound || code == .cannotConnect || code == .timedOutConnecting
    }

    /// Whether a host may be reachable in a network without a default route.
    static func isTriedFirst(_ host: String?) -> Bool {
        guard let host else { return true }
        return host.hasSuffix(".local") || host.hasSuffix(".local.") || IPAddress.bytes(host) != nil || host.contains(":")
    }

    /// Waits for the network.
    ///
    /// - Throws: If the call or its task is cancelled, its client is released, or its deadline passes.
    private func pause(
        _ request: ServiceRequest, _ context: CallContext, until end: MonotonicInstant?, after failure: TransportError? = nil
    ) async throws {
        let begin = clock.now()
        let rest = end.map { begin.duration(to: $0) } ?? Self.longestWait
        let deadline = request.end.map { begin.duration(to: $0) } ?? .longest
        let limit = min(Self.longestWait, rest, deadline)
        let status = reachability.status
        context.diagnostics.report(
            .init(.debug, "\(status): the call waits for the network, up to \(rest.text)", call: context.identity))
        let waiter = CallWaiter()
        let number = waits.begin(waiter)
        defer { waits.end(number) }
        let origin = request.origin
        let observation = reachability.observe { [reachability] in
            if !reachability.isOffline(origin) { waiter.end(.success(())) }
        }
        // The network may have come back before the observation began.
        if !reachability.isOffline(origin) { waiter.end(.success(())) }
        let cancelTimer = clock.schedule(max(.zero, limit)) { waiter.end(.success(())) }
        defer {
            cancelTimer()
            withExtendedLifetime(observation) {}
            let note = CallRecord.Wait(
                reason: .network, duration: clock.now() - begin, attempt: context.attempt, cause: failure?.code.rawValue ?? "")
            context.record.noteWait(note)
        }
        try await waiter.wait(unless: context.record.cancellation)
        let passed = clock.now() - begin
        guard passed < deadline else { throw Self.timedOut(status, passed, failure) }
        let spread = min(Self.spread * random(), min(rest, deadline) - passed)
        if spread > .zero { try await clock.sleep(spread, unless: context.record.cancellation) }
        guard clock.now() - begin < deadline else { throw Self.timedOut(status, clock.now() - begin, failure) }
    }

    private static func timedOut(_ status: NetworkStatus, _ wait: Duration, _ failure: TransportError?) -> TransportError {
        TransportError(
            .timedOutTotal,
            "The call's total time passed after it had waited \(wait.text) for the network (\(status)); it wasn't sent. Connect to a network, "
                + "or raise the total time.", underlying: failure)
    }
}

/// Keeps a ``Reachability`` running from its first use until the chain that owns it is released.
final class NetworkWatch: Sendable {
    private let observation = Locked<Reachability.Observation?>(nil)

    /// Begins to observe, unless it has begun before.
    func begin(_ reachability: Reachability) {
        guard observation.withLock({ $0 == nil }) else { return }
        let new = reachability.observe {}
        // If two threads begin at the same time, the second observation is released here, outside the lock.
        observation.withLock { if $0 == nil { $0 = new } }
    }
}

/// The calls of a client that wait for the network, so that they end with their client.
final class NetworkWaits: Sendable {
    private struct State {
        var waiters: [Int: CallWaiter] = [:]
        var count = 0
        var closed: CallCancelled?
    }

    private let state = Locked(State())

    /// The number of calls that wait.
    var count: Int { state.withLock { $0.waiters.count } }

    /// Adds a wait. After the client's end, it ends at once.
    func begin(_ waiter: CallWaiter) -> Int {
        let (number, closed) = state.withLock { state in
            state.count += 1
            if state.closed == nil { state.waiters[state.count] = waiter }
            return (state.count, state.closed)
        }
        if let closed { waiter.end(.failure(closed)) }
        return number
    }

    /// Removes a wait that has ended.
    func end(_ number: Int) {
        _ = state.withLock { $0.waiters.removeValue(forKey: number) }
    }

    /// Ends all waits.
    func close(with cause: CallCancelled) {
        let waiters = state.withLock { state in
            state.closed = state.closed ?? cause
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.end(.failure(cause)) }
    }
}
