import Foundation
import HTTPTransport

@testable import WebServiceClient

/// Runs tasks on one thread, with a clock that jumps to the next timer when all tasks wait. A simulated hour takes milliseconds, and its
/// course is the same each time.
///
///     let time = SimulatedTime()
///     try time.run {
///         let client = CallClock.$current.withValue(time.clock) { Shop(serviceRoot: …) { … } }
///         …
///     }
///
/// Child tasks run there too. Other unstructured tasks need `Task(executorPreference: time)`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class SimulatedTime: TaskExecutor, Sendable {
    private struct Timer {
        let due: Duration
        let action: @Sendable () -> Void
    }

    private struct State {
        var jobs: [UnownedJob] = []
        var timers: [Int: Timer] = [:]
        /// The timers by due time, also those that were cancelled.
        var order = Heap()
        var count = 0
        var now = Duration.zero
    }

    private let state = Locked(State())
    private let wake = DispatchSemaphore(value: 0)
    private let start = MonotonicInstant.now
    /// The date at which the simulation begins.
    let startDate = Date(timeIntervalSince1970: 1_800_000_000)

    /// The simulated time since the start.
    var elapsed: Duration { state.withLock { $0.now } }

    /// The clock for a client's runtime.
    var clock: CallClock {
        CallClock(
            now: { self.start.advanced(by: self.elapsed) },
            date: { self.startDate.addingTimeInterval(self.elapsed / .seconds(1)) },
            schedule: { delay, action in
                let number = self.state.withLock { state in
                    state.count += 1
                    let due = state.now + max(.zero, delay)
                    state.timers[state.count] = Timer(due: due, action: action)
                    state.order.insert(.init(due: due, number: state.count))
                    return state.count
                }
                self.wake.signal()
                return { self.state.withLock { $0.timers[number] = nil } }
            })
    }

    /// Waits for a duration of simulated time.
    func sleep(_ duration: Duration) async throws {
        try await clock.sleep(duration, unless: CallCancellation())
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        wake.signal()
    }

    /// Runs a task and everything that it starts, on the current thread, until it ends.
    ///
    /// - Throws: The task's error, and ``StandStill`` if nothing has happened for half a minute of real time.
    func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
        let result = Locked<Swift.Result<Result, any Error>?>(nil)
        Task(executorPreference: self) {
            let outcome: Swift.Result<Result, any Error>
            do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
            result.withLock { $0 = outcome }
            self.wake.signal()
        }
        while true {
            let jobs = state.withLock { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            if let outcome = result.withLock({ $0 }) { return try outcome.get() }
            if jobs.isEmpty, !fireNext() {
                guard wake.wait(timeout: .now() + 30) == .success else { throw StandStill(at: elapsed) }
            }
        }
    }

    /// Performs the action of the earliest timer; of two, that of the one made first.
    private func fireNext() -> Bool {
        let action: (@Sendable () -> Void)? = state.withLock { state in
            guard state.jobs.isEmpty else { return nil }
            while let next = state.order.removeFirst() {
                guard let timer = state.timers.removeValue(forKey: next.number) else { continue }
                state.now = max(state.now, timer.due)
                return timer.action
            }
            return nil
        }
        action?()
        return action != nil
    }

    /// All tasks wait, and no timer will wake any.
    struct StandStill: Error {
        let at: Duration
    }
}

/// A binary heap of timers: thousands wait at once.
private struct Heap {
    struct Entry {
        let due: Duration
        let number: Int

        static func < (left: Entry, right: Entry) -> Bool { left.due == right.due ? left.number < right.number : left.due < right.due }
    }

    private var entries: [Entry] = []

    mutating func insert(_ entry: Entry) {
        entries.append(entry)
        var index = entries.count - 1
        while index > 0, entries[index] < entries[(index - 1) / 2] {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func removeFirst() -> Entry? {
        guard let first = entries.first else { return nil }
        let last = entries.removeLast()
        guard !entries.isEmpty else { return first }
        entries[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < entries.count && entries[child] < entries[least] { least = child }
            if least == index { return first }
            entries.swapAt(index, least)
            index = least
        }
    }
}
