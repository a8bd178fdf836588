import Foundation
import RemoteLogger
import WebServiceClient

/// Writes numbered records to a spool and ships them in small steps, so that a short run makes many system calls.
struct LogProbe {
    let folder: String
    let logger: RemoteLogger
    let shipper: LogShipper
    let spool: Spool
    /// The number of records passed to the logger, which the accounts must match.
    private var logged: UInt64 = 0

    init(folder: String, url: String, diskBytes: Int) throws {
        guard let url = URL(string: url) else { throw URLError(.badURL) }
        self.folder = folder
        var settings = SpoolSettings()
        settings.diskBytes = diskBytes
        settings.retryInterval = .milliseconds(50)
        let spool = Spool(directory: URL(filePath: folder + "/spool"), settings: settings)
        self.spool = spool
        shipper = try LogShipper(to: url, format: NDJSONFormat()) { settings in
            settings.spool = spool
            settings.compression = .none
            settings.reportsLosses = false
            settings.batch = BatchLimits(records: 20, interval: .milliseconds(2))
            settings.backoff = Backoff(base: .milliseconds(5), cap: .milliseconds(50))
        }
        logger = RemoteLogger(label: "sweep", sinks: [shipper])
    }

    /// Returns the text that the oracle expects for a number.
    static func message(_ number: Int) -> String {
        "record \(number) " + String(repeating: "y", count: number * 37 % 211)
    }

    private mutating func log(_ number: Int) {
        logged += 1
        logger.log(number % 17 == 0 ? .error : .info, Self.message(number), ["n": number])
    }

    /// Logs a number of records, two at a time, and reports after each step the last number in the spool.
    mutating func write(_ count: Int) async -> Bool {
        let told = open(folder + "/accepted", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        for number in 1...max(1, count) {
            log(number)
            guard number % 2 == 0 || number == count else { continue }
            // Records that wait for the receiver must stay within the disk's bound: records dropped because of it count as accepted.
            while shipper.statistics.buffered > 200 { try? await Task.sleep(for: .milliseconds(1)) }
            guard await spool.sync() else { continue }
            let line = Array("\(number)\n".utf8)
            // `write` and not `pwrite`, since the sweep counts the calls of the spool.
            _ = line.withUnsafeBytes { Foundation.write(told, $0.baseAddress, $0.count) }
        }
        return await finish()
    }

    /// Ships the stored records, prints the accounts, and returns whether all were delivered and the accounts add up.
    func finish() async -> Bool {
        let delivered = await logger.shutdown(within: .seconds(30))
        // Removes the records that were acknowledged last.
        _ = await spool.sync()
        return printAccounts(flushed: delivered) && delivered
    }

    /// Prints the accounts of all records.
    ///
    /// - Returns: Whether every emitted record is in the accounts, once.
    private func printAccounts(flushed: Bool) -> Bool {
        let counts = shipper.statistics
        print(
            "emitted \(counts.emitted) delivered \(counts.delivered) dropped \(counts.droppedInAll) buffered \(counts.buffered)",
            "flushed \(flushed) mode \(spool.statistics.mode) found \(counts.found) disk \(spool.statistics.diskBytes)",
            "reasons \(counts.dropped.map { "\($0.key):\($0.value)" }.sorted().joined(separator: ","))")
        return counts.emitted == counts.delivered + counts.droppedInAll + counts.buffered && counts.emitted == logged + counts.found
    }

    /// Logs at a pace for some seconds despite faults, prints the accounts, and returns whether they add up.
    mutating func endure(_ seconds: Double, perSecond: Int) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        var number = 0
        var slowest = Duration.zero
        while .now < end {
            let start = ContinuousClock.now
            for _ in 0..<max(1, perSecond / 100) {
                number += 1
                log(number)
            }
            slowest = max(slowest, .now - start)
            try await Task.sleep(for: .milliseconds(10))
        }
        let flushed = await logger.flush(within: .seconds(30))
        // The last fault is over after a few more attempts.
        let patience = ContinuousClock.now + .seconds(5)
        while spool.statistics.mode != .disk, .now < patience { try await Task.sleep(for: .milliseconds(10)) }
        let isSound = printAccounts(flushed: flushed)
        _ = await logger.shutdown(within: .seconds(10))
        return isSound
    }
}
