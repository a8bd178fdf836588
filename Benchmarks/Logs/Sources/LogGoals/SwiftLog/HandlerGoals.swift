#if SwiftLog
import Foundation
import Logging
import RemoteLogger
import WebServiceClient

/// Compares swift-log's own handler, a handler that keeps records in memory, and this library's, with the same calls. They have no goals.
struct HandlerGoals {
    private typealias Logger = Logging.Logger

    let folder: URL
    let calls: Int

    /// Measures the caller's time for calls with three values, at 10,000 a second, and for filtered calls.
    func called() async throws -> [Goal] {
        guard let nobody = URL(string: "http://127.0.0.1:9/v1/logs") else { throw CocoaError(.coderInvalidValue) }
        var goals: [Goal] = []
        for (name, path) in [("/dev/null", "/dev/null"), ("a file", folder.appending(path: "stream.log").path)] {
            guard let file = fopen(path, "w") else { throw CocoaError(.fileNoSuchFile) }
            goals.append(await call("StreamLogHandler to \(name)") { StreamLogHandler(label: $0, stream: FileStream(file: file)) })
            fclose(file)
        }
        let sender = BatchingHandler.Sender(to: nobody)
        goals.append(await call("a handler by hand, in memory, server down") { _ in BatchingHandler(sender: sender) })
        _ = await sender.end()
        let shipper = try LogShipper(to: nobody, format: OTLPFormat()) { $0.spool = Spool(directory: folder.appending(path: "handler")) }
        let pipeline = LogPipeline(sinks: [shipper])
        goals.append(await call("RemoteLogHandler with a spool, server down") { RemoteLogHandler(label: $0, pipeline: pipeline) })
        _ = await pipeline.shutdown(within: .seconds(1))
        return goals
    }

    private func call(_ name: String, _ handler: (String) -> any LogHandler) async -> Goal {
        let (logger, count) = (Logger(label: "shop.orders", factory: handler), calls)
        let times = await CallTimes.onThread {
            CallTimes.measure(count, every: 100_000) {
                logger.info("Order placed", metadata: ["order": "\($0)", "total": "12.5", "user": "7"])
            }
        }
        let filtered = 10_000_000
        let start = nanoseconds()
        for number in 0..<filtered { logger.debug("Order placed", metadata: ["order": "\(number)", "total": "12.5", "user": "7"]) }
        let each = seconds(since: start) * 1e9 / Double(filtered)
        return Goal(
            name: "swift-log, \(name)", goal: nil,
            found: "\(times.samples.text) of \(count), \(decimal(times.allocations, 1)) allocations; filtered \(decimal(each)) ns",
            isMet: true)
    }

    /// Measures calls of swift-log until a receiver on the same machine has all of them.
    func delivered(_ count: Int) async throws -> [Goal] {
        let receiver = try Receiver()
        let sender = BatchingHandler.Sender(to: receiver.url)
        let byHand = try await deliver(count, BatchingHandler(sender: sender)) { await sender.end() }
        let other = try Receiver()
        let shipper = try LogShipper(to: other.url, format: OTLPFormat()) { settings in
            settings.batch = BatchLimits(records: 4_000, bytes: 8 << 20, interval: .milliseconds(50))
            settings.buffer = BufferLimits(records: count + 1, bytes: 1 << 30)
        }
        let pipeline = LogPipeline(sinks: [shipper])
        let ours = try await deliver(count, RemoteLogHandler(label: "shop.http", pipeline: pipeline)) {
            _ = await pipeline.shutdown(within: .seconds(300))
            return Int(shipper.statistics.delivered)
        }
        return [
            Goal(
                name: "swift-log, delivered from memory", goal: nil,
                found: "\(byHand.text), \(receiver.bodyBytes / count) bytes each, by hand with JSONEncoder and URLSession; "
                    + "\(ours.text), \(other.bodyBytes / count) bytes each, by RemoteLogHandler as OTLP/JSON, gzip 1, secrets masked",
                isMet: true)
        ]
    }

    private func deliver(_ count: Int, _ handler: any LogHandler, end: () async -> Int) async throws -> Rate {
        let logger = Logger(label: "shop.http") { _ in handler }
        let stopwatch = Stopwatch()
        for number in 0..<count {
            logger.info(
                "GET /shop/orders/{id} 200",
                metadata: [
                    "http.response.status_code": "200", "url.path": "/shop/orders/\(number)", "duration_ms": "\(number % 97)", "user": "7",
                ])
        }
        guard await end() == count else { throw CocoaError(.fileWriteUnknown) }
        return stopwatch.rate(of: count)
    }
}

/// A file for swift-log's handler, buffered by the C library.
private struct FileStream: TextOutputStream, @unchecked Sendable {
    // @unchecked: the C library locks its files.
    let file: UnsafeMutablePointer<FILE>

    mutating func write(_ text: String) {
        fputs(text, file)
    }
}
#endif
