import Foundation

/// Decides whether and when an interrupted transfer continues, by the call's ``RetryPolicy``.
///
/// The policy's limits apply to consecutive attempts without progress: a transfer that makes progress may be interrupted any number of
/// times.
struct TransferPace: Sendable {
    private let policy: RetryPolicy
    private let clock: CallClock
    /// The end of the whole transfer; `nil` for none.
    private let end: MonotonicInstant?
    private let random: @Sendable () -> Double
    private var failures = 0
    private var start: MonotonicInstant

    /// Failures during the transfer of a body that may be transient, in addition to the policy's.
    private static let bodyFailures: Set<TransportError.Code> = [.truncated, .connectionLost, .timedOutIdle]

    init(
        _ policy: RetryPolicy, clock: CallClock, end: MonotonicInstant?, random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        (self.policy, self.clock, self.end, self.random) = (policy, clock, end, random)
        start = clock.now()
    }

    /// Notes progress: the limits count from here.
    mutating func progressed() {
        failures = 0
        start = clock.now()
    }

    /// The wait before the next attempt; `nil` if the failure is final.
    mutating func wait(after error: any Error) -> Duration? {
        guard let asked = asked(by: error) else { return nil }
        return wait(asked > .zero ? asked : nil)
    }

    /// The wait before the next attempt after a failure that may be transient; `nil` if the policy allows no more attempts.
    mutating func wait(_ asked: Duration? = nil) -> Duration? {
        failures += 1
        guard failures < policy.attempts, asked ?? .zero <= policy.longestWait else { return nil }
        let own = policy.backoff.delay(afterFailures: failures, fraction: random())
        let wait = policy.backoff.delay(own, asked: asked, random: random)
        return policy.allows(wait, at: clock.now(), since: start, before: end) ? wait : nil
    }

    /// The wait that a failure asks for, zero if it asks for none; `nil` if the failure isn't transient.
    private func asked(by error: any Error) -> Duration? {
        guard let error = error as? ServiceError else { return nil }
        if let cause = error.cause as? TransportError {
            return policy.failures.contains(cause.code) || Self.bodyFailures.contains(cause.code) || cause.isUnprocessed ? .zero : nil
        }
        guard error.kind == .status, let response = error.response,
            policy.covers(status: response.status, headers: response.headers, hasKey: false)
        else { return nil }
        return policy.askedWait(status: response.status, headers: response.headers, now: clock.date()) ?? .zero
    }
}
