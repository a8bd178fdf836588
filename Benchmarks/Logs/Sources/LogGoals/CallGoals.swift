import Foundation
import Meter
import RemoteLogger
import WebServiceClient

/// What a call costs its caller.
struct CallGoals {
    let folder: URL

    /// A call below the level.
    func filtered() -> Goal {
        let logger = RemoteLogger(label: "shop.orders", sinks: [ConsoleSink()], minimumLevel: .info)
        let calls = 20_000_000
        func run(_ count: Int) {
            for number in 0..<count { logger.debug("Order \(number) placed", ["order": number, "total": 12.5, "user": "7"]) }
        }
        run(1_000_000)
        let allocations = meter_allocations()
        let start = nanoseconds()
        run(calls)
        let time = seconds(since: start) * 1e9 / Double(calls)
        let made = meter_allocations() - allocations
        let counted = meter_allocations() < 0 ? "allocations not counted here" : "\(made) allocations in \(calls) calls"
        return Goal(
            name: "filtered call", goal: "at most 10 ns, no allocation", found: "\(decimal(time, 2)) ns, \(counted)",
            isMet: time <= 10 && made == 0 && meter_allocations() >= 0)
    }

    /// A call with three values, while fsync doesn't come back and nobody takes connections: 10,000 calls a second, evenly spaced.
    ///
    /// In between the thread looks at the clock and doesn't sleep. The quantiles are of the calls, then, and not of what the system does
    /// to a thread that sleeps: in bursts with a sleep between them the first call of each one, to cold caches on a processor that has just
    /// been woken, would be as many calls as there are bursts, and the quantile at that border would be theirs. ``afterPauses(_:)`` shows
    /// these.
    ///
    /// The memory fills in the first second, which belongs to it: one call of 128 takes memory for all of them then, which costs it some
    /// 30 µs by the kernel.
    func enabled(seconds duration: Double) async throws -> Goal {
        let calls = Int(duration * 10_000)
        let (result, isBlocked) = try await whileBlocked(name: "calls") { Self.measure($0, calls, every: 100_000) }
        let (p50, p99, p9999) = (result.samples.quantile(0.5), result.samples.quantile(0.99), result.samples.quantile(0.9999))
        let allocations = result.allocations < 0 ? "uncounted" : decimal(result.allocations, 1)
        return Goal(
            name: "enabled call, three values, 10,000 a second, \(isBlocked ? "fsync blocked, server down" : "NOT BLOCKED")",
            goal: "p50 at most 1 µs, p99 5 µs, p99.99 100 µs; at most 3 allocations",
            found: "\(result.samples.text) of \(calls); \(allocations) allocations a call",
            isMet: isBlocked && p50 <= 1 && p99 <= 5 && p9999 <= 100 && (0...3).contains(result.allocations))
    }

    /// The same call after the thread has slept for 10 ms, which is what a program sees that has little to do.
    func afterPauses(_ pauses: Int) async throws -> Goal {
        let (blocked, isBlocked) = try await whileBlocked(name: "pauses") { logger in
            // As full as it is when it goes on for long.
            for _ in 0..<20_000 { logger.info("Order placed", ["order": 0, "total": 12.5, "user": "7"]) }
            return Self.measure(logger, pauses, every: nil)
        }
        let receiver = try Receiver()
        let shipper = try LogShipper(to: receiver.url, format: OTLPFormat()) { $0.spool = Spool(directory: folder.appending(path: "idle")) }
        let logger = RemoteLogger(label: "shop.orders", sinks: [shipper])
        let well = await CallTimes.onThread { Self.measure(logger, pauses, every: nil) }
        _ = await logger.shutdown(within: .seconds(5))
        return Goal(
            name: "enabled call, three values, after 10 ms of sleep each", goal: nil,
            found: "\(isBlocked ? "fsync blocked, server down" : "NOT BLOCKED"): \(blocked.samples.text) of \(pauses); "
                + "disk and server well: \(well.samples.text) of \(pauses)", isMet: true)
    }

    /// - Returns: what the body gives, and whether all that time nothing was synced and nothing delivered.
    private func whileBlocked(
        name: String, _ body: @escaping @Sendable (RemoteLogger) -> CallTimes
    ) async throws -> (result: CallTimes, isBlocked: Bool) {
        let spool = Spool(directory: folder.appending(path: name))
        // Port 9 of the loopback interface: nobody listens there.
        guard let nobody = URL(string: "http://127.0.0.1:9/v1/logs") else { throw CocoaError(.coderInvalidValue) }
        let shipper = try LogShipper(to: nobody, format: OTLPFormat()) { $0.spool = spool }
        let logger = RemoteLogger(label: "shop.orders", sinks: [shipper])
        logger.info("first")
        _ = await spool.sync()
        meter_hold_sync(true)
        let result = await CallTimes.onThread { body(logger) }
        let held = meter_held_syncs()
        meter_hold_sync(false)
        let counts = shipper.statistics
        _ = await logger.shutdown(within: .seconds(1))
        return (result, held > 0 && counts.delivered == 0)
    }

    private static func measure(_ logger: RemoteLogger, _ calls: Int, every period: UInt64?) -> CallTimes {
        CallTimes.measure(calls, every: period) { logger.info("Order placed", ["order": $0, "total": 12.5, "user": "7"]) }
    }
}
