import Dispatch
import Foundation
import Meter

/// What calls cost their caller, one by one.
struct CallTimes: Sendable {
    let samples: Samples
    /// Allocations by call; below 0 where they aren't counted.
    let allocations: Double

    /// Calls on one thread, one in each period of nanoseconds, or each after a sleep of 10 ms.
    @inline(__always)
    static func measure(_ calls: Int, every period: UInt64?, _ call: (Int) -> Void) -> CallTimes {
        // Zeros, to have the pages: a fault between two calls would chill the next one.
        var times = [UInt64](repeating: 0, count: calls)
        let allocations = meter_allocations()
        var due = nanoseconds()
        for number in 0..<calls {
            if let period {
                // A thread that was kept from running doesn't catch up: calls close behind one another would be quicker.
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

    /// The same on a thread of its own.
    static func onThread(_ body: @escaping @Sendable () -> CallTimes) async -> CallTimes {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
