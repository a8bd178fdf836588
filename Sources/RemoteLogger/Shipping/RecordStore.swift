/// What stands between the front, which takes records, and the shipper, which sends them.
///
/// A store keeps records in the order in which they came and hands them out behind a cursor; a record leaves only when it has been
/// acknowledged, or dropped to make room. ``MemoryStore`` keeps all in memory. With a ``SpoolDestination`` `append` puts the record into
/// the memory in front of the disk, `read` reads from disk, and `acknowledge` frees what no destination needs any more. Hence the rules:
/// nothing but `read` and `persist` waits for a disk, and nothing calls back but the function given to ``onNews(_:)``.
package protocol RecordStore: Sendable {
    /// Takes a record, or says what was dropped to stay within the bounds, which may be the record itself.
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

    /// What was lost since the last time and not told by an `append`. Until it is taken here it counts as held.
    func takeLosses() -> [RecordLoss]

    /// Waits until what was appended before is as safe as the store can make it.
    func persist() async

    /// Gives what to call, from any thread, when records have come without an `append`. It must return at once.
    func onNews(_ wake: @escaping @Sendable () -> Void)
}

extension RecordStore {
    package func takeLosses() -> [RecordLoss] { [] }
    package func persist() async {}
    package func onNews(_ wake: @escaping @Sendable () -> Void) {}
}

/// Records that a store has lost, or dropped to make room.
package struct RecordLoss: Sendable, Hashable {
    package var count: Int
    /// The place of one of them, none of which stands before it.
    package var first: RecordPosition
    package var reason: DropReason
}

/// A record's place in a store: 1, 2, 3 … in the order of arrival; 0 is before the first.
package typealias RecordPosition = UInt64

/// A record with its place.
package struct StoredRecord: Sendable {
    package let position: RecordPosition
    package let record: LogRecord
}

/// What an append did.
package struct AppendOutcome: Sendable {
    /// The record's place.
    package var position: RecordPosition
    /// What was dropped, with the reason.
    package var dropped: [(position: RecordPosition, reason: DropReason)] = []
    /// The records that were not read yet, afterwards.
    package var unread = 0
    /// The bytes of these.
    package var unreadBytes = 0
}

/// What a store holds.
package struct StoreLoad: Sendable {
    /// All records, those that were read and aren't acknowledged yet included.
    package var records = 0
    /// The bytes of all records.
    package var bytes = 0
    /// The records that were not read yet.
    package var unread = 0
    /// The bytes of these.
    package var unreadBytes = 0
    /// The place of the oldest record that is held.
    package var first: RecordPosition?
    /// The place of the oldest record that was not read yet.
    package var firstUnread: RecordPosition?
    /// When that record came, on the monotonic clock in nanoseconds.
    package var firstUnreadSince: UInt64 = 0
    /// How many records the store has, or had, that weren't appended here: left by an earlier run, or taken for another destination.
    package var found = 0
}
