/// Looks for the first record that spoils a refused piece, by halving: what comes before it is taken on the way, what comes behind it waits.
///
/// Where the first half of what is in question was taken, the second one must hold a bad record, and is halved unasked. Where the first
/// half is refused, the second one waits: it is sent with all others that wait, once the record is found. So one bad record of n costs
/// log2(n) + 1 more requests, and another one where it is the second of the last two.
struct RefusalHunt: Sendable {
    /// Some record of these is bad: the last refusal was for them, or for them and others that were taken since.
    private(set) var suspect: Suspect
    /// Whether the receiver has refused just these.
    private(set) var isAsked = true
    /// The pieces behind them of which nothing is known, in order.
    private(set) var waiting: [[Int]] = []

    init(_ suspect: Suspect) {
        self.suspect = suspect
    }

    /// What is to be sent next.
    var probe: [Int] { suspect.piece.halves[0] }

    /// The probe was refused.
    mutating func narrow(to refused: Suspect) {
        waiting.insert(suspect.piece.halves[1], at: 0)
        suspect = refused
        isAsked = true
    }

    /// The probe was taken.
    mutating func pass() {
        suspect = Suspect(piece: suspect.piece.halves[1], status: suspect.status, reason: suspect.reason)
        isAsked = false
    }

    /// Whether the search is over: the receiver has refused this record by itself. None is dropped that it wasn't asked for alone, whatever else
    /// was taken: a refusal may have had another reason.
    var isProof: Bool { suspect.piece.count == 1 && isAsked }

    /// All that nothing is known of, but the probe.
    var others: [[Int]] { [suspect.piece.halves[1]] + waiting }
}
