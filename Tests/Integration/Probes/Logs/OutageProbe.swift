import Foundation
import RemoteLogger
import WebServiceClient

/// Logs 10,000 records a second to a receiver that is away, or alive and slow, and reports the memory that this takes. The clock advances
/// with the records. The calling process checks the files, since listing them here would take memory, too.
struct OutageProbe {
    /// The kind of trouble.
    enum Trouble: String {
        /// The receiver is away.
        case away
        /// The receiver takes 20 seconds for each request.
        case slow
        /// The receiver is away without a spool: the records in memory reach their bound.
        case nospool
        /// The receiver is away, and no sync of the disk ends: the records in memory reach their bound here, too. Needs `disk.c` with
        /// `HOLD_SYNC`.
        case held
    }

    /// A receiver without a network, so that its cost isn't measured with the logger's.
    private struct Transporter: Transport {
        let clock: HurriedClock
        let trouble: Trouble
        /// The start of the trouble, on the clock.
        let start: UInt64
        var capabilities: TransportCapabilities { [] }

        func send(_ request: ServiceRequest) async throws -> TransportResponse {
            if clock.uptime >= start {
                guard trouble == .slow else { throw TransportError(.cannotConnect, "Nobody is there.") }
                try await clock.sleep(for: .seconds(20))
            }
            return TransportResponse(status: 200, headers: [:], url: request.url, body: ResponseBody())
        }
    }

    private static let perSecond = 10_000
    private static let warmUp = 10
    /// The maximum number of waiting bytes in memory: the records of 50 ms at that rate, during which a disk has synced the previous ones.
    /// Without a spool it is one batch, since nothing is sent before a batch is full.
    private var mostWaiting: Int { trouble == .nospool ? 1 << 20 : 256 << 10 }

    let folder: String
    let trouble: Trouble
    let seconds: Int
    private let clock = HurriedClock()

    init(folder: String, trouble: Trouble, seconds: Int) {
        (self.folder, self.trouble, self.seconds) = (folder, trouble, seconds)
    }

    func run() async throws {
        var spoolSettings = SpoolSettings()
        spoolSettings.clock = clock
        // The process that checks the files needs the bound at once.
        print("bound \(spoolSettings.diskBytes)")
        fflush(nil)
        let spool = trouble == .nospool ? nil : Spool(directory: URL(filePath: folder + "/spool"), settings: spoolSettings)
        let start = clock.uptime + UInt64(Self.warmUp) * 1_000_000_000
        guard let url = URL(string: "http://receiver.test/logs") else { return }
        let shipper = try LogShipper(
            to: url, format: OTLPFormat(), transport: Transporter(clock: clock, trouble: trouble, start: start)
        ) { settings in
            settings.spool = spool
            settings.clock = clock
            settings.timeout = .seconds(30)
        }
        let logger = RemoteLogger(label: "outage", pipeline: LogPipeline(sinks: [shipper], clock: clock), minimumLevel: .trace)
        // The waiting bytes in memory: everything buffered, without a spool.
        func waiting() -> Int { spool?.statistics.memoryBytes ?? shipper.statistics.bufferedBytes }
        try await log(Self.warmUp, logger, waiting) { _ in }
        let before = Self.resident()
        if trouble == .held { try holdSyncs() }
        var (most, fullest) = (0, 0)
        var quarters: [Int] = []
        try await log(seconds, logger, trouble == .away || trouble == .slow ? waiting : nil) { second in
            most = max(most, Self.resident() - before)
            fullest = max(fullest, waiting())
            if second % max(1, seconds / 4) == 0 { quarters.append((Self.resident() - before) / 1_024) }
        }
        let counts = shipper.statistics
        let isConserved = counts.emitted == counts.delivered + counts.droppedInAll + counts.buffered
        print(
            "trouble \(trouble.rawValue) seconds \(seconds) records \(seconds * Self.perSecond) grown \(most / 1_024)",
            "quarters \(quarters.map(String.init).joined(separator: ",")) waiting \(fullest)",
            "delivered \(counts.delivered) dropped \(counts.droppedInAll) buffered \(counts.buffered) conserved \(isConserved)")
        // Exits without waiting for the receiver or the disk.
        exit(isConserved ? 0 : 1)
    }

    private func holdSyncs() throws {
        guard let path = ProcessInfo.processInfo.environment["HOLD_SYNC"] else { throw POSIXError(.ENOENT) }
        try Data().write(to: URL(filePath: path))
    }

    /// Logs for a number of seconds of the clock, no faster than the disk permits: the disk's time isn't accelerated, and records logged
    /// during a sync would wait in memory as they never do at that rate.
    ///
    /// - Parameter waiting: The bytes that wait in memory; `nil` if they must reach their bound.
    private func log(_ seconds: Int, _ logger: RemoteLogger, _ waiting: (() -> Int)?, each: (Int) -> Void) async throws {
        for second in 1...max(1, seconds) {
            for step in 0..<100 {
                for number in 0..<Self.perSecond / 100 {
                    logger.log(
                        number % 50 == 0 ? .error : number % 3 == 0 ? .debug : .info, "GET /orders/\(number) answered 200",
                        ["user": number, "elapsed": 12.5, "path": "/orders"])
                }
                clock.advance(by: .milliseconds(10))
                while let waiting, waiting() > mostWaiting { try await Task.sleep(for: .milliseconds(1)) }
                if step % 10 == 0 { await Task.yield() }
            }
            each(second)
        }
    }

    /// The resident memory in bytes; 0 if the system doesn't report it.
    private static func resident() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
