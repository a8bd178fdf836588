/// A batch under construction.
struct RecordBatch: Sendable {
    private(set) var records: [StoredRecord] = []
    private var bytes = 0
    /// All records up to this position have been considered.
    var cursor: RecordPosition
    /// The minimum level.
    var level = LogLevel.trace
    /// The destination of the batch, if several share the records.
    var destination: String?
    let limits: BatchLimits
    private(set) var isFull = false

    init(cursor: RecordPosition, limits: BatchLimits) {
        self.cursor = cursor
        self.limits = limits
    }

    /// Adds a record unless the batch is full.
    ///
    /// - Returns: Whether the record was added.
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
    /// Moves the records after a batch's cursor into the batch, and pins them.
    mutating func read(into batch: inout RecordBatch) {
        for item in pinned where item.position > batch.cursor && !Self.take(item, &batch) { return }
        while let next = oldestUnpinned {
            guard next.position <= batch.cursor || Self.take(next, &batch), pinNext() != nil else { return }
        }
    }

    /// - Returns: Whether there is room for more.
    private static func take(_ item: Item, _ batch: inout RecordBatch) -> Bool {
        let isExcluded = !item.excluded.isEmpty && batch.destination.map(item.excluded.contains) ?? false
        guard item.record.level >= batch.level, !isExcluded else {
            batch.cursor = item.position
            return true
        }
        return batch.take(item.record, at: item.position, size: item.size)
    }
}

/// A batch in flight, with the outcomes of its records so far.
struct PendingBatch: Sendable {
    enum Outcome: Sendable, Equatable {
        case delivered
        case dropped(DropReason)
    }

    let records: [StoredRecord]
    private var outcomes: [Outcome?]
    /// The number of records, from the first on, that are settled with the store.
    private var settled = 0

    init(_ records: [StoredRecord]) {
        self.records = records
        outcomes = records.map { _ in nil }
    }

    /// The indices of the records without an outcome, in order.
    var open: [Int] { open(of: outcomes.indices) }

    /// Returns the given indices without an outcome, in order.
    func open(of indices: some Sequence<Int>) -> [Int] {
        indices.filter { outcomes[$0] == nil }
    }

    /// Returns whether the receiver has accepted one of the records.
    func hasDelivered(of indices: [Int]) -> Bool {
        indices.contains { outcomes[$0] == .delivered }
    }

    /// Returns whether the receiver has accepted all of the records.
    func hasDeliveredAll(of indices: [Int]) -> Bool {
        indices.allSatisfy { outcomes[$0] == .delivered }
    }

    mutating func note(_ outcome: Outcome, for indices: some Sequence<Int>) {
        for index in indices where outcomes.indices.contains(index) { outcomes[index] = outcome }
    }

    /// Returns the records that can be settled now, with their outcomes: a store takes acknowledgements in order.
    mutating func takeSettled() -> [(record: StoredRecord, outcome: Outcome)] {
        var taken: [(StoredRecord, Outcome)] = []
        while settled < outcomes.count, let outcome = outcomes[settled] {
            taken.append((records[settled], outcome))
            settled += 1
        }
        return taken
    }
}

/// The limits of a batch, which is sent as soon as one of them is reached.
public struct BatchLimits: Sendable, Hashable {
    /// The maximum number of records in a request. Default 1,000.
    public var records: Int
    /// The maximum memory footprint of a request's records, in bytes. Default 1 MiB.
    public var bytes: Int
    /// The maximum time that a record waits for others. Default 1 second.
    public var interval: Duration

    /// Creates limits; numbers below 1 count as 1.
    public init(records: Int = 1_000, bytes: Int = 1 << 20, interval: Duration = .seconds(1)) {
        self.records = max(1, records)
        self.bytes = max(1, bytes)
        self.interval = interval
    }
}
