/// What an append did. It isn't copied on its way to who asked, which is once for each record.
package struct AppendOutcome: ~Copyable, Sendable {
    /// The record's place.
    package var position: RecordPosition
    /// What was dropped for it, and with a spool all that the destination has lost since it was last told.
    package var losses = ShortList<RecordLoss>()
    /// The records that were not read yet, afterwards.
    package var unread = 0
    /// The bytes of these.
    package var unreadBytes = 0
    /// The destination's filter keeps the record out: it isn't held, and doesn't count.
    package var isExcluded = false
    /// Whether ``RecordStore/takeLosses()`` may have something to tell.
    package var mayHaveLosses = false
}
