import Foundation

/// The stage of the chain that delays requests by rate limits: those that the program sets (``RateLimit``) and, if asked, those that the
/// service states (``ServiceRateLimits``).
///
/// It is outside the queue, so a call that waits for a rate limit holds no slot. A call inside another one's slot, such as a token refresh,
/// counts but doesn't wait.
struct RateLimiting: Interceptor {
    let limiter: RateLimiter
    let queue: CallQueue

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        if context.attributes.isEmpty { return try await next(request, context) }
        return try await limited(request, context: context, next: next)
    }

    private func limited(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        let (own, common) = (context.attributes[RateLimit.self], context.attributes[ClientRateLimit.self])
        let service = context.attributes[ServiceRateLimits.self].flatMap { $0.areObeyed ? $0 : nil }
        guard own != nil || common != nil || service != nil, !context.isDryRun else { return try await next(request, context) }
        let mayWait = !(HeldSlots.current?.include(queue) ?? false)
        let key = context.identity.key
        var passed: [RateGate] = []
        do {
            for (place, limit) in [(RateLimiter.Place.endpoint(key), own), (.client(common?.method), common?.limit)] {
                guard let limit else { continue }
                let bounds = RateGate.Bounds(longest: limit.longestWait, end: request.end) { wait, longest in
                    .limit(limit, wait: wait, longest: longest)
                }
                let gate = limiter.gate(at: place, limit)
                try await gate.pass(bounds, mayWait: mayWait, context)
                passed.append(gate)
            }
            if let service, let origin = request.origin {
                try await pass(service, origin, request.end, mayWait: mayWait, context, &passed)
            }
        } catch {
            // The call isn't sent, so the gates before the one that refuses it get their tokens back.
            for gate in passed { gate.change { bucket, _ in bucket.giveBack() } }
            throw error
        }
        let response = try await next(request, context)
        if let service, let origin = request.origin { learn(from: response, origin, service, context) }
        return response
    }

    /// Waits as the service has asked.
    private func pass(
        _ service: ServiceRateLimits, _ origin: Origin, _ end: MonotonicInstant?, mayWait: Bool, _ context: CallContext,
        _ passed: inout [RateGate]
    ) async throws {
        let longest = max(.zero, service.longestWait)
        // The queue holds the call until the end of the pause.
        if mayWait, let end = queue.pauseEnd(of: origin) {
            let wait = limiter.clock.now().duration(to: end)
            guard wait <= longest else { throw RateLimitError.service(origin, wait: wait, longest: longest) }
        }
        let bounds = RateGate.Bounds(longest: longest, end: end) { wait, longest in .service(origin, wait: wait, longest: longest) }
        for gate in limiter.learnedGates(for: origin, endpoint: context.identity.key) {
            try await gate.pass(bounds, mayWait: mayWait, context)
            passed.append(gate)
        }
    }

    private func learn(from response: TransportResponse, _ origin: Origin, _ service: ServiceRateLimits, _ context: CallContext) {
        limiter.learn(from: response.headers, origin, endpoint: context.identity.key)
        guard response.status == 429 || response.status == 503,
            let wait = RetryAfter.delay(in: response.headers, from: limiter.clock.date(), limit: .longest), wait > .zero
        else { return }
        let longest = max(.zero, service.longestWait)
        let end = limiter.clock.now().advanced(by: wait)
        context.diagnostics.report(
            .init(.debug, "\(origin) answered \(response.status) and asks for \(wait.text) without calls", call: context.identity))
        queue.pause(origin, until: end, refusing: wait > longest ? RateLimitError.service(origin, wait: wait, longest: longest) : nil)
    }
}

/// The rate limits of a client: the state of each limit that the program sets, and the limits that services have stated.
final class RateLimiter: Sendable {
    /// The scope of a limit.
    enum Place: Hashable {
        /// All calls of the client, or those with a method.
        case client(ServiceRequest.Method?)
        /// The calls of an endpoint, by its key.
        case endpoint(String)
        /// The calls that a service counts together.
        case service(Origin, String)
    }

    private struct State {
        var gates: [Place: RateGate] = [:]
        /// The number of gates at which idle ones are removed.
        var limit = 256
        /// The names of the limits that an origin has stated.
        var names: [Origin: Set<String>] = [:]
        var policies: [Origin: [String: RateLimitFields.Policy]] = [:]
        /// The resource of endpoints at origins that count several. Keys are bounded like gates.
        var resources: [Place: String] = [:]
    }

    private let state = Locked(State())
    let clock: CallClock

    init(clock: CallClock) {
        self.clock = clock
    }

    /// The gate of a limit that the program sets.
    func gate(at place: Place, _ limit: RateLimit) -> RateGate {
        let gate = gate(at: place) { TokenBucket(limit, now: $0) }
        gate.change { bucket, now in bucket.apply(limit, now) }
        return gate
    }

    private func gate(at place: Place, _ bucket: (MonotonicInstant) -> TokenBucket) -> RateGate {
        if let known = state.withLock({ $0.gates[place] }) { return known }
        let now = clock.now()
        let made = RateGate(bucket(now), clock: clock)
        return state.withLock { state in
            if let known = state.gates[place] { return known }
            if state.gates.count >= state.limit {
                // A full bucket without waiting calls is equivalent to a new one.
                state.gates = state.gates.filter { !$0.value.isIdle(now) }
                state.names = [:]
                state.resources = [:]
                for case .service(let origin, let name) in state.gates.keys { state.names[origin, default: []].insert(name) }
                state.policies = state.policies.filter { state.names[$0.key] != nil }
                state.limit = max(256, 2 * state.gates.count)
            }
            state.gates[place] = made
            return made
        }
    }

    /// The gates of the limits that a service has stated, as far as they concern an endpoint.
    func learnedGates(for origin: Origin, endpoint: String) -> [RateGate] {
        state.withLock { state in
            guard let names = state.names[origin] else { return [] }
            let resource = state.resources[.service(origin, endpoint)]
            return names.sorted().compactMap { name in
                // A limit of another resource doesn't concern the endpoint.
                if let known = Self.resource(name), known != resource { return nil }
                return state.gates[.service(origin, name)]
            }
        }
    }

    /// The resource in the name of a limit of the older fields, if it has one.
    private static func resource(_ name: String) -> String? {
        name.hasPrefix("\u{0}") ? String(name.dropFirst()) : nil
    }

    /// Learns from a response's fields.
    func learn(from headers: HTTPFields, _ origin: Origin, endpoint: String) {
        let known = state.withLock { $0.policies[origin] ?? [:] }
        let fields = RateLimitFields(headers, known: known, now: clock.date())
        guard !fields.remainders.isEmpty || fields.policies != known else { return }
        state.withLock { state in
            // A service doesn't have more policies than this.
            if fields.policies.count <= 32 { state.policies[origin] = fields.policies }
            if let resource = fields.resource { state.resources[.service(origin, endpoint)] = resource }
        }
        for remainder in fields.remainders.prefix(32) {
            let name = fields.resource.map { "\u{0}" + $0 } ?? remainder.name
            let isKept = state.withLock { state in
                guard state.names[origin]?.contains(name) != true else { return true }
                guard state.names[origin, default: []].count < 32 else { return false }
                state.names[origin, default: []].insert(name)
                return true
            }
            guard isKept else { continue }
            let gate = gate(at: .service(origin, name)) { TokenBucket(rate: .infinity, capacity: .infinity, now: $0) }
            gate.change { bucket, now in
                bucket.learn(
                    remaining: remainder.remaining, reset: remainder.reset, policy: fields.policies[remainder.name]?.rate,
                    isPaced: remainder.isPaced, now)
            }
        }
    }
}
