import Foundation
import Meter
import RemoteLogger
import WebServiceClient

/// Measures the caller's time for a call.
struct CallGoals {
    let folder: URL

    /// Measures a call below the level.
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

    /// Measures a call with three values while fsync blocks and the server is down: 10,000 calls a second, evenly spaced.
    ///
    /// Between calls the thread polls the clock instead of sleeping, so that the quantiles measure the calls and not the scheduler. With
    /// bursts and sleeps, the first call of each burst meets cold caches on a processor that just woke up, and these calls would dominate
    /// the quantile that matches their share. ``afterPauses(_:)`` measures them.
    ///
    /// The measurement includes the first second, in which memory fills up. In that time one call of 128 allocates memory for all of them,
    /// which takes about 30 µs in the kernel.
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

    /// Measures the same call after the thread has slept for 10 ms, as in a mostly idle program.
    func afterPauses(_ pauses: Int) async throws -> Goal {
        let (blocked, isBlocked) = try await whileBlocked(name: "pauses") { logger in
            // Fills the buffer to the level of a long run.
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

    /// - Returns: The body's result, and whether no sync and no delivery completed during it.
    private func whileBlocked(
        name: String, _ body: @escaping @Sendable (RemoteLogger) -> CallTimes
    ) async throws -> (result: CallTimes, isBlocked: Bool) {
        let spool = Spool(directory: folder.appending(path: name))
        // Port 9 of the loopback interface has no listener.
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
