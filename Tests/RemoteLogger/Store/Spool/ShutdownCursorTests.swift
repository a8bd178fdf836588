import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// After a shutdown that has delivered everything, the next run delivers nothing again.
@Suite struct ShutdownCursorTests {
    private static func shipper(_ disk: MemoryDisk, _ clock: ManualLogClock, _ receiver: StubReceiver) throws -> LogShipper {
        var settings = SpoolSettings()
        settings.clock = clock
        let spool = Spool(root: "/spool", settings: settings, files: disk.files)
        return try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: receiver) { settings in
            settings.compression = .none
            settings.clock = clock
            settings.spool = spool
        }
    }

    @Test(arguments: 0..<10) func `the cursor is on disk when a shutdown has returned`(number: Int) async throws {
        let disk = MemoryDisk()
        let clock = ManualLogClock()
        let receiver = StubReceiver()
        let shipper = try Self.shipper(disk, clock, receiver)
        // A disk that is slow after the first writes.
        let isSlow = Locked(false)
        disk.faults.withLock { faults in
            faults = { call, _ in
                if call == "write", isSlow.withLock({ $0 }) { usleep(20_000) }
                return nil
            }
        }
        for sequence in 1...20 as ClosedRange<UInt64> { shipper.write(.sample(sequence, .error)) }
        #expect(await eventually { !disk.segments.isEmpty })
        isSlow.withLock { $0 = true }
        #expect(await shipper.shutdown(within: .seconds(300)))
        let next = try Self.shipper(disk.afterKill(), ManualLogClock(), StubReceiver())
        #expect(next.statistics.found == 0, "delivered, and not again")
    }

    @Test func `a disk that hangs doesn't hold up the shutdown beyond its time`() async throws {
        let disk = MemoryDisk()
        let clock = ManualLogClock()
        let shipper = try Self.shipper(disk, clock, StubReceiver())
        let gate = DispatchSemaphore(value: 0)
        let hangs = Locked(false)
        disk.faults.withLock { faults in
            faults = { call, _ in
                if call == "write", hangs.withLock({ $0 }) { gate.wait() }
                return nil
            }
        }
        hangs.withLock { $0 = true }
        shipper.write(.sample(1, .error))
        let isOver = Locked(false)
        let task = Task {
            let result = await shipper.shutdown(within: .seconds(3))
            isOver.withLock { $0 = true }
            return result
        }
        #expect(await clock.run { isOver.withLock { $0 } })
        hangs.withLock { $0 = false }
        for _ in 0..<100 { gate.signal() }
        _ = await task.value
    }
}
