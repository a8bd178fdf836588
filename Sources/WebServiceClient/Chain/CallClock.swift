import Foundation

/// The clock of a client's stages: waits of retries, of the queue and of rate limits. Tests inject another one, so that they need no real
/// time.
struct CallClock: Sendable {
    /// The current instant, for durations.
    var now: @Sendable () -> MonotonicInstant
    /// The current date, for fields such as `Retry-After` that name a date.
    var date: @Sendable () -> Date
    /// Performs an action after a duration, and returns a function that cancels it.
    var schedule: @Sendable (_ delay: Duration, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void

    /// The clock of clients that are made in this task. Only tests set it.
    @TaskLocal static var current = CallClock.system

    /// The system's clocks.
    static let system = CallClock(
        now: { .now }, date: { Date() },
        schedule: { delay, action in
            let task = Task {
                try await Task.sleep(for: delay.bounded)
                action()
            }
            return { task.cancel() }
        })

    /// Waits for a duration.
    ///
    /// - Throws: ``CallCancelled`` if the call is cancelled before, `CancellationError` if the task is.
    func sleep(_ duration: Duration, unless cancellation: CallCancellation) async throws {
        let waiter = CallWaiter()
        let cancelTimer = schedule(duration) { waiter.end(.success(())) }
        defer { cancelTimer() }
        try await waiter.wait(unless: cancellation)
    }
}

/// One suspension of a call that ends once: by its event, by the call's cancellation, or by its task's.
package final class CallWaiter: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Void, any Error>)
        case ended(Result<Void, any Error>)
    }

    private let state = Locked(State.idle)

    package init() {}

    /// Ends the wait. Later calls have no effect.
    ///
    /// - Returns: Whether this call ended it.
    @discardableResult
    package func end(_ result: Result<Void, any Error>) -> Bool {
        let (isFirst, continuation): (Bool, CheckedContinuation<Void, any Error>?) = state.withLock { state in
            switch state {
            case .ended: return (false, nil)
            case .idle:
                state = .ended(result)
                return (true, nil)
            case .waiting(let continuation):
                state = .ended(result)
                return (true, continuation)
            }
        }
        continuation?.resume(with: result)
        return isFirst
    }

    /// Suspends until the wait has ended. It may be called once.
    ///
    /// - Throws: The error that the wait ended with; ``CallCancelled`` or `CancellationError` if call or task is cancelled before.
    package func wait(unless cancellation: CallCancellation) async throws {
        let registration = cancellation.onCancel { [weak cancellation] in
            if let cause = cancellation?.cause { self.end(.failure(cause)) }
        }
        defer { cancellation.remove(registration) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if case .ended(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }
}

/// A timer that is decided on while a lock is held, and started after that.
final class ClockTimer: Sendable {
    private struct State {
        var isOver = false
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Starts the timer, unless it was cancelled before.
    func start(_ clock: CallClock, until end: MonotonicInstant, _ action: @escaping @Sendable () -> Void) {
        guard !state.withLock({ $0.isOver }) else { return }
        let cancel = clock.schedule(clock.now().duration(to: end), action)
        let isLate = state.withLock { state in
            if !state.isOver { state.cancel = cancel }
            return state.isOver
        }
        if isLate { cancel() }
    }

    /// Cancels the timer.
    func cancel() {
        let cancel = state.withLock { state in
            state.isOver = true
            defer { state.cancel = nil }
            return state.cancel
        }
        cancel?()
    }
}

extension Result {
    /// The error, if there is one.
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
