import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

/// Flushes, shutdowns, and many concurrent events.
@Suite struct ShippingEndTests {
    @Test func `a flush with nothing to do returns at once`() async throws {
        let harness = try Harness()
        #expect(await harness.shipper.flush(within: .zero))
        #expect(await harness.logger.flush(within: .seconds(5)))
        #expect(harness.receiver.requests.isEmpty)
    }

    @Test func `a flush of a receiver that hangs ends in time`() async throws {
        let harness = try Harness(StubReceiver([.hangs]))
        harness.logger.info("m")
        async let flushed = harness.logger.flush(within: .seconds(5))
        try #require(await eventually { harness.clock.nextWake == .seconds(5) })
        harness.clock.advance(by: .seconds(5))
        #expect(await flushed == false)
        #expect(await harness.shipper.flush(within: .zero) == false)
        #expect(harness.shipper.statistics.buffered == 1)
        harness.expectConservation()
        async let ended = harness.logger.shutdown(within: .seconds(1))
        try #require(await harness.clock.run { harness.shipper.statistics.buffered == 0 })
        #expect(await ended == false)
        #expect(harness.shipper.statistics.dropped == [.shutdown: 1])
        harness.receiver.release()
        await settle()
        harness.expectConservation()
        #expect(harness.shipper.statistics.delivered == 0)
    }

    @Test func `a flush without an end in sight doesn't trap`() async throws {
        let stub = StubReceiver([.hangs])
        let shipper = try LogShipper(to: try #require(URL(string: "http://127.0.0.1:9/logs")), format: NDJSONFormat(), transport: stub)
        let logger = RemoteLogger(label: "x", sinks: [shipper])
        logger.info("m")
        let flush = Task { await logger.flush(within: .seconds(Int64.max)) }
        await settle()
        try await SystemLogClock().sleep(for: .milliseconds(1))
        flush.cancel()
        #expect(await flush.value == false)
        stub.release()
    }

    @Test func `a shutdown in a cancelled task keeps the records all the same`() async throws {
        let (disk, clock) = (MemoryDisk(), ManualLogClock())
        let spool = Spool.inMemory(disk, clock)
        let harness = try Harness(StubReceiver([.hangs])) { $0.spool = spool }
        for _ in 0..<100 { harness.logger.info("m") }
        let shipper = harness.shipper
        let last = harness.clock.uptime + 1_800_000_000
        let shutdown = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await shipper.shutdown(within: .seconds(2))
        }
        let ended = Locked(false)
        Task {
            _ = await shutdown.value
            ended.withLock { $0 = true }
        }
        _ = await harness.clock.run(step: .milliseconds(20)) { harness.clock.uptime >= last || ended.withLock { $0 } }
        // The last 200 ms are for the spool, whose thread a busy machine may let wait.
        #expect(await harness.clock.run(step: .milliseconds(5), pause: 100) { ended.withLock { $0 } })
        #expect(await shutdown.value == false)
        #expect(spool.statistics.memoryRecords == 0 && shipper.statistics.buffered == 100)
        harness.receiver.release()
    }

    @Test func `a flush beside a shutdown that leaves records in the spool tells so`() async throws {
        let spool = Spool.inMemory(MemoryDisk(), ManualLogClock())
        let harness = try Harness(StubReceiver([.hangs])) { $0.spool = spool }
        harness.logger.info("m")
        let shipper = harness.shipper
        async let flushed = shipper.flush(within: .seconds(20))
        try #require(await eventually { harness.clock.nextWake == .seconds(20) })
        let ended = Locked(false)
        async let shutdown = {
            let isDelivered = await shipper.shutdown(within: .milliseconds(300))
            ended.withLock { $0 = true }
            return isDelivered
        }()
        #expect(await harness.clock.run(step: .milliseconds(50)) { ended.withLock { $0 } })
        let answers = await (flushed, shutdown)
        #expect(answers == (false, false) && shipper.statistics.buffered == 1)
        #expect(await shipper.flush(within: .seconds(20)) == false)
        harness.receiver.release()
    }

    @Test func `a cancelled flush ends`() async throws {
        let harness = try Harness(StubReceiver([.hangs]))
        harness.logger.info("m")
        let flush = Task { await harness.logger.flush(within: .seconds(3_600)) }
        await settle()
        flush.cancel()
        #expect(await flush.value == false)
        harness.receiver.release()
    }

    @Test func `a shutdown delivers what there is and takes no more`() async throws {
        let harness = try Harness()
        for _ in 0..<2_500 { harness.logger.info("m") }
        async let second = harness.shipper.shutdown(within: .seconds(5))
        #expect(await harness.shipper.shutdown(within: .seconds(5)))
        _ = await second
        #expect(harness.shipper.statistics.delivered == 2_500)
        harness.logger.info("late")
        #expect(harness.shipper.statistics.dropped == [.shutdown: 1])
        #expect(await harness.shipper.flush(within: .zero))
        harness.expectConservation()
    }

    @Test func `a shipper that is let go says what it took with it, and its loop ends`() async throws {
        let events = Locked<[Diagnostics.Event]>([])
        let receiver = StubReceiver()
        weak var gone: LogShipper?
        do {
            let clock = ManualLogClock()
            let shipper = try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: receiver) { settings in
                settings.clock = clock
                settings.diagnostics = Diagnostics { event in events.withLock { $0.append(event) } }
            }
            shipper.write(.sample())
            gone = shipper
        }
        #expect(gone == nil)
        // The loop may add its own summary before it ends.
        #expect(events.withLock { $0.map(\.message) }.contains("1 log records were not delivered before the shutdown."))
    }

    @Test func `10,000 records of many loggers arrive once, in order, and are accounted for`() async throws {
        let harness = try Harness { $0.batch = BatchLimits(records: 512, interval: .milliseconds(100)) }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let child = harness.logger.with(["task": task])
                    for number in 0..<1_250 {
                        child.info("m", ["n": number])
                        if number % 100 == 0 { harness.expectConservation() }
                    }
                }
            }
        }
        #expect(await harness.logger.flush(within: .seconds(60)))
        let lines = Array(harness.receiver.lines.joined())
        #expect(lines.map(\.sequence) == Array(1...10_000))
        #expect(Set(lines.map(\.id)).count == 10_000)
        for task in 0..<8 {
            let own = lines.filter { $0.metadata?["task"] == .int(Int64(task)) }
            let numbers = (0..<1_250).map { NDJSONLine.Value?.some(.int(Int64($0))) }
            #expect(own.map { $0.metadata?["n"] } == numbers)
        }
        #expect(harness.shipper.statistics.delivered == 10_000)
        harness.expectConservation()
    }

    /// An oracle: the receiver knows what it has stored, and the shipper's accounts must always agree with it.
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `conservation holds under any faults`(seed: UInt64) async throws {
        let random = Locked(SeededGenerator(seed: seed))
        let stored = Locked<[NDJSONLine]>([])
        let refused = Locked(0)
        let receiver = StubReceiver { _, request in
            let lines = NDJSONLine.lines(of: request.body?.data ?? Data())
            switch random.withLock({ Int.random(in: 0..<12, using: &$0) }) {
            case 0: return .status(503, headers: ["Retry-After": "2"])
            case 1: return .status(429)
            case 2: return .broken
            case 3:
                stored.withLock { $0 += lines }
                return .broken
            case 4: return .status(413)
            case 5:
                refused.withLock { $0 += lines.count }
                return .status(404)
            case 7: return .status(400)
            case 6: return .status(401)
            default:
                stored.withLock { $0 += lines }
                return .status(200)
            }
        }
        let harness = try Harness(receiver, format: RefusableFormat()) { settings in
            settings.buffer = BufferLimits(records: 120, bytes: 60_000)
            settings.batch = BatchLimits(records: 30, interval: .milliseconds(500))
            settings.reportsLosses = false
        }
        for number in 0..<600 {
            harness.logger.log(LogLevel.allCases[number % 7], "m\(number)")
            harness.expectConservation()
            if number % 20 == 0 { harness.clock.advance(by: .milliseconds(300)) }
            if number % 50 == 0 { await settle() }
        }
        #expect(await harness.clock.run(step: .seconds(5)) { harness.shipper.statistics.buffered == 0 })
        harness.expectConservation()
        let counts = harness.shipper.statistics
        #expect(counts.emitted == 600)
        let ids = stored.withLock { Set($0.map(\.id)) }
        let sequences = stored.withLock { $0.map(\.sequence) }
        #expect(counts.delivered <= UInt64(ids.count), "what counts as delivered is with the receiver")
        #expect(counts.dropped[.rejected] ?? 0 >= UInt64(refused.withLock { $0 }))
        // Records stored twice were sent twice in one piece; apart from that, the order is kept.
        var seen: Set<UInt64> = []
        let firsts = sequences.filter { seen.insert($0).inserted }
        #expect(firsts == firsts.sorted())
        #expect(await harness.logger.shutdown(within: .seconds(1)))
    }
}
