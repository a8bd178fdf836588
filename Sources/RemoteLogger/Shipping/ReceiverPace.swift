import HTTPTransport

/// When the receiver is asked next, and how often at once. Both belong to the receiver, not to a batch.
///
/// After a failure nothing is sent for a wait that grows from failure to failure. Beside that, requests above one at once are found out by
/// additive increase and multiplicative decrease (AIMD): one more after as many answers as there may be requests, half as many after a failure.
/// A failure that many requests meet counts once: those that began before it say nothing new.
final class ReceiverPace: Sendable {
    /// Leave to send a request.
    struct Turn: Sendable {
        fileprivate let round: UInt64
    }

    private struct State: Sendable {
        /// The failures since the last answer that settled something.
        var failures = 0
        /// Nothing is sent until then, on the monotonic clock.
        var end: UInt64 = 0
        /// Whether a flush ends the wait.
        var endsByFlush = false
        /// The wait isn't over, or nothing was sent since.
        var isResting = false
        /// Grows with each failure that counts.
        var round: UInt64 = 0
        /// How many requests there may be at once.
        var limit = 1
        /// How many there are.
        var running = 0
        /// The answers since the limit has changed.
        var answers = 0
        /// The batches that want to send, by their numbers, and what wakes them.
        var waiting: [UInt64: Alarm] = [:]
        /// What wakes those that only wait.
        var sleeping: [UInt64: Alarm] = [:]
        var isClosed = false
    }

    private let settings: ShippingSettings
    private let state = Locked(State())

    init(settings: ShippingSettings) {
        self.settings = settings
    }

    /// How many requests there may be at once.
    var limit: Int { state.withLock { $0.limit } }

    /// How long it is until the next attempt, after one has failed.
    func nextAttempt(at now: UInt64) -> Duration? {
        state.withLock { state in
            state.isResting ? .nanoseconds(Int64(clamping: state.end > now ? state.end - now : 0)) : nil
        }
    }

    // MARK: Requests

    /// Waits until a batch may send a request: until the wait after a failure is over, fewer requests than the limit are on their way, and no
    /// earlier batch wants to send one.
    ///
    /// - Returns: `nil` when nothing is sent any more.
    func begin(_ batch: UInt64) async -> Turn? {
        let alarm = Alarm()
        state.withLock { $0.waiting[batch] = alarm }
        defer {
            state.withLock { $0.waiting[batch] = nil }
            wake()
        }
        while !Task.isCancelled {
            let now = settings.clock.uptime
            let (turn, pause) = state.withLock { state -> (Turn?, Duration?) in
                guard !state.isClosed, state.waiting.keys.min() == batch, state.running < state.limit else { return (nil, nil) }
                guard now >= state.end else { return (nil, .nanoseconds(Int64(clamping: state.end - now))) }
                state.running += 1
                state.isResting = false
                return (Turn(round: state.round), nil)
            }
            if let turn { return turn }
            if state.withLock({ $0.isClosed }) { return nil }
            await alarm.wait(for: pause, clock: settings.clock)
        }
        return nil
    }

    /// A request has come to its end.
    ///
    /// - Parameter isAnswered: whether the receiver has answered, and not that it is too busy.
    func end(_ turn: Turn, isAnswered: Bool) {
        state.withLock { state in
            // What wasn't used to the full says nothing about more.
            if isAnswered, turn.round == state.round, state.running >= state.limit, state.limit < settings.maximumRequestsInFlight {
                state.answers += 1
                if state.answers >= state.limit {
                    state.limit += 1
                    state.answers = 0
                }
            }
            state.running -= 1
        }
        wake()
    }

    // MARK: What came of them

    /// The receiver has settled something.
    ///
    /// - Returns: whether that is news: whether nothing has failed since the request began.
    func noteAnswer(to turn: Turn) -> Bool {
        state.withLock { state in
            guard turn.round == state.round else { return false }
            state.failures = 0
            if settings.clock.uptime >= state.end { state.isResting = false }
            return true
        }
    }

    /// Leave to ask for an acknowledgement, which takes no place of a request.
    var turnToAsk: Turn { state.withLock { Turn(round: $0.round) } }

    /// Demands a wait after a failure: as long as the back-off says, or longer if the receiver asks for it. To what the receiver asks for up to a
    /// tenth is added, and no more than a second, since it may ask many at once. A flush ends a wait that is only ours.
    ///
    /// - Returns: the wait; `nil` when the failure was known already.
    func noteFailure(of turn: Turn, retryAfter: Duration?) -> Duration? {
        stop(turn, limit: { $0 / 2 }, endsByFlush: retryAfter == nil) { failures in
            var generator = SystemRandomNumberGenerator()
            return max(settings.backoff.delay(afterFailures: failures, using: &generator), Self.spread(retryAfter, using: &generator))
        }
    }

    /// Demands a wait of minutes, since the settings have to be put right.
    ///
    /// - Returns: the wait; `nil` when the failure was known already.
    func notePause(of turn: Turn, retryAfter: Duration?) -> Duration? {
        stop(turn, limit: { _ in 1 }, endsByFlush: false) { _ in
            var generator = SystemRandomNumberGenerator()
            return max(settings.pause, Self.spread(retryAfter, using: &generator))
        }
    }

    private static func spread(_ retryAfter: Duration?, using generator: inout some RandomNumberGenerator) -> Duration {
        guard let retryAfter else { return .zero }
        return retryAfter + min(retryAfter / 10, .seconds(1)) * Double.random(in: 0...1, using: &generator)
    }

    private func stop(
        _ turn: Turn, limit: (Int) -> Int, endsByFlush: Bool, _ duration: (_ failures: Int) -> Duration
    ) -> Duration? {
        let now = settings.clock.uptime
        return state.withLock { state in
            let isNews = turn.round == state.round
            // What is known already may still ask for a longer wait.
            guard isNews || !endsByFlush else { return nil }
            if isNews {
                state.failures += 1
                state.round += 1
                state.limit = max(1, limit(state.limit))
                state.answers = 0
            }
            let duration = duration(state.failures)
            let end = now &+ duration.wholeNanoseconds
            guard isNews || end > state.end else { return nil }
            state.end = end
            state.endsByFlush = endsByFlush
            state.isResting = true
            return isNews ? duration : nil
        }
    }

    // MARK: Waits

    /// Somebody doesn't want to wait.
    func noteFlush() {
        state.withLock { state in
            if state.endsByFlush { state.end = 0 }
        }
        wake()
    }

    /// Waits in any case.
    ///
    /// - Returns: whether something may still be sent.
    func sleep(_ batch: UInt64, for duration: Duration) async -> Bool {
        let alarm = Alarm()
        state.withLock { $0.sleeping[batch] = alarm }
        defer { state.withLock { $0.sleeping[batch] = nil } }
        let end = settings.clock.uptime &+ duration.wholeNanoseconds
        while !Task.isCancelled, !state.withLock({ $0.isClosed }) {
            let now = settings.clock.uptime
            guard now < end else { return true }
            await alarm.wait(for: .nanoseconds(Int64(clamping: end - now)), clock: settings.clock)
        }
        return false
    }

    /// Nothing is sent any more.
    func close() {
        let alarms = state.withLock { state in
            state.isClosed = true
            return state.sleeping.values.map { $0 }
        }
        for alarm in alarms { alarm.ring() }
        wake()
    }

    private func wake() {
        for alarm in state.withLock({ Array($0.waiting.values) }) { alarm.ring() }
    }
}
