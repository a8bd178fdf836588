import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// Several receivers from one spool.
@Suite struct LogDestinationTests {
    private static func pipeline(
        _ receivers: [(String, StubReceiver)], _ spool: Spool?, _ clock: ManualLogClock, level: LogLevel = .trace
    ) throws -> LogPipeline {
        let endpoint = try Harness.endpoint()
        return try LogPipeline(
            destinations: receivers.map { name, receiver in
                .http(name, to: endpoint, format: NDJSONFormat(), transport: receiver) { settings in
                    settings.compression = .none
                    settings.clock = clock
                    settings.batch = BatchLimits(records: 50, interval: .milliseconds(100))
                    if name == "important" { settings.minimumLevel = .warning }
                }
            }, spool: spool, clock: clock)
    }

    @Test func `one that fails holds up no other, and gets its records when it is back`() async throws {
        let disk = MemoryDisk()
        let clock = ManualLogClock()
        let isBack = Locked(false)
        let (quick, important) = (StubReceiver(), StubReceiver())
        let away = StubReceiver { _, _ in isBack.withLock { $0 } ? .status(200) : .broken }
        let pipeline = try Self.pipeline([("quick", quick), ("important", important), ("away", away)], Spool.inMemory(disk, clock), clock)
        let logger = RemoteLogger(label: "test", pipeline: pipeline, minimumLevel: .trace)
        for number in 0..<700 {
            logger.log(LogLevel.allCases[number % 7], "m\(number)")
            if number % 50 == 0 { await settle() }
        }
        let done = { (name: String, count: UInt64) in pipeline.shippers[name]?.statistics.delivered == count }
        #expect(await clock.run { done("quick", 700) && done("important", 300) })
        #expect(quick.lines.joined().map(\.sequence) == Array(1...700))
        #expect(important.lines.joined().allSatisfy { ["warning", "error", "critical"].contains($0.level) })
        #expect(pipeline.health.receivers["away"]?.buffered == 700 && !pipeline.health.isGood)
        #expect(!disk.segments.isEmpty, "they are kept for the one that is away")
        isBack.withLock { $0 = true }
        #expect(await clock.run { done("away", 700) })
        var seen: Set<UInt64> = []
        #expect(away.lines.joined().map(\.sequence).filter { seen.insert($0).inserted } == Array(1...700))
        for counts in pipeline.health.receivers.values { #expect(counts.emitted == counts.delivered && counts.droppedInAll == 0) }
    }

    @Test func `each goes on in the next run where it was`() async throws {
        let disk = MemoryDisk()
        let clock = ManualLogClock()
        let (here, away) = (StubReceiver(), StubReceiver([.broken]))
        let first = try Self.pipeline([("here", here), ("away", away)], Spool.inMemory(disk, clock), clock)
        let logger = RemoteLogger(label: "test", pipeline: first)
        for number in 0..<200 { logger.info("m\(number)") }
        #expect(await clock.run { first.shippers["here"]?.statistics.delivered == 200 })
        async let ended = first.shutdown(within: .seconds(1))
        for _ in 0..<30 {
            clock.advance(by: .milliseconds(200))
            await settle()
        }
        #expect(await ended == false)
        let (hereAgain, back) = (StubReceiver(), StubReceiver())
        let second = try Self.pipeline([("here", hereAgain), ("away", back)], Spool.inMemory(disk.afterKill(), clock), clock)
        RemoteLogger(label: "test", pipeline: second).info("new")
        #expect(
            await clock.run { second.shippers["away"]?.statistics.delivered == 201 && second.shippers["here"]?.statistics.buffered == 0 })
        #expect(hereAgain.lines.joined().map(\.message) == ["new"])
        #expect(back.lines.joined().map(\.message) == (0..<200).map { "m\($0)" } + ["new"])
    }

    @Test func `a full spool is full for all, and each counts what it lost`() async throws {
        let disk = MemoryDisk()
        let clock = ManualLogClock()
        let pipeline = try Self.pipeline(
            [("here", StubReceiver()), ("away", StubReceiver([.broken]))], Spool.inMemory(disk, clock, bytes: 64 << 10), clock)
        let logger = RemoteLogger(label: "test", pipeline: pipeline, minimumLevel: .trace)
        for number in 0..<1_500 {
            logger.log(number % 10 == 0 ? .error : .debug, String(repeating: "x", count: 150))
            if number % 20 == 0 {
                clock.advance(by: .milliseconds(300))
                await settle()
            }
        }
        #expect(await clock.run { pipeline.shippers["here"]?.statistics.buffered == 0 })
        for (name, counts) in pipeline.health.receivers {
            #expect(counts.emitted == counts.delivered + counts.droppedInAll + counts.buffered, "\(name)")
        }
        let away = try #require(pipeline.health.receivers["away"])
        #expect(away.dropped[.overflow] ?? 0 > 100 && away.delivered == 0)
        #expect(disk.peak <= 64 << 10)
    }

    @Test func `without a spool each has its own memory`() async throws {
        let clock = ManualLogClock()
        let (one, two) = (StubReceiver(), StubReceiver([.broken]))
        let pipeline = try Self.pipeline([("one", one), ("two", two)], nil, clock)
        RemoteLogger(label: "test", pipeline: pipeline).info("m")
        #expect(await clock.run { pipeline.shippers["one"]?.statistics.delivered == 1 })
        #expect(pipeline.shippers["two"]?.statistics.buffered == 1)
    }

    @Test func `names are checked`() throws {
        let clock = ManualLogClock()
        for names in [["a", "a"], [""], [String(repeating: "x", count: 61)]] {
            #expect(throws: LogShipperError.self) {
                try Self.pipeline(names.map { ($0, StubReceiver()) }, Spool.inMemory(MemoryDisk(), clock), clock)
            }
        }
    }
}
