/// What becomes of a record of a batch.
public enum RecordVerdict: Sendable, Hashable {
    /// The receiver has it.
    case delivered
    /// The receiver can't take it now: it is sent again after a while, with the others of its batch to which that applies.
    case retry
    /// The settings are wrong for it: it stays, and nothing is sent for some minutes. Then it is sent again, with the others of its batch that stay.
    case pause(reason: String)
    /// The receiver won't take it: it is dropped.
    case rejected(reason: String)
}
