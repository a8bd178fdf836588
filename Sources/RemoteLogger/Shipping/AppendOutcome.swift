/// What an append did.
package struct AppendOutcome: Sendable {
    /// A record that was dropped.
    package struct Loss: Sendable {
        package var position: RecordPosition
        package let reason: DropReason
    }

    /// The record's place.
    package var position: RecordPosition
    /// What was dropped, with the reason.
    package var dropped = ShortList<Loss>()
    /// The records that were not read yet, afterwards.
    package var unread = 0
    /// The bytes of these.
    package var unreadBytes = 0
    /// The destination's filter keeps the record out: it isn't held, and doesn't count.
    package var isExcluded = false
    /// Whether ``RecordStore/takeLosses()`` may have something to tell.
    package var mayHaveLosses = false
}
