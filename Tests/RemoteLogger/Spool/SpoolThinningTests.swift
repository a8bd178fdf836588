import Foundation
import TestSupport
import Testing
import WebServiceClient

@testable import RemoteLogger

/// Of segments that lose all but a rare level little is left: it becomes few segments.
@Suite(.serialized) struct SpoolThinningTests {
    private static let bound = 64 << 10
    /// Every so manieth call only, unless all are asked for: each is a run of its own.
    private static let step = ProcessInfo.processInfo.environment["CRASH_RUNS"] == nil ? 11 : 1

    /// Logs rounds of twenty records, of which two are errors, into a spool that is full after ten of them.
    ///
    /// - Returns: the errors that were synced.
    private static func run(_ harness: SpoolHarness, rounds: Int) async -> Set<UInt64> {
        var synced: Set<UInt64> = []
        let text = String(repeating: "x", count: 250)
        for round in 0..<rounds where !harness.disk.isDead {
            let first = UInt64(round * 20 + 1)
            harness.append((first..<first + 20).map { .sample($0, $0 % 10 == 0 ? .error : .info, text) })
            if await harness.spool.sync() { synced.formUnion([first + 9, first + 19]) }
        }
        return synced
    }

    private static func harness(_ disk: MemoryDisk = MemoryDisk()) throws -> SpoolHarness {
        try SpoolHarness(disk) { $0.diskBytes = bound }
    }

    @Test func `a full spool has few segments, whatever is left of each`() async throws {
        let harness = try Self.harness()
        let errors = await Self.run(harness, rounds: 400)
        #expect(errors.count == 800)
        #expect(harness.disk.segments.count <= 36, "\(harness.disk.segments.count)")
        #expect(harness.spool.statistics.segments == harness.disk.segments.count)
        #expect(harness.disk.peak <= Self.bound, "\(harness.disk.peak)")
        let lost = harness.takeLosses().reduce(0) { $0 + $1.count }
        let held = harness.store.load.records
        #expect(held + lost == 8_000)
        let next = try SpoolHarness(harness.disk.afterKill())
        #expect(next.store.load.records == held)
        let (read, found) = (await harness.readAll(), await next.readAll())
        #expect(read.sequences == found.sequences && read.count == held && read.sequences == read.sequences.sorted())
        // Of one level the oldest go.
        let left = read.filter { $0.record.level == .error }.map(\.record.sequence)
        #expect(left.count > 100 && left == errors.sorted().suffix(left.count))
    }

    @Test func `a reader goes on where it was while segments become one`() async throws {
        let harness = try Self.harness()
        var (cursor, read) = (RecordPosition(0), [UInt64]())
        let text = String(repeating: "x", count: 250)
        for round in 0..<60 {
            let first = UInt64(round * 20 + 1)
            harness.append((first..<first + 20).map { .sample($0, $0 % 10 == 0 ? .error : .info, text) })
            #expect(await harness.spool.sync())
            let batch = await harness.store.read(after: cursor, limits: BatchLimits(records: 1))
            harness.store.acknowledge(through: batch.last?.position ?? 0)
            cursor = batch.last?.position ?? cursor
            read += batch.sequences
        }
        read += await harness.readAll(after: cursor).sequences
        let lost = harness.takeLosses().reduce(0) { $0 + $1.count }
        #expect(read == read.sorted() && Set(read).count == read.count && read.count + lost == 1_200)
        #expect(Set(read).isSuperset(of: (1...120).map { $0 * 10 }), "no error is lost")
    }

    /// The errors that were synced are there, each once, in order, however far it was; others may be.
    private static func check(_ disk: MemoryDisk, _ errors: Set<UInt64>, _ note: String) async throws {
        let next = try Self.harness(disk)
        let held = next.store.load.records
        let read = await next.readAll().sequences
        #expect(read == read.sorted() && Set(read).count == read.count && read.count == held, "\(note): held \(held), read \(read.count)")
        #expect(errors.isSubset(of: read), "\(note): lost \(errors.subtracting(read).sorted())")
        _ = await Self.run(next, rounds: 5)
        #expect(next.disk.peak <= Self.bound, "\(note)")
    }

    @Test func `killed or without power at any call, no error is lost, nor there twice`() async throws {
        let whole = MemoryDisk()
        let all = await Self.run(try Self.harness(whole), rounds: 40)
        #expect(all.count == 80 && whole.segments.count < 30)
        var generator = SeededGenerator(seed: 9)
        for call in stride(from: 60, through: whole.calls, by: Self.step) {
            let disk = MemoryDisk(dyingAt: call)
            let errors = await Self.run(try Self.harness(disk), rounds: 40)
            try await Self.check(disk.afterKill(), errors, "killed at \(call)")
            try await Self.check(disk.afterPowerFailure(using: &generator), errors, "without power at \(call)")
        }
    }

    /// EIO, ENOSPC: of each call that thinning makes, at each of its times.
    @Test(arguments: ["write", "fsync", "unlink", "rename", "ftruncate", "open"], [5, 28] as [Int32])
    func `a call that fails costs nothing`(name: String, code: Int32) async throws {
        for number in stride(from: 70, to: 260, by: 31) {
            let disk = MemoryDisk()
            disk.faults.withLock { $0 = { call, at in call == name && (number..<number + 9).contains(at) ? code : nil } }
            let harness = try Self.harness(disk)
            _ = await Self.run(harness, rounds: 40)
            disk.faults.withLock { $0 = { _, _ in nil } }
            #expect(await harness.clock.run { harness.spool.statistics.mode == .disk })
            #expect(await harness.spool.sync())
            let read = await harness.readAll().sequences
            let lost = harness.takeLosses().reduce(0) { $0 + $1.count }
            #expect(read == read.sorted() && read.count + lost == 800, "\(name) \(number)")
            #expect(Set(read).isSuperset(of: (1...80).map { $0 * 10 }), "\(name) \(number)")
            #expect(disk.peak <= Self.bound, "\(name) \(number): \(disk.peak)")
        }
    }
}
