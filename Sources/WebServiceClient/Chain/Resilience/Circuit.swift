/// The state of one circuit breaker: a value without a clock or a lock, which is driven by the times and outcomes of calls.
///
/// While the circuit is closed, it counts outcomes in a window of time. When too many calls fail, it opens: it refuses calls for a while.
/// The next call after that is a probe, whose outcome closes the circuit or opens it again. Only calls move the circuit; it has no timer.
struct Circuit: Sendable {
    /// Whether calls pass.
    enum Phase: Sendable, Hashable {
        /// Calls pass, and their outcomes count.
        case closed
        /// Calls are refused until an instant. The next call after it is a probe.
        case open(until: MonotonicInstant)
        /// A probe is on its way. If it hasn't ended by the instant, the next call is another probe.
        case halfOpen(until: MonotonicInstant)
    }

    /// The result of an exchange, as evidence of its origin's health.
    enum Outcome: Sendable, Hashable {
        /// The origin answered.
        case success
        /// The origin is unhealthy: the reason, and the time until it wants to be called again.
        case failure(String, retryAfter: Duration? = nil)
        /// Nothing: the call was cancelled, or failed before it reached the origin.
        case nothing
    }

    /// Allows one call. Its outcome is reported with it.
    struct Permit: Sendable, Hashable {
        /// The number of the circuit's period of being closed or open in which the call began. An outcome from another period is too late.
        fileprivate let period: Int
        /// The number of the probe; `nil` for other calls.
        fileprivate let probe: Int?

        var isProbe: Bool { probe != nil }
    }

    /// The place where a success was counted, so that it can become a failure if the response's body ends early.
    struct Receipt: Sendable, Hashable {
        fileprivate let period: Int
        fileprivate let slot: Int?
    }

    /// The answer to a call that asks to pass.
    enum Admission: Sendable, Hashable {
        case permitted(Permit)
        case refused(until: MonotonicInstant)
    }

    /// A change of the phase, for diagnostics.
    enum Change: Sendable, Hashable {
        case opened(for: Duration, failures: Int, calls: Int)
        case reopened(for: Duration)
        case probing
        case closed
    }

    let policy: CircuitBreakerPolicy
    private(set) var phase = Phase.closed
    /// The reason of the last failure that counted.
    private(set) var lastFailure = ""
    private var window: OutcomeWindow
    private var period = 0
    private var probe = 0
    /// The number of times that the circuit has opened without staying closed for a whole window in between.
    private var openings = 0
    private var closedAt: MonotonicInstant?
    /// The latest instant that a `Retry-After` names.
    private var wanted: MonotonicInstant?

    init(_ policy: CircuitBreakerPolicy, at now: MonotonicInstant) {
        self.policy = policy
        window = OutcomeWindow(length: policy.window, start: now)
    }

    /// The calls and failures in the window.
    func counts(at now: MonotonicInstant) -> (calls: Int, failures: Int) { window.counts(at: now) }

    /// Whether the circuit is as good as new: it can be forgotten.
    func isIdle(at now: MonotonicInstant) -> Bool {
        guard case .closed = phase else { return false }
        return window.counts(at: now).calls == 0 && !isEscalated(at: now)
    }

    /// Asks whether a call may pass.
    mutating func admit(at now: MonotonicInstant) -> (admission: Admission, change: Change?) {
        switch phase {
        case .closed:
            return (.permitted(Permit(period: period, probe: nil)), nil)
        case .open(let end), .halfOpen(let end):
            guard now >= end else { return (.refused(until: end), nil) }
            let isFirst = if case .open = phase { true } else { false }
            probe += 1
            phase = .halfOpen(until: now.advanced(by: lease))
            return (.permitted(Permit(period: period, probe: probe)), isFirst ? .probing : nil)
        }
    }

    /// Takes the outcome of a call. Outcomes of calls that began before the circuit opened or closed have no effect, because they don't
    /// show the origin's current health.
    ///
    /// - Returns: The change of the phase, and for a success that counted its receipt.
    mutating func report(
        _ outcome: Outcome, of permit: Permit, at now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) -> (change: Change?, receipt: Receipt?) {
        guard permit.period == period else { return (nil, nil) }
        switch outcome {
        case .nothing:
            // The permit is given back: the next call is the probe. A probe that another one has replaced has none to give.
            if permit.isProbe, permit.probe == probe, case .halfOpen = phase { phase = .open(until: now) }
            return (nil, nil)
        case .success:
            guard permit.isProbe else { return (nil, Receipt(period: period, slot: window.add(isFailure: false, at: now))) }
            close(at: now)
            return (.closed, Receipt(period: period, slot: nil))
        case .failure(let reason, let retryAfter):
            lastFailure = reason
            note(retryAfter, at: now)
            guard !permit.isProbe else { return (open(at: now, using: &generator), nil) }
            window.add(isFailure: true, at: now)
            return (openIfNeeded(at: now, using: &generator), nil)
        }
    }

    /// Turns a success into a failure, because the body of the response ended early.
    mutating func retract(
        _ receipt: Receipt, reason: String, at now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) -> Change? {
        guard receipt.period == period, case .closed = phase else { return nil }
        lastFailure = reason
        window.retract(receipt.slot, at: now)
        return openIfNeeded(at: now, using: &generator)
    }

    /// Closes the circuit and forgets everything before.
    mutating func reset(at now: MonotonicInstant) {
        close(at: now)
        openings = 0
        closedAt = nil
        lastFailure = ""
    }

    // MARK: Changes

    private mutating func openIfNeeded(at now: MonotonicInstant, using generator: inout some RandomNumberGenerator) -> Change? {
        let (calls, failures) = window.counts(at: now)
        guard calls >= policy.minimumCalls, Double(failures) / Double(calls) >= policy.failureRatio else { return nil }
        return open(at: now, using: &generator)
    }

    private mutating func open(at now: MonotonicInstant, using generator: inout some RandomNumberGenerator) -> Change {
        let (calls, failures) = window.counts(at: now)
        let wasClosed = phase == .closed
        if wasClosed, !isEscalated(at: now) { openings = 0 }
        openings += 1
        period += 1
        var wait = bound * Double.random(in: 0.5...1, using: &generator)
        if let wanted, now.advanced(by: wait) < wanted {
            // All clients get the same time, so more jitter spreads their probes.
            wait = (wanted - now) + bound * Double.random(in: 0...0.5, using: &generator)
        }
        wanted = nil
        phase = .open(until: now.advanced(by: wait))
        return wasClosed ? .opened(for: wait, failures: failures, calls: calls) : .reopened(for: wait)
    }

    private mutating func close(at now: MonotonicInstant) {
        period += 1
        phase = .closed
        closedAt = now
        wanted = nil
        window = OutcomeWindow(length: policy.window, start: now)
    }

    private mutating func note(_ retryAfter: Duration?, at now: MonotonicInstant) {
        guard let retryAfter else { return }
        let instant = now.advanced(by: min(retryAfter, CircuitBreakerPolicy.longestRetryAfter))
        wanted = wanted.map { max($0, instant) } ?? instant
    }

    /// Whether the circuit was open so lately that its next opening lasts longer.
    private func isEscalated(at now: MonotonicInstant) -> Bool {
        closedAt.map { now - $0 < policy.window } ?? false
    }

    /// The longest time, without `Retry-After`, that the circuit stays open this time.
    private var bound: Duration {
        Backoff(base: policy.openDuration, cap: policy.longestOpenDuration, jitter: .none).bound(afterFailures: openings)
    }

    /// The time until another call may be the probe. It equals the time for which the circuit was open, so an origin that never answers
    /// gets no more probes than one that fails.
    private var lease: Duration { max(bound, .seconds(1)) }
}

/// The numbers of calls and failures in the last stretch of time, kept in ten buckets.
struct OutcomeWindow: Sendable {
    private struct Bucket: Sendable {
        var slot = -1
        var calls = 0
        var failures = 0
    }

    private static let count = 10
    private let width: Duration
    private let start: MonotonicInstant
    private var buckets = [Bucket](repeating: Bucket(), count: count)

    init(length: Duration, start: MonotonicInstant) {
        width = max(length / Self.count, .microseconds(100))
        self.start = start
    }

    /// The calls and failures between nine and ten tenths of the window back.
    func counts(at now: MonotonicInstant) -> (calls: Int, failures: Int) {
        let oldest = slot(at: now) - Self.count + 1
        var (calls, failures) = (0, 0)
        for bucket in buckets where bucket.slot >= oldest {
            calls += bucket.calls
            failures += bucket.failures
        }
        return (calls, failures)
    }

    /// Counts a call.
    ///
    /// - Returns: The number of the bucket that counts it.
    @discardableResult
    mutating func add(isFailure: Bool, at now: MonotonicInstant) -> Int {
        let slot = slot(at: now)
        let index = slot % Self.count
        if buckets[index].slot != slot { buckets[index] = Bucket(slot: slot) }
        buckets[index].calls += 1
        if isFailure { buckets[index].failures += 1 }
        return slot
    }

    /// Makes a counted call a failure. A call whose bucket is gone counts as a new one.
    mutating func retract(_ slot: Int?, at now: MonotonicInstant) {
        guard let slot, slot > self.slot(at: now) - Self.count, buckets[slot % Self.count].slot == slot else {
            add(isFailure: true, at: now)
            return
        }
        buckets[slot % Self.count].failures += 1
    }

    /// The number of the bucket of an instant. A clock that runs backwards stays in the first.
    private func slot(at now: MonotonicInstant) -> Int {
        max(0, Int((now - start) / width))
    }
}
