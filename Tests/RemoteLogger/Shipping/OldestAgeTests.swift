import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// The waiting time of the oldest record, in flight or not.
@Suite struct OldestAgeTests {
    private static func harness(_ receiver: GatedReceiver, interval: Duration, hasSpool: Bool) throws -> Harness {
        try Harness(transport: receiver) { settings in
            settings.batch = BatchLimits(records: 2, interval: interval)
            settings.timeout = .seconds(3_600)
            guard hasSpool, let clock = settings.clock as? ManualLogClock else { return }
            settings.spool = .inMemory(MemoryDisk(), clock)
        }
    }

    @Test(arguments: [false, true]) func `what is on its way still waits`(hasSpool: Bool) async throws {
        let receiver = GatedReceiver()
        let harness = try Self.harness(receiver, interval: .seconds(1), hasSpool: hasSpool)
        #expect(harness.shipper.statistics.oldestAge == nil)
        harness.logger.info("a")
        harness.logger.info("b")
        #expect(await eventually { receiver.open == [0] })
        harness.clock.advance(by: .seconds(10))
        #expect(harness.shipper.statistics.oldestAge == .seconds(10), "though all is on its way")
        harness.logger.info("c")
        harness.clock.advance(by: .seconds(10))
        #expect(harness.shipper.statistics.oldestAge == .seconds(20))
        receiver.answer(0, .status(200))
        #expect(await eventually { harness.shipper.statistics.delivered == 2 && receiver.open == [1] })
        #expect(harness.shipper.statistics.oldestAge == .seconds(10))
        receiver.answer(1, .status(200))
        #expect(await eventually { harness.shipper.statistics.delivered == 3 })
        #expect(harness.shipper.statistics.oldestAge == nil)
        await harness.shipper.shutdown(within: .zero)
    }

    @Test func `what an earlier run has left counts from the start of this one`() async throws {
        let disk = MemoryDisk()
        for run in 0..<2 {
            let receiver = GatedReceiver()
            let harness = try Harness(transport: receiver) { settings in
                guard let clock = settings.clock as? ManualLogClock else { return }
                clock.advance(by: .seconds(7_200))
                settings.spool = .inMemory(run == 0 ? disk : disk.afterKill(), clock)
            }
            if run == 1 {
                harness.clock.advance(by: .seconds(5))
                #expect(harness.shipper.statistics.oldestAge == .seconds(5))
            }
            harness.logger.error("a")
            await harness.shipper.shutdown(within: .zero)
        }
    }

    @Test(arguments: [false, true]) func `what is left behind a batch is as old as itself`(hasSpool: Bool) async throws {
        let receiver = GatedReceiver()
        let harness = try Self.harness(receiver, interval: .seconds(60), hasSpool: hasSpool)
        harness.logger.info("a")
        harness.logger.info("b")
        #expect(await eventually { receiver.open == [0] })
        for text in ["c", "d", "e"] {
            harness.clock.advance(by: .seconds(10))
            harness.logger.info("\(text)")
        }
        harness.clock.advance(by: .seconds(5))
        receiver.answer(0, .status(200))
        #expect(await eventually { harness.shipper.statistics.delivered == 2 && receiver.open == [1] })
        #expect(harness.shipper.statistics.oldestAge == .seconds(25))
        receiver.answer(1, .status(200))
        #expect(await eventually { harness.shipper.statistics.delivered == 4 })
        #expect(harness.shipper.statistics.oldestAge == .seconds(5))
        #expect(receiver.open.isEmpty, "It waits for its time, or for another one")
        await harness.shipper.shutdown(within: .zero)
    }

    @Test func `what a shipper of this run has left on the spool is as old as it is`() async throws {
        var shared: Spool?
        let first = try Harness(transport: GatedReceiver()) { settings in
            guard let clock = settings.clock as? ManualLogClock else { return }
            shared = .inMemory(MemoryDisk(), clock)
            settings.spool = shared
        }
        first.clock.advance(by: .seconds(100))
        first.logger.info("a")
        await first.shipper.shutdown(within: .zero)
        first.clock.advance(by: .seconds(10))
        let second = try Harness(transport: GatedReceiver()) { settings in
            settings.clock = first.clock
            settings.spool = shared
        }
        #expect(second.shipper.statistics.oldestAge == .seconds(10))
        await second.shipper.shutdown(within: .zero)
    }
}
