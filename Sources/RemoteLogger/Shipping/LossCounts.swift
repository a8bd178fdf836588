/// How many records were lost, by reason. There are a handful of reasons: to walk them takes a fraction of what a dictionary does, and while
/// a buffer is full every call counts one.
struct LossCounts: Sendable {
    private var counts: [(reason: DropReason, count: UInt64)] = []
    /// Those of every reason.
    private(set) var total: UInt64 = 0

    subscript(reason: DropReason) -> UInt64 {
        counts.first { $0.reason == reason }?.count ?? 0
    }

    mutating func add(_ count: UInt64, _ reason: DropReason) {
        total += count
        for index in counts.indices where counts[index].reason == reason {
            counts[index].count += count
            return
        }
        counts.append((reason, count))
    }

    var byReason: [DropReason: UInt64] {
        Dictionary(uniqueKeysWithValues: counts.map { ($0.reason, $0.count) })
    }
}
