import Foundation

/// The stage of the chain that repeats a call after a transient failure: see ``RetryPolicy``.
///
/// The wait is the larger of the policy's backoff and the response's `Retry-After`. A call isn't repeated if the wait would exceed the
/// call's deadline, if the body can't be replayed, or if the method isn't idempotent; then the failure itself is delivered.
///
/// If the policy allows repeats, an idempotent request on a connection that the server just closed is sent again once, immediately, without
/// counting as an attempt. The same applies under every policy to a request that an HTTP/2 server reports as unprocessed.
///
/// Each hop of a redirect passes through this stage again. The limit on attempts applies to the whole call: attempts of one hop aren't
/// available to the next.
struct Retry: Interceptor {
    /// The policy of endpoints without their own.
    let policy: RetryPolicy
    /// Waits; injected so that tests need no real time.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0.bounded) }

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        let policy = context.attributes[RetryPolicy.self] ?? policy
        let isReplayable = request.body?.isReplayable ?? true
        let isRepeatable = isReplayable && policy.attempts > 1 && (policy.repeatsUnsafeMethods || request.method.isIdempotent)
        var context = context
        if isRepeatable { context.attempt = max(context.attempt, context.record.repeats + 1) }
        var hasMetStaleConnection = false
        while true {
            let delay: Duration
            let reason: String
            do {
                // A single call site for `next`, so that later stages can be inlined.
                let response = try await next(request, context)
                guard isRepeatable, policy.statuses.contains(response.status), context.attempt < policy.attempts,
                    let wait = wait(after: response, attempt: context.attempt, policy: policy, end: request.end)
                else { return response }
                response.body.cancel()
                delay = wait
                reason = "status \(response.status)"
            } catch let failure {
                // A transport error in the body's own stream may be transient, too.
                guard let error = ((failure as? RequestBodyError)?.underlying ?? failure) as? TransportError else { throw failure }
                let isStale = error.isUnprocessed || error.isConnectionStale && policy.attempts > 1
                if isStale, !hasMetStaleConnection, isReplayable, request.method.isIdempotent, !Task.isCancelled {
                    // This doesn't count as an attempt: the server most likely never saw the request, and stale connections would use up
                    // any policy.
                    hasMetStaleConnection = true
                    context.diagnostics.report(
                        .init(
                            .debug, "the connection ended before any response; the request is sent again over another one",
                            call: context.identity))
                    continue
                }
                guard isRepeatable, policy.covers(error), context.attempt < policy.attempts, !Task.isCancelled,
                    let wait = allowed(backoff(policy, context.attempt), until: request.end)
                else { throw failure }
                delay = wait
                reason = error.code.rawValue
            }
            hasMetStaleConnection = false
            let number = context.attempt
            context.diagnostics.report(
                .init(.debug, "attempt \(number) ended with \(reason), the next in \(delay.text)", call: context.identity))
            try await sleep(delay)
            try Task.checkCancellation()
            context.attempt += 1
            context.record.countRepeat()
        }
    }

    private func wait(after response: TransportResponse, attempt: Int, policy: RetryPolicy, end: MonotonicInstant?) -> Duration? {
        var delay = backoff(policy, attempt)
        if let wait = RetryAfter.delay(in: response.headers, limit: .seconds(24 * 3600)) {
            guard wait <= policy.longestWait else { return nil }
            delay = max(delay, wait)
        }
        return allowed(delay, until: end)
    }

    private func backoff(_ policy: RetryPolicy, _ attempt: Int) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return policy.backoff.delay(afterFailures: attempt, using: &generator)
    }

    private func allowed(_ delay: Duration, until end: MonotonicInstant?) -> Duration? {
        guard let end else { return delay }
        return MonotonicInstant.now.advanced(by: delay) < end ? delay : nil
    }
}

/// Whether and how a call is repeated after a transient failure.
///
/// The policy is a client setting and an endpoint attribute; the endpoint's takes precedence. A call is repeated only if its method is
/// idempotent, or the policy allows other methods, and its body can be replayed.
public struct RetryPolicy: EndpointAttribute, Hashable {
    /// The maximum number of attempts, including the first: 3 means one call and two repeats. With 1 or less, calls aren't repeated. The
    /// limit applies to the whole call: redirect hops share the repeats.
    public var attempts: Int
    /// The waits between attempts.
    public var backoff: Backoff
    /// The statuses after which the call is repeated. Default 408, 429, 500, 502, 503, 504.
    public var statuses: StatusSet
    /// Whether requests with methods that aren't idempotent, such as POST, are repeated too. Default no.
    public var repeatsUnsafeMethods: Bool
    /// The longest `Retry-After` to wait for. If a server asks for more, the call isn't repeated. Default 60 seconds.
    public var longestWait: Duration

    /// Creates a policy.
    public init(
        attempts: Int = 3, backoff: Backoff = Backoff(), statuses: StatusSet = [408, 429, 500, 502, 503, 504],
        repeatsUnsafeMethods: Bool = false, longestWait: Duration = .seconds(60)
    ) {
        self.attempts = attempts
        self.backoff = backoff
        self.statuses = statuses
        self.repeatsUnsafeMethods = repeatsUnsafeMethods
        self.longestWait = longestWait
    }

    /// Never repeats a call, even if a kept-alive connection ends before the response begins. The default of a client. The exception is a
    /// request that an HTTP/2 server reports as unprocessed: it is sent again once, see ``TransportError/isUnprocessed``.
    public static let never = RetryPolicy(attempts: 1)

    /// Whether this transport failure may be transient.
    func covers(_ error: TransportError) -> Bool {
        switch error.code {
        case .cannotConnect, .connectionLost, .hostNotFound, .timedOutConnecting, .timedOutWaiting: true
        default: false
        }
    }
}
