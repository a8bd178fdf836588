/// A batch that is being collected.
struct RecordBatch: Sendable {
    private(set) var records: [StoredRecord] = []
    private var bytes = 0
    /// Everything up to here was looked at.
    var cursor: RecordPosition
    /// Records below aren't wanted.
    var level = LogLevel.trace
    /// The destination that it is for, where several share what is held.
    var destination: String?
    let limits: BatchLimits
    private(set) var isFull = false

    init(cursor: RecordPosition, limits: BatchLimits) {
        self.cursor = cursor
        self.limits = limits
    }

    /// Takes a record, or nothing more.
    ///
    /// - Returns: whether it was taken.
    mutating func take(_ record: LogRecord, at position: RecordPosition, size: Int) -> Bool {
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

extension RecordBuffer {
    /// Puts what stands behind a batch's cursor into the batch; it is pinned from then on.
    mutating func read(into batch: inout RecordBatch) {
        for item in pinned where item.position > batch.cursor && !Self.take(item, &batch) { return }
        while let next = oldestUnpinned {
            guard next.position <= batch.cursor || Self.take(next, &batch), pinNext() != nil else { return }
        }
    }

    /// - Returns: whether there is room for more.
    private static func take(_ item: Item, _ batch: inout RecordBatch) -> Bool {
        let isExcluded = !item.excluded.isEmpty && batch.destination.map(item.excluded.contains) ?? false
        guard item.record.level >= batch.level, !isExcluded else {
            batch.cursor = item.position
            return true
        }
        return batch.take(item.record, at: item.position, size: item.size)
    }
}
