import RemoteLogger
import WebServiceClient

/// A clock that advances only on request.
final class ManualLogClock: LogClock {
    private struct Sleeper {
        let id: UInt64
        let end: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var elapsed: UInt64 = 1_000_000_000
        var lastID: UInt64 = 0
        var sleepers: [Sleeper] = []
        var cancelled: Set<UInt64> = []
    }

    /// 2026-03-01T09:30:00.123456789Z, minus the second at which the clock starts.
    private let origin: UInt64 = 1_772_357_399_123_456_789
    private let state = Locked(State())

    var time: UInt64 { origin + uptime }
    var uptime: UInt64 { state.withLock { $0.elapsed } }

    /// The time until the first sleeper wakes.
    var nextWake: Duration? {
        state.withLock { state in
            state.sleepers.map(\.end).min().map { .nanoseconds(Int64($0 - state.elapsed)) }
        }
    }

    func advance(by duration: Duration) {
        let step = UInt64(duration.components.seconds) * 1_000_000_000 + UInt64(duration.components.attoseconds / 1_000_000_000)
        let due = state.withLock { state in
            state.elapsed += step
            defer { state.sleepers.removeAll { $0.end <= state.elapsed } }
            return state.sleepers.filter { $0.end <= state.elapsed }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    func sleep(until end: UInt64) async throws {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let ended: Result<Void, any Error>? = state.withLock { state in
                    guard state.cancelled.remove(id) == nil else { return .failure(CancellationError()) }
                    guard end > state.elapsed else { return .success(()) }
                    state.sleepers.append(Sleeper(id: id, end: end, continuation: continuation))
                    return nil
                }
                if let ended { continuation.resume(with: ended) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil as Sleeper?
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances in steps of at most `step`, never beyond the next sleeper's end, until a condition is true.
    ///
    /// The clock doesn't advance while no task sleeps on it, and only after several turns: on a busy machine the tasks that it woke may
    /// not have run yet, and minutes would pass for them.
    ///
    /// - Parameter pause: The number of turns for each step.
    func run(step: Duration = .milliseconds(250), pause: Int = 4, until condition: () -> Bool) async -> Bool {
        var turns = 0
        return await eventually(slowsDown: false) {
            if condition() { return true }
            turns += 1
            if turns.isMultiple(of: pause), let nextWake { advance(by: min(step, nextWake)) }
            return false
        }
    }
}

/// Lets other tasks run until a condition is true. Only failing tests reach the limit of five minutes.
///
/// A turn counts at most a tenth of a second: if one takes longer, other tests occupy the processor, and the awaited tasks don't run
/// either.
///
/// - Parameter slowsDown: Whether the checks become less frequent over time, which suits waiting for other processes.
func eventually(slowsDown: Bool = true, _ condition: () -> Bool) async -> Bool {
    var left = Duration.seconds(300)
    var last = ContinuousClock.now
    var turns = 0
    while left > .zero {
        if condition() { return true }
        turns += 1
        // Yielding alone takes processor time from the awaited tasks.
        if slowsDown, turns > 200 {
            try? await Task.sleep(for: .milliseconds(20))
        } else if turns % 20 == 0 {
            try? await Task.sleep(for: .milliseconds(1))
        } else {
            await Task.yield()
        }
        let now = ContinuousClock.now
        left -= min(now - last, .milliseconds(100))
        last = now
    }
    return condition()
}

/// Gives other tasks time to run.
func settle() async {
    for _ in 0..<20 {
        for _ in 0..<50 { await Task.yield() }
        try? await Task.sleep(for: .microseconds(200))
    }
}
