import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

/// After any damage to a file, every intact record is read, once, and none is invented.
@Suite(.serialized) struct SpoolDamageTests {
    /// A segment of random records, and the end of each.
    private struct Sample {
        let disk: MemoryDisk
        let path: String
        let bytes: [UInt8]
        let records: [LogRecord]
        /// The range of each record's frame.
        let frames: [Range<Int>]
    }

    private static func sample(seed: UInt64, count: Int) async throws -> Sample {
        var generator = SeededGenerator(seed: seed)
        let harness = try SpoolHarness()
        var records: [LogRecord] = []
        var frames: [Range<Int>] = []
        for number in 1...UInt64(count) {
            let record = LogRecord.random(number, using: &generator)
            let before = harness.disk.segments.first.flatMap { harness.disk[$0]?.count } ?? 64
            harness.append([record])
            #expect(await harness.spool.sync())
            let after = harness.disk.segments.first.flatMap { harness.disk[$0]?.count } ?? 0
            records.append(record)
            frames.append(before..<after)
        }
        let path = try #require(harness.disk.segments.first)
        return Sample(disk: harness.disk, path: path, bytes: try #require(harness.disk[path]), records: records, frames: frames)
    }

    /// Encodes the records for comparison, because NaN isn't equal to itself.
    private static func texts(_ records: some Sequence<LogRecord>) -> [Data] { records.map(bytes) }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a segment that is cut at any byte keeps every record before`(seed: UInt64) async throws {
        let sample = try await Self.sample(seed: seed, count: 8)
        let texts = Self.texts(sample.records)
        for end in 0...sample.bytes.count {
            let segment = SpoolSegment(Data(sample.bytes[..<end]))
            let whole = sample.frames.filter { $0.upperBound <= end }.count
            #expect(Self.texts(segment.records) == Array(texts[..<whole]), "cut at \(end)")
        }
    }

    @Test(arguments: [4, 5] as [UInt64], [0x01, 0x80, 0xFF] as [UInt8])
    func `a segment with any byte changed keeps every record but the one it hits`(seed: UInt64, mask: UInt8) async throws {
        let sample = try await Self.sample(seed: seed, count: 6)
        let texts = Self.texts(sample.records)
        for index in sample.bytes.indices {
            var bytes = sample.bytes
            bytes[index] ^= mask
            let segment = SpoolSegment(Data(bytes))
            let hit = sample.frames.firstIndex { $0.contains(index) }
            let expected = texts.indices.filter { $0 != hit }.map { texts[$0] }
            #expect(Self.texts(segment.records) == expected, "byte \(index)")
            #expect(segment.damages == (hit == nil ? 0 : 1))
        }
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `any damage, however wide, costs what it hits`(seed: UInt64) async throws {
        let sample = try await Self.sample(seed: seed % 7, count: 8)
        let texts = Self.texts(sample.records)
        var generator = SeededGenerator(seed: seed)
        var bytes = sample.bytes
        var hits: Set<Int> = []
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            // One of the header's two copies may be damaged.
            let start = Int.random(in: 32..<bytes.count, using: &generator)
            let end = min(bytes.count, start + Int.random(in: 1...60, using: &generator))
            for index in start..<end { bytes[index] = UInt8.random(in: 0...255, using: &generator) }
            for (number, frame) in sample.frames.enumerated() where frame.overlaps(start..<end) { hits.insert(number) }
        }
        let segment = SpoolSegment(Data(bytes))
        // Bytes overwritten with the same value are intact, so this is a lower bound.
        let found = Self.texts(segment.records)
        let expected = texts.indices.filter { !hits.contains($0) }.map { texts[$0] }
        #expect(found.filter(Set(expected).contains) == expected)
        #expect(Set(found).isSubset(of: texts) && Set(found).count == found.count)
    }

    @Test func `bytes that are pushed in or taken out cost one record`() async throws {
        let sample = try await Self.sample(seed: 11, count: 7)
        let texts = Self.texts(sample.records)
        for index in stride(from: 64, to: sample.bytes.count, by: 3) {
            let hit = sample.frames.firstIndex { $0.contains(index) }
            var more = sample.bytes
            more.insert(contentsOf: [0xF5, 0xC1, 0x9E], at: index)
            var less = sample.bytes
            less.remove(at: index)
            for bytes in [more, less] {
                let found = Self.texts(SpoolSegment(Data(bytes)).records)
                let expected = texts.indices.filter { $0 != hit }.map { texts[$0] }
                #expect(found == expected || found == texts, "byte \(index)")
            }
        }
    }

    @Test func `a record that contains a segment doesn't give birth to records`() async throws {
        let sample = try await Self.sample(seed: 12, count: 5)
        let harness = try SpoolHarness()
        let carrier = LogRecord.sample(1, metadata: ["file": Data(sample.bytes)])
        harness.append([carrier, .sample(2)])
        #expect(await harness.spool.sync())
        let path = try #require(harness.disk.segments.first)
        var bytes = try #require(harness.disk[path])
        // If the outer frame is damaged, the scanner searches its payload.
        bytes[70] ^= 1
        let segment = SpoolSegment(Data(bytes))
        #expect(segment.records.map(\.sequence) == [2])
    }

    @Test func `what isn't a segment gives nothing`() {
        #expect(SpoolSegment(Data()).records.isEmpty)
        var generator = SeededGenerator(seed: 3)
        for count in [1, 31, 32, 33, 64, 65, 500] {
            let segment = SpoolSegment(Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }))
            #expect(segment.version == nil && segment.records.isEmpty)
        }
    }

    // MARK: The whole spool

    @Test(arguments: 0..<5)
    func `a spool opens with a segment cut or changed at any byte, and accounts for what is left`(part: Int) async throws {
        let sample = try await Self.sample(seed: 20, count: 8)
        for index in stride(from: part, to: sample.bytes.count, by: 5) {
            let cut = sample.disk.afterKill()
            cut[sample.path] = Array(sample.bytes[..<index])
            let changed = sample.disk.afterKill()
            var bytes = sample.bytes
            bytes[index] ^= 0x20
            changed[sample.path] = bytes
            for disk in [cut, changed] {
                let harness = try SpoolHarness(disk)
                let held = harness.store.load.records
                harness.append([.sample(99)])
                #expect(await harness.spool.sync())
                let read = await harness.readAll()
                #expect(read.count == held + 1, "byte \(index)")
                #expect(read.sequences == read.sequences.sorted() && read.last?.record.sequence == 99, "byte \(index)")
                #expect(held >= (disk === cut ? sample.frames.filter { $0.upperBound <= index }.count : 7), "byte \(index)")
                harness.store.acknowledge(through: read.last?.position ?? 0)
                #expect(harness.store.load.records == 0)
            }
        }
    }

    @Test(arguments: 0..<40)
    func `damage that comes later is counted, exactly`(number: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(number))
        let harness = try SpoolHarness { $0.diskBytes = 64 << 10 }
        let levels = try #require(harness.spool.store(for: "warnings", minimumLevel: .warning))
        for sequence in 1...60 as ClosedRange<UInt64> {
            let record = LogRecord.sample(sequence, LogLevel.allCases[Int(sequence) % 7], String(repeating: "x", count: 100))
            harness.append([record])
            if record.level >= .warning { _ = levels.append(record, now: 0) }
            if sequence % 10 == 0 { #expect(await harness.spool.sync()) }
        }
        harness.append([.sample(61, .critical)])
        _ = levels.append(.sample(61, .critical), now: 0)
        let before = await harness.store.read(after: 0, limits: BatchLimits(records: Int.random(in: 1...40, using: &generator)))
        let path = try #require(harness.disk.segments.randomElement(using: &generator))
        var bytes = try #require(harness.disk[path])
        switch number % 4 {
        case 0: bytes[Int.random(in: 64..<bytes.count, using: &generator)] ^= 0x40
        case 1: bytes.removeLast(Int.random(in: 1...bytes.count, using: &generator))
        case 2: bytes.replaceSubrange(64..., with: [UInt8](repeating: 0, count: bytes.count - 64))
        default: break  // The file is deleted.
        }
        harness.disk[path] = number % 4 == 3 ? nil : bytes
        let rest = await harness.readAll(after: before.last?.position ?? 0)
        let lost = harness.takeLosses()
        #expect(lost.allSatisfy { $0.reason == .damaged })
        #expect(before.count + rest.count + lost.reduce(0) { $0 + $1.count } == 61)
        #expect(harness.store.load.unread == 0 && harness.store.load.records == before.count + rest.count)
        let high = await levels.read(after: 0, limits: BatchLimits())
        #expect(high.count + levels.takeLosses().reduce(0) { $0 + $1.count } == (1...61).filter { $0 == 61 || $0 % 7 >= 4 }.count)
        #expect(levels.load.unread == 0)
    }

    @Test func `a segment that somebody deletes is counted`() async throws {
        let harness = try SpoolHarness()
        harness.append((1...20).map { .sample($0) })
        #expect(await harness.spool.sync())
        harness.disk[try #require(harness.disk.segments.first)] = nil
        #expect(await harness.readAll().isEmpty)
        #expect(harness.takeLosses().map(\.count) == [20])
        #expect(harness.store.load.records == 0)
    }
}
