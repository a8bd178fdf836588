import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// A spool on an in-memory disk, with one destination and a manual clock.
struct SpoolHarness {
    let disk: MemoryDisk
    let clock = ManualLogClock()
    let spool: Spool
    let store: SpoolDestination
    let events = Locked<[Diagnostics.Event]>([])
    /// The losses that appending reported.
    private let told = Locked<[RecordLoss]>([])

    /// - Parameter files: The file system calls; those of the disk by default.
    init(
        _ disk: MemoryDisk = MemoryDisk(), files: SpoolFileSystem? = nil, configure: (inout SpoolSettings) -> Void = { _ in }
    ) throws {
        self.disk = disk
        var settings = SpoolSettings()
        settings.clock = clock
        let events = events
        settings.diagnostics = Diagnostics { event in events.withLock { $0.append(event) } }
        configure(&settings)
        spool = Spool(root: "/spool", settings: settings, files: files ?? disk.files)
        store = try #require(spool.store(for: "default", minimumLevel: .trace))
    }

    func append(_ records: [LogRecord]) {
        for record in records {
            let losses = Array(store.append(record, now: clock.uptime).losses)
            told.withLock { $0 += losses }
        }
    }

    /// The losses since the last call from all sources, one for each reason, as the store reports them.
    func takeLosses() -> [RecordLoss] {
        let losses = told.withLock { told in
            defer { told = [] }
            return told + Array(store.takeLosses())
        }
        var sums: [DropReason: RecordLoss] = [:]
        for loss in losses {
            var sum = sums[loss.reason] ?? loss
            sum.count += sums[loss.reason] == nil ? 0 : loss.count
            sum.first = min(sum.first, loss.first)
            sums[loss.reason] = sum
        }
        return sums.values.sorted { $0.reason.rawValue < $1.reason.rawValue }
    }

    /// All stored records that haven't been read.
    func readAll(after cursor: RecordPosition = 0, batch: BatchLimits = BatchLimits()) async -> [StoredRecord] {
        var records: [StoredRecord] = []
        while true {
            let batch = await store.read(after: records.last?.position ?? cursor, limits: batch)
            guard !batch.isEmpty else { return records }
            records += batch
        }
    }

    /// Closes the disk like the end of a process, and waits until all work on it has ended.
    func end() async {
        _ = store.close()
        _ = await spool.sync()
    }
}

extension [StoredRecord] {
    var sequences: [UInt64] { map(\.record.sequence) }
}

/// A record as bytes for comparisons: NaN isn't equal to itself.
func bytes(of record: LogRecord) -> Data {
    (try? NDJSONFormat().encode([record])) ?? Data()
}

extension Spool {
    /// A spool on an in-memory disk with a manual clock.
    static func inMemory(_ disk: MemoryDisk, _ clock: ManualLogClock, bytes: Int = 64 << 20) -> Spool {
        var settings = SpoolSettings()
        settings.clock = clock
        settings.diskBytes = bytes
        return Spool(root: "/spool", settings: settings, files: disk.files)
    }
}
