import Foundation
import RemoteLogger
import WebServiceClient

/// Measures throughput.
struct ThroughputGoals {
    let folder: URL
    let corpus = Corpus(1_000)

    /// Measures calls of a logger until all records are synced, without a receiver: records per second that the spool writes to disk.
    func spooled(_ count: Int) async throws -> Goal {
        let calls = try await spool(count, name: "spool-calls") { logger, _, entry in logger.info(entry.message, entry.metadata) }
        let records = try await spool(count, name: "spool-records") { _, shipper, entry in
            shipper.write(
                LogRecord(
                    id: LogRecordID(high: 1, low: 2), sequence: 1, time: 1, level: .info, message: entry.message, metadata: entry.metadata))
        }
        return Goal(
            name: "into the spool", goal: "at least 300 thousand records/s",
            found: "\(records.text) written by a shipper; \(calls.text) as calls of a logger, which masks secrets first",
            isMet: records.perSecond >= 300_000)
    }

    private func spool(_ count: Int, name: String, _ write: (RemoteLogger, LogShipper, Corpus.Entry) -> Void) async throws -> Rate {
        var settings = SpoolSettings()
        settings.diskBytes = 1 << 30
        settings.memory = BufferLimits(records: 200_000, bytes: 64 << 20)
        let spool = Spool(directory: folder.appending(path: name), settings: settings)
        guard let nobody = URL(string: "http://127.0.0.1:9/v1/logs") else { throw CocoaError(.coderInvalidValue) }
        let shipper = try LogShipper(to: nobody, format: OTLPFormat()) { settings in
            settings.spool = spool
            settings.backoff = Backoff(base: .seconds(600), cap: .seconds(600))
        }
        let logger = RemoteLogger(label: "shop.http", sinks: [shipper])
        let stopwatch = Stopwatch()
        for number in 0..<count {
            write(logger, shipper, corpus.entries[number % corpus.entries.count])
            // Doesn't log faster than the disk, because a full spool drops records.
            if number % 2_000 == 0 { while spool.statistics.memoryBytes > 32 << 20 { usleep(500) } }
        }
        _ = await spool.sync()
        let rate = stopwatch.rate(of: count)
        let counts = shipper.statistics
        guard counts.droppedInAll == 0, counts.buffered >= count else { throw CocoaError(.fileWriteOutOfSpace) }
        _ = await shipper.shutdown(within: .zero)
        return rate
    }

    /// Measures calls of a logger until the receiver has acknowledged all of them.
    func delivered(_ count: Int) async throws -> Goal {
        let memory = try await deliver(count, spool: nil)
        var settings = SpoolSettings()
        settings.diskBytes = 256 << 20
        let spooled = try await deliver(count, spool: Spool(directory: folder.appending(path: "delivered"), settings: settings))
        return Goal(
            name: "delivered as OTLP/JSON, gzip 1", goal: "at least 100 thousand records/s on 2 cores",
            found: "\(memory.text) from memory, \(spooled.text) through a spool, the receiver's part included",
            isMet: memory.perSecond >= 100_000 && spooled.perSecond >= 100_000)
    }

    private func deliver(_ count: Int, spool: Spool?) async throws -> Rate {
        let receiver = try Receiver()
        let shipper = try LogShipper(to: receiver.url, format: OTLPFormat()) { settings in
            settings.spool = spool
            settings.batch = BatchLimits(records: 4_000, bytes: 8 << 20, interval: .milliseconds(50))
            settings.buffer = BufferLimits(records: 200_000, bytes: 256 << 20)
        }
        let logger = RemoteLogger(label: "shop.http", sinks: [shipper])
        let stopwatch = Stopwatch()
        for number in 0..<count {
            let entry = corpus.entries[number % corpus.entries.count]
            logger.info(entry.message, entry.metadata)
            if number % 500 == 0 {
                while true {
                    let waits =
                        spool.map { $0.statistics.memoryBytes > 2 << 20 || shipper.statistics.buffered > 100_000 }
                        ?? (shipper.statistics.buffered > 20_000)
                    guard waits else { break }
                    usleep(200)
                }
            }
        }
        guard await logger.flush(within: .seconds(300)) else { throw CocoaError(.fileWriteUnknown) }
        let rate = stopwatch.rate(of: count)
        guard shipper.statistics.delivered == count else { throw CocoaError(.fileWriteUnknown) }
        _ = await logger.shutdown(within: .seconds(5))
        return rate
    }

    /// Measures the reference corpus on the wire in one batch.
    func wire() async throws -> Goal {
        let receiver = try Receiver()
        let shipper = try LogShipper(to: receiver.url, format: OTLPFormat()) {
            $0.batch = BatchLimits(records: 1_000, bytes: 8 << 20, interval: .seconds(60))
        }
        let logger = RemoteLogger(label: "shop.http", sinks: [shipper])
        for entry in corpus.entries { logger.with(trace: entry.trace).info(entry.message, entry.metadata) }
        guard await logger.shutdown(within: .seconds(60)) else { throw CocoaError(.fileWriteUnknown) }
        let bytes = Double(receiver.bodyBytes) / Double(corpus.entries.count)
        return Goal(
            name: "on the wire, the reference corpus", goal: "at most 110 bytes an event",
            found: "\(decimal(bytes, 1)) bytes an event, in \(shipper.statistics.requests) request(s)", isMet: bytes <= 110)
    }

    /// Measures opening a full spool of an earlier run.
    func start() async throws -> Goal {
        let directory = folder.appending(path: "start")
        var settings = SpoolSettings()
        settings.memory = BufferLimits(records: 200_000, bytes: 64 << 20)
        var filled: Spool? = Spool(directory: directory, settings: settings)
        guard let nobody = URL(string: "http://127.0.0.1:9/v1/logs") else { throw CocoaError(.coderInvalidValue) }
        var shipper: LogShipper? = try LogShipper(to: nobody, format: OTLPFormat()) { settings in
            settings.spool = filled
            settings.backoff = Backoff(base: .seconds(600), cap: .seconds(600))
        }
        var number = 0
        var logger = shipper.map { RemoteLogger(label: "shop.http", sinks: [$0]) }
        while let spool = filled, spool.statistics.diskBytes < 16 << 20 {
            for _ in 0..<2_000 {
                let entry = corpus.entries[number % corpus.entries.count]
                logger?.info(entry.message, entry.metadata)
                number += 1
            }
            _ = await spool.sync()
        }
        let size = filled?.statistics.diskBytes ?? 0
        _ = await shipper?.shutdown(within: .zero)
        logger = nil
        shipper = nil
        filled = nil
        // The lock is released shortly after the last reference.
        try await Task.sleep(for: .seconds(1))
        var times: [Double] = []
        var found = 0
        for _ in 0..<5 {
            let start = nanoseconds()
            let spool = Spool(directory: directory, settings: settings)
            times.append(seconds(since: start) * 1_000)
            found = max(found, spool.statistics.diskBytes)
            try await Task.sleep(for: .milliseconds(500))
        }
        times.sort()
        let time = times[times.count / 2] * Double(8 << 20) / Double(max(1, size))
        return Goal(
            name: "start-up", goal: "at most 50 ms for each 8 MiB spooled",
            found: "\(decimal(time, 1)) ms for each 8 MiB (\(size >> 20) MiB, \(number) records)", isMet: time <= 50 && found >= size / 2)
    }
}
