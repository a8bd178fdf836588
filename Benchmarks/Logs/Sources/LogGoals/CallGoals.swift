import Dispatch
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

    /// A call with three values, while fsync doesn't come back and nobody takes connections: 10,000 calls a second, in bursts of 100.
    func enabled(seconds duration: Double) async throws -> Goal {
        let spool = Spool(directory: folder.appending(path: "calls"))
        // Port 9 of the loopback interface: nobody listens there.
        guard let nobody = URL(string: "http://127.0.0.1:9/v1/logs") else { throw CocoaError(.coderInvalidValue) }
        let shipper = try LogShipper(to: nobody, format: OTLPFormat()) { $0.spool = spool }
        let logger = RemoteLogger(label: "shop.orders", sinks: [shipper])
        logger.info("first")
        _ = await spool.sync()
        meter_hold_sync(true)
        let calls = Int(duration * 10_000)
        let result = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Self.measure(logger, calls)) }
        }
        let held = meter_held_syncs()
        meter_hold_sync(false)
        let counts = shipper.statistics
        _ = await logger.shutdown(within: .seconds(1))
        let (p50, p99, p9999) = (result.samples.quantile(0.5), result.samples.quantile(0.99), result.samples.quantile(0.9999))
        let isBlocked = held > 0 && counts.delivered == 0
        return Goal(
            name: "enabled call, three values, \(isBlocked ? "fsync blocked, server down" : "NOT BLOCKED")",
            goal: "p50 at most 1 µs, p99 5 µs, p99.99 100 µs; at most 3 allocations",
            found:
                "p50 \(decimal(p50)) µs, p99 \(decimal(p99)) µs, p99.99 \(decimal(p9999)) µs, the slowest \(decimal(result.samples.quantile(1))) µs "
                + "of \(calls), \(decimal(result.processor)) µs of processor time on average; \(result.allocations < 0 ? "uncounted" : decimal(result.allocations, 1)) allocations a call",
            isMet: isBlocked && p50 <= 1 && p99 <= 5 && p9999 <= 100
                && (0...3).contains(result.allocations))
    }

    /// On one thread.
    private static func measure(_ logger: RemoteLogger, _ calls: Int) -> (samples: Samples, processor: Double, allocations: Double) {
        var times: [UInt64] = []
        times.reserveCapacity(calls)
        let allocations = meter_allocations()
        let processor = ProcessorTime.thread
        for number in 0..<calls {
            let start = nanoseconds()
            logger.info("Order placed", ["order": number, "total": 12.5, "user": "7"])
            times.append(nanoseconds() - start)
            if number % 100 == 99 { usleep(10_000) }
        }
        let made = meter_allocations() - allocations
        let used = Double(ProcessorTime.thread - processor) / 1_000 / Double(calls)
        return (Samples(times), used, meter_allocations() < 0 ? -1 : Double(made) / Double(calls))
    }
}
