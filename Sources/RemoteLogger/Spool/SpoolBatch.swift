/// A batch that is being collected.
struct SpoolBatch: Sendable {
    private(set) var records: [StoredRecord] = []
    private var bytes = 0
    /// Everything up to here was looked at.
    var cursor: RecordPosition
    /// Records below aren't wanted.
    var level = LogLevel.trace
    let limits: BatchLimits
    private(set) var isFull = false

    init(cursor: RecordPosition, limits: BatchLimits) {
        self.cursor = cursor
        self.limits = limits
    }

    /// Takes a record, or nothing more.
    mutating func take(_ record: LogRecord, at position: RecordPosition) -> Bool {
        let size = record.footprint
        guard records.isEmpty || records.count < limits.records && bytes + size <= limits.bytes else {
            isFull = true
            return false
        }
        records.append(StoredRecord(position: position, record: record))
        bytes += size
        cursor = position
        return true
    }

    mutating func removeLast(to count: Int) {
        records.removeLast(max(0, records.count - count))
    }
}

extension SpoolState {
    /// Puts what is in memory into a batch; it is pinned from then on.
    mutating func takeFromMemory(_ batch: inout SpoolBatch) {
        for item in memory.pinned where item.position > batch.cursor && !take(item, &batch) { return }
        while let next = memory.oldestUnpinned {
            guard next.position <= batch.cursor || take(next, &batch), memory.pinNext() != nil else { return }
        }
    }

    /// - Returns: whether there is room for more.
    private func take(_ item: RecordBuffer.Item, _ batch: inout SpoolBatch) -> Bool {
        guard item.record.level >= batch.level else {
            batch.cursor = item.position
            return true
        }
        return batch.take(item.record, at: item.position)
    }
}
