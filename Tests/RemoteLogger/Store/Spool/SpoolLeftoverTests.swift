import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The leftover directories of processes, and the processes that ship them.
@Suite struct SpoolLeftoverTests {
    /// Returns a disk with the leftovers of ended processes. The records of each start at its number times a hundred.
    private static func disk(processes: Int, records: UInt64 = 30) async throws -> MemoryDisk {
        let disk = MemoryDisk()
        // Created at the same time, so that each has its own directory.
        let harnesses = try (0..<processes).map { _ in try SpoolHarness(disk) }
        for (number, harness) in harnesses.enumerated() {
            let first = UInt64(number) * 100 + 1
            harness.append((first..<first + records).map { .sample($0) })
            #expect(await harness.spool.sync())
        }
        return disk.afterKill()
    }

    @Test func `the next run ships what all that have ended have left, each record once`() async throws {
        let disk = try await Self.disk(processes: 3)
        let next = try SpoolHarness(disk)
        #expect(next.spool.statistics.directory == "/spool/0")
        #expect(next.spool.statistics.leftovers == ["/spool/1", "/spool/2"])
        #expect(next.store.load.records == 90 && next.store.load.found == 90)
        next.append([.sample(900)])
        let read = await next.readAll(batch: BatchLimits(records: 7))
        #expect(read.sequences == Array(101...130) + Array(201...230) + Array(1...30) + [900])
        #expect(read.map(\.position) == read.map(\.position).sorted() && Set(read.map(\.position)).count == 91)
        #expect(next.store.load.unread == 0 && next.store.load.records == 91)
        next.store.acknowledge(through: read[44].position)
        #expect(next.store.load.records == 46 && next.store.load.first == read[45].position)
        next.store.acknowledge(through: read[90].position)
        #expect(next.store.load.records == 0 && next.store.load.first == nil)
        await next.end()
        let last = try SpoolHarness(disk.afterKill())
        #expect(last.store.load.records == 0 && last.spool.statistics.leftovers.allSatisfy { $0 != "/spool/0" })
    }

    @Test func `each destination goes on where it was in every directory`() async throws {
        let disk = MemoryDisk()
        let harnesses = try (0..<2).map { _ in try SpoolHarness(disk) }
        for (number, harness) in harnesses.enumerated() {
            let errors = try #require(harness.spool.store(for: "errors", minimumLevel: .error))
            harness.append((0..<20).map { .sample(UInt64(number * 100 + $0), $0 % 5 == 0 ? .error : .info) })
            #expect(await harness.spool.sync())
            let some = await harness.store.read(after: 0, limits: BatchLimits(records: 12))
            harness.store.acknowledge(through: some[11].position)
            let few = await errors.read(after: 0, limits: BatchLimits(records: 1))
            errors.acknowledge(through: few[0].position)
            // The next read waits for the cursors.
            _ = await errors.read(after: few[0].position, limits: BatchLimits(records: 1))
        }
        let next = try SpoolHarness(disk.afterKill())
        let errors = try #require(next.spool.store(for: "errors", minimumLevel: .error))
        #expect(next.store.load.records == 16 && errors.load.records == 6)
        #expect(await next.readAll().sequences == Array(112...119) + Array(12...19))
        #expect(await errors.read(after: 0, limits: BatchLimits()).sequences == [105, 110, 115])
        #expect(next.store.load.found == 16 && errors.load.found == 6)
    }

    @Test func `a leftover that was shipped is deleted at once`() async throws {
        let disk = try await Self.disk(processes: 2)
        let next = try SpoolHarness(disk)
        let read = await next.readAll()
        let before = disk.paths.count { $0.hasPrefix("/spool/1/") }
        next.store.acknowledge(through: read[29].position)
        #expect(await eventually { disk.paths.count { $0.hasPrefix("/spool/1/") } < before })
        #expect(next.store.load.records == 30)
    }

    @Test func `a leftover that was shipped before its process ended is deleted when it is found`() async throws {
        let disk = MemoryDisk()
        let harnesses = try (0..<2).map { _ in try SpoolHarness(disk) }
        let last = harnesses[1]
        last.append([.sample(1), .sample(2)])
        #expect(await last.spool.sync())
        let read = await last.readAll()
        last.store.acknowledge(through: read[1].position)
        // The next read waits for the cursor.
        #expect(await last.store.read(after: read[1].position, limits: BatchLimits()).isEmpty)
        let left = disk.afterKill()
        let segments = { left.paths.count { $0.hasPrefix("/spool/1/") && $0.hasSuffix(".segment") } }
        #expect(segments() == 1)
        let next = try SpoolHarness(left)
        #expect(next.store.load.records == 0)
        #expect(await eventually { segments() == 0 })
    }

    @Test func `what a living process has is its own, and what was shipped is gone`() async throws {
        let disk = MemoryDisk()
        let living = try SpoolHarness(disk)
        living.append([.sample(1)])
        #expect(await living.spool.sync())
        let second = try SpoolHarness(disk)
        #expect(second.spool.statistics.leftovers.isEmpty && second.store.load.records == 0)
        #expect(second.spool.statistics.directory == "/spool/1")
    }

    @Test func `a leftover that can't be read now holds up what comes behind it, and loses nothing`() async throws {
        let disk = try await Self.disk(processes: 2)
        let next = try SpoolHarness(disk)
        disk.faults.withLock { $0 = { call, _ in call == "read" ? 24 : nil } }
        #expect(await next.readAll().isEmpty)
        #expect(next.store.load.unread == 60)
        disk.faults.withLock { $0 = { _, _ in nil } }
        #expect(await next.readAll().sequences == Array(101...130) + Array(1...30))
    }

    @Test func `a leftover that can't be opened waits for the next run`() async throws {
        let disk = try await Self.disk(processes: 2)
        let locks = Locked(0)
        // The first directory belongs to this process.
        let fails: @Sendable (String) -> Bool = { call in
            guard call == "flock" else { return false }
            return locks.withLock { locks in
                locks += 1
                return locks > 1
            }
        }
        disk.faults.withLock { $0 = { call, _ in fails(call) ? 24 : nil } }
        let next = try SpoolHarness(disk)
        #expect(next.spool.statistics.leftovers.isEmpty && next.spool.statistics.mode == .disk)
        #expect(await next.readAll().sequences == Array(1...30))
        disk.faults.withLock { $0 = { _, _ in nil } }
        let last = try SpoolHarness(disk.afterKill())
        #expect(await last.readAll().sequences == Array(101...130) + Array(1...30))
    }

    @Test(arguments: [1, 3]) func `a flush waits for what was found, though nothing was logged since`(processes: Int) async throws {
        let disk = try await Self.disk(processes: processes)
        let clock = ManualLogClock()
        var settings = SpoolSettings()
        settings.clock = clock
        let spool = Spool(root: "/spool", settings: settings, files: disk.files)
        let receiver = StubReceiver([.broken, .status(503), .status(200)])
        let shipper = try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: receiver) { settings in
            settings.compression = .none
            settings.clock = clock
            settings.spool = spool
        }
        async let ended = shipper.shutdown(within: .seconds(3_600))
        #expect(await clock.run { shipper.statistics.delivered == UInt64(processes * 30) })
        #expect(await ended)
        #expect(shipper.statistics.buffered == 0)
    }

    @Test func `a shipper accounts for them, and a flush waits for them`() async throws {
        let disk = try await Self.disk(processes: 3)
        let clock = ManualLogClock()
        var settings = SpoolSettings()
        settings.clock = clock
        let spool = Spool(root: "/spool", settings: settings, files: disk.files)
        let receiver = StubReceiver([.broken, .status(503), .status(200)])
        let shipper = try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: receiver) { settings in
            settings.compression = .none
            settings.clock = clock
            settings.spool = spool
            settings.batch.records = 40
        }
        shipper.write(.sample(900))
        let counts = shipper.statistics
        #expect(counts.found == 90 && counts.emitted == 91 && counts.buffered == 91)
        async let flushed = shipper.flush(within: .seconds(3_600))
        #expect(await clock.run { shipper.statistics.delivered == 91 })
        #expect(await flushed)
        var seen: Set<UInt64> = []
        #expect(
            receiver.lines.joined().map(\.sequence).filter { seen.insert($0).inserted }
                == Array(101...130) + Array(201...230) + Array(1...30) + [900])
        #expect(shipper.statistics.buffered == 0 && shipper.statistics.droppedInAll == 0)
    }

    #if compiler(>=6.3) && (os(Linux) || os(macOS))
    @Test func `two spools of a process that was killed are found on a real disk`() async throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "spool-left-\(UUID().uuidString)").path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(atPath: root) }
        await ExitTesting.alone {
            await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String] in
                ExitTesting.endLater()
                for number in 0..<2 as Range<UInt64> {
                    let spool = Spool(directory: URL(filePath: root))
                    guard let store = spool.store(for: "default", minimumLevel: .trace) else { return }
                    for sequence in 1...5 { _ = store.append(.sample(number * 100 + UInt64(sequence)), now: 1) }
                    guard await spool.sync() else { return }
                    // Both are in use until the end.
                    _ = Unmanaged.passRetained(spool)
                }
                kill(getpid(), SIGKILL)
            }
        }
        let spool = Spool(directory: URL(filePath: root))
        let store = try #require(spool.store(for: "default", minimumLevel: .trace))
        #expect(store.load.records == 10 && spool.statistics.leftovers.count == 1)
        var read: [StoredRecord] = []
        while read.count < 10 {
            let batch = await store.read(after: read.last?.position ?? 0, limits: BatchLimits())
            guard !batch.isEmpty else { break }
            read += batch
        }
        #expect(read.sequences == Array(101...105) + Array(1...5))
        _ = store.close()
        _ = await spool.sync()
    }
    #endif
}
