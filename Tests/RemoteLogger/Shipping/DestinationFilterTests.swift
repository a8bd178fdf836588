import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

/// Receivers' filters, with a shared spool and without one.
@Suite struct DestinationFilterTests {
    /// Creates a receiver of all records and one of audited records, in either order.
    private static func pipeline(
        _ all: StubReceiver, _ audit: StubReceiver, _ spool: Spool?, _ clock: ManualLogClock, auditIsFirst: Bool = false,
        includes: @escaping @Sendable (LogRecord) -> Bool = { $0.label.hasPrefix("audit") }
    ) throws -> LogPipeline {
        let endpoint = try Harness.endpoint()
        @Sendable func configure(_ settings: inout ShippingSettings) {
            settings.compression = .none
            settings.clock = clock
            settings.batch = BatchLimits(records: 50, interval: .milliseconds(100))
        }
        let destinations: [LogDestination] = [
            .http("all", to: endpoint, format: NDJSONFormat(), transport: all) { configure(&$0) },
            .http("audit", to: endpoint, format: NDJSONFormat(), transport: audit) {
                configure(&$0)
                $0.includes = includes
            },
        ]
        return try LogPipeline(destinations: auditIsFirst ? destinations.reversed() : destinations, spool: spool, clock: clock)
    }

    private static func counts(_ pipeline: LogPipeline, _ name: String) throws -> LogStatistics {
        let counts = try #require(pipeline.shippers[name]?.statistics)
        #expect(counts.emitted == counts.delivered + counts.droppedInAll + counts.buffered, "\(name): \(counts)")
        return counts
    }

    @Test(arguments: [false, true], [true, false])
    func `records reach only who wants them`(hasSpool: Bool, auditIsFirst: Bool) async throws {
        let clock = ManualLogClock()
        let (all, audit) = (StubReceiver(), StubReceiver())
        let spool = hasSpool ? Spool.inMemory(MemoryDisk(), clock) : nil
        let pipeline = try Self.pipeline(all, audit, spool, clock, auditIsFirst: auditIsFirst)
        let (shop, auditing) = (RemoteLogger(label: "shop", pipeline: pipeline), RemoteLogger(label: "audit.login", pipeline: pipeline))
        for number in 0..<600 {
            if number % 5 == 0 { auditing.info("a\(number)") } else { shop.info("m\(number)") }
            if number % 100 == 0 {
                _ = try (Self.counts(pipeline, "all"), Self.counts(pipeline, "audit"))
                await settle()
            }
        }
        #expect(await clock.run { all.lines.joined().count == 600 && audit.lines.joined().count >= 120 })
        async let flushed = pipeline.flush(within: .seconds(60))
        #expect(await clock.run { pipeline.health.receivers.values.allSatisfy { $0.buffered == 0 } })
        #expect(await flushed)
        #expect(audit.lines.joined().map(\.label) == Array(repeating: "audit.login", count: 120))
        let counts = try Self.counts(pipeline, "audit")
        #expect(counts.emitted == 120 && counts.delivered == 120 && counts.found == 0 && counts.dropped.isEmpty)
    }

    @Test func `a single record for one that is idle leaves in time, whatever passes by`() async throws {
        let clock = ManualLogClock()
        let (all, audit) = (StubReceiver(), StubReceiver())
        let pipeline = try Self.pipeline(all, audit, Spool.inMemory(MemoryDisk(), clock), clock)
        for round in 1...5 {
            RemoteLogger(label: "shop", pipeline: pipeline).info("m")
            #expect(await clock.run(step: .milliseconds(20)) { all.lines.joined().count == 2 * round - 1 })
            RemoteLogger(label: "audit", pipeline: pipeline).info("a")
            let start = clock.uptime
            #expect(
                await clock.run(step: .milliseconds(20)) { audit.lines.joined().count == round && all.lines.joined().count == 2 * round })
            #expect(clock.uptime - start < 5_000_000_000)
        }
    }

    @Test func `what is found after a restart is filtered, too`() async throws {
        let disk = MemoryDisk()
        let clock = ManualLogClock()
        // The first run didn't have the audit destination.
        let first = try SpoolHarness(disk)
        first.append((1...300).map { .sample($0, label: $0 % 10 == 0 ? "audit" : "shop") })
        #expect(await first.spool.sync())
        let (all, audit) = (StubReceiver(), StubReceiver([.broken]))
        let second = try Self.pipeline(all, audit, Spool.inMemory(disk.afterKill(), clock), clock)
        #expect(try Self.counts(second, "audit").found == 30 && Self.counts(second, "all").found == 300)
        RemoteLogger(label: "shop", pipeline: second).info("new")
        RemoteLogger(label: "audit", pipeline: second).info("new")
        #expect(await clock.run { all.lines.joined().count == 302 })
        #expect(try Self.counts(second, "audit").buffered == 31)
        async let ended = second.shutdown(within: .seconds(1))
        for _ in 0..<30 {
            clock.advance(by: .milliseconds(200))
            await settle()
        }
        _ = await ended
        let (allAgain, auditAgain) = (StubReceiver(), StubReceiver())
        let third = try Self.pipeline(allAgain, auditAgain, Spool.inMemory(disk.afterKill().afterKill(), clock), clock)
        #expect(await clock.run { auditAgain.lines.joined().count >= 30 && third.shippers["audit"]?.statistics.buffered == 0 })
        #expect(auditAgain.lines.joined().allSatisfy { $0.label == "audit" })
        _ = try (Self.counts(third, "audit"), Self.counts(third, "all"))
    }

    @Test func `a full spool counts for each what it would have got`() async throws {
        let disk = MemoryDisk()
        let clock = ManualLogClock()
        let pipeline = try Self.pipeline(
            StubReceiver([.broken]), StubReceiver([.broken]), Spool.inMemory(disk, clock, bytes: 64 << 10), clock)
        for number in 0..<1_500 {
            let logger = RemoteLogger(label: number % 3 == 0 ? "audit" : "shop", pipeline: pipeline, minimumLevel: .trace)
            logger.log(number % 10 == 0 ? .error : .debug, String(repeating: "x", count: 150))
            if number % 20 == 0 {
                clock.advance(by: .milliseconds(300))
                await settle()
                _ = try (Self.counts(pipeline, "all"), Self.counts(pipeline, "audit"))
            }
        }
        await settle()
        let (all, audit) = (try Self.counts(pipeline, "all"), try Self.counts(pipeline, "audit"))
        #expect(audit.dropped[.overflow] ?? 0 > 50 && all.dropped[.overflow] ?? 0 > audit.dropped[.overflow] ?? 0)
        #expect(audit.emitted >= 500 && audit.emitted < 510 && all.emitted >= 1_500)
    }

    @Test(arguments: 0..<8) func `damage is counted for who would have got the records`(seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let harness = try SpoolHarness { $0.diskBytes = 64 << 10 }
        let audit = try #require(harness.spool.store(for: "audit", minimumLevel: .info) { $0.label == "audit" })
        for sequence in 1...60 as ClosedRange<UInt64> {
            let record = LogRecord.sample(
                sequence, LogLevel.allCases[Int(sequence) % 7], String(repeating: "x", count: 100),
                label: sequence % 2 == 0 ? "audit" : "shop")
            harness.append([record])
            let outcome = audit.append(record, now: 0)
            #expect(outcome.isExcluded == (record.label != "audit" && record.level >= .info))
            if sequence % 10 == 0 { #expect(await harness.spool.sync()) }
        }
        let wanted = (1...60).count { $0 % 2 == 0 && $0 % 7 >= 2 }
        #expect(audit.load.records == wanted)
        let path = try #require(harness.disk.segments.randomElement(using: &generator))
        var bytes = try #require(harness.disk[path])
        if seed % 2 == 0 {
            bytes[Int.random(in: 64..<bytes.count, using: &generator)] ^= 0x40
            harness.disk[path] = bytes
        } else {
            harness.disk[path] = nil
        }
        let read = await audit.read(after: 0, limits: BatchLimits())
        #expect(read.allSatisfy { $0.record.label == "audit" && $0.record.level >= .info })
        #expect(read.count + audit.takeLosses().reduce(0) { $0 + $1.count } == wanted)
        #expect(audit.load.unread == 0)
    }

    @Test func `a segment that can't be read at the beginning is asked for later`() async throws {
        let first = try SpoolHarness()
        first.append((1...30).map { .sample($0, label: $0 % 3 == 0 ? "audit" : "shop") })
        #expect(await first.spool.sync())
        let disk = first.disk.afterKill()
        let isLate = Locked(false)
        let spool = Spool(root: "/spool", settings: SpoolSettings(), files: disk.files)
        disk.faults.withLock { $0 = { name, _ in name == "open" && !isLate.withLock { $0 } ? 24 : nil } }
        let store = try #require(spool.store(for: "default", minimumLevel: .trace) { $0.label == "audit" })
        isLate.withLock { $0 = true }
        #expect(store.load.records == 30)
        _ = await spool.sync()
        #expect(await store.read(after: 0, limits: BatchLimits()).sequences == Array(stride(from: 3, through: 30, by: 3)))
        #expect(store.load.records == 10 && store.load.found == 10 && store.load.unread == 0)
        _ = store.close()
    }

    @Test func `a segment that is gone before it could be asked for holds up nothing`() async throws {
        let first = try SpoolHarness()
        first.append((1...30).map { .sample($0) })
        #expect(await first.spool.sync())
        let disk = first.disk.afterKill()
        let fails = Locked(false)
        let spool = Spool(root: "/spool", settings: SpoolSettings(), files: disk.files)
        disk.faults.withLock { $0 = { name, _ in name == "open" && fails.withLock { $0 } ? 24 : nil } }
        fails.withLock { $0 = true }
        let store = try #require(spool.store(for: "default", minimumLevel: .trace) { _ in true })
        fails.withLock { $0 = false }
        disk[try #require(disk.segments.first)] = nil
        _ = store.append(.sample(31), now: 0)
        #expect(await store.read(after: 0, limits: BatchLimits()).sequences == [31])
        #expect(store.takeLosses().reduce(0) { $0 + $1.count } == 30 && store.load.unread == 0)
        _ = store.close()
    }

    /// A filter may be random or count its calls: a second answer could reveal a record that the first one excluded.
    @Test(arguments: [["a", "b"], ["b", "a"]]) func `a filter is asked once, whoever brings the record first`(order: [String]) async throws
    {
        let spool = Spool(root: "/spool", settings: SpoolSettings(), files: MemoryDisk().files)
        let asked = Locked(0)
        let every = try #require(
            spool.store(for: "a", minimumLevel: .trace) { _ in
                asked.withLock {
                    $0 += 1; return $0 % 2 == 0
                }
            })
        let all = try #require(spool.store(for: "b", minimumLevel: .trace))
        for number in 1...40 {
            let record = LogRecord.sample(UInt64(number))
            for name in order { _ = (name == "a" ? every : all).append(record, now: 0) }
        }
        #expect(asked.withLock { $0 } == 40)
        #expect(every.load.records == 20 && all.load.records == 40 && every.load.found == 0 && all.load.found == 0)
        _ = await spool.sync()
        #expect(await every.read(after: 0, limits: BatchLimits()).sequences == Array(stride(from: 2, through: 40, by: 2)))
        _ = (every.close(), all.close())
    }

    @Test func `a filter that changes its mind spoils no count`() async throws {
        let clock = ManualLogClock()
        let random = Locked(SeededGenerator(seed: 3))
        let (all, some) = (StubReceiver(), StubReceiver())
        let pipeline = try Self.pipeline(all, some, Spool.inMemory(MemoryDisk(), clock), clock) { _ in
            random.withLock { Bool.random(using: &$0) }
        }
        let logger = RemoteLogger(label: "shop", pipeline: pipeline)
        for number in 0..<500 {
            logger.info("m\(number)")
            if number % 50 == 0 { await settle() }
        }
        #expect(await clock.run { pipeline.health.receivers.values.allSatisfy { $0.buffered == 0 } })
        let counts = try Self.counts(pipeline, "audit")
        #expect(counts.delivered == UInt64(some.lines.joined().count) && counts.delivered > 150 && counts.delivered < 450)
        #expect(Set(some.lines.joined().map(\.sequence)).count == some.lines.joined().count)
    }

    @Test func `a filter before a shipper with a spool is refused`() async throws {
        let clock = ManualLogClock()
        let events = Locked<[String]>([])
        func shipper(_ spool: Spool?, _ receiver: StubReceiver) throws -> LogShipper {
            try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: receiver) { settings in
                settings.compression = .none
                settings.clock = clock
                settings.spool = spool
                settings.diagnostics = Diagnostics { event in events.withLock { $0.append(event.message) } }
            }
        }
        let spooled = try shipper(Spool.inMemory(MemoryDisk(), clock), StubReceiver())
        let error = #expect(throws: LogShipperError.self) { try spooled.filtered { $0.label == "a" } }
        #expect(error?.message.contains("includes") == true)
        // Generic code gets the error through the diagnostics.
        func filter(_ sink: some LogSink) -> any LogSink { sink.filtered(from: .error) }
        _ = filter(spooled)
        #expect(events.withLock { $0.contains { $0.contains("`includes`") } })
        let receiver = StubReceiver()
        let logger = RemoteLogger(label: "x", sinks: [try shipper(nil, receiver).filtered { $0.message == "in" }])
        logger.info("in")
        logger.info("out")
        async let flushed = logger.flush(within: .seconds(1_200))
        #expect(await clock.run { receiver.lines.joined().count == 1 })
        #expect(await flushed)
    }

    @Test func `reports of losses pass the filter`() async throws {
        let harness = try Harness { settings in
            settings.buffer.records = 10
            settings.includes = { $0.label == "test" && $0.message != "out" }
        }
        harness.shipper.write(.sample(1, .info, String(repeating: "x", count: 20 << 20)))
        harness.logger.info("out")
        harness.logger.info("m")
        #expect(await harness.clock.run { harness.shipper.statistics.delivered == 2 })
        #expect(harness.receiver.lines.joined().map(\.label).sorted { ($0 ?? "") < ($1 ?? "") } == ["RemoteLogger", "test"])
        harness.expectConservation()
    }
}
