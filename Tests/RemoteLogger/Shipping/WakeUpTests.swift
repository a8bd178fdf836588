import Foundation
import TestSupport
import Testing
import WebServiceClient

@testable import RemoteLogger

/// A sleeping shipper is woken by every event that concerns it, whatever its source.
@Suite struct WakeUpTests {
    /// Two shippers on one spool, each with its own logger.
    private struct Pair {
        let clock = ManualLogClock()
        let receivers = (StubReceiver(), StubReceiver())
        let shippers: (LogShipper, LogShipper)
        let loggers: (RemoteLogger, RemoteLogger)

        init(_ batch: BatchLimits) throws {
            let clock = clock
            let spool = Spool.inMemory(MemoryDisk(), clock)
            func shipper(_ name: String, _ receiver: StubReceiver) throws -> LogShipper {
                try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: receiver) { settings in
                    settings.compression = .none
                    settings.clock = clock
                    settings.batch = batch
                    settings.spool = spool
                    settings.destination = name
                }
            }
            shippers = (try shipper("a", receivers.0), try shipper("b", receivers.1))
            func logger(_ shipper: LogShipper) -> RemoteLogger {
                RemoteLogger(label: "test", pipeline: LogPipeline(sinks: [shipper], clock: clock), minimumLevel: .trace)
            }
            loggers = (logger(shippers.0), logger(shippers.1))
        }

        func expectConservation(_ location: SourceLocation = #_sourceLocation) {
            for counts in [shippers.0.statistics, shippers.1.statistics] {
                #expect(counts.emitted == counts.delivered + counts.droppedInAll + counts.buffered, "\(counts)", sourceLocation: location)
            }
        }
    }

    @Test func `what another shipper has put into the spool doesn't hold up one's own record`() async throws {
        let pair = try Pair(BatchLimits(interval: .milliseconds(100)))
        await settle()
        pair.loggers.0.info("one")
        pair.loggers.1.info("two")
        #expect(await pair.clock.run { pair.shippers.0.statistics.delivered == 2 && pair.shippers.1.statistics.delivered == 2 })
        #expect(pair.receivers.1.lines.joined().map(\.message) == ["one", "two"])
        pair.expectConservation()
    }

    @Test func `what another shipper has put into the spool is sent in its time`() async throws {
        let pair = try Pair(BatchLimits(interval: .seconds(2)))
        for round in 1...10 {
            await settle()
            pair.loggers.0.info("m")
            #expect(
                await pair.clock.run(step: .milliseconds(500)) {
                    pair.shippers.0.statistics.delivered == round && pair.shippers.1.statistics.delivered == round
                })
        }
        pair.expectConservation()
    }

    @Test func `a batch that others have filled goes at once`() async throws {
        let pair = try Pair(BatchLimits(records: 10, interval: .seconds(3_600)))
        for round in 1...5 {
            await settle()
            for _ in 0..<10 { pair.loggers.0.info("m") }
            #expect(
                await eventually {
                    pair.shippers.0.statistics.delivered == 10 * round && pair.shippers.1.statistics.delivered == 10 * round
                })
        }
        #expect(pair.receivers.1.lines.map(\.count) == Array(repeating: 10, count: 5))
        pair.expectConservation()
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `no record stays behind, whoever brings it and whenever`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let pair = try Pair(BatchLimits(records: 5, interval: .milliseconds(100)))
        var count: UInt64 = 0
        for _ in 0..<150 {
            for _ in 0..<Int.random(in: 1...7, using: &generator) {
                (Bool.random(using: &generator) ? pair.loggers.0 : pair.loggers.1).info("m")
                count += 1
                if Int.random(in: 0..<3, using: &generator) == 0 { await Task.yield() }
            }
            #expect(
                await pair.clock.run(step: .milliseconds(50)) {
                    pair.shippers.0.statistics.delivered == count && pair.shippers.1.statistics.delivered == count
                })
        }
        pair.expectConservation()
    }

    // MARK: Costs of a wake-up

    @Test func `who sleeps is woken once, by the first record that is enough`() throws {
        let harness = try SpoolHarness()
        let other = try #require(harness.spool.store(for: "other", minimumLevel: .info))
        let rings = Locked(0)
        other.onNews { _ in rings.withLock { $0 += 1 } }
        #expect(other.sleep(until: .anything))
        harness.append([.sample(1, .debug)])
        #expect(rings.withLock { $0 } == 0, "it isn't for it")
        harness.append((2...50).map { .sample($0) })
        #expect(rings.withLock { $0 } == 1)
        #expect(!other.sleep(until: .anything), "there is something already")
        #expect(other.sleep(until: WakeCondition(records: 60, bytes: .max)))
        harness.append((51...60).map { .sample($0) })
        #expect(rings.withLock { $0 } == 1)
        harness.append((61...90).map { .sample($0) })
        #expect(rings.withLock { $0 } == 2)
        // Its own records are reported by `append`.
        #expect(other.sleep(until: WakeCondition(records: 91, bytes: .max)))
        let woken = (101...104 as ClosedRange<UInt64>).map { other.append(.sample($0), now: 0).mustWake }
        #expect(woken == [false, true, false, false] && rings.withLock { $0 } == 2)
    }

    @Test func `in memory, too, the first record wakes, and the batch that is full`() {
        let store = MemoryStore(limits: BufferLimits())
        func append(_ count: Int) -> [Bool] { (0..<count).map { store.append(.sample(UInt64($0)), now: 0).mustWake } }
        #expect(append(2) == [false, false], "nobody sleeps")
        #expect(!store.sleep(until: .anything) && store.sleep(until: WakeCondition(records: 4, bytes: .max)))
        #expect(append(4) == [false, true, false, false])
        #expect(store.sleep(until: WakeCondition(records: .max, bytes: 1 << 20)))
        #expect(append(2) == [false, false])
    }

    @Test func `a loss that another one has caused wakes once`() throws {
        let harness = try SpoolHarness { $0.memory.records = 10 }
        harness.disk.faults.withLock { $0 = { name, _ in name == "write" ? 28 : nil } }
        let other = try #require(harness.spool.store(for: "other", minimumLevel: .trace))
        let news = Locked<[StoreNews]>([])
        other.onNews { item in news.withLock { $0.append(item) } }
        #expect(other.awaitLosses())
        harness.append((1...10).map { .sample($0) })
        #expect(news.withLock { $0.isEmpty })
        harness.append((11...30).map { .sample($0) })
        #expect(news.withLock { $0 } == [.losses])
        #expect(!other.awaitLosses(), "there are some already")
        #expect(other.takeLosses().reduce(0) { $0 + $1.count } == 20 && other.awaitLosses())
        harness.append([.sample(31)])
        #expect(news.withLock { $0 } == [.losses, .losses])
    }
}
