import HTTPTransport

/// The spool's records for one destination, with its own cursor: first the records of other processes, one directory after another, then
/// those of this process.
///
/// The directory of an ended process, a leftover, doesn't grow. Its positions, offset by the number of positions in earlier leftovers, are
/// therefore fixed. This process's positions follow those of all leftovers.
package struct SpoolDestination: RecordStore {
    package let name: String
    package let spool: Spool
    private let leftovers: [Leftover]
    /// The number of positions in the leftovers.
    private let offset: RecordPosition

    private struct Leftover: Sendable {
        let core: SpoolCore
        /// The number of positions before the leftover's own.
        let offset: RecordPosition
        /// The leftover's last position.
        let last: RecordPosition
    }

    init(name: String, spool: Spool) {
        self.name = name
        self.spool = spool
        var offset: RecordPosition = 0
        leftovers = spool.leftovers.map { core in
            defer { offset += core.state.withLock { $0.last } }
            return Leftover(core: core, offset: offset, last: core.state.withLock { $0.last })
        }
        self.offset = offset
    }

    private var core: SpoolCore { spool.core }
    private var cores: [(core: SpoolCore, offset: RecordPosition)] { leftovers.map { ($0.core, $0.offset) } + [(core, offset)] }

    package func append(_ record: LogRecord, now: UInt64) -> AppendOutcome {
        var outcome = core.append(record, now: now, for: name)
        guard !leftovers.isEmpty else { return outcome }
        outcome.position += offset
        for index in outcome.losses.indices { outcome.losses[index].first += offset }
        // The leftovers may have losses, too.
        outcome.mayHaveLosses = true
        return outcome
    }

    package func read(after cursor: RecordPosition, limits: BatchLimits) async -> [StoredRecord] {
        for leftover in leftovers where cursor < leftover.offset + leftover.last {
            let cursor = max(cursor, leftover.offset) - leftover.offset
            let records = await leftover.core.read(for: name, after: cursor, limits: limits)
            // Records that can't be read now block later ones, because an acknowledgement covers everything before it.
            guard records.isEmpty, leftover.core.load(of: name).unread == 0 else { return records.moved(by: leftover.offset) }
        }
        return await core.read(for: name, after: max(cursor, offset) - offset, limits: limits).moved(by: offset)
    }

    package func acknowledge(through position: RecordPosition) {
        for leftover in leftovers where position > leftover.offset && !leftover.core.isAcknowledged(through: leftover.last, by: name) {
            leftover.core.acknowledge(through: min(position - leftover.offset, leftover.last), by: name)
        }
        if position > offset { core.acknowledge(through: position - offset, by: name) }
    }

    package func close() -> Int {
        cores.reduce(0) { $0 + $1.core.release(name) }
    }

    package var load: StoreLoad { sum { $0.load(of: name) } }

    package var census: StoreLoad { sum { $0.census(of: name) } }

    private func sum(_ load: (SpoolCore) -> StoreLoad) -> StoreLoad {
        guard !leftovers.isEmpty else { return load(core) }
        var sum = StoreLoad()
        for (core, offset) in cores { sum.add(load(core), after: offset) }
        return sum
    }

    package var foundThrough: RecordPosition { offset + core.state.withLock { $0.foundThrough } }

    package func takeLosses() -> ShortList<RecordLoss> {
        guard !leftovers.isEmpty else { return core.takeLosses(of: name) }
        var losses = ShortList<RecordLoss>()
        for (core, offset) in cores {
            for loss in core.takeLosses(of: name) {
                losses.append(RecordLoss(count: loss.count, first: loss.first + offset, reason: loss.reason))
            }
        }
        return losses
    }

    package func persist() async {
        await core.sync()
        for (core, _) in cores { await core.syncCursor(of: name) }
    }

    package func sleep(until condition: WakeCondition) -> Bool {
        var condition = condition
        for leftover in leftovers {
            let load = leftover.core.load(of: name)
            condition.records -= load.unread
            condition.bytes -= load.unreadBytes
        }
        // The leftovers never receive records.
        return core.sleep(until: condition, for: name)
    }

    package func awaitLosses() -> Bool {
        cores.allSatisfy { $0.core.awaitLosses(for: name) }
    }

    package func onNews(_ report: @escaping @Sendable (StoreNews) -> Void) {
        for (core, _) in cores { core.news.withLock { $0[name] = report } }
    }
}

extension [StoredRecord] {
    fileprivate func moved(by offset: RecordPosition) -> [StoredRecord] {
        offset == 0 ? self : map { StoredRecord(position: $0.position + offset, record: $0.record) }
    }
}

extension StoreLoad {
    /// Adds the load of a store whose positions start after the offset.
    fileprivate mutating func add(_ other: StoreLoad, after offset: RecordPosition) {
        records += other.records
        spooled += other.spooled
        bytes += other.bytes
        unread += other.unread
        unreadBytes += other.unreadBytes
        found += other.found
        last = max(last, other.last + offset)
        if first == nil, let position = other.first {
            first = position + offset
            firstSince = other.firstSince
        }
        guard firstUnread == nil, let position = other.firstUnread else { return }
        firstUnread = position + offset
        firstUnreadSince = other.firstUnreadSince
    }
}
