import Foundation
import TestSupport
import Testing
import WebServiceClient

@testable import RemoteLogger

/// Segments that keep only the records of a rare level are merged into few segments.
@Suite struct SpoolThinningTests {
    private static let bound = 64 << 10
    /// By default only some calls are tested; each requires a separate run.
    private static let takesAll = ProcessInfo.processInfo.environment["CRASH_RUNS"] != nil

    /// Logs rounds of twenty records, two of them errors, to a spool that is full after ten rounds.
    ///
    /// - Returns: The errors that were synced.
    private static func run(_ harness: SpoolHarness, rounds: Int, from start: Int = 0) async -> Set<UInt64> {
        var synced: Set<UInt64> = []
        let text = String(repeating: "x", count: 250)
        for round in start..<start + rounds where !harness.disk.isDead {
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
        let errors = await Self.run(harness, rounds: 200)
        #expect(errors.count == 400)
        // Two consecutive segments together exceed half a segment.
        #expect(harness.disk.segments.count <= 64, "\(harness.disk.segments.count)")
        #expect(harness.spool.statistics.segments == harness.disk.segments.count)
        #expect(harness.disk.peak <= Self.bound, "\(harness.disk.peak)")
        let lost = harness.takeLosses().reduce(0) { $0 + $1.count }
        let held = harness.store.load.records
        #expect(held + lost == 4_000)
        let next = try SpoolHarness(harness.disk.afterKill())
        #expect(next.store.load.records == held)
        let (read, found) = (await harness.readAll(), await next.readAll())
        #expect(read.sequences == found.sequences && read.count == held && read.sequences == read.sequences.sorted())
        // Within a level the oldest records are dropped.
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

    /// Checks that all synced errors are there, once and in order, whatever the progress; others are allowed.
    private static func check(_ disk: MemoryDisk, _ errors: Set<UInt64>, _ note: String) async throws {
        let next = try Self.harness(disk)
        let held = next.store.load.records
        let read = await next.readAll().sequences
        #expect(read == read.sorted() && Set(read).count == read.count && read.count == held, "\(note): held \(held), read \(read.count)")
        #expect(errors.isSubset(of: read), "\(note): lost \(errors.subtracting(read).sorted())")
    }

    /// The next process continues in the full spool: its accounts are exact, the limit holds, and found records come before its own.
    private static func goOn(_ disk: MemoryDisk, _ note: String) async throws {
        let next = try Self.harness(disk)
        let found = next.store.load.records
        _ = await Self.run(next, rounds: 60)
        #expect(next.disk.peak <= Self.bound, "\(note): \(next.disk.peak)")
        let lost = next.takeLosses().reduce(0) { $0 + $1.count }
        let held = next.store.load.records
        let read = await next.readAll()
        let accounts = "\(found) found, \(lost) lost, \(held) held, \(read.count) read"
        #expect(found + 1_200 == lost + held && held == read.count, "\(note): \(accounts)")
        #expect(zip(read, read.dropFirst()).allSatisfy { $0.position < $1.position }, "\(note)")
        next.store.acknowledge(through: read.last?.position ?? 0)
        #expect(next.store.load.records == 0, "\(note)")
    }

    @Test func `killed or without power at any call, no error is lost, nor there twice`() async throws {
        let whole = MemoryDisk()
        let all = await Self.run(try Self.harness(whole), rounds: 40)
        #expect(all.count == 80 && whole.segments.count < 30)
        var generator = SeededGenerator(seed: 9)
        for call in stride(from: 60, through: whole.calls, by: Self.takesAll ? 1 : 131) {
            let disk = MemoryDisk(dyingAt: call)
            let errors = await Self.run(try Self.harness(disk), rounds: 40)
            let (killed, cut) = (disk.afterKill(), disk.afterPowerFailure(using: &generator))
            try await Self.check(killed.afterKill(), errors, "killed at \(call)")
            try await Self.check(cut.afterKill(), errors, "without power at \(call)")
            try await Self.goOn(killed, "killed at \(call)")
            try await Self.goOn(cut, "without power at \(call)")
        }
    }

    @Test func `each destination's records, filters and reports come along`() async throws {
        let harness = try Self.harness()
        let odd = try #require(harness.spool.store(for: "odd", minimumLevel: .info) { $0.sequence % 2 == 1 })
        let tens = try #require(harness.spool.store(for: "tens", minimumLevel: .error, includes: nil))
        var losses = [0, 0]
        for round in 0..<150 {
            _ = await Self.run(harness, rounds: 1, from: round)
            losses[0] += odd.takeLosses().reduce(0) { $0 + $1.count }
            losses[1] += tens.takeLosses().reduce(0) { $0 + $1.count }
        }
        #expect(harness.disk.segments.count <= 64 && harness.disk.peak <= Self.bound)
        for (index, (store, expected)) in [(odd, 1_500), (tens, 300)].enumerated() {
            let held = store.load.records
            var read: [UInt64] = []
            var cursor = RecordPosition(0)
            while case let batch = await store.read(after: cursor, limits: BatchLimits()), let last = batch.last {
                read += batch.sequences
                cursor = last.position
            }
            #expect(read.count == held && held + losses[index] == expected, "\(index): \(read.count) of \(held), \(losses[index]) lost")
            #expect(read == read.sorted() && read.allSatisfy { index == 0 ? $0 % 2 == 1 : $0 % 10 == 0 })
        }
    }

    @Test func `what is on its way stays, and who removes files doesn't stop it`() async throws {
        let harness = try Self.harness()
        _ = await Self.run(harness, rounds: 12)
        let batch = await harness.store.read(after: 0, limits: BatchLimits(records: 30))
        #expect(batch.count == 30)
        _ = await Self.run(harness, rounds: 60, from: 12)
        #expect(await harness.store.read(after: 0, limits: BatchLimits(records: 30)).sequences == batch.sequences)
        // Deletes every second file.
        for (index, path) in harness.disk.segments.enumerated() where index % 2 == 0 { harness.disk[path] = nil }
        _ = await Self.run(harness, rounds: 60, from: 72)
        let read = await harness.readAll(after: batch.last?.position ?? 0)
        let lost = harness.takeLosses().reduce(0) { $0 + $1.count }
        #expect(read.count + lost + 30 == 132 * 20 && harness.disk.peak <= Self.bound)
    }

    /// Returns the number of calls in a run without faults, most of them in a full spool.
    private static func count(of name: String) async throws -> Int {
        let (disk, count) = (MemoryDisk(), Locked(0))
        disk.faults.withLock {
            $0 = { call, _ in
                if call == name { count.withLock { $0 += 1 } }
                return nil
            }
        }
        _ = await run(try harness(disk), rounds: 40)
        return count.withLock { $0 }
    }

    /// EIO and ENOSPC in each call that thinning makes, three times in a row.
    @Test(arguments: ["write", "fsync", "unlink", "rename", "open"], [5, 28] as [Int32])
    func `a call that fails costs nothing`(name: String, code: Int32) async throws {
        let count = try await Self.count(of: name)
        try #require(count > 6)
        for number in stride(from: count / 3, to: count - 3, by: Self.takesAll ? 3 : max(1, count / 3)) {
            let (disk, made, failed) = (MemoryDisk(), Locked(0), Locked(0))
            disk.faults.withLock {
                $0 = { call, _ in
                    guard call == name else { return nil }
                    let at = made.withLock { made in
                        defer { made += 1 }
                        return made
                    }
                    guard (number..<number + 3).contains(at) else { return nil }
                    failed.withLock { $0 += 1 }
                    return code
                }
            }
            let harness = try Self.harness(disk)
            _ = await Self.run(harness, rounds: 40)
            disk.faults.withLock { $0 = { _, _ in nil } }
            #expect(failed.withLock { $0 } > 0, "\(name) \(number)")
            #expect(await harness.clock.run { harness.spool.statistics.mode == .disk })
            #expect(await harness.spool.sync())
            let read = await harness.readAll().sequences
            let lost = harness.takeLosses().reduce(0) { $0 + $1.count }
            #expect(read == read.sorted() && read.count + lost == 800, "\(name) \(number)")
            #expect(Set(read).isSuperset(of: (1...80).map { $0 * 10 }), "\(name) \(number)")
            #expect(disk.peak <= Self.bound, "\(name) \(number): \(disk.peak)")
            // Records reported as lost don't come back.
            _ = await Self.run(harness, rounds: 20, from: 40)
            let held = await harness.readAll().sequences
            await harness.end()
            let found = await (try Self.harness(disk.afterKill())).readAll().sequences
            #expect(Set(found).isSubset(of: held) && found.count == Set(found).count, "\(name) \(number)")
        }
    }
}
