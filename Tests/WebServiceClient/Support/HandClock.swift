import Foundation

@testable import WebServiceClient

/// A clock that a test advances. With `jumps`, a wait ends at once and advances the clock itself.
///
///     let clock = HandClock()
///     let client = clock.provide { Shop(serviceRoot: …) }
///     clock.advance(by: .seconds(60))
final class HandClock: Sendable {
    private struct State {
        var elapsed = Duration.zero
        var timers: [Int: (due: Duration, action: @Sendable () -> Void)] = [:]
        var count = 0
        var waits: [Duration] = []
    }

    private let state = Locked(State())
    private let start = MonotonicInstant.now
    private let jumps: Bool
    let startDate = Date(timeIntervalSince1970: 1_800_000_000)

    init(jumps: Bool = false) {
        self.jumps = jumps
    }

    var clock: CallClock {
        CallClock(
            now: { self.start.advanced(by: self.state.withLock { $0.elapsed }) },
            date: { self.startDate.addingTimeInterval(self.state.withLock { $0.elapsed } / .seconds(1)) },
            schedule: { delay, action in
                let number: Int? = self.state.withLock { state in
                    state.waits.append(delay)
                    state.count += 1
                    guard !self.jumps else {
                        state.elapsed += max(.zero, delay)
                        return nil
                    }
                    state.timers[state.count] = (state.elapsed + max(.zero, delay), action)
                    return state.count
                }
                guard let number else {
                    action()
                    return {}
                }
                return { self.state.withLock { $0.timers[number] = nil } }
            })
    }

    /// The waits so far.
    var waits: [Duration] { state.withLock { $0.waits } }

    /// The number of waits that haven't ended.
    var timerCount: Int { state.withLock { $0.timers.count } }

    /// Creates a value that uses this clock.
    func provide<Value>(_ make: () throws -> Value) rethrows -> Value {
        try CallClock.$current.withValue(clock, operation: make)
    }

    /// Advances the clock and performs the actions that are due.
    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.elapsed += duration
            let due = state.timers.filter { $0.value.due <= state.elapsed }
            for number in due.keys { state.timers[number] = nil }
            return due.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }.map(\.value.action)
        }
        for action in due { action() }
    }
}

/// A door that is closed until a test opens it. ``pass()`` ignores cancellation.
final class Door: Sendable {
    private let state = Locked((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))
    private let arrivals = Locked(0)

    /// The number of those that have come.
    var count: Int { arrivals.withLock { $0 } }

    func pass() async {
        arrivals.withLock { $0 += 1 }
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Waits until the door opens or the task is cancelled.
    func passUnlessCancelled() async throws {
        let waiter = CallWaiter()
        Task {
            await self.pass()
            waiter.end(.success(()))
        }
        try await waiter.wait(unless: CallCancellation())
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until a number of visitors has come.
    func wait(for number: Int) async {
        while count < number { await Task.yield() }
    }
}
