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
