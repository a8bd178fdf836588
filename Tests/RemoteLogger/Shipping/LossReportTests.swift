import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

/// Losses are reported in time, only to the receivers that they concern.
@Suite struct LossReportTests {
    /// Shippers on one spool with little memory, on a disk that never works, so that excess records are lost.
    private struct Shared {
        let clock = ManualLogClock()
        let disk = MemoryDisk()
        let spool: Spool

        init(records: Int = 100) {
            var settings = SpoolSettings()
            settings.clock = clock
            settings.memory.records = records
            disk.faults.withLock { $0 = { name, _ in name == "write" ? 28 : nil } }
            spool = Spool(root: "/spool", settings: settings, files: disk.files)
        }

        func shipper(
            _ name: String, _ transport: any Transport, from level: LogLevel = .trace, includes: (@Sendable (LogRecord) -> Bool)? = nil
        ) throws -> LogShipper {
            try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: transport) { settings in
                settings.compression = .none
                settings.clock = clock
                settings.batch.interval = .milliseconds(100)
                settings.spool = spool
                settings.destination = name
                settings.minimumLevel = level
                settings.includes = includes
            }
        }

        func logger(_ shippers: LogShipper...) -> RemoteLogger {
            RemoteLogger(label: "test", pipeline: LogPipeline(sinks: shippers, clock: clock), minimumLevel: .trace)
        }
    }

    private static func expectConservation(_ shippers: LogShipper..., location: SourceLocation = #_sourceLocation) {
        for counts in shippers.map(\.statistics) {
            #expect(counts.emitted == counts.delivered + counts.droppedInAll + counts.buffered, "\(counts)", sourceLocation: location)
        }
    }

    /// Returns the reported losses, by reason; a line that was sent twice counts once.
    private static func told(_ lines: some Sequence<NDJSONLine>, to name: String) -> [String: Int64] {
        var sums: [String: Int64] = [:]
        var seen: Set<String> = []
        for line in lines where line.label == "RemoteLogger" && seen.insert(line.id).inserted {
            #expect(line.metadata?["receiver.destination"] == .text(name))
            for (key, value) in line.metadata ?? [:] where key.hasPrefix("dropped.") {
                if case .int(let count) = value { sums[key, default: 0] += count }
            }
        }
        return sums
    }

    // MARK: Receivers of reports

    @Test func `who lost nothing is told of nothing`() async throws {
        let shared = Shared()
        let isBack = Locked(false)
        let (away, here) = (StubReceiver { _, _ in isBack.withLock { $0 } ? .status(200) : .broken }, StubReceiver())
        let (low, high) = (try shared.shipper("low", away), try shared.shipper("high", here, from: .error))
        let logger = shared.logger(low, high)
        for number in 0..<400 { logger.log(number % 20 == 0 ? .error : .info, "m\(number)") }
        #expect(await shared.clock.run { high.statistics.delivered == 20 })
        isBack.withLock { $0 = true }
        #expect(await shared.clock.run(step: .seconds(5)) { low.statistics.buffered == 0 && high.statistics.buffered == 0 })
        let lost = low.statistics.dropped[.overflow] ?? 0
        #expect(lost > 200 && low.statistics.dropped.count == 1)
        #expect(
            await shared.clock.run(step: .seconds(5)) { Self.told(away.lines.joined(), to: "low") == ["dropped.overflow": Int64(lost)] })
        #expect(here.lines.joined().allSatisfy { $0.label == "test" })
        #expect(high.statistics.emitted == 20 && high.statistics.dropped.isEmpty && high.statistics.found == 0)
        Self.expectConservation(low, high)
    }

    @Test func `what several have lost each is told once`() async throws {
        let shared = Shared()
        let receivers = (StubReceiver(), StubReceiver())
        let one = try shared.shipper("one", receivers.0)
        let two = try shared.shipper("two", receivers.1, includes: { $0.label == "test" })
        let logger = shared.logger(one, two)
        for _ in 0..<3 { logger.info(String(repeating: "x", count: 5 << 20)) }
        for (shipper, receiver) in [(one, receivers.0), (two, receivers.1)] {
            #expect(
                await shared.clock.run(step: .seconds(5)) {
                    Self.told(receiver.lines.joined(), to: shipper.name) == ["dropped.oversize": 3] && shipper.statistics.buffered == 0
                })
            #expect(shipper.statistics.dropped == [.oversize: 3])
        }
        Self.expectConservation(one, two)
    }

    /// The reports are in the spool, so later runs and new destinations must know their destination.
    @Test(arguments: [false, true]) func `a report that was left is sent to its own receiver only`(hasFilter: Bool) async throws {
        let first = Shared()
        first.disk.faults.withLock { $0 = { _, _ in nil } }
        let (one, two) = (try first.shipper("one", StubReceiver([.broken])), try first.shipper("two", StubReceiver([.broken])))
        one.write(.sample(1, .info, "before"))
        // Too long for both.
        first.logger(one).info(String(repeating: "x", count: 5 << 20))
        two.write(.sample(2, .info, "after"))
        #expect(await first.clock.run { one.statistics.emitted == 4 && two.statistics.emitted == 4 })
        // Another destination registers while the reports are in the spool.
        #expect(await first.spool.sync())
        let late = StubReceiver()
        let third = try first.shipper("late", late)
        #expect(await first.clock.run { third.statistics.buffered == 0 && third.statistics.delivered > 0 })
        #expect(late.lines.joined().map(\.message) == ["before", "after"])
        #expect(await first.spool.sync())

        let second = Shared()
        let spool = Spool.inMemory(first.disk.afterKill(), second.clock)
        func shipper(_ name: String, _ receiver: StubReceiver) throws -> LogShipper {
            try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: receiver) { settings in
                settings.compression = .none
                settings.clock = second.clock
                settings.spool = spool
                settings.destination = name
                if hasFilter { settings.includes = { $0.label == "test" } }
            }
        }
        let names = ["one", "two", "new"]
        let receivers = names.map { _ in StubReceiver() }
        // All are created before the first one sends, because records that all have acknowledged are deleted.
        let shippers = try zip(names, receivers).map { try shipper($0, $1) }
        for (shipper, receiver) in zip(shippers, receivers) {
            let expected = shipper.name == "new" ? 2 : 3
            #expect(shipper.statistics.found == expected, "\(shipper.name)")
            #expect(await second.clock.run { shipper.statistics.delivered == expected && shipper.statistics.buffered == 0 })
            let lines = Array(receiver.lines.joined())
            #expect(lines.filter { $0.label == "test" }.map(\.message) == ["before", "after"])
            #expect(Self.told(lines, to: shipper.name) == (shipper.name == "new" ? [:] : ["dropped.oversize": 1]))
            Self.expectConservation(shipper)
        }
    }

    // MARK: When

    private static func said(_ harness: Harness) -> [String] {
        harness.events.withLock { $0.map(\.message).filter { $0.contains("were dropped so far") } }
    }

    /// A receiver that accepts a batch but never responds stops the sending, but not the reports.
    @Test(arguments: [StubReceiver.Reply.hangs, .status(503)])
    func `losses are told during an outage, once a minute`(reply: StubReceiver.Reply) async throws {
        let harness = try Harness(StubReceiver([reply])) { settings in
            settings.buffer.records = 20
            settings.batch = BatchLimits(records: 5, interval: .milliseconds(100))
        }
        for number in 0..<5 { harness.logger.info("m\(number)") }
        #expect(await eventually { harness.receiver.requests.count == 1 })
        for _ in 0..<100 { harness.logger.info("m") }
        #expect(await eventually { Self.said(harness).count == 1 }, "at once, when it begins")
        #expect(await eventually { harness.shipper.statistics.emitted == 106 }, "the report waits with the others")
        for _ in 0..<100 { harness.logger.info("m") }
        harness.clock.advance(by: .seconds(59))
        await settle()
        #expect(Self.said(harness).count == 1)
        harness.clock.advance(by: .seconds(1))
        #expect(await eventually { Self.said(harness).count == 2 })
        #expect(await eventually { harness.shipper.statistics.emitted == 207 })
        #expect(Self.said(harness).last?.hasPrefix("186 log records") == true, "all but the 20 that were held")
        harness.expectConservation()
        harness.receiver.release()
        await harness.shipper.shutdown(within: .zero)
        harness.expectConservation()
    }

    @Test func `losses are told while nothing is to be sent`() async throws {
        let harness = try Harness { $0.buffer.bytes = 2_000 }
        let tooLarge = LogRecord.sample(1, .info, String(repeating: "x", count: 3_000))
        await settle()
        harness.shipper.write(tooLarge)
        #expect(await eventually { Self.said(harness).count == 1 }, "though no record has come that could be sent")
        #expect(await harness.clock.run { harness.shipper.statistics.delivered == 1 })
        await settle()
        harness.shipper.write(tooLarge)
        harness.shipper.write(tooLarge)
        await settle()
        #expect(Self.said(harness).count == 1)
        #expect(await harness.clock.run(step: .seconds(1)) { Self.said(harness).count == 2 })
        #expect(await harness.clock.run { harness.shipper.statistics.delivered == 2 })
        #expect(Self.told(harness.receiver.lines.joined(), to: "default") == ["dropped.oversize": 3])
        harness.expectConservation()
    }

    @Test func `what the disk's queue drops is told without a further record`() async throws {
        let disk = MemoryDisk()
        let harness = try Harness { settings in
            guard let clock = settings.clock as? ManualLogClock else { return }
            // A segment has 4 KiB.
            settings.spool = .inMemory(disk, clock, bytes: 64 << 10)
            settings.batch.interval = .seconds(3_600)
        }
        await settle()
        harness.shipper.write(.sample(1, .error, String(repeating: "x", count: 8_000)))
        #expect(await eventually { harness.shipper.statistics.dropped == [.oversize: 1] })
        #expect(await eventually { Self.said(harness).count == 1 && harness.shipper.statistics.emitted == 2 })
        harness.expectConservation()
    }

    @Test func `what the minute has kept back is told at the end`() async throws {
        let harness = try Harness { $0.buffer.bytes = 2_000 }
        let tooLarge = LogRecord.sample(1, .info, String(repeating: "x", count: 3_000))
        harness.shipper.write(tooLarge)
        #expect(await eventually { Self.said(harness).count == 1 })
        harness.shipper.write(tooLarge)
        await harness.shipper.shutdown(within: .seconds(60))
        #expect(Self.said(harness).count == 2)
        #expect(Self.told(harness.receiver.lines.joined(), to: "default") == ["dropped.oversize": 2])
        harness.expectConservation()
    }

    @Test(arguments: [false, true]) func `a report for which there is no room is made up for`(hasSpool: Bool) async throws {
        let isBack = Locked(false)
        let receiver = StubReceiver { _, _ in isBack.withLock { $0 } ? .status(200) : .broken }
        let disk = MemoryDisk()
        let harness = try Harness(receiver) { settings in
            settings.buffer.records = 5
            settings.batch = BatchLimits(records: 5, interval: .milliseconds(100))
            guard hasSpool, let clock = settings.clock as? ManualLogClock else { return }
            var spool = SpoolSettings()
            spool.clock = clock
            spool.memory.records = 5
            disk.faults.withLock { $0 = { name, _ in name == "write" ? 28 : nil } }
            settings.spool = Spool(root: "/spool", settings: spool, files: disk.files)
        }
        // All records that fit are in flight.
        for _ in 0..<5 { harness.logger.error("m") }
        #expect(await eventually { harness.shipper.statistics.requests > 0 })
        for _ in 0..<10 { harness.logger.info("m") }
        #expect(await eventually { Self.said(harness).count == 1 && harness.shipper.statistics.dropped == [.overflow: 11] })
        isBack.withLock { $0 = true }
        // The receiver may not be tried again for another minute.
        #expect(
            await harness.clock.run(step: .seconds(1)) {
                let lost = Int64(harness.shipper.statistics.dropped[.overflow] ?? 0)
                return Self.told(receiver.lines.joined(), to: "default") == ["dropped.overflow": lost]
            })
        #expect(await harness.clock.run { harness.shipper.statistics.buffered == 0 })
        harness.expectConservation()
    }
}
