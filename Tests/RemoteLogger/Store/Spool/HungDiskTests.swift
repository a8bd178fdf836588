import Dispatch
import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

/// A hung disk blocks no callers.
@Suite struct HungDiskTests {
    private let clock = ManualLogClock()

    /// Creates a shipper on a separate thread; `nil` if that doesn't return.
    private func shipper(_ receiver: StubReceiver, _ name: String, on spool: @escaping @Sendable () -> Spool) async throws -> LogShipper? {
        let made = Locked<LogShipper?>(nil)
        let endpoint = try Harness.endpoint()
        Thread.detachNewThread { [clock] in
            let shipper = try? LogShipper(to: endpoint, format: NDJSONFormat(), transport: receiver) { settings in
                settings.compression = .none
                settings.clock = clock
                settings.destination = name
                settings.spool = spool()
            }
            made.withLock { $0 = shipper }
        }
        return await eventually { made.withLock { $0 != nil } } ? made.withLock { $0 } : nil
    }

    @Test func `a spool and its shipper are made at once while no sync ends`() async throws {
        let (disk, receiver) = (MemoryDisk(), StubReceiver())
        let gate = DiskGate(disk)
        defer { gate.open() }
        gate.close()
        let made = try await shipper(receiver, "default") { [clock] in Spool.inMemory(disk, clock) }
        let shipper = try #require(made)
        for number in 1...10 { shipper.write(.sample(UInt64(number), .error, "a")) }
        #expect(await shipper.flush(within: .seconds(300)))
        #expect(receiver.lines.joined().count == 10)
    }

    @Test func `a shipper is made at once while another one's records are being synced`() async throws {
        let (disk, first, second) = (MemoryDisk(), StubReceiver([.hangs]), StubReceiver())
        let gate = DiskGate(disk)
        defer { gate.open() }
        let spool = Spool.inMemory(disk, clock)
        let made = try await shipper(first, "first") { spool }
        let before = try #require(made)
        for number in 1...10 { before.write(.sample(UInt64(number), .info, "a")) }
        #expect(await spool.sync())
        gate.close()
        before.write(.sample(11, .error, "b"))
        #expect(await eventually { gate.waiting > 0 })
        let madeLater = try await shipper(second, "second") { spool }
        let after = try #require(madeLater)
        after.write(.sample(12, .error, "c"))
        #expect(await after.flush(within: .seconds(300)))
        #expect(second.lines.joined().map(\.sequence) == Array(1...12) && after.statistics.found == 11)
        gate.open()
        #expect(await spool.sync())
        #expect(disk["/spool/0/second.cursor"] != nil && before.statistics.buffered == 12)
    }

    @Test(arguments: [false, true])
    func `a destination that begins while records are being synced gets what its filter lets pass`(isAcknowledged: Bool) async throws {
        let disk = MemoryDisk()
        let gate = DiskGate(disk)
        defer { gate.open() }
        let spool = Spool.inMemory(disk, clock)
        let first = try #require(spool.store(for: "first", minimumLevel: .trace))
        #expect(await spool.sync())
        gate.close()
        _ = first.append(.sample(1, .error, "private"), now: 1)
        _ = first.append(.sample(2, .error, "wanted"), now: 1)
        #expect(await eventually { gate.waiting > 0 })
        if isAcknowledged {
            // The first one has all records before the second registers.
            let batch = await first.read(after: 0, limits: BatchLimits(records: 8))
            first.acknowledge(through: batch.last?.position ?? 0)
        }
        let store = try await onOwnThread {
            spool.store(for: "second", minimumLevel: .trace, includes: { $0.message != "private" })
        }
        let second = try #require(store)
        let before = second.load
        #expect(before.unread == (isAcknowledged ? 0 : 1))
        gate.open()
        #expect(await spool.sync())
        var got: [String] = []
        var cursor: RecordPosition = 0
        func read() async {
            while true {
                let batch = await second.read(after: cursor, limits: BatchLimits(records: 8))
                guard let last = batch.last else { return }
                got += batch.map(\.record.message)
                cursor = last.position
                second.acknowledge(through: cursor)
            }
        }
        await read()
        #expect(got == (isAcknowledged ? [] : ["wanted"]) && second.load.unread == 0 && second.load.records == 0)
        _ = first.append(.sample(3, .error, "public"), now: 2)
        #expect(await spool.sync())
        await read()
        #expect(got.last == "public" && second.load.unread == 0 && second.load.records == 0)
    }

    @Test(arguments: 0..<60) func `a destination that begins while others write, read and delete has what is there`(round: Int) async throws
    {
        let disk = MemoryDisk()
        let spool = Spool.inMemory(disk, clock, bytes: 64 << 10)
        let first = try #require(spool.store(for: "first", minimumLevel: .trace))
        let text = String(repeating: "x", count: 300)
        let begins = Locked(false)
        let work = Task {
            var cursor: RecordPosition = 0
            for number in 1...UInt64(120) {
                _ = first.append(.sample(number, number % 3 == 0 ? .error : .info, text), now: 1)
                if number % 4 == 0 { _ = await spool.sync() }
                if number % 10 == 0 {
                    let batch = await first.read(after: cursor, limits: BatchLimits(records: 8))
                    cursor = batch.last?.position ?? cursor
                    first.acknowledge(through: cursor)
                }
                if number == round + 5 { begins.withLock { $0 = true } }
            }
        }
        #expect(await eventually(slowsDown: false) { begins.withLock { $0 } })
        let isEven: @Sendable (LogRecord) -> Bool = { $0.sequence % 2 == 0 }
        let second = try await onOwnThread {
            spool.store(for: "second", minimumLevel: .trace, includes: round % 2 == 0 ? nil : isEven)
        }
        await work.value
        _ = await spool.sync()
        let store = try #require(second)
        _ = store.takeLosses()
        let count = store.load.records
        var read: [StoredRecord] = []
        while true {
            let batch = await store.read(after: read.last?.position ?? 0, limits: BatchLimits())
            guard !batch.isEmpty else { break }
            read += batch
        }
        #expect(read.count == count && store.load.unread == 0, "counted \(count), read \(read.count)")
        #expect(read.map(\.position) == read.map(\.position).sorted() && read.last?.record.sequence == 120)
        store.acknowledge(through: read.last?.position ?? 0)
        #expect(store.load.records == 0)
    }
}

/// Blocks every sync while it is closed.
private final class DiskGate: Sendable {
    private let state = Locked((isClosed: false, waiting: 0))
    private let semaphore = DispatchSemaphore(value: 0)

    init(_ disk: MemoryDisk) {
        disk.faults.withLock { faults in
            faults = { [self] call, _ in
                guard call.hasPrefix("fsync") else { return nil }
                let waits = state.withLock { state in
                    state.waiting += state.isClosed ? 1 : 0
                    return state.isClosed
                }
                if waits { semaphore.wait() }
                return nil
            }
        }
    }

    /// The number of blocked syncs.
    var waiting: Int { state.withLock { $0.waiting } }

    func close() {
        state.withLock { $0.isClosed = true }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state = (false, 0) }
            return state.waiting
        }
        for _ in 0..<waiting { semaphore.signal() }
    }
}
