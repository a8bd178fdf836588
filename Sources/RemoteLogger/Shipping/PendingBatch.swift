/// A batch on its way, and what became of each of its records so far.
struct PendingBatch: Sendable {
    enum Outcome: Sendable, Equatable {
        case delivered
        case dropped(DropReason)
    }

    let records: [StoredRecord]
    private var outcomes: [Outcome?]
    /// So many from the first on are settled with the store.
    private var settled = 0

    init(_ records: [StoredRecord]) {
        self.records = records
        outcomes = records.map { _ in nil }
    }

    /// The places of the records that nothing has become of, in order.
    var open: [Int] { open(of: outcomes.indices) }

    /// Those of these places, in order.
    func open(of places: some Sequence<Int>) -> [Int] {
        places.filter { outcomes[$0] == nil }
    }

    /// Whether the receiver has taken one of these.
    func hasDelivered(of places: [Int]) -> Bool {
        places.contains { outcomes[$0] == .delivered }
    }

    /// Whether the receiver has taken each of these.
    func hasDeliveredAll(of places: [Int]) -> Bool {
        places.allSatisfy { outcomes[$0] == .delivered }
    }

    mutating func note(_ outcome: Outcome, for places: some Sequence<Int>) {
        for place in places where outcomes.indices.contains(place) { outcomes[place] = outcome }
    }

    /// The records that can be settled now, with their outcomes: a store takes acknowledgements in order.
    mutating func takeSettled() -> [(record: StoredRecord, outcome: Outcome)] {
        var taken: [(StoredRecord, Outcome)] = []
        while settled < outcomes.count, let outcome = outcomes[settled] {
            taken.append((records[settled], outcome))
            settled += 1
        }
        return taken
    }
}
