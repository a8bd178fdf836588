/// What stands between the front, which takes records, and the shipper, which sends them.
///
/// A store keeps records in the order in which they came and hands them out behind a cursor; a record leaves only when it has been
/// acknowledged, or dropped to make room. ``MemoryStore`` keeps all in memory. With a ``SpoolDestination`` `append` puts the record into
/// the memory in front of the disk, `read` reads from disk, and `acknowledge` frees what no destination needs any more. Hence the rules:
/// nothing but `read` and `persist` waits for a disk, and nothing calls back but the function given to ``onNews(_:)``.
package protocol RecordStore: Sendable {
    /// Takes a record, or says what was dropped to stay within the bounds, which may be the record itself. It is called for each record: it
    /// makes no allocation but those that keep the record. What it tells as lost is told once, here or by ``takeLosses()``.
    ///
    /// - Parameter now: the monotonic time in nanoseconds, by which the age of what waits is told.
    func append(_ record: LogRecord, now: UInt64) -> AppendOutcome

    /// The next records behind a place, in order: at least one if there is any, at most what the limits say. They are kept, and not
    /// dropped to make room any more, until they are acknowledged.
    func read(after cursor: RecordPosition, limits: BatchLimits) async -> [StoredRecord]

    /// Lets go of every record up to a place.
    func acknowledge(through position: RecordPosition)

    /// Ends the store and lets go of everything.
    ///
    /// - Returns: how many records are lost by that: in memory all that it held, on disk none.
    func close() -> Int

    /// What the store holds.
    var load: StoreLoad { get }

    /// What the store holds, and how many records of it are on disk: that takes the longer, the more is in memory.
    var census: StoreLoad { get }

    /// Records up to here were left by an earlier run; those behind are this one's.
    var foundThrough: RecordPosition { get }

    /// What was lost since the last time and not told by an `append`. Until it is taken here it counts as held.
    func takeLosses() -> ShortList<RecordLoss>

    /// Says what ends the sleep that the one who reads is about to begin. The first one who then brings that much is told by
    /// ``AppendOutcome/mustWake``, or, if it isn't an `append` here, calls what was given to ``onNews(_:)``; the next ones do nothing.
    ///
    /// - Returns: whether so much isn't there yet; otherwise there is nothing to sleep for.
    func sleep(until condition: WakeCondition) -> Bool

    /// Calls what was given to ``onNews(_:)``, once, when something is lost that no `append` tells.
    ///
    /// - Returns: whether nothing is lost yet; otherwise ``takeLosses()`` has it.
    func awaitLosses() -> Bool

    /// Waits until what was appended and what was acknowledged before is as safe as the store can make it.
    func persist() async

    /// Gives what to call, from any thread, when records or losses have come without an `append`. It must return at once, and mustn't ask
    /// the store for anything.
    func onNews(_ tell: @escaping @Sendable (StoreNews) -> Void)
}

extension RecordStore {
    package var census: StoreLoad { load }
    package var foundThrough: RecordPosition { 0 }
    package func takeLosses() -> ShortList<RecordLoss> { ShortList() }
    package func awaitLosses() -> Bool { true }
    package func persist() async {}
    package func onNews(_ tell: @escaping @Sendable (StoreNews) -> Void) {}
}

/// What an append did. It isn't copied on its way to who asked, which is once for each record.
package struct AppendOutcome: ~Copyable, Sendable {
    /// The record's place.
    package var position: RecordPosition
    /// What was dropped for it, and with a spool all that the destination has lost since it was last told.
    package var losses = ShortList<RecordLoss>()
    /// The one who reads sleeps, and waits for what is there now: see ``RecordStore/sleep(until:)``.
    package var mustWake = false
    /// The record itself was dropped.
    package var isLost = false
    /// The destination's filter keeps the record out: it isn't held, and doesn't count.
    package var isExcluded = false
    /// Whether ``RecordStore/takeLosses()`` may have something to tell.
    package var mayHaveLosses = false
}

/// What a store holds.
package struct StoreLoad: Sendable {
    /// All records, those that were read and aren't acknowledged yet included.
    package var records = 0
    /// How many of them are safe on disk; counted only where ``RecordStore/census`` is asked.
    package var spooled = 0
    /// The bytes of all records.
    package var bytes = 0
    /// The records that were not read yet.
    package var unread = 0
    /// The bytes of these.
    package var unreadBytes = 0
    /// The place of the last record that the store ever had, found ones included.
    package var last: RecordPosition = 0
    /// The place of the oldest record that is held.
    package var first: RecordPosition?
    /// When that record came, or an older one, on the monotonic clock in nanoseconds.
    package var firstSince: UInt64 = 0
    /// The place of the oldest record that was not read yet.
    package var firstUnread: RecordPosition?
    /// When that record came, on the monotonic clock in nanoseconds.
    package var firstUnreadSince: UInt64 = 0
    /// How many records the store has, or had, that weren't appended here: left by an earlier run, or taken for another destination.
    package var found = 0
}

/// What a store tells without being asked.
package enum StoreNews: Sendable {
    /// There are records that the one who reads was waiting for.
    case records
    /// Something was lost.
    case losses
}

/// A record's place in a store: 1, 2, 3 … in the order of arrival; 0 is before the first.
package typealias RecordPosition = UInt64

/// A record with its place.
package struct StoredRecord: Sendable {
    package let position: RecordPosition
    package let record: LogRecord
}

/// Records that a store has lost, or dropped to make room.
package struct RecordLoss: Sendable, Hashable {
    package var count: Int
    /// The place of one of them, none of which stands before it.
    package var first: RecordPosition
    package var reason: DropReason
}

/// How many records were lost, by reason. There are a handful of reasons: to walk them takes a fraction of what a dictionary does, and while
/// a buffer is full every call counts one.
struct LossCounts: Sendable {
    private var counts: [(reason: DropReason, count: UInt64)] = []
    /// Those of every reason.
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
