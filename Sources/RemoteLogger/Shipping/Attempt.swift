/// What came of an attempt to send.
enum Attempt: Sendable {
    /// There is an answer; without a status where the protocol has none.
    case verdict(DeliveryVerdict, status: Int?, retryAfter: Duration?)
    /// There is none: nobody knows whether the records arrived.
    case failure(String)

    /// Whether the receiver has answered, and not that it is too busy, or that the settings are wrong.
    var isAnswer: Bool {
        switch self {
        case .failure, .verdict(.retry, _, _), .verdict(.pause, _, _): false
        case .verdict(.each(let verdicts), _, _):
            verdicts.allSatisfy { verdict in
                switch verdict {
                case .retry, .pause: false
                case .delivered, .rejected: true
                }
            }
        case .verdict: true
        }
    }
}
