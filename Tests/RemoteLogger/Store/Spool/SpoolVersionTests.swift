import Foundation
import Testing
import WebServiceClient

@testable import RemoteLogger

/// Files of later versions stay untouched, and their positions aren't used.
@Suite struct SpoolVersionTests {
    /// Returns a disk with three records, acknowledged or not, and the path of their segment.
    private static func source() async throws -> (disk: MemoryDisk, path: String) {
        let harness = try SpoolHarness()
        harness.append((1...3).map { .sample($0) })
        #expect(await harness.spool.sync())
        return (harness.disk.afterKill(), try #require(harness.disk.segments.first))
    }

    /// Returns the bytes of a segment with the header of a later version.
    private static func newer(_ bytes: [UInt8]) -> [UInt8] {
        var newer = bytes
        for start in [0, 32] where newer.count >= start + 32 {
            newer[start + 8] = 2
            let checksum = CRC32C.checksum(of: newer[start..<start + 28])
            for index in 0..<4 { newer[start + 28 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
        }
        return newer
    }

    /// A later version may have a shorter header, so any length must be detected.
    @Test(arguments: [nil, 64, 50, 32] as [Int?])
    func `a directory with a segment of a later version isn't used`(length: Int?) async throws {
        let (disk, path) = try await Self.source()
        let whole = Self.newer(try #require(disk[path]))
        let bytes = Array(whole.prefix(length ?? whole.count))
        disk[path] = bytes
        let cursor = disk["/spool/0/default.cursor"]
        let harness = try SpoolHarness(disk)
        #expect(harness.spool.statistics.directory == "/spool/1" && harness.spool.statistics.leftovers.isEmpty)
        harness.append([.sample(4), .sample(5)])
        #expect(await harness.spool.sync())
        let read = await harness.readAll()
        #expect(read.sequences == [4, 5])
        harness.store.acknowledge(through: read[1].position)
        #expect(await harness.spool.sync())
        await harness.end()
        #expect(disk[path] == bytes && disk["/spool/0/default.cursor"] == cursor)
        #expect(harness.events.withLock { $0.contains { $0.message.contains("version 2") && $0.message.contains("/spool/0") } })
    }

    @Test func `what the program can read beside it waits for the one that can read all`() async throws {
        let (disk, path) = try await Self.source()
        let later = "/spool/0/00000000000000ff-0000000000000001.segment"
        disk[later] = Self.newer(try #require(disk[path]))
        // Files that are removed in other directories stay here, too.
        disk["/spool/0/next.temporary"] = [1, 2, 3]
        disk["/spool/0/0000000000000001-0000000000000009.segment"] = []
        let (before, content) = (disk.paths, disk["/spool/0/next.temporary"])
        let old = try SpoolHarness(disk)
        #expect(old.spool.statistics.directory == "/spool/1")
        #expect(await old.readAll().isEmpty)
        await old.end()
        #expect(Set(before).isSubset(of: disk.paths) && disk["/spool/0/next.temporary"] == content)
        // Without the later version's file, the directory can be used again.
        disk[later] = nil
        let next = try SpoolHarness(disk.afterKill())
        #expect(await next.readAll().sequences == [1, 2, 3])
    }

    @Test func `strange files are left untouched, and count`() async throws {
        let disk = MemoryDisk()
        disk["/spool/0/README"] = Array("hands off".utf8)
        let harness = try SpoolHarness(disk)
        harness.append([.sample(1)])
        #expect(await harness.spool.sync())
        #expect(harness.spool.statistics.directory == "/spool/0")
        #expect(harness.spool.statistics.diskBytes == disk.paths.reduce(0) { $0 + (disk[$1]?.count ?? 0) })
        #expect(disk["/spool/0/README"] == Array("hands off".utf8))
    }

    @Test func `a segment's file of any size is left alone where it is none of this version's`() async throws {
        let (disk, path) = try await Self.source()
        let bytes = disk[path]
        let opened = Locked<Int32?>(nil)
        var files = disk.files
        let (open, size) = (files.open, files.size)
        files.open = { name, access throws(SpoolFault) in
            let file = try open(name, access)
            if name == path { opened.withLock { $0 = file } }
            return file
        }
        files.size = { file throws(SpoolFault) in opened.withLock { $0 == file } ? .max : try size(file) }
        let harness = try SpoolHarness(disk, files: files)
        #expect(harness.events.withLock { $0.contains { $0.message.contains("\(Int.max) bytes") && $0.message.contains(path) } })
        harness.append([.sample(4)])
        #expect(await !harness.spool.sync() && disk[path] == bytes, "there is no room, and nothing of it is touched")
        #expect(await harness.readAll().sequences == [4])
        #expect(harness.spool.statistics.diskBytes > harness.spool.statistics.memoryBytes)
    }

    @Test(arguments: [.max, 1 << 63, (1 << 63) - 1, 1 << 62, (1 << 62) - 1] as [UInt64])
    func `places and counts that nobody comes to don't trap`(number: UInt64) async throws {
        let disk = MemoryDisk()
        let harness = try SpoolHarness(disk)
        harness.append([.sample(1)])
        #expect(await harness.spool.sync())
        await harness.end()
        let file = try #require(disk.paths.first { $0.hasSuffix(".cursor") })
        for cursor in [DestinationCursor(writes: 8, position: number), DestinationCursor(writes: number, position: 0)] {
            let disk = disk.afterKill()
            disk[file] = cursor.slot + cursor.slot
            let harness = try SpoolHarness(disk)
            harness.append([.sample(2)])
            #expect(await harness.spool.sync())
            let read = await harness.readAll()
            #expect(read.last?.record.sequence == 2)
            harness.store.acknowledge(through: read.last?.position ?? 0)
            #expect(await harness.spool.sync())
            await harness.end()
        }
        var encoder = RecordEncoder()
        SegmentFrame.write(.sample(7), at: number, salt: 5, into: &encoder)
        let segment = SegmentHeader(salt: 5).bytes + encoder.bytes
        let strange = MemoryDisk()
        strange["/spool/0/0000000000000001-0000000000000001.segment"] = segment
        let other = try SpoolHarness(strange)
        other.append([.sample(8)])
        #expect(await other.spool.sync())
        #expect(await other.readAll().last?.record.sequence == 8)
    }

    @Test func `a segment of nothing but a header of this version is deleted`() async throws {
        let (disk, path) = try await Self.source()
        disk[path] = Array(try #require(disk[path]).prefix(64))
        let harness = try SpoolHarness(disk)
        #expect(harness.spool.statistics.directory == "/spool/0" && disk[path] == nil)
    }

    /// EACCES, ENOTDIR, EEXIST.
    @Test(arguments: [13, 20, 17] as [Int32]) func `a place that can't be used is passed over`(code: Int32) async throws {
        let disk = MemoryDisk()
        let isFirst = Locked(true)
        let fails: @Sendable (String) -> Bool = { call in
            call == "flock"
                && isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
        }
        disk.faults.withLock { $0 = { call, _ in fails(call) ? code : nil } }
        let harness = try SpoolHarness(disk)
        #expect(harness.spool.statistics.mode == .disk && harness.spool.statistics.directory == "/spool/1")
        #expect(harness.events.withLock { $0.contains { $0.message.contains("/spool/0") } })
    }

    @Test(arguments: [13, 20] as [Int32]) func `where no place can be used it waits in memory`(code: Int32) async throws {
        let disk = MemoryDisk()
        disk.faults.withLock { $0 = { call, _ in call == "mkdir" ? code : nil } }
        let harness = try SpoolHarness(disk)
        #expect(harness.spool.statistics.mode == .memory)
        disk.faults.withLock { $0 = { _, _ in nil } }
        #expect(await harness.clock.run { harness.spool.statistics.directory == "/spool/0" })
    }

    @Test func `a file in the place of the first directory is passed over on a real disk`() async throws {
        let root = URL.temporaryDirectory.appending(path: "spool-stray-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        try Data("stray".utf8).write(to: root.appending(path: "0"))
        let spool = Spool(directory: root)
        #expect(spool.statistics.mode == .disk && spool.statistics.directory?.hasSuffix("/1") == true)
        #expect(try Data(contentsOf: root.appending(path: "0")) == Data("stray".utf8))
    }
}
