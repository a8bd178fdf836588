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
