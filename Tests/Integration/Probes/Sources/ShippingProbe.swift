import Foundation
import RemoteLogger
import WebServiceClient
import WebServiceTesting

/// Checks a log shipper's promises on time and repeats, many times against a server on the loopback interface: a single record is sent in
/// time, a flush ends in time whatever the server does, and records that were stored when the connection broke aren't stored twice.
struct ShippingProbe {
    /// The folder of the records while their receiver hangs.
    private enum Place: String {
        case memory = ""
        case spool = " with a spool"
        case blockedDisk = " with a spool whose disk hangs"
    }

    private let count: Int
    /// While this file exists, no fsync returns: the preloaded library `disk.c` blocks them.
    private let syncHolder = ProcessInfo.processInfo.environment["HOLD_SYNC"]

    init(count: Int) { self.count = count }

    func run() async throws {
        try await liveness()
        try await flushesOfNothing(count / 10)
        for place in [Place.memory, .spool] { try await flushes(count / 10, place) }
        if syncHolder != nil {
            try await flushes(count / 10, .blockedDisk)
        } else {
            print("left out: a disk that hangs, for want of HOLD_SYNC")
        }
        for receiver in [RepeatingReceiver.elasticsearch, .loki] { try await repeats(receiver) }
    }

    /// Measures the delay of single records, one after the other. A lost wake-up shows as an exceptionally long delay.
    private func liveness() async throws {
        let arrivals = AsyncStream<Void>.makeStream()
        let server = try LoopbackServer(options: .init(recordingLimit: 0)) { routes in
            routes.on("POST", "/logs") { _ in
                arrivals.continuation.yield()
                return .status(204)
            }
        }
        let interval = Duration.milliseconds(5)
        let shipper = try LogShipper(to: try server.url("/logs"), format: NDJSONFormat()) { $0.batch.interval = interval }
        let logger = RemoteLogger(label: "probe", sinks: [shipper])
        var times: [Duration] = []
        var arrived = arrivals.stream.makeAsyncIterator()
        for number in 0..<count {
            let start = ContinuousClock.now
            logger.info("alone", ["number": number])
            _ = await arrived.next()
            times.append(ContinuousClock.now - start - interval)
        }
        await logger.shutdown(within: .seconds(5))
        report("single records, after their \(interval)", times, goal: .milliseconds(50))
        guard shipper.statistics.delivered == UInt64(count) else { throw Broken("delivered \(shipper.statistics.delivered) of \(count)") }
    }

    /// Flushes a logger that has never logged.
    private func flushesOfNothing(_ count: Int) async throws {
        let server = try LoopbackServer(options: .init(recordingLimit: 0)) { $0.on("POST", "/logs") { _ in .hang } }
        let logger = RemoteLogger(label: "probe", sinks: [try LogShipper(to: try server.url("/logs"), format: NDJSONFormat())])
        var times: [Duration] = []
        for _ in 0..<count {
            let start = ContinuousClock.now
            guard await logger.flush(within: .seconds(5)) else { throw Broken("a flush of nothing fails") }
            times.append(ContinuousClock.now - start)
        }
        report("flushes of nothing", times, goal: .milliseconds(50))
    }

    /// Flushes against a server that doesn't answer, while other tasks log: also two at once, and from the main thread.
    private func flushes(_ count: Int, _ place: Place) async throws {
        let server = try LoopbackServer(options: .init(recordingLimit: 0)) { $0.on("POST", "/logs") { _ in .hang } }
        let folder = FileManager.default.temporaryDirectory.appending(path: "shipping-probe-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let shipper = try LogShipper(to: try server.url("/logs"), format: NDJSONFormat()) { settings in
            settings.batch.interval = .milliseconds(5)
            if place != .memory { settings.spool = Spool(directory: folder) }
        }
        let logger = RemoteLogger(label: "probe", sinks: [shipper])
        if place == .blockedDisk, let syncHolder {
            guard FileManager.default.createFile(atPath: syncHolder, contents: nil) else { throw Broken("\(syncHolder) can't be made") }
        }
        defer { if let syncHolder { try? FileManager.default.removeItem(atPath: syncHolder) } }
        let limit = Duration.milliseconds(20)
        let others = Task {
            while !Task.isCancelled {
                logger.info("more")
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        var times: [Duration] = []
        for number in 0..<count {
            let start = ContinuousClock.now
            async let second = number % 3 == 0 ? logger.flush(within: limit) : false
            if number % 5 == 0 { await Self.flushOnMain(logger, limit) } else { _ = await logger.flush(within: limit) }
            _ = await second
            times.append(ContinuousClock.now - start - limit)
        }
        others.cancel()
        await others.value
        let start = ContinuousClock.now
        await logger.shutdown(within: limit)
        times.append(ContinuousClock.now - start - limit)
        report("flushes\(place.rawValue), after their \(limit)", times, goal: .milliseconds(50))
        // Every logged record is in the accounts, whatever the disk did.
        let counts = shipper.statistics
        guard counts.emitted == counts.delivered + counts.droppedInAll + UInt64(counts.buffered) else {
            throw Broken("the accounts don't add up: \(counts)")
        }
    }

    @MainActor private static func flushOnMain(_ logger: RemoteLogger, _ limit: Duration) async {
        _ = await logger.flush(within: limit)
    }

    /// Records that the server has stored before the connection breaks, each sent again.
    private func repeats(_ receiver: RepeatingReceiver) async throws {
        let stored = Store()
        let server = try LoopbackServer(options: .init(recordingLimit: 0)) { routes in
            routes.on("POST", receiver.path) { request in
                guard let entries = receiver.entries(request.body) else { return .status(400) }
                return await stored.take(entries) ? .drop : receiver.answer(entries.count)
            }
        }
        let shipper = try LogShipper(to: try server.url(receiver.path), format: receiver.format) { settings in
            settings.compression = .none
            settings.batch = BatchLimits(records: 1, interval: .milliseconds(1))
            settings.backoff = Backoff(base: .milliseconds(1), cap: .milliseconds(2))
            settings.buffer = BufferLimits(records: count + 1, bytes: 1 << 30)
        }
        let logger = RemoteLogger(label: "probe", sinks: [shipper])
        for number in 0..<count { logger.info("once", ["number": number]) }
        let isDone = await logger.shutdown(within: .seconds(600))
        let (keys, numbers, requests) = await stored.counts
        print("\(receiver.name), stored, then cut: \(count) records in \(requests) requests; stored \(keys) times with \(numbers) numbers")
        guard isDone, keys == count, numbers == count else { throw Broken("a record is missing, or was stored twice") }
    }

    private func report(_ what: String, _ times: [Duration], goal: Duration) {
        let sorted = times.sorted()
        let late = sorted.count { $0 > goal }
        print("\(what): \(sorted.count), median \(sorted[sorted.count / 2]), at most \(sorted[sorted.count - 1]); \(late) beyond \(goal)")
    }

    struct Broken: Error {
        let what: String

        init(_ what: String) { self.what = what }
    }
}

/// The stored records, each once by the key that its receiver uses. A new record breaks the connection once it is stored.
private actor Store {
    private var numbers: [String: Int] = [:]
    private var requests = 0

    var counts: (keys: Int, numbers: Int, requests: Int) { (numbers.count, Set(numbers.values).count, requests) }

    /// - Returns: Whether a record was new.
    func take(_ entries: [RepeatingReceiver.Entry]) -> Bool {
        requests += 1
        var isNew = false
        for entry in entries { isNew = numbers.updateValue(entry.number, forKey: entry.key) == nil || isNew }
        return isNew
    }
}
