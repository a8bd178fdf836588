#if !os(macOS) && canImport(Darwin)
import Foundation
#endif

/// The number of unfinished calls of one or more clients, as an asynchronous sequence: for a network indicator.
///
///     for await count in CallActivity(of: shop, images) {
///         indicator.isHidden = count == 0
///     }
///
/// The first element is the current number. A slow reader misses numbers in between, but always gets the latest. A zero is held back for a
/// quarter of a second and left out if another call begins in that time, so that an indicator doesn't flicker between calls. Calls that
/// wait for their turn or to be repeated count; a call whose body is read as a stream ends with its body. The sequence ends when all of its
/// clients are released, and doesn't keep them alive. While nothing reads it, it costs nothing.
public struct CallActivity: AsyncSequence, Sendable {
    /// A number of calls.
    public typealias Element = Int

    private let calls: [LiveCalls]
    private let clock: CallClock

    /// The time for which a zero is held back.
    static let delay = Duration.milliseconds(250)

    /// Creates a sequence that counts the calls of all these clients together.
    public init(of clients: WebServiceClient...) {
        calls = clients.map(\.runtime.calls)
        clock = clients.first?.runtime.clock ?? .current
    }

    /// Returns an iterator, which observes changes from now on.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let numbers = calls.map { $0.addObserver { continuation.yield() } }
        continuation.onTermination = { [calls] _ in
            for (calls, number) in zip(calls, numbers) { calls.removeObserver(number) }
        }
        continuation.yield()
        return Iterator(calls: calls, clock: clock, signals: stream.makeAsyncIterator())
    }

    /// An iterator over the numbers.
    public struct Iterator: AsyncIteratorProtocol {
        let calls: [LiveCalls]
        let clock: CallClock
        var signals: AsyncStream<Void>.AsyncIterator
        var last: Int?

        private var count: Int { calls.reduce(0) { $0 + $1.count } }
        private var started: UInt64 { calls.reduce(0) { $0 &+ $1.started } }

        /// The next number; `nil` when all clients are released, or if the task is cancelled.
        public mutating func next() async -> Int? {
            while await signals.next() != nil {
                if calls.allSatisfy(\.isReleased) { return nil }
                var count = count
                // A zero must last: other calls may begin and end in the meantime.
                var lasts = !(last.map { $0 > 0 } ?? false)
                while count == 0, !lasts {
                    let before = started
                    do { try await clock.sleep(CallActivity.delay, unless: CallCancellation()) } catch { return nil }
                    count = self.count
                    lasts = started == before
                }
                guard count != last else { continue }
                last = count
                return count
            }
            return nil
        }

        init(calls: [LiveCalls], clock: CallClock, signals: AsyncStream<Void>.AsyncIterator) {
            self.calls = calls
            self.clock = clock
            self.signals = signals
        }
    }
}

extension WebServiceClient {
    /// The number of this client's unfinished calls, and each later number. See ``CallActivity``.
    public var activity: CallActivity { CallActivity(of: self) }
}

/// Asks the system to let the app run in the background while a client has calls, so that they can finish.
///
///     $0.backgroundTime = .system
///
/// A client asks once for all of its calls: from the beginning of the first to the end of the last. The system grants some seconds, or
/// refuses. When it withdraws the time, the calls aren't cancelled: they continue when the app resumes, or fail if their connections have
/// ended.
public struct BackgroundTime: Sendable {
    let begin: @Sendable (_ reason: String, _ expired: @escaping @Sendable () -> Void) -> @Sendable () -> Void

    /// Creates a hook, for instance with `UIApplication.beginBackgroundTask`, which grants an app more time than ``system``.
    ///
    /// - Parameter begin: Asks for time, and returns a closure that gives it back. The client calls that closure once. `begin` may be
    ///   called on any thread. It gets a reason for logs, and a closure to call when the time is over or refused.
    public init(_ begin: @escaping @Sendable (_ reason: String, _ expired: @escaping @Sendable () -> Void) -> @Sendable () -> Void) {
        self.begin = begin
    }

    /// `ProcessInfo.performExpiringActivity`, which app extensions and watch apps have, too. It blocks one thread of the system's pool
    /// while calls run. It does nothing on macOS and Linux, which don't suspend programs.
    public static let system = BackgroundTime { reason, expired in
        #if !os(macOS) && canImport(Darwin)
        let ended = DispatchSemaphore(value: 0)
        ProcessInfo.processInfo.performExpiringActivity(withReason: reason) { isExpiring in
            // Called a second time when the time is over. The time is given back when the first call returns.
            if isExpiring {
                expired()
                ended.signal()
            } else {
                ended.wait()
            }
        }
        return { ended.signal() }
        #else
        return {}
        #endif
    }
}

/// Holds the background time of a client while it has calls.
final class BackgroundKeeper: Sendable {
    private struct State {
        var hook: BackgroundTime?
        var diagnostics = Diagnostics()
        /// The number of the last change of the configuration.
        var number = -1
        var observer: Int?
        /// Gives the time back; `nil` while there is none.
        var end: (@Sendable () -> Void)?
        var isUpdating = false
        /// Whether something has changed during an update.
        var isOutdated = false
    }

    private let calls: LiveCalls
    private let state = Locked(State())

    init(calls: LiveCalls) {
        self.calls = calls
    }

    deinit { state.withLock { $0.end }?() }

    /// Sets the hook from a configuration.
    ///
    /// - Parameter number: The number of the change. Of two concurrent changes, the later one wins.
    func apply(_ hook: BackgroundTime?, _ diagnostics: Diagnostics, number: Int) {
        let (adds, removed) = state.withLock { state -> (Bool, Int?) in
            guard number > state.number else { return (false, nil) }
            state.number = number
            state.hook = hook
            state.diagnostics = diagnostics
            defer { if hook == nil { state.observer = nil } }
            return (hook != nil && state.observer == nil, hook == nil ? state.observer : nil)
        }
        if adds {
            let added = calls.addObserver { [weak self] in self?.update() }
            let isLate = state.withLock { state in
                guard state.observer == nil, state.hook != nil else { return true }
                state.observer = added
                return false
            }
            if isLate { calls.removeObserver(added) }
        }
        if let removed { calls.removeObserver(removed) }
        if adds || removed != nil { update() }
    }

    /// Begins or ends the time, depending on the number of calls. Signals may be concurrent, so only one thread at a time does this.
    private func update() {
        guard
            state.withLock({ state in
                state.isOutdated = true
                defer { state.isUpdating = true }
                return !state.isUpdating
            })
        else { return }
        while true {
            let isActive = calls.count > 0
            let (hook, diagnostics, end) = state.withLock { state in
                state.isOutdated = false
                let isWanted = isActive && state.hook != nil
                defer { if !isWanted { state.end = nil } }
                return (isWanted && state.end == nil ? state.hook : nil, state.diagnostics, isWanted ? nil : state.end)
            }
            end?()
            if let hook {
                let end = hook.begin("calls of a web service") {
                    diagnostics.report(.init(.notice, "The background time is over, or was refused, while calls were running."))
                }
                state.withLock { $0.end = end }
            }
            let isDone = state.withLock { state in
                if !state.isOutdated { state.isUpdating = false }
                return !state.isOutdated
            }
            if isDone { return }
        }
    }
}
