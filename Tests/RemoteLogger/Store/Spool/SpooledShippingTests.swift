import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

/// A shipper with a spool.
@Suite struct SpooledShippingTests {
    private static func settings(_ clock: ManualLogClock) -> SpoolSettings {
        var settings = SpoolSettings()
        settings.clock = clock
        return settings
    }

    private static func harness(
        _ receiver: StubReceiver, _ disk: MemoryDisk, configure: (inout ShippingSettings) -> Void = { _ in }
    ) throws -> Harness {
        try Harness(receiver) { settings in
            guard let clock = settings.clock as? ManualLogClock else { return }
            settings.spool = Spool(root: "/spool", settings: Self.settings(clock), files: disk.files)
            settings.batch.interval = .milliseconds(100)
            configure(&settings)
        }
    }

    @Test func `what an outage left is delivered by the next run, as it was`() async throws {
        let disk = MemoryDisk()
        let first = try Self.harness(StubReceiver([.broken]), disk)
        for number in 1...500 { first.logger.info("m", ["n": number]) }
        #expect(await first.clock.run { first.shipper.statistics.repeats > 2 })
        async let ended = first.logger.shutdown(within: .seconds(1))
        #expect(await first.clock.run { first.shipper.statistics.nextAttempt == nil || disk.segments.count > 0 })
        for _ in 0..<20 {
            first.clock.advance(by: .seconds(1))
            await settle()
        }
        #expect(await ended == false)
        first.expectConservation()
        #expect(first.shipper.statistics.dropped.isEmpty && first.shipper.statistics.buffered == 500)
        let sent = try #require(first.receiver.lines.first?.first)
        let second = try Self.harness(StubReceiver(), disk.afterKill())
        #expect(second.shipper.statistics.found == 500)
        second.expectConservation()
        second.logger.info("new")
        #expect(await second.clock.run { second.shipper.statistics.delivered == 501 })
        let lines = Array(second.receiver.lines.joined())
        #expect(lines.first == sent, "with the id that it had")
        #expect(lines.map(\.sequence) == Array(1...500) + [1])
        second.expectConservation()
        #expect(await second.logger.shutdown(within: .seconds(1)))
    }

    @Test func `of what is buffered it is told how much is on disk`() async throws {
        let disk = MemoryDisk()
        let kept = Locked<Spool?>(nil)
        let harness = try Self.harness(StubReceiver([.status(503)]), disk) { settings in kept.withLock { $0 = settings.spool } }
        let spool = try #require(kept.withLock { $0 })
        disk.faults.withLock { $0 = { name, _ in name == "fsync" ? 5 : nil } }
        for _ in 0..<30 { harness.logger.info("m") }
        #expect(await spool.sync() == false)
        #expect(harness.shipper.statistics.buffered == 30 && harness.shipper.statistics.spooled == 0)
        disk.faults.withLock { $0 = { _, _ in nil } }
        #expect(await harness.clock.run { harness.shipper.statistics.spooled == 30 })
        #expect(harness.shipper.statistics.buffered == 30)
        // Some records are in flight, and more arrive.
        #expect(await harness.clock.run { harness.shipper.statistics.repeats > 2 })
        disk.faults.withLock { $0 = { name, _ in name == "fsync" ? 5 : nil } }
        for _ in 0..<5 { harness.logger.info("m") }
        #expect(await spool.sync() == false)
        #expect(harness.shipper.statistics.buffered == 35 && harness.shipper.statistics.spooled == 30)
        harness.expectConservation()
        let next = try Self.harness(StubReceiver(), disk.afterKill())
        // Some records may be delivered by then.
        let counts = next.shipper.statistics
        #expect(counts.spooled == counts.buffered && counts.buffered + counts.delivered == counts.found && counts.found >= 30)
        #expect(await next.clock.run { next.shipper.statistics.buffered == 0 })
        #expect(next.shipper.statistics.spooled == 0)
        next.expectConservation()
    }

    @Test func `losses are told to the receiver by a record`() async throws {
        let harness = try Harness { settings in
            settings.buffer.records = 10
            settings.batch.interval = .seconds(5)
            settings.batch.records = 10
        }
        let oversize = LogRecord.sample(1, .info, String(repeating: "x", count: 20 << 20))
        for _ in 0..<3 { harness.shipper.write(oversize) }
        harness.logger.info("m")
        // On a busy machine the first loss may be reported before the others, which are then reported a minute later.
        func told() -> [Int64] {
            harness.receiver.lines.joined().filter { $0.label == "RemoteLogger" }.map { report in
                guard case .int(let count)? = report.metadata?["dropped.oversize"] else { return -1 }
                #expect(report.message == "Log records were dropped: oversize \(count).")
                #expect(report.level == "warning" && report.sequence == 0)
                return count
            }
        }
        #expect(await harness.clock.run { told().reduce(0, +) == 3 })
        #expect(await harness.clock.run { harness.shipper.statistics.delivered == UInt64(told().count) + 1 })
        #expect(harness.shipper.statistics.dropped == [.oversize: 3])
        harness.expectConservation()
    }

    @Test func `two shippers share a spool, each at its own pace`() async throws {
        let disk = MemoryDisk()
        let clock = ManualLogClock()
        let spool = Spool(root: "/spool", settings: Self.settings(clock), files: disk.files)
        func shipper(_ name: String, _ receiver: StubReceiver) throws -> LogShipper {
            try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: receiver) { settings in
                settings.compression = .none
                settings.clock = clock
                settings.spool = spool
                settings.destination = name
            }
        }
        let (quick, slow) = (StubReceiver(), StubReceiver { number, _ in number < 5 ? .status(503) : .status(200) })
        let one = try shipper("one", quick)
        let two = try shipper("two", slow)
        #expect(throws: LogShipperError.self) { try shipper("one", quick) }
        #expect(throws: LogShipperError.self) { try shipper("", quick) }
        let logger = RemoteLogger(label: "test", pipeline: LogPipeline(sinks: [one, two], clock: clock))
        for number in 1...300 {
            logger.info("m", ["n": number])
            for counts in [one.statistics, two.statistics] {
                #expect(counts.emitted == counts.delivered + counts.droppedInAll + counts.buffered)
                #expect(counts.emitted == UInt64(number) && counts.found == 0)
            }
            if number % 50 == 0 { await settle() }
        }
        #expect(await clock.run { one.statistics.delivered == 300 && two.statistics.delivered == 300 })
        #expect(quick.lines.joined().map(\.sequence) == Array(1...300))
        #expect(Set(slow.lines.joined().map(\.sequence)) == Set(1...300))
        #expect(one.statistics.repeats == 0 && two.statistics.repeats >= 5)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `conservation holds while receiver and disk fail`(seed: UInt64) async throws {
        let random = Locked(SeededGenerator(seed: seed))
        let disk = MemoryDisk()
        let receiver = StubReceiver { _, _ in
            switch random.withLock({ Int.random(in: 0..<8, using: &$0) }) {
            case 0: .status(503)
            case 1: .broken
            case 2: .status(413)
            case 3: .status(400)
            default: .status(200)
            }
        }
        let harness = try Self.harness(receiver, disk) { $0.batch = BatchLimits(records: 40, interval: .milliseconds(300)) }
        for number in 0..<800 {
            harness.logger.log(LogLevel.allCases[number % 7], "m\(number)")
            if number % 10 == 0 { harness.expectConservation() }
            if number % 20 == 0 { harness.clock.advance(by: .milliseconds(300)) }
            if number % 40 == 0 { await settle() }
            if number % 100 == 0 {
                let code: Int32? = number % 200 == 0 ? 28 : nil
                disk.faults.withLock { $0 = { name, _ in ["write", "fsync"].contains(name) ? code : nil } }
            }
        }
        disk.faults.withLock { $0 = { _, _ in nil } }
        #expect(await harness.clock.run(step: .seconds(5)) { harness.shipper.statistics.buffered == 0 })
        harness.expectConservation()
        #expect(harness.shipper.statistics.emitted >= 800)
        var seen: Set<UInt64> = []
        let firsts = receiver.lines.joined().map(\.sequence).filter { $0 > 0 && seen.insert($0).inserted }
        #expect(firsts == firsts.sorted())
    }

    @Test func `a disk that hangs holds up neither who logs nor the shutdown`() async throws {
        let disk = MemoryDisk()
        let gate = DispatchSemaphore(value: 0)
        let harness = try Self.harness(StubReceiver([.hangs]), disk)
        disk.faults.withLock { faults in
            faults = { name, _ in
                if name == "fsync" { gate.wait() }
                return nil
            }
        }
        for number in 0..<2_000 { harness.logger.error("m \(number)") }
        #expect(harness.shipper.statistics.emitted == 2_000)
        harness.expectConservation()
        async let ended = harness.logger.shutdown(within: .milliseconds(200))
        let isOver = Locked(false)
        let clock = harness.clock
        let driver = Task {
            while !isOver.withLock({ $0 }) {
                clock.advance(by: .milliseconds(20))
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        #expect(await ended == false)
        isOver.withLock { $0 = true }
        _ = await driver.result
        harness.expectConservation()
        for _ in 0..<1_000 { gate.signal() }
        harness.receiver.release()
    }
}
