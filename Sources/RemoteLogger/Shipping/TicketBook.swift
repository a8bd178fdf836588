/// The tickets of a receiver that acknowledges later, so that one question asks for all of them, whichever batch is the first to want to know.
///
/// An answer that says yes may say so only once, hence it is kept for the batch that hasn't asked yet.
struct TicketBook: Sendable {
    /// What is to be done for a ticket.
    enum Step: Sendable, Equatable {
        /// The receiver has said yes.
        case acknowledged
        /// It was asked for the ticket just now.
        case notYet
        /// It is to be asked for these, this one among them.
        case ask([String])
    }

    /// When each was wanted last.
    private var wanted: [String: UInt64] = [:]
    /// When the receiver has said yes to those whose batches haven't asked since.
    private var acknowledged: [String: UInt64] = [:]
    private var asked: Set<String> = []
    private var askedAt: UInt64?

    /// Wants to know of a ticket.
    ///
    /// - Parameters:
    ///   - now: the time in nanoseconds, which never goes back.
    ///   - interval: how long it is between two questions of a batch, in nanoseconds.
    mutating func step(for ticket: String, now: UInt64, interval: UInt64) -> Step {
        guard acknowledged.removeValue(forKey: ticket) == nil else { return .acknowledged }
        wanted[ticket] = now
        // A batch that wants to know no more has given up.
        let (product, overflows) = interval.multipliedReportingOverflow(by: 10)
        let limit = overflows ? .max : max(product, 1_000_000_000)
        wanted = wanted.filter { now &- $0.value <= limit }
        acknowledged = acknowledged.filter { now &- $0.value <= limit }
        if let askedAt, now &- askedAt < interval, asked.contains(ticket) { return .notYet }
        asked = Set(wanted.keys)
        askedAt = now
        return .ask(wanted.keys.sorted())
    }

    /// Notes for which of them the receiver has said yes to a question for a ticket.
    mutating func note(_ tickets: Set<String>, askedFor ticket: String, now: UInt64) {
        for other in tickets {
            wanted[other] = nil
            if other != ticket { acknowledged[other] = now }
        }
    }
}
