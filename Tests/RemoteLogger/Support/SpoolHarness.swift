import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// A spool on a disk in memory, with one destination and a clock that stands.
struct SpoolHarness {
    let disk: MemoryDisk
    let clock = ManualLogClock()
    let spool: Spool
    let store: SpoolDestination
    let events = Locked<[Diagnostics.Event]>([])

    init(_ disk: MemoryDisk = MemoryDisk(), configure: (inout SpoolSettings) -> Void = { _ in }) throws {
        self.disk = disk
        var settings = SpoolSettings()
        settings.clock = clock
        let events = events
        settings.diagnostics = Diagnostics { event in events.withLock { $0.append(event) } }
        configure(&settings)
        spool = Spool(root: "/spool", settings: settings, files: disk.files)
        store = try #require(spool.store(for: "default", minimumLevel: .trace))
    }

    func append(_ records: [LogRecord]) {
        for record in records { _ = store.append(record, now: clock.uptime) }
    }

    /// Everything that is held and wasn't read.
    func readAll(after cursor: RecordPosition = 0, batch: BatchLimits = BatchLimits()) async -> [StoredRecord] {
        var records: [StoredRecord] = []
        while true {
            let batch = await store.read(after: records.last?.position ?? cursor, limits: batch)
            guard !batch.isEmpty else { return records }
            records += batch
        }
    }

    /// Ends the use of the disk as the end of a process does, and waits until nothing works on it any more.
    func end() async {
        _ = store.close()
        _ = await spool.sync()
    }
}

extension [StoredRecord] {
    var sequences: [UInt64] { map(\.record.sequence) }
}

/// A record as bytes, to compare it with: NaN isn't equal to itself.
func bytes(of record: LogRecord) -> Data {
    (try? NDJSONFormat().encode([record])) ?? Data()
}

extension Spool {
    /// A spool on a disk in memory, by a clock that the test moves.
    static func inMemory(_ disk: MemoryDisk, _ clock: ManualLogClock, bytes: Int = 64 << 20) -> Spool {
        var settings = SpoolSettings()
        settings.clock = clock
        settings.diskBytes = bytes
        return Spool(root: "/spool", settings: settings, files: disk.files)
    }
}
