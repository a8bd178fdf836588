import Foundation
import WebServiceClient

/// Tells how long the machine kept a thread waiting that wanted nothing but to wake up: what was slow meanwhile need not be the library.
final class StallMeter: Sendable {
    private let longest = Locked(Duration.zero)
    private let isStopped = Locked(false)

    init() {
        let (longest, isStopped) = (longest, isStopped)
        Thread.detachNewThread {
            let nap = Duration.milliseconds(1)
            while !isStopped.withLock({ $0 }) {
                let start = ContinuousClock.now
                Thread.sleep(forTimeInterval: nap / .seconds(1))
                let stall = ContinuousClock.now - start - nap
                longest.withLock { $0 = max($0, stall) }
            }
        }
    }

    deinit {
        isStopped.withLock { $0 = true }
    }

    /// Ends the watch, and gives the longest that the thread was late.
    func stop() -> Duration {
        isStopped.withLock { $0 = true }
        return longest.withLock { $0 }
    }
}
