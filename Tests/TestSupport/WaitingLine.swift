import WebServiceClient

/// A semaphore that serves tasks in the order of arrival.
package final class WaitingLine: Sendable {
    private struct State: Sendable {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Locked<State>

    /// - Parameter count: The number of tasks that may run at once.
    package init(_ count: Int) {
        state = Locked(State(free: count))
    }

    /// Waits for a turn, which ``end()`` releases.
    package func begin() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    package func end() {
        let next = state.withLock { state in
            if state.waiting.isEmpty { state.free += 1 }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        next?.resume()
    }
}
