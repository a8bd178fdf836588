import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// A shutdown observes its time limit, whatever the disk does.
@Suite struct ShutdownTimeTests {
    @Test(arguments: [0, 10, 100, 5_000]) func `a blocked sync doesn't prolong it by construction`(milliseconds: Int) async throws {
        let disk = MemoryDisk()
        let (gate, hangs) = (DispatchSemaphore(value: 0), Locked(false))
        disk.faults.withLock { faults in
            faults = { call, _ in
                if call == "fsync", hangs.withLock({ $0 }) { gate.wait() }
                return nil
            }
        }
        let harness = try Harness(StubReceiver([.hangs])) { settings in
            guard let clock = settings.clock as? ManualLogClock else { return }
            var spool = SpoolSettings()
            spool.clock = clock
            // Only the shutdown may wait for a time.
            spool.syncInterval = .seconds(3_600)
            spool.retryInterval = .seconds(3_600)
            settings.spool = Spool(root: "/spool", settings: spool, files: disk.files)
            settings.batch.interval = .seconds(3_600)
        }
        hangs.withLock { $0 = true }
        for number in 0..<10 { harness.logger.error("m\(number)") }
        let clock = harness.clock
        let start = clock.uptime
        let limit = Duration.milliseconds(milliseconds)
        let isOver = Locked(false)
        let shutdown = Task {
            let isDelivered = await harness.logger.shutdown(within: limit)
            isOver.withLock { $0 = true }
            return isDelivered
        }
        // The clock advances only while a task waits for it: the result is the sum of the waits.
        while !isOver.withLock({ $0 }) {
            try #require(await eventually { isOver.withLock { $0 } || clock.nextWake ?? .seconds(3_600) <= .milliseconds(6_000) })
            if let next = clock.nextWake, next <= .milliseconds(6_000), !isOver.withLock({ $0 }) { clock.advance(by: next) }
        }
        #expect(await shutdown.value == false)
        #expect(Duration.nanoseconds(clock.uptime - start) <= limit + .milliseconds(25))
        harness.expectConservation()
        hangs.withLock { $0 = false }
        for _ in 0..<1_000 { gate.signal() }
        harness.receiver.release()
    }

    @Test func `what is left gets its time on the disk even where the receiver takes all of it`() async throws {
        let disk = MemoryDisk()
        let harness = try Harness(StubReceiver([.hangs])) { settings in
            guard let clock = settings.clock as? ManualLogClock else { return }
            var spool = SpoolSettings()
            spool.clock = clock
            spool.syncInterval = .seconds(3_600)
            settings.spool = Spool(root: "/spool", settings: spool, files: disk.files)
            settings.batch.interval = .seconds(3_600)
        }
        for number in 0..<10 { harness.logger.info("m\(number)") }
        let isOver = Locked(false)
        let clock = harness.clock
        let shutdown = Task {
            let isDelivered = await harness.logger.shutdown(within: .milliseconds(100))
            isOver.withLock { $0 = true }
            return isDelivered
        }
        // Half of the time; the rest is reserved for the disk, which needs no time here.
        try #require(await eventually { clock.nextWake == .milliseconds(50) })
        clock.advance(by: .milliseconds(50))
        #expect(await eventually { isOver.withLock { $0 } })
        #expect(await shutdown.value == false)
        let next = Spool.inMemory(disk.afterKill(), ManualLogClock())
        let store = try #require(next.store(for: "default", minimumLevel: .trace))
        #expect(store.load.found == 10)
        harness.receiver.release()
    }
}
