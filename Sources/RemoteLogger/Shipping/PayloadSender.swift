/// Brings payloads to a receiver: over HTTP, or by what else it speaks.
protocol PayloadSender: Sendable {
    /// The receiver's name in messages, without secrets.
    var receiver: String { get }
    /// The receiver's clock less the one here, in nanoseconds, as far as it has told.
    var clockOffset: Int64? { get }

    func attempt(_ payload: Payload) async -> Attempt
    /// Asks whether the receiver has stored the batch of a ticket.
    func acknowledgement(of ticket: String) async -> Acknowledgement
    /// Ends connections of its own.
    func close()
}

/// What a receiver says of a batch that it has taken.
enum Acknowledgement: Sendable {
    /// It is stored.
    case stored
    /// Not yet, or never: the receiver doesn't tell these apart.
    case pending
    /// It was asked just now.
    case unasked
    /// It can't be asked now.
    case busy(String, status: Int?, retryAfter: Duration?)
    /// It can't be asked with these settings.
    case refused(reason: String, status: Int?, retryAfter: Duration?)

    /// Whether the receiver has told something.
    var isAnswered: Bool {
        switch self {
        case .stored, .pending: true
        case .unasked, .busy, .refused: false
        }
    }
}
