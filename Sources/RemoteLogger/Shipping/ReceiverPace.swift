import HTTPTransport

/// The time of the next request to the receiver, and the number of concurrent requests. Both belong to the receiver, not to a batch.
///
/// After a failure nothing is sent for a wait that grows with each failure. The concurrency adapts by additive increase and multiplicative
/// decrease (AIMD): the limit grows by one after as many answers as the limit, and halves after a failure. If several concurrent requests
/// fail, only the first failure counts: failures of requests that began before it are ignored.
final class ReceiverPace: Sendable {
    /// Permission to send a request.
    struct Turn: Sendable {
        fileprivate let round: UInt64
    }

    private struct State: Sendable {
        /// The number of failures since the last definite answer.
        var failures = 0
        /// The end of the current wait, on the monotonic clock.
        var end: UInt64 = 0
        /// Whether a flush ends the wait.
        var endsByFlush = false
        /// Whether the wait isn't over, or nothing has been sent since.
        var isResting = false
        /// Incremented by each counted failure.
        var round: UInt64 = 0
        /// The maximum number of concurrent requests.
        var limit = 1
        /// The number of requests in flight.
        var running = 0
        /// The number of answers since the limit changed.
        var answers = 0
        /// The signals of batches that wait for a slot, by number.
        var waiting: [UInt64: Signal] = [:]
        /// The signals of batches that only sleep, by number.
        var sleeping: [UInt64: Signal] = [:]
        var isClosed = false
    }

    private let settings: ShippingSettings
    private let state = Locked(State())

    init(settings: ShippingSettings) {
        self.settings = settings
    }

    /// The maximum number of concurrent requests.
    var limit: Int { state.withLock { $0.limit } }

    /// Returns the time until the next attempt after a failure.
    func nextAttempt(at now: UInt64) -> Duration? {
        state.withLock { state in
            state.isResting ? .nanoseconds(Int64(clamping: state.end > now ? state.end - now : 0)) : nil
        }
    }

    // MARK: Requests

    /// Waits until a batch may send a request: the wait after a failure is over, fewer requests are in flight than the limit allows, and no
    /// earlier batch is waiting to send.
    ///
    /// - Returns: The permission; `nil` after the close.
    func begin(_ batch: UInt64) async -> Turn? {
        let signal = Signal()
        state.withLock { $0.waiting[batch] = signal }
        defer {
            state.withLock { $0.waiting[batch] = nil }
            wake()
        }
        while !Task.isCancelled {
            let now = settings.clock.uptime
            let (turn, end) = state.withLock { state -> (Turn?, UInt64?) in
                guard !state.isClosed, state.waiting.keys.min() == batch, state.running < state.limit else { return (nil, nil) }
                guard now >= state.end else { return (nil, state.end) }
                state.running += 1
                state.isResting = false
                return (Turn(round: state.round), nil)
            }
            if let turn { return turn }
            if state.withLock({ $0.isClosed }) { return nil }
            await signal.wait(until: end, clock: settings.clock)
        }
        return nil
    }

    /// Ends a request.
    ///
    /// - Parameter isAnswered: Whether the receiver has answered without being too busy.
    func end(_ turn: Turn, isAnswered: Bool) {
        state.withLock { state in
            // Without full use of the limit, an answer doesn't justify a higher one.
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

    // MARK: Outcomes

    /// Notes that the receiver has settled something.
    ///
    /// - Returns: Whether that is news: nothing has failed since the request began.
    func noteAnswer(to turn: Turn) -> Bool {
        state.withLock { state in
            guard turn.round == state.round else { return false }
            state.failures = 0
            if settings.clock.uptime >= state.end { state.isResting = false }
            return true
        }
    }

    /// Permission for an acknowledgement query, which doesn't count as a request in flight.
    var queryTurn: Turn { state.withLock { Turn(round: $0.round) } }

    /// Starts a wait after a failure: the backoff delay, or the receiver's `Retry-After` if it is longer. Up to a tenth, at most a second,
    /// is added to the latter, because the receiver may have sent many clients the same value. A flush ends a wait that the receiver hasn't
    /// requested.
    ///
    /// - Returns: The wait; `nil` if the failure was already known.
    func noteFailure(of turn: Turn, retryAfter: Duration?) -> Duration? {
        stop(turn, limit: { $0 / 2 }, endsByFlush: retryAfter == nil) { failures in
            var generator = SystemRandomNumberGenerator()
            return max(settings.backoff.delay(afterFailures: failures, using: &generator), Self.spread(retryAfter, using: &generator))
        }
    }

    /// Starts a wait of minutes, because the settings must be corrected.
    ///
    /// - Returns: The wait; `nil` if the failure was already known.
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
            // A known failure may still request a longer wait.
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

    /// Ends a wait that a flush may end.
    func noteFlush() {
        state.withLock { state in
            if state.endsByFlush { state.end = 0 }
        }
        wake()
    }

    /// Waits for the whole duration.
    ///
    /// - Returns: Whether requests may still be sent.
    func sleep(_ batch: UInt64, for duration: Duration) async -> Bool {
        let signal = Signal()
        state.withLock { $0.sleeping[batch] = signal }
        defer { state.withLock { $0.sleeping[batch] = nil } }
        let end = settings.clock.uptime &+ duration.wholeNanoseconds
        while !Task.isCancelled, !state.withLock({ $0.isClosed }) {
            guard settings.clock.uptime < end else { return true }
            await signal.wait(until: end, clock: settings.clock)
        }
        return false
    }

    /// Ends all waits and refuses further requests.
    func close() {
        let signals = state.withLock { state in
            state.isClosed = true
            return state.sleeping.values.map { $0 }
        }
        for signal in signals { signal.send() }
        wake()
    }

    private func wake() {
        for signal in state.withLock({ Array($0.waiting.values) }) { signal.send() }
    }
}
