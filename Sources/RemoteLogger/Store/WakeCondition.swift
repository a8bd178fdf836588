import HTTPTransport

/// Wakes the one task that waits for it. A signal without a waiting task is kept for the next wait.
final class Signal: Sendable {
    private struct State {
        var isSent = false
        var sleeper: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    func send() {
        state.withLock { state in
            if state.sleeper == nil { state.isSent = true }
            defer { state.sleeper = nil }
            return state.sleeper
        }?.resume()
    }

    /// Waits for the signal, a moment on the clock, or cancellation. May return early, so the caller must check its condition again.
    func wait(until end: UInt64?, clock: any LogClock) async {
        let timer = end.map { end in
            Task {
                try await clock.sleep(until: end)
                send()
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSent = state.withLock { state in
                    defer { state.isSent = false }
                    if !state.isSent { state.sleeper = continuation }
                    return state.isSent
                }
                if isSent { continuation.resume() }
            }
        } onCancel: {
            send()
        }
        timer?.cancel()
    }
}

/// The condition that wakes a store's reader. It is met once: after that, appends neither wake the reader again nor need to.
package struct WakeCondition: Sendable {
    /// The minimum number of unread records.
    var records: Int
    /// The minimum size of the unread records, in bytes.
    var bytes: Int

    /// The condition that is never met, when no reader sleeps.
    static var never: WakeCondition { WakeCondition(records: .max, bytes: .max) }
    /// The condition that any record meets.
    static var anything: WakeCondition { WakeCondition(records: 1, bytes: .max) }

    /// Returns whether the load meets the condition.
    func isMet(by records: Int, _ bytes: Int) -> Bool {
        records >= self.records || bytes >= self.bytes
    }

    /// Returns whether the load meets the condition, and if so resets it to ``never``.
    mutating func take(_ records: Int, _ bytes: Int) -> Bool {
        guard isMet(by: records, bytes) else { return false }
        self = .never
        return true
    }
}
