/// Brings payloads to a receiver: over HTTP, or by what else it speaks.
protocol PayloadSender: Sendable {
    /// The receiver's name in messages, without secrets.
    var receiver: String { get }
    /// The receiver's clock less the one here, in nanoseconds, as far as it has told.
    var clockOffset: Int64? { get }

    func attempt(_ payload: Payload) async -> Attempt
    /// Whether the receiver has stored the batch of a ticket.
    func isAcknowledged(_ ticket: String) async -> Bool
    /// Ends connections of its own.
    func close()
}
