/// How the records are found that spoil a batch: by halving what is refused.
///
/// A receiver that refuses everything mustn't be asked for every record. Hence there is a number of halves that may be sent in a row of which
/// nothing is taken: as many as two bad records need. When they are used up, what is refused is set aside, and the pieces that wait are sent
/// first; as soon as one of them is taken, the search goes on. What is left when all were refused is given up.
struct RefusalSearch: Sendable {
    /// A piece that was refused, and not halved.
    struct Suspect: Sendable {
        let piece: [Int]
        let status: Int?
        let reason: String
    }

    private let limit: Int
    /// How many more halves may be sent before something is taken.
    private var left: Int
    private var suspects: [Suspect] = []

    init(records: Int) {
        // Two halves for each step down to a bad record, and that for two of them.
        limit = 4 * (Int.bitWidth - records.leadingZeroBitCount)
        left = limit
    }

    /// Something was taken: the receiver doesn't refuse everything.
    mutating func renew() {
        left = limit
    }

    /// The halves of a piece that was refused, to be sent now; none if it is set aside.
    mutating func halves(of piece: [Int], status: Int?, reason: String) -> [[Int]] {
        guard left > 1 else {
            suspects.append(Suspect(piece: piece, status: status, reason: reason))
            return []
        }
        left -= 2
        return piece.halves
    }

    /// The halves of pieces that were set aside, as far as they may be sent now.
    mutating func takeSuspects() -> [[Int]] {
        let count = min(suspects.count, left / 2)
        defer { suspects.removeFirst(count) }
        left -= 2 * count
        return suspects[..<count].flatMap(\.piece.halves)
    }

    /// What is still set aside.
    mutating func giveUp() -> [Suspect] {
        defer { suspects = [] }
        return suspects
    }
}
