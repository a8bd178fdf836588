import WebServiceClient

/// What a spool holds for one destination: its own cursor through records that all share.
package struct SpoolDestination: RecordStore {
    package let name: String
    package let spool: Spool

    private var core: SpoolCore { spool.core }

    package func append(_ record: LogRecord, now: UInt64) -> AppendOutcome {
        core.append(record, now: now, for: name)
    }

    package func read(after cursor: RecordPosition, limits: BatchLimits) async -> [StoredRecord] {
        await core.read(for: name, after: cursor, limits: limits)
    }

    package func acknowledge(through position: RecordPosition) {
        core.acknowledge(through: position, by: name)
    }

    package func close() -> Int {
        core.release(name)
    }

    package var load: StoreLoad {
        core.state.withLock { $0.load(of: name) }
    }

    package func takeLosses() -> [RecordLoss] {
        core.state.withLock { $0.destinations[name]?.takeLosses() ?? [] }
    }

    package func persist() async {
        await core.sync()
    }

    package func onNews(_ wake: @escaping @Sendable () -> Void) {
        core.news.withLock { $0[name] = wake }
    }
}
