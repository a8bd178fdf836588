import Dispatch
import Foundation
import Meter

/// The caller's times of single calls.
struct CallTimes: Sendable {
    let samples: Samples
    /// The allocations per call; below 0 if they aren't counted.
    let allocations: Double

    /// Measures calls on the current thread: one in each period of nanoseconds, or each after a sleep of 10 ms.
    @inline(__always)
    static func measure(_ calls: Int, every period: UInt64?, _ call: (Int) -> Void) -> CallTimes {
        // Zeros touch the pages: a page fault between two calls would cool the caches of the next one.
        var times = [UInt64](repeating: 0, count: calls)
        let allocations = meter_allocations()
        var due = nanoseconds()
        for number in 0..<calls {
            if let period {
                // After a delay the thread doesn't catch up, because back-to-back calls are faster.
                due = max(due + period, nanoseconds())
                while nanoseconds() < due {}
            } else {
                usleep(10_000)
            }
            let start = nanoseconds()
            call(number)
            times[number] = nanoseconds() - start
        }
        let made = meter_allocations() - allocations
        return CallTimes(samples: Samples(times), allocations: meter_allocations() < 0 ? -1 : Double(made) / Double(calls))
    }

    /// Runs a measurement on a separate thread.
    static func onThread(_ body: @escaping @Sendable () -> CallTimes) async -> CallTimes {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
