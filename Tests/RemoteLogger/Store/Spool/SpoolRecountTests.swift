import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// A segment is recounted while the spool continues to write to it.
@Suite struct SpoolRecountTests {
    /// Waits, on a thread of the spool, until the memory is empty.
    private static func waitUntilWritten(_ spool: Spool) -> Bool {
        for _ in 0..<30_000 {
            if spool.statistics.memoryRecords == 0 { return true }
            usleep(1_000)
        }
        return false
    }

    @Test(arguments: [1, 2, 3])
    func `what is appended while damage is counted is counted once`(read: Int) async throws {
        let harness = try SpoolHarness()
        let warnings = try #require(harness.spool.store(for: "warnings", minimumLevel: .warning))
        harness.append((1...20).map { .sample($0) })
        #expect(await harness.spool.sync())
        let path = try #require(harness.disk.segments.first)
        var bytes = try #require(harness.disk[path])
        bytes[100] ^= 1
        harness.disk[path] = bytes
        // During one of the reads the next record arrives, and is on disk before the read ends.
        let reads = Locked(0)
        let isWritten = Locked(false)
        harness.disk.faults.withLock {
            $0 = { call, _ in
                guard call == "read" else { return nil }
                let number = reads.withLock { count in
                    count += 1
                    return count
                }
                guard number == read else { return nil }
                harness.append([.sample(21, .critical)])
                isWritten.withLock { $0 = Self.waitUntilWritten(harness.spool) }
                return nil
            }
        }
        var found = await harness.readAll().sequences
        #expect(isWritten.withLock { $0 } || read == 3)
        harness.disk.faults.withLock { $0 = { _, _ in nil } }
        if read == 3, !isWritten.withLock({ $0 }) { harness.append([.sample(21, .critical)]) }
        found += await harness.readAll(after: RecordPosition(found.last ?? 0)).sequences
        #expect(found.count == 20 && Set(found).count == 20 && found.last == 21)
        #expect(harness.takeLosses().map(\.count) == [1])
        #expect(harness.store.load.unread == 0 && harness.store.load.records == 20)
        #expect(await warnings.read(after: 0, limits: BatchLimits()).sequences == [21])
        #expect(warnings.load.unread == 0 && warnings.takeLosses().isEmpty)
    }

    @Test func `after the file that is written to was deleted, the next records have one again`() async throws {
        let harness = try SpoolHarness()
        harness.append((1...20).map { .sample($0) })
        #expect(await harness.spool.sync())
        harness.disk[try #require(harness.disk.segments.first)] = nil
        #expect(await harness.readAll().isEmpty)
        harness.append((21...30).map { .sample($0) })
        #expect(await harness.spool.sync())
        #expect(harness.spool.statistics.mode == .disk && harness.spool.statistics.memoryRecords == 0)
        #expect(await harness.readAll().sequences == Array(21...30))
        #expect(harness.takeLosses().map(\.count) == [20])
        #expect(harness.store.load.records == 10 && harness.store.load.unread == 0)
    }

    @Test func `what counts as lost isn't delivered when the medium can read it again`() async throws {
        let harness = try SpoolHarness()
        harness.append((1...10).map { .sample($0) })
        #expect(await harness.spool.sync())
        harness.disk.faults.withLock { $0 = { call, _ in call == "read" ? 5 : nil } }
        #expect(await harness.readAll().isEmpty)
        harness.clock.advance(by: .seconds(11))
        #expect(await harness.readAll().isEmpty)
        harness.disk.faults.withLock { $0 = { _, _ in nil } }
        harness.append([.sample(11)])
        #expect(await harness.spool.sync())
        #expect(await harness.readAll().sequences == [11])
        #expect(harness.takeLosses().map(\.count) == [10] && harness.store.load.records == 1)
    }
}
