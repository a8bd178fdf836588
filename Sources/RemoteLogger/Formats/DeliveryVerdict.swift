/// What becomes of a batch after an answer.
public enum DeliveryVerdict: Sendable, Hashable {
    /// The receiver has all records. It may have had a remark.
    case delivered(remark: String? = nil)
    /// The receiver has taken the batch, and will say later whether it has stored it: it is asked by the ticket, see
    /// ``AcknowledgingLogFormat``.
    case accepted(ticket: String)
    /// The receiver has the batch but for some records, which it won't take; it doesn't say which. Nothing is sent again.
    case partiallyRejected(records: Int, reason: String)
    /// The receiver tells each record's fate, in the order in which they were sent.
    case each([RecordVerdict])
    /// The receiver can't take it now: the same bytes are sent again after a while, or when its `Retry-After` says.
    case retry
    /// The batch is too large: each half is sent by itself, down to a single record, which is dropped. One that is larger than all others together
    /// is sent by itself at once, then those behind it.
    case split
    /// Some record in it can't be taken, and the receiver has stored none of the batch: halves are sent down to the record in question, which is
    /// dropped once it was refused by itself, and the rest in one go. For one bad record of n that is log2(n) + 2 more requests at most. What is still
    /// refused when nothing was taken for as many requests as a few bad records would need is dropped together.
    case isolate(reason: String)
    /// The settings are wrong: nothing is dropped, and nothing sent for some minutes.
    case pause(reason: String)
    /// The receiver won't take it: the batch is dropped.
    case reject(reason: String)
}
