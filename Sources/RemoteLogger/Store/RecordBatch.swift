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

/// A batch on its way, and what became of each of its records so far.
struct PendingBatch: Sendable {
    enum Outcome: Sendable, Equatable {
        case delivered
        case dropped(DropReason)
    }

    let records: [StoredRecord]
    private var outcomes: [Outcome?]
    /// So many from the first on are settled with the store.
    private var settled = 0

    init(_ records: [StoredRecord]) {
        self.records = records
        outcomes = records.map { _ in nil }
    }

    /// The places of the records that nothing has become of, in order.
    var open: [Int] { open(of: outcomes.indices) }

    /// Those of these places, in order.
    func open(of places: some Sequence<Int>) -> [Int] {
        places.filter { outcomes[$0] == nil }
    }

    /// Whether the receiver has taken one of these.
    func hasDelivered(of places: [Int]) -> Bool {
        places.contains { outcomes[$0] == .delivered }
    }

    /// Whether the receiver has taken each of these.
    func hasDeliveredAll(of places: [Int]) -> Bool {
        places.allSatisfy { outcomes[$0] == .delivered }
    }

    mutating func note(_ outcome: Outcome, for places: some Sequence<Int>) {
        for place in places where outcomes.indices.contains(place) { outcomes[place] = outcome }
    }

    /// The records that can be settled now, with their outcomes: a store takes acknowledgements in order.
    mutating func takeSettled() -> [(record: StoredRecord, outcome: Outcome)] {
        var taken: [(StoredRecord, Outcome)] = []
        while settled < outcomes.count, let outcome = outcomes[settled] {
            taken.append((records[settled], outcome))
            settled += 1
        }
        return taken
    }
}
