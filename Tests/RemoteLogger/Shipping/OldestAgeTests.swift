import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// How long the oldest record has waited, on its way or not.
@Suite struct OldestAgeTests {
    @Test(arguments: [false, true]) func `what is on its way still waits`(hasSpool: Bool) async throws {
        let receiver = GatedReceiver()
        let harness = try Harness(transport: receiver) { settings in
            settings.batch = BatchLimits(records: 2, interval: .seconds(1))
            settings.timeout = .seconds(3_600)
            guard hasSpool, let clock = settings.clock as? ManualLogClock else { return }
            var spool = SpoolSettings()
            spool.clock = clock
            settings.spool = Spool(root: "/spool", settings: spool, files: MemoryDisk().files)
        }
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
}
