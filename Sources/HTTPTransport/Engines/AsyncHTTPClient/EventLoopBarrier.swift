#if AsyncHTTPClient
import Dispatch
import NIOCore

/// Waits until each event loop of a group has run the work submitted to it before.
final class EventLoopBarrier: Sendable {
    private struct State {
        var left = 0
        var waiter: CheckedContinuation<Void, Never>?
        var isOver = false
    }

    /// The maximum wait: a busy loop must not delay the upload of another connection for longer.
    private static let limit = DispatchTimeInterval.seconds(1)

    private let state = Locked(State())

    /// Waits for the loops, for the limit or for ``end()``, whichever comes first.
    func wait(for loops: any EventLoopGroup) async {
        let loops = Array(loops.makeIterator())
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                state.left = loops.count
                if !state.isOver { state.waiter = continuation }
                return state.isOver
            }
            guard !isOver, !loops.isEmpty else { return isOver ? continuation.resume() : end() }
            for loop in loops { loop.execute { self.passed() } }
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.limit) { [weak self] in self?.end() }
        }
    }

    private func passed() {
        let isLast = state.withLock { state in
            state.left -= 1
            return state.left == 0
        }
        if isLast { end() }
    }

    /// Ends the wait.
    func end() {
        let waiter = state.withLock { state in
            state.isOver = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
#endif
