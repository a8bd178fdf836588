import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

/// Failing disks: callers notice nothing, the limits hold, and everything recovers with the disk.
@Suite(.serialized) struct SpoolFaultTests {
    /// ENOSPC, EIO, EROFS, EMFILE, EPERM.
    static let codes: [Int32] = [28, 5, 30, 24, 1]
    /// The failing calls. If a list has several, the first one fails half of the time: a segment is truncated only if its own write or
    /// sync fails, after other calls have succeeded.
    static let calls = [
        ["open"], ["read"], ["write"], ["write", "ftruncate"], ["write", "ftruncate", "fstat"], ["fsync"], ["fsync", "ftruncate"],
        ["fsync", "ftruncate", "fstat"], ["rename"], ["unlink"], ["fsync directory"],
    ]
    /// The failing calls at the start.
    static let firstCalls = [["mkdir", "flock"], ["mkdir"], ["opendir"], ["flock"]]

    private func step(_ harness: SpoolHarness) async {
        harness.clock.advance(by: .milliseconds(600))
        _ = await harness.spool.sync()
    }

    @Test(arguments: codes, calls)
    func `a call that fails for a while loses no record, and it heals by itself`(code: Int32, calls: [String]) async throws {
        let disk = MemoryDisk()
        let met = Locked<Set<String>>([])
        let generator = Locked(SeededGenerator(seed: 1))
        let harness = try SpoolHarness(disk) { $0.diskBytes = 64 << 10 }
        var sequence: UInt64 = 0
        var delivered: [UInt64] = []
        var cursor: RecordPosition = 0
        func work(_ rounds: Int) async {
            for _ in 0..<rounds {
                for _ in 0..<10 {
                    sequence += 1
                    harness.append([.sample(sequence, .info, String(repeating: "x", count: 150))])
                }
                await step(harness)
                let batch = await harness.store.read(after: cursor, limits: BatchLimits(records: 12))
                delivered += batch.sequences
                cursor = batch.last?.position ?? cursor
                harness.store.acknowledge(through: cursor)
                let load = harness.store.load
                #expect(Int(sequence) == delivered.count + load.records, "\(calls) \(code)")
            }
        }
        await work(6)
        disk.faults.withLock {
            $0 = { name, _ in
                guard calls.contains(name) else { return nil }
                let passes = calls.count > 1 && name == calls[0] && generator.withLock { Bool.random(using: &$0) }
                if !passes { met.withLock { _ = $0.insert(name) } }
                return passes ? nil : code
            }
        }
        await work(8)
        for _ in 0..<30 where met.withLock({ $0 }) != Set(calls) { await work(1) }
        #expect(met.withLock { $0 } == Set(calls), "each was met")
        disk.faults.withLock { $0 = { _, _ in nil } }
        await work(6)
        await step(harness)
        delivered += await harness.readAll(after: cursor).sequences
        #expect(delivered == Array(1...sequence), "all, once, in order")
        #expect(harness.spool.statistics.mode == .disk)
        #expect(disk.peak <= 64 << 10)
        // The next run must find a sound state, whatever is left.
        let next = try SpoolHarness(disk.afterKill()) { $0.diskBytes = 64 << 10 }
        let again = await next.readAll().sequences
        #expect(again == again.sorted() && Set(again).count == again.count)
    }

    @Test(arguments: codes, firstCalls)
    func `a disk that fails from the beginning is used once it works`(code: Int32, calls: [String]) async throws {
        let disk = MemoryDisk()
        let met = Locked<Set<String>>([])
        disk.faults.withLock {
            $0 = { name, _ in
                guard calls.contains(name) else { return nil }
                met.withLock { _ = $0.insert(name) }
                return code
            }
        }
        let harness = try SpoolHarness(disk)
        harness.append([.sample(1), .sample(2)])
        await step(harness)
        #expect(harness.spool.statistics.mode == .memory)
        #expect(met.withLock { $0 } == [calls[0]])
        #expect(await harness.store.read(after: 0, limits: BatchLimits(records: 1)).sequences == [1], "memory delivers")
        disk.faults.withLock { $0 = { _, _ in nil } }
        #expect(await harness.clock.run { harness.spool.statistics.mode == .disk && harness.spool.statistics.memoryRecords == 0 })
        #expect(harness.store.load.records == 2 && harness.store.load.found == 0)
        harness.append([.sample(3)])
        #expect(await harness.spool.sync())
        #expect(await harness.readAll(after: 1).sequences == [2, 3])
        #expect(harness.events.withLock { $0.map(\.level) } == [.warning, .notice])
        let next = try SpoolHarness(disk.afterKill())
        #expect(await next.readAll().sequences == [1, 2, 3])
    }

    @Test(arguments: [0, 1], [["mkdir", "flock"], ["flock"], ["opendir"], ["fstat"]])
    func `what an earlier run left outlives a disk that fails while the next one begins`(added: UInt64, calls: [String]) async throws {
        let first = try SpoolHarness()
        first.append((1...30).map { .sample($0) })
        #expect(await first.spool.sync())
        let disk = first.disk.afterKill()
        let isMet = Locked(false)
        disk.faults.withLock {
            $0 = { name, _ in
                guard calls.contains(name) else { return nil }
                isMet.withLock { $0 = true }
                return 24
            }
        }
        let second = try SpoolHarness(disk)
        disk.faults.withLock { $0 = { _, _ in nil } }
        #expect(isMet.withLock { $0 } && second.spool.statistics.mode == .memory)
        #expect(await second.clock.run { second.spool.statistics.mode == .disk })
        second.append((0..<added).map { .sample(900 + $0) })
        await step(second)
        #expect(await second.readAll().sequences == (0..<added).map { 900 + $0 })
        await second.end()
        let third = try SpoolHarness(disk.afterKill())
        #expect(Set(await third.readAll().sequences).isSuperset(of: Array(1...30)))
    }

    @Test func `a cursor's segment that can't be read at the beginning comes whole, later`() async throws {
        let first = try SpoolHarness()
        first.append((1...30).map { .sample($0) })
        #expect(await first.spool.sync())
        let some = await first.store.read(after: 0, limits: BatchLimits(records: 10))
        first.store.acknowledge(through: some[9].position)
        // The next read waits for the cursor.
        _ = await first.store.read(after: some[9].position, limits: BatchLimits(records: 1))
        let disk = first.disk.afterKill()
        let isLate = Locked(false)
        let spool = Spool(root: "/spool", settings: SpoolSettings(), files: disk.files)
        disk.faults.withLock { $0 = { name, _ in name == "open" && !isLate.withLock { $0 } ? 24 : nil } }
        let store = try #require(spool.store(for: "default", minimumLevel: .trace))
        isLate.withLock { $0 = true }
        #expect(store.load.records == 30)
        _ = await spool.sync()
        #expect(await store.read(after: 0, limits: BatchLimits()).sequences == Array(1...30))
        #expect(store.load.records == 30)
        _ = store.close()
    }

    @Test func `while the disk fails memory keeps its bound, the lowest level goes first`() async throws {
        let unit = LogRecord.sample(1).footprint
        let disk = MemoryDisk()
        let harness = try SpoolHarness(disk) { $0.memory = BufferLimits(records: 50, bytes: unit * 30) }
        harness.append([.sample(1000)])
        #expect(await harness.spool.sync())
        disk.faults.withLock { $0 = { name, _ in name == "fsync" ? 5 : nil } }
        for number in 1...90 as ClosedRange<UInt64> {
            harness.append([.sample(number, number % 3 == 0 ? .error : .debug)])
            if number % 10 == 0 { await step(harness) }
            #expect(harness.spool.statistics.memoryBytes <= unit * 30)
        }
        let losses = harness.takeLosses()
        #expect(losses.map(\.reason) == [.overflow])
        #expect(losses.first?.count == 60)
        #expect(harness.store.load.records == 31)
        disk.faults.withLock { $0 = { _, _ in nil } }
        #expect(await harness.clock.run { harness.spool.statistics.mode == .disk && harness.spool.statistics.memoryRecords == 0 })
        let read = await harness.readAll().sequences
        #expect(read == [1000] + stride(from: 3, through: 90, by: 3))
    }

    /// Records arrive during a write: the disk's thread adds them itself in the middle of its sync.
    @Test(arguments: [nil, 5] as [Int32?])
    func `what is being written is dropped before what matters more`(code: Int32?) async throws {
        let disk = MemoryDisk()
        let harness = try SpoolHarness(disk) { $0.memory = BufferLimits(records: 10) }
        harness.append([.sample(1000)])
        #expect(await harness.spool.sync())
        let isFirst = Locked(true)
        disk.faults.withLock { faults in
            faults = { name, _ in
                guard name == "fsync",
                    isFirst.withLock({ isFirst in
                        defer { isFirst = false }; return isFirst
                    })
                else { return nil }
                harness.append((11...14).map { .sample($0, .error) })
                return code
            }
        }
        harness.append((1...10).map { .sample($0, $0 % 2 == 0 ? .info : .debug) })
        _ = await harness.spool.sync()
        #expect(!isFirst.withLock { $0 })
        #expect(harness.store.load.records == 11, "who has appended what takes the place of the others was told")
        harness.clock.advance(by: .seconds(1))
        #expect(await harness.spool.sync())
        let losses = harness.takeLosses()
        #expect(losses.map(\.count) == [4] && losses.map(\.reason) == [.overflow])
        // The oldest four of the five records of the lowest level were dropped, on disk or in memory.
        #expect(await harness.readAll().sequences == [1000, 2, 4, 6, 8, 9, 10, 11, 12, 13, 14])
        harness.store.acknowledge(through: 15)
        #expect(harness.store.load.records == 0)
        disk.faults.withLock { $0 = { _, _ in nil } }
    }

    @Test func `closing while the disk fails says what is lost`() async throws {
        let harness = try SpoolHarness()
        harness.append([.sample(1)])
        #expect(await harness.spool.sync())
        harness.disk.faults.withLock { $0 = { name, _ in name == "write" ? 28 : nil } }
        harness.append([.sample(2), .sample(3)])
        await step(harness)
        #expect(harness.store.close() == 2)
        #expect(harness.store.load.records == 1)
    }

    @Test func `bytes that the medium can't read are damage, the rest is read`() async throws {
        let harness = try SpoolHarness()
        harness.append((1...100).map { .sample($0, .info, String(repeating: "x", count: 300)) })
        #expect(await harness.spool.sync())
        let disk = harness.disk.afterKill()
        disk.unreadable.withLock { $0 = 8_192..<12_288 }
        let next = try SpoolHarness(disk)
        let early = await next.readAll()
        #expect(early.isEmpty, "it may be readable later")
        next.clock.advance(by: .seconds(11))
        let found = await next.readAll().sequences
        #expect(found.count >= 80 && found.count < 100)
        #expect(found == found.sorted() && next.store.load.unread == 0)
    }
}
