import Foundation

/// The stage of the chain that repeats a call after a failure that may pass: see ``RetryPolicy``.
///
/// The wait is the larger of the policy's back-off and the response's `Retry-After`. There is no repeat when the wait would outlive the
/// call's deadline, when the body can't be replayed, or when the method isn't idempotent; then the failure itself is delivered.
///
/// Where the policy allows repeats, an idempotent request that met a connection which the server had just closed is sent once more, at once,
/// which counts for no attempt. So is one of which an HTTP/2 server says that it has taken nothing, whatever the policy.
///
/// Each hop of a redirect passes here anew. The bound on attempts is the call's: what one hop has used the next one hasn't.
struct Retry: Interceptor {
    /// What applies where the endpoint has no policy of its own.
    let policy: RetryPolicy
    /// Waits; injected so that tests need no time.
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
                // The only place that goes on: what follows can be inlined here.
                let response = try await next(request, context)
                guard isRepeatable, policy.statuses.contains(response.status), context.attempt < policy.attempts,
                    let wait = wait(after: response, attempt: context.attempt, policy: policy, end: request.end)
                else { return response }
                response.body.cancel()
                delay = wait
                reason = "status \(response.status)"
            } catch let failure {
                // What the body's stream got from a transport may pass, too.
                guard let error = ((failure as? RequestBodyError)?.underlying ?? failure) as? TransportError else { throw failure }
                let isStale = error.isUnprocessed || error.isConnectionStale && policy.attempts > 1
                if isStale, !hasMetStaleConnection, isReplayable, request.method.isIdempotent, !Task.isCancelled {
                    // No attempt of its own: the server has most likely never seen the request, and any policy would be worn out by it.
                    hasMetStaleConnection = true
                    context.diagnostics.report(
                        .init(
                            .debug, "nothing of an answer had come when the connection ended, sent again over another",
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

/// Whether and how a call is repeated after a failure that may pass.
///
/// It is a client's setting and an attribute of endpoints; the endpoint's wins. Only idempotent methods are repeated, unless the policy
/// says that the endpoint bears it, and only bodies that can be replayed.
public struct RetryPolicy: EndpointAttribute, Hashable {
    /// The most attempts, the first included: 3 means one call and two repeats. 1 or less means no repeat. It bounds the whole call: hops of
    /// redirects share the repeats.
    public var attempts: Int
    /// The waits between attempts.
    public var backoff: Backoff
    /// The statuses after which the call is repeated. Default 408, 429, 500, 502, 503, 504.
    public var statuses: StatusSet
    /// Whether requests of methods that aren't idempotent, such as POST, are repeated too. Default no.
    public var repeatsUnsafeMethods: Bool
    /// The longest `Retry-After` that is waited for; a server that asks for more gets no repeat. Default 60 seconds.
    public var longestWait: Duration

    /// A policy.
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

    /// No repeat, also where a kept connection ends before anything of an answer has come: the default of a client. Only a request of which an
    /// HTTP/2 server says that it has taken nothing is sent once more, see ``TransportError/isUnprocessed``.
    public static let never = RetryPolicy(attempts: 1)

    /// Whether this failure of the transport may pass by itself.
    func covers(_ error: TransportError) -> Bool {
        switch error.code {
        case .cannotConnect, .connectionLost, .hostNotFound, .timedOutConnecting, .timedOutWaiting: true
        default: false
        }
    }
}
