import Foundation

/// The body of a request, made once: each attempt sends the same bytes.
struct Payload: Sendable {
    let body: Data
    var isCompressed = false
    let records: Int
    /// Whether compression was wanted and there is nothing to compress with.
    var lacksCompressor = false
}

/// What came of an attempt to send.
enum Attempt: Sendable {
    /// There is an answer; without a status where the protocol has none.
    case verdict(DeliveryVerdict, status: Int?, retryAfter: Duration?)
    /// There is none: nobody knows whether the records arrived.
    case failure(String)
}

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
