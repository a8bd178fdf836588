import Foundation
import RemoteLogger
import WebServiceClient

/// Logs 10,000 records a second through a receiver that is away, or alive and slow, and tells how much memory that takes. The time is the
/// records' own: it goes by as fast as they are made. Who starts it looks at the files: to list them here would take memory, too.
struct OutageProbe {
    /// What the trouble is.
    enum Trouble: String {
        /// The receiver: nobody answers.
        case away
        /// The receiver: each request takes 20 seconds.
        case slow
        /// The receiver is away, and there is no spool: what waits in memory reaches its bound.
        case nospool
        /// The receiver is away, and no sync of the disk ends: so it does here. Needs `disk.c` with `HOLD_SYNC`.
        case held
    }

    /// A receiver without a network: what it costs isn't the logger's.
    private struct Transporter: Transport {
        let clock: HurriedClock
        let trouble: Trouble
        /// When the trouble begins, on the clock.
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
    /// What waits in memory at most, in bytes: at that rate the records of 50 ms, in which a disk has synced those before. Without a spool it is a
    /// batch: until there is one, nothing is sent.
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
        // Who looks at the files needs it at once.
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
        // What waits in memory: all that is buffered where there is no spool.
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
        // Nobody waits for the receiver, or for the disk, any more.
        exit(isConserved ? 0 : 1)
    }

    private func holdSyncs() throws {
        guard let path = ProcessInfo.processInfo.environment["HOLD_SYNC"] else { throw POSIXError(.ENOENT) }
        try Data().write(to: URL(filePath: path))
    }

    /// Logs for so many seconds of the clock, no faster than the disk takes it: the disk's time doesn't hurry, and what came while it syncs would wait
    /// in memory as it never does at that rate.
    ///
    /// - Parameter waiting: the bytes that wait in memory; `nil` where they are to reach their bound.
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

    /// The resident memory in bytes; 0 where the system doesn't tell.
    private static func resident() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
