public import Foundation

/// When calls to an origin that keeps failing are refused without being sent, so that callers get their error at once and the origin can
/// recover.
///
/// Each origin has its own circuit. While it is *closed*, calls pass. It *opens* when enough of the calls in a window of time fail: all
/// calls then fail at once with ``CircuitOpen``. When ``openDuration`` has passed, the next call is a *probe*: its success closes the
/// circuit, and its failure opens it again, for longer. Only one probe is on its way at a time; until it ends, or for as long as the
/// circuit was open, other calls are refused.
///
/// The policy is a client setting and an endpoint attribute; the attribute takes precedence. Endpoints with equal policies share the
/// circuit of an origin, and an endpoint with another policy has a separate circuit. ``off`` exempts an endpoint.
///
///     $0.circuitBreaker = CircuitBreakerPolicy()
///
///     "health()": .get("/health").circuitBreaker(.off)
///
/// Failures are ``statuses``, time-outs, and failures to reach the origin or to exchange messages with it. A response of any other status,
/// such as 404 or 429, is a success. Cancelled calls don't count, nor do calls that fail before they reach the origin, for example without
/// credentials or with a certificate that the ``TrustPolicy`` refuses. The head of a response decides; if its body breaks off later, the
/// success becomes a failure.
public struct CircuitBreakerPolicy: EndpointAttribute, PortableAttribute, Hashable, Codable {
    /// The time for which outcomes count. Default 30 seconds.
    public var window: Duration
    /// The share of failed calls in the window that opens the circuit, above 0 and at most 1. Default 0.5.
    public var failureRatio: Double
    /// The number of calls in the window below which the circuit stays closed. Default 20.
    public var minimumCalls: Int
    /// The time for which the circuit is open the first time. Each time that it opens again without having been closed for a whole
    /// ``window``, the time doubles, up to ``longestOpenDuration``. A random part, up to a half, is subtracted. A `Retry-After` of a
    /// failure is the minimum, up to an hour. Default 5 seconds.
    public var openDuration: Duration
    /// The longest time for which the circuit is open. Default 60 seconds.
    public var longestOpenDuration: Duration
    /// The statuses that count as failures. Default 500 to 599.
    public var statuses: StatusSet
    /// Whether there is a circuit breaker.
    private(set) var isOn = true

    /// Creates a policy.
    public init(
        window: Duration = .seconds(30), failureRatio: Double = 0.5, minimumCalls: Int = 20, openDuration: Duration = .seconds(5),
        longestOpenDuration: Duration = .seconds(60), statuses: StatusSet = .range(500...599)
    ) {
        self.window = window
        self.failureRatio = failureRatio
        self.minimumCalls = minimumCalls
        self.openDuration = openDuration
        self.longestOpenDuration = longestOpenDuration
        self.statuses = statuses
    }

    /// No circuit breaker, whatever the client's policy. The default of a client.
    public static let off: CircuitBreakerPolicy = {
        var policy = CircuitBreakerPolicy()
        policy.isOn = false
        return policy
    }()

    /// The bound of a `Retry-After`.
    static let longestRetryAfter = Duration.seconds(3600)

    /// The policy with values that the circuit can work with. An attribute that is given to a single call isn't verified.
    var bounded: CircuitBreakerPolicy {
        var policy = self
        policy.window = min(max(window, .milliseconds(1)), .seconds(86_400))
        // A ratio that isn't a number opens no circuit, and must be equal to itself as the key of one.
        policy.failureRatio = failureRatio > 0 ? min(failureRatio, 1) : 1
        policy.minimumCalls = max(1, minimumCalls)
        policy.openDuration = min(max(openDuration, .milliseconds(1)), .seconds(86_400))
        policy.longestOpenDuration = min(max(longestOpenDuration, policy.openDuration), .seconds(86_400))
        return policy
    }

    /// The problems of the values, each with its fix.
    var faults: [(problem: String, fix: String)] {
        guard isOn else { return [] }
        var faults: [(String, String)] = []
        func check(_ isRight: Bool, _ problem: String, _ fix: String) { if !isRight { faults.append((problem, fix)) } }
        check(window > .zero, "window is \(window.text)", "use a positive duration, such as .seconds(30)")
        check(failureRatio > 0 && failureRatio <= 1, "failureRatio is \(failureRatio)", "use a number above 0 and at most 1, such as 0.5")
        check(minimumCalls >= 1, "minimumCalls is \(minimumCalls)", "use a positive number, such as 20")
        check(openDuration > .zero, "openDuration is \(openDuration.text)", "use a positive duration, such as .seconds(5)")
        check(
            longestOpenDuration >= openDuration,
            "longestOpenDuration is \(longestOpenDuration.text), less than openDuration, \(openDuration.text)",
            "use a duration of at least openDuration, or .off for no circuit breaker")
        check(
            !statuses.contains(200), "statuses contains 200, so that successes count as failures",
            "list the statuses of an unhealthy origin, such as .range(500...599)")
        return faults
    }
}

extension CircuitBreakerPolicy: CustomStringConvertible {
    /// The values, in seconds.
    public var description: String {
        guard isOn else { return "CircuitBreakerPolicy(off)" }
        return "CircuitBreakerPolicy(window: \(window.text), failureRatio: \(failureRatio), minimumCalls: \(minimumCalls), "
            + "openDuration: \(openDuration.text), longestOpenDuration: \(longestOpenDuration.text), statuses: \(statuses))"
    }

    package init?(described text: String) {
        if text == Self.off.description {
            self = .off
            return
        }
        guard let members = DescribedMembers(text, of: "CircuitBreakerPolicy"),
            let window = members["window"].flatMap({ Duration(text: $0) }),
            let ratio = members["failureRatio"].flatMap({ Double($0) }), let calls = members.integer("minimumCalls"),
            let open = members["openDuration"].flatMap({ Duration(text: $0) }),
            let longest = members["longestOpenDuration"].flatMap({ Duration(text: $0) }),
            let statuses = members["statuses"].flatMap({ StatusSet(described: $0) })
        else { return nil }
        self.init(
            window: window, failureRatio: ratio, minimumCalls: calls, openDuration: open, longestOpenDuration: longest, statuses: statuses)
    }

    /// A profile can't switch off the protection, and can't weaken it with values that open the circuit later, or for a shorter time, than
    /// the default policy.
    package var leastTrustedSource: AttributeSource {
        let usual = CircuitBreakerPolicy()
        let isStrict =
            isOn && failureRatio > 0 && failureRatio <= usual.failureRatio && minimumCalls <= usual.minimumCalls && window >= usual.window
            && openDuration >= usual.openDuration && longestOpenDuration >= usual.longestOpenDuration
            && statuses.union(usual.statuses) == statuses
        return isStrict ? .profile : .exportedTable
    }
}

/// The stage of the chain that refuses calls to an origin whose circuit is open: see ``CircuitBreakerPolicy``.
///
/// It is inside retries, so each attempt counts, and outside the queue, so that a refused call takes no slot. A refusal isn't a transport
/// failure, so it isn't retried: the caller learns at once that the origin is down.
struct CircuitBreaker: Interceptor {
    /// The policy of endpoints without their own.
    let policy: CircuitBreakerPolicy?
    let circuits: CircuitRegistry

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        guard let policy = context.attributes[CircuitBreakerPolicy.self] ?? policy, policy.isOn else {
            return try await next(request, context)
        }
        return try await guarded(by: policy, request, context, next)
    }

    private func guarded(
        by policy: CircuitBreakerPolicy, _ request: ServiceRequest, _ context: CallContext, _ next: NextInterceptor
    ) async throws -> TransportResponse {
        // A dry run reaches no origin.
        guard let origin = request.origin, !context.isDryRun, DryRun.current == nil,
            let pass = try circuits.admit(to: origin, policy.bounded, context)
        else { return try await next(request, context) }
        let exchanges = context.record.exchanges
        do {
            var response = try await next(request, context)
            guard let receipt = pass.report(Self.outcome(of: response, policy, at: circuits.clock.date())) else { return response }
            // A reader that continues after the error gets it again.
            let isRetracted = Locked(false)
            response.body = response.body.failing { error in
                if case .failure(let reason, _) = Self.outcome(of: error, context),
                    isRetracted.withLock({ isRetracted in
                        defer { isRetracted = true }
                        return !isRetracted
                    })
                {
                    pass.retract(receipt, reason: reason)
                }
                return error
            }
            return response
        } catch {
            pass.report(Self.outcome(of: error, context, exchanges: exchanges))
            throw error
        }
    }

    private static func outcome(of response: TransportResponse, _ policy: CircuitBreakerPolicy, at date: Date) -> Circuit.Outcome {
        guard policy.statuses.contains(response.status) else { return .success }
        return .failure(
            "status \(response.status)",
            retryAfter: RetryAfter.delay(in: response.headers, from: date, limit: CircuitBreakerPolicy.longestRetryAfter))
    }

    /// Returns the outcome that an error shows for the health of the origin.
    ///
    /// - Parameter exchanges: The number of the call's exchanges before the attempt; `nil` for an error of the response's body.
    private static func outcome(of error: any Error, _ context: CallContext, exchanges: Int? = nil) -> Circuit.Outcome {
        // The errors of a request's body, of a provider's own calls and of interceptors are of other types.
        guard let error = error as? TransportError, !Task.isCancelled, context.record.cancellation.cause == nil,
            !context.record.hasProviderFailed
        else { return .nothing }
        switch error.code {
        case .badRequest, .unsupported, .readerTooSlow, .tooManyWaiting: return .nothing
        case .certificateExpired, .certificateNotYetValid, .certificateForOtherHost, .unknownIssuer, .pinMismatch, .clientCertificate:
            return .nothing
        // The deadline of a call that waited for a slot or a token, or whose body is read slowly, doesn't show a failure of the origin.
        case .timedOutTotal where exchanges == nil || exchanges == context.record.exchanges: return .nothing
        default: break
        }
        // A server closes idle connections and old ones even if it is healthy.
        if error.isConnectionStale || error.isUnprocessed { return .nothing }
        return .failure(error.code.rawValue)
    }
}

/// The error of a call that wasn't sent, because the circuit of its origin is open. A ``ServiceError`` of the kind `circuitOpen` has it as
/// its cause.
public struct CircuitOpen: DescribedError, Sendable, Hashable {
    /// The origin that the call would have gone to.
    public let origin: Origin
    /// The time, from the moment of the error, until a call may be sent as a probe. If a probe is on its way, calls may pass earlier, when
    /// it succeeds. `nil` if the program opened the circuit, because only the program closes it.
    public let retryAfter: Duration?
    /// The date at which a call may be sent as a probe; `nil` if the program opened the circuit.
    public let retryDate: Date?
    /// What ended the last call that failed, such as `status 503`; empty if there was none.
    public let lastFailure: String

    init(origin: Origin, retryAfter: Duration?, retryDate: Date?, lastFailure: String) {
        self.origin = origin
        self.retryAfter = retryAfter
        self.retryDate = retryDate
        self.lastFailure = lastFailure
    }

    /// The origin, the reason and the time until the next probe.
    public var description: String {
        guard let retryAfter else { return "The call wasn't sent, because the program opened the circuit to \(origin)." }
        let reason = lastFailure.isEmpty ? "" : ", the last call with \(lastFailure)"
        return "The call wasn't sent, because calls to \(origin) keep failing\(reason); the next may be sent in \(retryAfter.text)."
    }
}
