import Foundation
import WebServiceClient

/// Measures how long the machine delayed a thread that only sleeps, to distinguish a slow machine from a slow library.
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

    /// Stops the measurement and returns the thread's longest delay.
    func stop() -> Duration {
        isStopped.withLock { $0 = true }
        return longest.withLock { $0 }
    }
}
