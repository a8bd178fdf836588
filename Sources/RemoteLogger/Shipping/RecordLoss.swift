/// Records that a store has lost, or dropped to make room.
package struct RecordLoss: Sendable, Hashable {
    package var count: Int
    /// The place of one of them, none of which stands before it.
    package var first: RecordPosition
    package var reason: DropReason
}
