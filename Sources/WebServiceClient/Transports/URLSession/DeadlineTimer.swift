import Dispatch

/// Asks again and again, at the instants it is told, whether a deadline has passed.
///
/// `@unchecked Sendable`: the one property is a dispatch source, which may be scheduled and cancelled from any thread.
final class DeadlineTimer: @unchecked Sendable {
    private let source: any DispatchSourceTimer

    /// A timer that calls `check` on the queue; `check` says when it wants to be called next, or `nil` for not again.
    init(queue: DispatchQueue, check: @escaping @Sendable () -> MonotonicInstant?) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .distantFuture)
        source.setEventHandler { [weak self] in
            guard let next = check() else { return }
            self?.schedule(at: next)
        }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// Calls `check` next at that instant, or at most an hour from now: what is further away is looked at again then.
    func schedule(at instant: MonotonicInstant) {
        let remaining = min(max(MonotonicInstant.now.duration(to: instant), .zero), .seconds(3_600))
        let (seconds, attoseconds) = remaining.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        source.schedule(deadline: .now() + .nanoseconds(nanoseconds + 1), leeway: .milliseconds(1))
    }

    /// Ends the timer for good.
    func cancel() {
        source.cancel()
    }
}
