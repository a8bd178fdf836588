import Dispatch
import WebServiceClient

extension DispatchQueue {
    /// Waits until everything that was put on the queue before, and then some work, is done, or the time is over.
    ///
    /// - Returns: whether it is done.
    func finishes(within limit: Duration, _ work: @escaping @Sendable () -> Void = {}) async -> Bool {
        await withCheckedContinuation { continuation in
            let once = Locked<CheckedContinuation<Bool, Never>?>(continuation)
            let end: @Sendable (Bool) -> Void = { done in
                once.withLock { waiting in
                    defer { waiting = nil }
                    return waiting
                }?.resume(returning: done)
            }
            async {
                work()
                end(true)
            }
            let year: UInt64 = 365 * 86_400 * 1_000_000_000
            let nanoseconds = Int(truncatingIfNeeded: min(year, limit.wholeNanoseconds))
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { end(false) }
        }
    }
}
