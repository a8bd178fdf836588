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
