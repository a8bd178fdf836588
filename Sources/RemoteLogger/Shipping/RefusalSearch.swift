/// How the records are found that spoil a batch: by halving what is refused.
///
/// A receiver that refuses everything mustn't be asked for every record. Hence there is a number of pieces that may be sent in a row of which
/// nothing is taken: as many as two bad records need. When they are used up, what is refused is set aside, and the pieces that wait are sent
/// first; as soon as one of them is taken, the search goes on. What is left when all were refused is given up.
///
/// It begins as a ``RefusalHunt``, which does with few requests where one record is bad.
struct RefusalSearch: Sendable {
    /// What is to be done next.
    struct Step: Sendable {
        /// To be sent now, in this order.
        var pieces: [[Int]] = []
        /// The record that was looked for.
        var found: Suspect?
    }

    private let limit: Int
    /// How many more pieces may be sent before something is taken.
    private var left: Int
    private var suspects: [Suspect] = []
    /// While there is one, nothing is sent but its probes.
    private var hunt: RefusalHunt?
    /// What waited for the end of a hunt, and is sent as one.
    private var joined: [[Int]] = []
    /// That was refused, too: where bad records are many, a hunt for the first one costs more than to ask for both halves.
    private var isPlural = false

    init(records: Int) {
        // Two halves for each step down to a bad record, then what waited, and that for two of them.
        limit = 4 * (Int.bitWidth - records.leadingZeroBitCount)
        left = limit
    }

    /// Something was taken: the receiver doesn't refuse everything.
    mutating func renew() {
        left = limit
    }

    /// Pieces were refused for some record in them.
    mutating func refuse(_ suspect: Suspect) -> Step {
        if hunt?.probe == suspect.piece {
            hunt?.narrow(to: suspect)
            return nextStep()
        }
        if joined.count > 1, suspect.piece == joined.flatMap({ $0 }) {
            defer { joined = [] }
            isPlural = true
            return Step(pieces: joined)
        }
        if isPlural { return suspect.piece.count == 1 ? Step(found: suspect) : Step(pieces: halves(of: suspect)) }
        hunt = RefusalHunt(suspect)
        return nextStep()
    }

    /// What follows from what became of a piece that wasn't refused.
    ///
    /// - Parameter isTaken: whether it was taken whole.
    mutating func goOn(after piece: [Int], isTaken: Bool) -> Step {
        guard let hunt, hunt.probe == piece else { return Step() }
        guard isTaken else {
            // That says nothing about the other half.
            self.hunt = nil
            return Step(pieces: hunt.others)
        }
        self.hunt?.pass()
        return nextStep()
    }

    private mutating func nextStep() -> Step {
        guard let hunt else { return Step() }
        if hunt.suspect.piece.count > 1 {
            if pay(2) { return Step(pieces: [hunt.probe]) }
            self.hunt = nil
            suspects.append(hunt.suspect)
            return Step(pieces: hunt.waiting)
        }
        self.hunt = nil
        let rest = rest(of: hunt)
        return hunt.isProof ? Step(pieces: rest, found: hunt.suspect) : Step(pieces: [hunt.suspect.piece] + rest)
    }

    /// What waited for the end of a hunt, in one piece where that can be paid for.
    private mutating func rest(of hunt: RefusalHunt) -> [[Int]] {
        guard hunt.waiting.count > 1, pay(1) else { return hunt.waiting }
        joined = hunt.waiting
        return [joined.flatMap { $0 }]
    }

    /// The halves of a piece that was refused, to be sent now; none if it is set aside.
    mutating func halves(of suspect: Suspect) -> [[Int]] {
        if pay(2) { return suspect.piece.halves }
        suspects.append(suspect)
        return []
    }

    /// The halves of pieces that were set aside, as far as they may be sent now.
    mutating func takeSuspects() -> [[Int]] {
        guard hunt == nil else { return [] }
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

    /// What is still set aside.
    mutating func giveUp() -> [Suspect] {
        defer { suspects = [] }
        return suspects
    }
}

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

/// Places of records that the receiver has refused together, and what it said.
struct Suspect: Sendable {
    let piece: [Int]
    let status: Int?
    let reason: String
}

extension [Int] {
    /// The first half and the other one.
    var halves: [[Int]] {
        let middle = count / 2
        return [Array(self[..<middle]), Array(self[middle...])]
    }

    /// The elements in pieces of at most so many.
    func pieces(of size: Int) -> [[Int]] {
        guard count > size else { return isEmpty ? [] : [self] }
        return stride(from: 0, to: count, by: Swift.max(1, size)).map { start in
            Array(self[start..<Swift.min(count, start + Swift.max(1, size))])
        }
    }
}
