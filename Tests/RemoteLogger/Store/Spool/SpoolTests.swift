import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

@Suite struct SpoolTests {
    private static func samples(_ range: ClosedRange<UInt64>, _ level: LogLevel = .info, bytes: Int = 5) -> [LogRecord] {
        range.map { .sample($0, level, String(repeating: "x", count: bytes)) }
    }

    @Test func `hands out what it took, in order, from memory and from disk`() async throws {
        let harness = try SpoolHarness()
        var generator = SeededGenerator(seed: 7)
        let records = (1...300).map { LogRecord.random($0, using: &generator) }
        harness.append(Array(records[..<100]))
        #expect(await harness.spool.sync())
        harness.append(Array(records[100..<200]))
        #expect(await harness.spool.sync())
        harness.append(Array(records[200...]))
        #expect(harness.store.load.records == 300 && harness.store.load.unread == 300)
        let read = await harness.readAll(batch: BatchLimits(records: 37))
        #expect(read.map { bytes(of: $0.record) } == records.map(bytes))
        #expect(read.map(\.record.uptime) == records.map(\.uptime))
        #expect(harness.store.load.unread == 0 && harness.store.load.records == 300)
        harness.store.acknowledge(through: read[249].position)
        #expect(harness.store.load.records == 50)
        #expect(harness.store.load.first == read[250].position)
    }

    @Test func `what is synced is there after the process was killed, from the last acknowledgement on`() async throws {
        let first = try SpoolHarness()
        first.append(Self.samples(1...50))
        #expect(await first.spool.sync())
        let batch = await first.store.read(after: 0, limits: BatchLimits(records: 20))
        first.store.acknowledge(through: batch[19].position)
        // The next read waits for the cursor.
        _ = await first.store.read(after: batch[19].position, limits: BatchLimits(records: 1))
        let second = try SpoolHarness(first.disk.afterKill())
        #expect(second.store.load.records == 30)
        #expect(second.store.load.found == 30)
        second.append(Self.samples(51...60))
        #expect(await second.readAll().sequences == Array(21...60))
    }

    @Test func `segments are deleted when all of it is acknowledged, and only then`() async throws {
        let harness = try SpoolHarness { $0.diskBytes = 256 << 10 }
        for start in stride(from: UInt64(1), to: 400, by: 20) {
            harness.append(Self.samples(start...start + 19, bytes: 200))
            #expect(await harness.spool.sync())
        }
        let count = harness.disk.segments.count
        #expect(count > 5)
        let read = await harness.readAll()
        #expect(read.sequences == Array(1...400))
        #expect(await harness.spool.sync())
        #expect(harness.disk.segments.count == count, "nothing was acknowledged")
        harness.store.acknowledge(through: read[199].position)
        #expect(await harness.spool.sync())
        #expect(harness.disk.segments.count < count)
        harness.store.acknowledge(through: read[399].position)
        #expect(await harness.spool.sync())
        #expect(harness.disk.segments.count <= 1)
        #expect(harness.store.load.records == 0 && harness.store.load.first == nil)
    }

    // MARK: Syncing

    @Test func `records wait 200 ms, or for 64 KiB, errors not at all`() async throws {
        let harness = try SpoolHarness()
        await settle()
        let syncs = Locked(0)
        harness.disk.faults.withLock { faults in
            faults = { call, _ in
                if call == "fsync" { syncs.withLock { $0 += 1 } }
                return nil
            }
        }
        harness.append(Self.samples(1...1))
        #expect(await eventually { harness.clock.nextWake == .milliseconds(200) })
        #expect(harness.disk.segments.isEmpty)
        harness.clock.advance(by: .milliseconds(200))
        #expect(await eventually { harness.spool.statistics.memoryRecords == 0 })
        #expect(harness.disk.segments.count == 1)
        harness.append(Self.samples(2...2, .error))
        #expect(await eventually { harness.spool.statistics.memoryRecords == 0 })
        harness.append(Self.samples(3...6, bytes: 20_000))
        #expect(await eventually { harness.spool.statistics.memoryRecords == 0 })
        harness.append(Self.samples(7...7))
        await settle()
        #expect(harness.spool.statistics.memoryRecords == 1)
        #expect(syncs.withLock { $0 } >= 3)
    }

    // MARK: Several destinations

    @Test func `a second process on the directory gets its own`() async throws {
        let disk = MemoryDisk()
        let first = try SpoolHarness(disk)
        let second = try SpoolHarness(disk)
        first.append(Self.samples(1...3))
        second.append(Self.samples(4...6))
        _ = await (first.spool.sync(), second.spool.sync())
        #expect(first.spool.statistics.directory == "/spool/0")
        #expect(second.spool.statistics.directory == "/spool/1")
        #expect(await first.readAll().sequences == [1, 2, 3])
        #expect(await second.readAll().sequences == [4, 5, 6])
    }

    @Test func `destinations share the records, each with its level and its cursor`() async throws {
        let harness = try SpoolHarness { $0.diskBytes = 64 << 10 }
        let errors = try #require(harness.spool.store(for: "errors only/é", minimumLevel: .error))
        #expect(harness.spool.store(for: "default", minimumLevel: .trace) == nil, "it is in use")
        for number in 1...60 as ClosedRange<UInt64> {
            let record = LogRecord.sample(number, number % 10 == 0 ? .error : .info, String(repeating: "x", count: 100))
            _ = harness.store.append(record, now: 0)
            #expect(harness.store.load.found == 0)
            if record.level >= .error { _ = errors.append(record, now: 0) }
            #expect(errors.load.found == 0 && errors.load.records == Int(number / 10))
            if number % 7 == 0 { #expect(await harness.spool.sync()) }
        }
        let all = await harness.readAll()
        #expect(all.sequences == Array(1...60))
        harness.store.acknowledge(through: all[59].position)
        #expect(await harness.spool.sync())
        #expect(errors.load.records == 6, "the other one needs them still")
        let some = await errors.read(after: 0, limits: BatchLimits())
        #expect(some.sequences == [10, 20, 30, 40, 50, 60])
        errors.acknowledge(through: some[2].position)
        _ = await errors.read(after: some[5].position, limits: BatchLimits())
        let next = try SpoolHarness(harness.disk.afterKill()) { $0.diskBytes = 64 << 10 }
        #expect(next.store.load.records == 0)
        let errorsAgain = try #require(next.spool.store(for: "errors only/é", minimumLevel: .error))
        #expect(await errorsAgain.read(after: 0, limits: BatchLimits()).sequences == [40, 50, 60])
    }

    @Test func `a destination that begins again goes on behind what it had acknowledged`() async throws {
        let harness = try SpoolHarness()
        harness.append(Self.samples(1...20))
        #expect(await harness.spool.sync())
        harness.append(Self.samples(21...30))
        let batch = await harness.store.read(after: 0, limits: BatchLimits(records: 7))
        harness.store.acknowledge(through: batch[4].position)
        #expect(harness.store.close() == 0)
        let again = try #require(harness.spool.store(for: "default", minimumLevel: .trace))
        #expect(again.load.records == 25 && again.load.unread == 25 && again.load.found == 25)
        #expect(await again.read(after: 0, limits: BatchLimits()).sequences == Array(6...30))
    }

    // MARK: Other versions and foreign files

    @Test func `a cursor of a newer version makes it use another directory`() async throws {
        let disk = MemoryDisk()
        do {
            let harness = try SpoolHarness(disk)
            harness.append(Self.samples(1...1))
            #expect(await harness.spool.sync())
        }
        let after = disk.afterKill()
        var slot = try #require(after["/spool/0/default.cursor"])
        slot[4] = 9
        let checksum = CRC32C.checksum(of: slot[..<28])
        for index in 0..<4 { slot[28 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
        after["/spool/0/default.cursor"] = slot
        let harness = try SpoolHarness(after)
        #expect(harness.spool.statistics.directory == "/spool/1")
        #expect(after["/spool/0/default.cursor"] == slot)
    }

    @Test func `a damaged cursor costs duplicates only`() async throws {
        let harness = try SpoolHarness()
        harness.append(Self.samples(1...9))
        #expect(await harness.spool.sync())
        let read = await harness.readAll()
        harness.store.acknowledge(through: read[4].position)
        _ = await harness.store.read(after: read[8].position, limits: BatchLimits())
        let path = "/spool/0/default.cursor"
        let whole = try #require(harness.disk[path])
        for index in whole.indices {
            let disk = harness.disk.afterKill()
            var bytes = whole
            bytes[index] ^= 0x10
            disk[path] = bytes
            let next = try SpoolHarness(disk)
            let left = await next.readAll().sequences
            #expect(left == [6, 7, 8, 9] || left == Array(1...9))
        }
    }
}
