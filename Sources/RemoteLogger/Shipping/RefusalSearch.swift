/// Finds the records for which a batch is refused, by halving refused pieces.
///
/// A receiver that refuses everything must not be sent every record separately. The number of consecutive pieces without success is
/// therefore limited, to as many as two bad records need. When the limit is reached, refused pieces are set aside and the waiting pieces
/// are sent first; as soon as one is accepted, the search continues. If all are refused, the remaining pieces are given up.
///
/// The search starts as a ``RefusalBisection``, which needs few requests to find a single bad record.
struct RefusalSearch: Sendable {
    /// The next step of the search.
    struct Step: Sendable {
        /// The pieces to send now, in this order.
        var pieces: [[Int]] = []
        /// The bad record, if it was found.
        var found: Suspect?
    }

    private let limit: Int
    /// The number of pieces that may be sent before one must be accepted.
    private var left: Int
    private var suspects: [Suspect] = []
    /// The current bisection, during which only its probes are sent.
    private var bisection: RefusalBisection?
    /// The pieces that waited for the end of a bisection and are sent as one.
    private var joined: [[Int]] = []
    /// Whether the joined piece was refused, too: with many bad records, halving both sides costs less than bisecting for the first one.
    private var isPlural = false

    init(records: Int) {
        // Two halves per step down to a bad record, then the waiting pieces; all of that for two bad records.
        limit = 4 * (Int.bitWidth - records.leadingZeroBitCount)
        left = limit
    }

    /// Resets the limit after a success.
    mutating func renew() {
        left = limit
    }

    /// Handles a refused piece.
    mutating func refuse(_ suspect: Suspect) -> Step {
        if bisection?.probe == suspect.piece {
            bisection?.narrow(to: suspect)
            return nextStep()
        }
        if joined.count > 1, suspect.piece == joined.flatMap({ $0 }) {
            defer { joined = [] }
            isPlural = true
            return Step(pieces: joined)
        }
        if isPlural { return suspect.piece.count == 1 ? Step(found: suspect) : Step(pieces: halves(of: suspect)) }
        bisection = RefusalBisection(suspect)
        return nextStep()
    }

    /// Returns the step that follows a piece that wasn't refused.
    ///
    /// - Parameter isTaken: Whether the whole piece was accepted.
    mutating func next(after piece: [Int], isTaken: Bool) -> Step {
        guard let bisection, bisection.probe == piece else { return Step() }
        guard isTaken else {
            // The result gives no information about the other half.
            self.bisection = nil
            return Step(pieces: bisection.others)
        }
        self.bisection?.pass()
        return nextStep()
    }

    private mutating func nextStep() -> Step {
        guard let bisection else { return Step() }
        if bisection.suspect.piece.count > 1 {
            if pay(2) { return Step(pieces: [bisection.probe]) }
            self.bisection = nil
            suspects.append(bisection.suspect)
            return Step(pieces: bisection.waiting)
        }
        self.bisection = nil
        let rest = rest(of: bisection)
        return bisection.isProof ? Step(pieces: rest, found: bisection.suspect) : Step(pieces: [bisection.suspect.piece] + rest)
    }

    /// Returns the pieces that waited for the end of a bisection, joined if the limit allows it.
    private mutating func rest(of bisection: RefusalBisection) -> [[Int]] {
        guard bisection.waiting.count > 1, pay(1) else { return bisection.waiting }
        joined = bisection.waiting
        return [joined.flatMap { $0 }]
    }

    /// Returns the halves of a refused piece to send now; none if the piece is set aside.
    mutating func halves(of suspect: Suspect) -> [[Int]] {
        if pay(2) { return suspect.piece.halves }
        suspects.append(suspect)
        return []
    }

    /// Returns the halves of pieces that were set aside, as far as the limit allows.
    mutating func takeSuspects() -> [[Int]] {
        guard bisection == nil else { return [] }
        let count = min(suspects.count, left / 2)
        defer { suspects.removeFirst(count) }
        left -= 2 * count
        return suspects[..<count].flatMap(\.piece.halves)
    }

    private mutating func pay(_ pieces: Int) -> Bool {
        guard left >= pieces else { return false }
        left -= pieces
        return true
    }

    /// Returns the pieces that are still set aside, and forgets them.
    mutating func giveUp() -> [Suspect] {
        defer { suspects = [] }
        return suspects
    }
}

/// Bisects a refused piece to find its first bad record: records before it are delivered on the way, and records after it wait.
///
/// If the first half is accepted, the second one must contain a bad record, and is halved without being sent. If the first half is refused,
/// the second one waits, and is sent with all other waiting pieces once the record is found. One bad record of n therefore costs log2(n) +
/// 1 additional requests, and one more if it is the second of the last two.
struct RefusalBisection: Sendable {
    /// The records that include a bad one: the last refusal was for these, or for these and others that were accepted since.
    private(set) var suspect: Suspect
    /// Whether the receiver has refused exactly these records.
    private(set) var isAsked = true
    /// The later pieces with unknown results, in order.
    private(set) var waiting: [[Int]] = []

    init(_ suspect: Suspect) {
        self.suspect = suspect
    }

    /// The next piece to send.
    var probe: [Int] { suspect.piece.halves[0] }

    /// Narrows the search after a refused probe.
    mutating func narrow(to refused: Suspect) {
        waiting.insert(suspect.piece.halves[1], at: 0)
        suspect = refused
        isAsked = true
    }

    /// Narrows the search after an accepted probe.
    mutating func pass() {
        suspect = Suspect(piece: suspect.piece.halves[1], status: suspect.status, reason: suspect.reason)
        isAsked = false
    }

    /// Whether the receiver has refused this record alone. A record must be sent alone before it is dropped, even if all others were
    /// accepted, because a refusal may have had another reason.
    var isProof: Bool { suspect.piece.count == 1 && isAsked }

    /// All pieces with unknown results, except the probe.
    var others: [[Int]] { [suspect.piece.halves[1]] + waiting }
}

/// The indices of records that the receiver has refused together, and its response.
struct Suspect: Sendable {
    let piece: [Int]
    let status: Int?
    let reason: String
}

extension [Int] {
    /// The two halves.
    var halves: [[Int]] {
        let middle = count / 2
        return [Array(self[..<middle]), Array(self[middle...])]
    }

    /// Returns the elements in pieces of at most the given size.
    func pieces(of size: Int) -> [[Int]] {
        guard count > size else { return isEmpty ? [] : [self] }
        return stride(from: 0, to: count, by: Swift.max(1, size)).map { start in
            Array(self[start..<Swift.min(count, start + Swift.max(1, size))])
        }
    }
}
