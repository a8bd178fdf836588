import Foundation
import TestSupport
import Testing
import WebServiceClient

@testable import RemoteLogger

/// The limits are exact, and the least important records are dropped first.
@Suite(.serialized) struct SpoolBoundsTests {
    @Test func `when the disk is full the lowest level goes first, then the oldest`() async throws {
        let bound = 64 << 10
        let harness = try SpoolHarness { $0.diskBytes = bound }
        let text = String(repeating: "x", count: 200)
        var sequence: UInt64 = 0
        func append(_ level: LogLevel, _ count: Int) async {
            for _ in 0..<count {
                sequence += 1
                harness.append([.sample(sequence, level, text)])
                if sequence % 10 == 0 { _ = await harness.spool.sync() }
            }
            _ = await harness.spool.sync()
        }
        await append(.info, 60)
        await append(.debug, 60)
        await append(.error, 60)
        let full = await Self.held(in: harness)
        #expect(full.keys.contains(.info) == true && full[.error]?.count == 60)
        await append(.error, 100)
        let later = await Self.held(in: harness)
        #expect(later[.debug] == nil, "debug goes before info")
        #expect(later[.error]?.count == 160, "errors stay while there is less")
        if let infos = later[.info] { #expect(infos.last == 60, "of one level the oldest go: \(infos)") }
        await append(.trace, 30)
        #expect(await Self.held(in: harness)[.error]?.count == 160)
        await append(.error, 400)
        let errors = await Self.held(in: harness)
        #expect(Set(errors.keys) == [.error])
        #expect(errors[.error]?.last == sequence)
        #expect(errors[.error] == errors[.error]?.sorted())
        #expect(harness.disk.peak <= bound, "\(harness.disk.peak)")
        let lost = harness.takeLosses().reduce(0) { $0 + $1.count }
        #expect(lost + (errors[.error]?.count ?? 0) == Int(sequence))
        #expect(harness.store.load.records == errors[.error]?.count)
    }

    /// Returns the held records by level, as the next process finds them.
    private static func held(in harness: SpoolHarness) async -> [LogLevel: [UInt64]] {
        guard let next = try? SpoolHarness(harness.disk.afterKill()) else { return [:] }
        return Dictionary(grouping: await next.readAll(), by: \.record.level).mapValues { $0.map(\.record.sequence) }
    }

    @Test func `a record that is too large is dropped alone`() async throws {
        let harness = try SpoolHarness { $0.diskBytes = 64 << 10 }
        harness.append([.sample(1), .sample(2, .critical, String(repeating: "x", count: 5_000)), .sample(3)])
        harness.append([.sample(4, .critical, String(repeating: "x", count: 5 << 20))])
        #expect(await harness.spool.sync())
        #expect(await harness.readAll().sequences == [1, 3])
        let losses = harness.takeLosses()
        #expect(losses.map(\.count) == [2] && losses.map(\.first) == [2] && losses.map(\.reason) == [.oversize])
    }

    @Test func `what is on its way isn't dropped`() async throws {
        let harness = try SpoolHarness { $0.diskBytes = 64 << 10 }
        let text = String(repeating: "x", count: 300)
        harness.append((1...40).map { .sample($0, .trace, text) })
        #expect(await harness.spool.sync())
        let batch = await harness.store.read(after: 0, limits: BatchLimits(records: 20))
        for start in stride(from: UInt64(100), to: 1_000, by: 10) {
            harness.append((start..<start + 10).map { .sample($0, .critical, text) })
            _ = await harness.spool.sync()
        }
        #expect(await harness.store.read(after: 0, limits: BatchLimits(records: 20)).sequences == Array(1...20))
        let rest = await harness.readAll(after: batch.last?.position ?? 0)
        #expect(rest.allSatisfy { $0.record.level == .critical })
        let lost = harness.takeLosses().reduce(0) { $0 + $1.count }
        #expect(20 + rest.count + lost == 40 + 900)
        #expect(harness.disk.peak <= 64 << 10)
    }

    @Test func `room that is made by deleting the segment being written lets the caller open another one`() async throws {
        let harness = try SpoolHarness { $0.diskBytes = 64 << 10 }
        // More than half of a segment, so that the active segment is deleted when its records are acknowledged.
        harness.append((1...8).map { .sample($0, .error, String(repeating: "x", count: 300)) })
        #expect(await harness.spool.sync())
        let core = harness.spool.core
        let length = core.state.withLock { $0.segments.last?.length ?? 0 }
        #expect(length > core.settings.segmentBytes / 2)
        let last = try #require(await harness.readAll().last)
        core.state.withLock { $0.acknowledge(through: last.position, by: "default") }
        let (hasRoom, active) = try core.writer.withLock { writer in
            var items = ArraySlice<RecordBuffer.Item>()
            let need = core.settings.boundedDiskBytes - core.settings.reservedBytes - length / 2
            return (try core.makeRoom(for: need, &items, &writer), writer.active?.name)
        }
        // Its file is closed: `true` would make the caller write to a closed descriptor.
        #expect(!hasRoom && active == nil)
        harness.append([.sample(9)])
        #expect(await harness.spool.sync())
        #expect(await harness.readAll(after: last.position).sequences == [9])
    }

    @Test func `new records that are dropped because the spool is full are reported`() async throws {
        let harness = try SpoolHarness { $0.diskBytes = 64 << 10 }
        let text = String(repeating: "x", count: 300)
        func fill(_ level: LogLevel, _ numbers: Range<UInt64>) async {
            for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 10) {
                harness.append((start..<start + 10).map { .sample($0, level, text) })
                _ = await harness.spool.sync()
            }
        }
        // The lowest level on disk is that of the newest records, until a lower one arrives.
        while harness.spool.statistics.diskBytes < 54 << 10 { await fill(.critical, 1..<2) }
        #expect(harness.events.withLock { $0.isEmpty })
        await fill(.trace, 1_000..<1_200)
        #expect(harness.takeLosses().map(\.reason) == [.overflow])
        let texts = harness.events.withLock { $0.map(\.message) }
        #expect(texts.count == 1 && texts.first?.contains("has reached its limit of 65536 bytes") == true, "\(texts)")
    }

    /// Random operations: no loss is uncounted, the limits hold, and the order is kept.
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `the accounts are exact and the bounds hold, whatever happens`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let unit = LogRecord.sample(1).footprint
        let disk = MemoryDisk()
        let memory = BufferLimits(
            records: Int.random(in: 5...80, using: &generator), bytes: unit * Int.random(in: 8...60, using: &generator))
        let bound = Int.random(in: 64...160, using: &generator) << 10
        let harness = try SpoolHarness(disk) { settings in
            settings.diskBytes = bound
            settings.memory = memory
        }
        var (sequence, delivered, lost) = (UInt64(0), 0, 0)
        var cursor: RecordPosition = 0
        var handed: [RecordPosition] = []
        var last: UInt64 = 0
        for _ in 0..<400 {
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<10:
                for _ in 0..<Int.random(in: 1...20, using: &generator) {
                    sequence += 1
                    let level = LogLevel.allCases.randomElement(using: &generator) ?? .info
                    harness.append([.sample(sequence, level, String(repeating: "x", count: Int.random(in: 0...700, using: &generator)))])
                }
            case 10..<14: _ = await harness.spool.sync()
            case 14..<17:
                let limits = BatchLimits(
                    records: Int.random(in: 1...60, using: &generator), bytes: Int.random(in: 500...40_000, using: &generator))
                let batch = await harness.store.read(after: cursor, limits: limits)
                #expect(batch.sequences == batch.sequences.sorted() && batch.first?.record.sequence ?? .max > last)
                last = batch.last?.record.sequence ?? last
                cursor = batch.last?.position ?? cursor
                handed += batch.map(\.position)
            case 17, 18:
                let count = Int.random(in: 0...handed.count, using: &generator)
                guard count > 0 else { break }
                harness.store.acknowledge(through: handed[count - 1])
                handed.removeFirst(count)
                delivered += count
            default:
                let codes: [Int32?] = [nil, nil, 28, 5, 24]
                let code = codes.randomElement(using: &generator) ?? nil
                let call = ["write", "fsync", "open", "rename", "unlink", "fsync directory", "read"].randomElement(using: &generator)
                disk.faults.withLock { $0 = { name, _ in name == call ? code : nil } }
            }
            harness.clock.advance(by: .milliseconds(Int.random(in: 0...300, using: &generator)))
            lost += harness.takeLosses().reduce(0) { $0 + $1.count }
            let load = harness.store.load
            // Losses between these two lines are still in the load.
            #expect(Int(sequence) == delivered + lost + load.records, "seed \(seed)")
            #expect(harness.spool.statistics.memoryRecords <= memory.records && harness.spool.statistics.memoryBytes <= memory.bytes)
        }
        disk.faults.withLock { $0 = { _, _ in nil } }
        harness.clock.advance(by: .seconds(1))
        #expect(await harness.spool.sync())
        let rest = await harness.readAll(after: cursor)
        lost += harness.takeLosses().reduce(0) { $0 + $1.count }
        #expect(Int(sequence) == delivered + lost + handed.count + rest.count, "seed \(seed)")
        #expect(disk.peak <= bound, "\(disk.peak) of \(bound)")
        let found = disk.paths.reduce(0) { $0 + (disk[$1]?.count ?? 0) }
        #expect(harness.spool.statistics.diskBytes == found)
    }
}
