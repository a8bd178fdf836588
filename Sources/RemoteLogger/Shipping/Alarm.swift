import WebServiceClient

/// Wakes the one task that waits for it. A ring while nobody waits is kept for the next wait, so that none is lost.
final class Alarm: Sendable {
    private struct State {
        var hasRung = false
        var sleeper: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    func ring() {
        state.withLock { state in
            if state.sleeper == nil { state.hasRung = true }
            defer { state.sleeper = nil }
            return state.sleeper
        }?.resume()
    }

    /// Waits for a ring, for the end of the time, or for the task to be cancelled. It may also end early: look again what there is to do.
    func wait(for duration: Duration?, clock: any LogClock) async {
        let timer = duration.map { duration in
            Task {
                try await clock.sleep(for: duration)
                ring()
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasRung = state.withLock { state in
                    defer { state.hasRung = false }
                    if !state.hasRung { state.sleeper = continuation }
                    return state.hasRung
                }
                if hasRung { continuation.resume() }
            }
        } onCancel: {
            ring()
        }
        timer?.cancel()
    }
}
