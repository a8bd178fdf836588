import WebServiceClient

/// When the receiver is asked next: at once, or after a wait that grows with its failures. It belongs to the receiver, not to a batch.
final class ReceiverPace: Sendable {
    private struct State: Sendable {
        /// The failures since the last answer that settled something.
        var failures = 0
        /// Nothing is sent until then, on the monotonic clock.
        var end: UInt64 = 0
        /// A flush that is asked for after so many ends the wait; `nil` if none does.
        var flushes: UInt64?
    }

    private let core: ShippingCore
    private let reporter: ShippingReporter
    private let state = Locked(State())

    init(core: ShippingCore, reporter: ShippingReporter) {
        self.core = core
        self.reporter = reporter
    }

    // MARK: What has happened

    /// The receiver has settled something.
    func noteAnswer() {
        state.withLock { $0.failures = 0 }
        reporter.noteAnswer()
    }

    /// Demands a wait after a failure: as long as the back-off says, or longer if the receiver asks for it. A flush ends a wait that is only
    /// ours.
    func rest(because message: String, atLeast retryAfter: Duration?) {
        let failures = state.withLock { state in
            state.failures += 1
            return state.failures
        }
        var generator = SystemRandomNumberGenerator()
        let own = core.settings.backoff.delay(afterFailures: failures, using: &generator)
        let duration = max(own, retryAfter ?? .zero)
        reporter.noteFailure(message, next: duration)
        stop(for: duration, endsByFlush: retryAfter == nil)
    }

    /// Demands a wait of minutes, since the settings have to be put right.
    func pause(status: Int?, reason: String, atLeast retryAfter: Duration?) {
        state.withLock { $0.failures += 1 }
        let duration = max(core.settings.pause, retryAfter ?? .zero)
        reporter.notePause(status: status, reason: reason, next: duration)
        stop(for: duration, endsByFlush: false)
    }

    private func stop(for duration: Duration, endsByFlush: Bool) {
        let end = core.settings.clock.uptime &+ duration.wholeNanoseconds
        let flushes = endsByFlush ? core.flushes : nil
        state.withLock { state in
            state.end = end
            state.flushes = flushes
        }
        core.note(nextAttempt: end)
    }

    // MARK: Waits

    /// Waits until something may be sent.
    ///
    /// - Returns: whether something may be sent, and the shipper isn't closed.
    func turn() async -> Bool {
        let (end, flushes) = state.withLock { ($0.end, $0.flushes) }
        return await wait(until: end, flushes: flushes)
    }

    /// Waits in any case.
    ///
    /// - Returns: whether the shipper isn't closed.
    func wait(for duration: Duration) async -> Bool {
        await wait(until: core.settings.clock.uptime &+ duration.wholeNanoseconds, flushes: nil)
    }

    private func wait(until end: UInt64, flushes: UInt64?) async -> Bool {
        let clock = core.settings.clock
        while !Task.isCancelled, !core.isClosed {
            let now = clock.uptime
            guard now < end, flushes == nil || core.flushes == flushes else { return true }
            await core.alarm.wait(for: .nanoseconds(Int64(clamping: end - now)), clock: clock)
        }
        return false
    }
}
