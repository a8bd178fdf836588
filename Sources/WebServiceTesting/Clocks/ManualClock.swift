import WebServiceClient

/// A clock that a test advances, so that delays of stubs and other code that sleeps on a clock don't take real time.
///
///     let clock = ManualClock()
///     async let call = …                            // sleeps on the clock
///     try await clock.waitForSleepers(count: 1)
///     clock.advance(by: .seconds(30))
public final class ManualClock: Clock {
    /// A point of the clock's time.
    public struct Instant: InstantProtocol, Sendable {
        /// The time since the clock's creation.
        public let offset: Duration

        /// Returns the instant after a duration.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the duration until another instant.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Returns whether an instant is before another.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var count = 0
    }

    private let state = Locked(State())

    /// Makes a clock at zero.
    public init() {}

    /// The current instant, which only ``advance(by:)`` changes.
    public var now: Instant { state.withLock { $0.now } }

    /// The smallest step, a nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The number of tasks that sleep on the clock.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Advances the clock and wakes the tasks whose deadline has passed.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Sleeps until the clock reaches the deadline.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[number] = Sleeper(deadline: deadline, continuation: continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: number)
                // The task was cancelled before it fell asleep; the sleep must find the cancellation.
                if sleeper == nil { state.cancelled.insert(number) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        _ = state.withLock { $0.cancelled.remove(number) }
    }

    /// Waits, in real time, until this number of tasks sleeps on the clock.
    ///
    /// - Throws: ``TestingFailure`` if the time limit passes; `CancellationError`.
    public func waitForSleepers(count: Int, within limit: Duration = .seconds(10)) async throws {
        let deadline = ContinuousClock.now + limit
        while sleeperCount < count {
            guard ContinuousClock.now < deadline else {
                throw TestingFailure("Expected \(count) tasks to sleep on the clock within \(limit), found \(sleeperCount)")
            }
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
