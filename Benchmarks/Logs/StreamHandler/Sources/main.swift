import Foundation
import Logging

// The call of `Benchmarks/logs` with three values, through StreamLogHandler to standard error, which here is /dev/null; and one that is
// filtered. As there 10,000 calls a second, evenly spaced.

func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

guard freopen("/dev/null", "w", stderr) != nil else { exit(1) }
var logger = Logger(label: "shop.orders") { StreamLogHandler.standardError(label: $0) }
logger.logLevel = .info
let calls = 100_000
var times: [UInt64] = []
times.reserveCapacity(calls)
var due = nanoseconds()
for number in 0..<calls {
    due = max(due + 100_000, nanoseconds())
    while nanoseconds() < due {}
    let start = nanoseconds()
    logger.info("Order placed", metadata: ["order": "\(number)", "total": "12.5", "user": "7"])
    times.append(nanoseconds() - start)
}
times.sort()
func quantile(_ part: Double) -> String {
    String(format: "%.2f", Double(times[min(times.count - 1, Int((Double(times.count) * part).rounded(.up)) - 1)]) / 1_000)
}
let filtered = 20_000_000
let start = nanoseconds()
for number in 0..<filtered { logger.debug("Order placed", metadata: ["order": "\(number)", "total": "12.5", "user": "7"]) }
let each = Double(nanoseconds() - start) / Double(filtered)
print(
    "swift-log, StreamLogHandler to /dev/null: p50 \(quantile(0.5)) µs, p99 \(quantile(0.99)) µs,",
    "p99.99 \(quantile(0.9999)) µs of \(calls);",
    "filtered \(String(format: "%.2f", each)) ns")
