/// The queue between the front end, which appends records, and the shipper, which sends them.
///
/// A store keeps records in the order of arrival and returns those after a cursor. A record is removed only when it is acknowledged or
/// dropped to make room. ``MemoryStore`` keeps all records in memory. With a ``SpoolDestination``, `append` adds the record to the memory
/// in front of the disk, `read` reads from disk, and `acknowledge` frees what no destination needs any more. Therefore, only `read` and
/// `persist` wait for a disk, and the function passed to ``onNews(_:)`` is the only callback.
package protocol RecordStore: Sendable {
    /// Adds a record, and returns the losses that keep the store within its limits, which may include the record itself. It is called for
    /// each record, so it allocates only what keeps the record. Each loss is reported once, here or by ``takeLosses()``.
    ///
    /// - Parameter now: The monotonic time in nanoseconds, which determines the age of waiting records.
    func append(_ record: LogRecord, now: UInt64) -> AppendOutcome

    /// Returns the next records after a position, in order: at least one if there are any, within the limits. The store keeps them until
    /// they are acknowledged, and no longer drops them to make room.
    func read(after cursor: RecordPosition, limits: BatchLimits) async -> [StoredRecord]

    /// Removes all records up to a position.
    func acknowledge(through position: RecordPosition)

    /// Closes the store and releases its resources.
    ///
    /// - Returns: The number of lost records: all held records in memory, none on disk.
    func close() -> Int

    /// The current load.
    var load: StoreLoad { get }

    /// The current load, including the number of records on disk. Its cost grows with the number of records in memory.
    var census: StoreLoad { get }

    /// The position of the last record of an earlier run; later ones are this run's.
    var foundThrough: RecordPosition { get }

    /// Returns the losses that neither an `append` nor an earlier call has reported. Until then they count as held.
    func takeLosses() -> ShortList<RecordLoss>

    /// Sets the condition that wakes the reader before it sleeps. The first append that meets the condition reports
    /// ``AppendOutcome/mustWake``; if another destination's append meets it, the function passed to ``onNews(_:)`` is called. Later appends
    /// do nothing.
    ///
    /// - Returns: Whether the condition isn't met yet; otherwise the reader must not sleep.
    func sleep(until condition: WakeCondition) -> Bool

    /// Calls the function passed to ``onNews(_:)`` once, at the next loss that no `append` reports.
    ///
    /// - Returns: Whether nothing is lost yet; otherwise ``takeLosses()`` returns it.
    func awaitLosses() -> Bool

    /// Waits until all appended records and acknowledgements are as durable as the store can make them.
    func persist() async

    /// Sets the function to call, from any thread, when there are new records or losses without an `append`. It must return at once and
    /// must not call the store.
    func onNews(_ report: @escaping @Sendable (StoreNews) -> Void)
}

extension RecordStore {
    package var census: StoreLoad { load }
    package var foundThrough: RecordPosition { 0 }
    package func takeLosses() -> ShortList<RecordLoss> { ShortList() }
    package func awaitLosses() -> Bool { true }
    package func persist() async {}
    package func onNews(_ report: @escaping @Sendable (StoreNews) -> Void) {}
}

/// The outcome of an append. It is noncopyable because there is one per record.
package struct AppendOutcome: ~Copyable, Sendable {
    /// The record's position.
    package var position: RecordPosition
    /// The records dropped for it; with a spool, all unreported losses of the destination.
    package var losses = ShortList<RecordLoss>()
    /// Whether the sleeping reader must be woken: see ``RecordStore/sleep(until:)``.
    package var mustWake = false
    /// Whether the record itself was dropped.
    package var isLost = false
    /// Whether the destination's filter excludes the record: it isn't held and doesn't count.
    package var isExcluded = false
    /// Whether ``RecordStore/takeLosses()`` may return losses.
    package var mayHaveLosses = false
}

/// The load of a store.
package struct StoreLoad: Sendable {
    /// The number of records, including those read but not yet acknowledged.
    package var records = 0
    /// The number of records that are safe on disk; only ``RecordStore/census`` counts them.
    package var spooled = 0
    /// The total size of the records in bytes.
    package var bytes = 0
    /// The number of unread records.
    package var unread = 0
    /// The size of the unread records in bytes.
    package var unreadBytes = 0
    /// The position of the last record that the store ever had, including found ones.
    package var last: RecordPosition = 0
    /// The position of the oldest held record.
    package var first: RecordPosition?
    /// A lower bound of that record's arrival time, on the monotonic clock in nanoseconds.
    package var firstSince: UInt64 = 0
    /// The position of the oldest unread record.
    package var firstUnread: RecordPosition?
    /// That record's arrival time, on the monotonic clock in nanoseconds.
    package var firstUnreadSince: UInt64 = 0
    /// The number of records that weren't appended here: left by an earlier run, or appended for another destination.
    package var found = 0
}

/// An event that a store reports to its reader.
package enum StoreNews: Sendable {
    /// The records that the reader waits for have arrived.
    case records
    /// Records were lost.
    case losses
}

/// A record's position in a store: 1, 2, 3 … in the order of arrival; 0 is before the first.
package typealias RecordPosition = UInt64

/// A record with its position.
package struct StoredRecord: Sendable {
    package let position: RecordPosition
    package let record: LogRecord
}

/// Records that a store has lost or dropped to make room.
package struct RecordLoss: Sendable, Hashable {
    package var count: Int
    /// A position that isn't after any of them.
    package var first: RecordPosition
    package var reason: DropReason
}

/// The number of lost records, by reason. A linear search over the few reasons is much faster than a dictionary, which matters because
/// every call counts one while a buffer is full.
struct LossCounts: Sendable {
    private var counts: [(reason: DropReason, count: UInt64)] = []
    /// The number of lost records for all reasons.
    private(set) var total: UInt64 = 0

    subscript(reason: DropReason) -> UInt64 {
        counts.first { $0.reason == reason }?.count ?? 0
    }

    mutating func add(_ count: UInt64, _ reason: DropReason) {
        total += count
        for index in counts.indices where counts[index].reason == reason {
            counts[index].count += count
            return
        }
        counts.append((reason, count))
    }

    var byReason: [DropReason: UInt64] {
        Dictionary(uniqueKeysWithValues: counts.map { ($0.reason, $0.count) })
    }
}
