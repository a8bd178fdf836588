/// What came of an attempt to send.
enum Attempt: Sendable {
    /// There is an answer; without a status where the protocol has none.
    case verdict(DeliveryVerdict, status: Int?, retryAfter: Duration?)
    /// There is none: nobody knows whether the records arrived.
    case failure(String)
}
