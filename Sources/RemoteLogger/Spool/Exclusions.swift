/// The records of a segment that a destination's filter keeps out. The filter is asked once for each record: what it says later, reading a file, say,
/// would spoil the counts.
struct Exclusions: Sendable {
    /// A bit for each place, 64 places a word. Places in a segment are close to each other, but for gaps, which cost nothing.
    private var words: [RecordPosition: UInt64] = [:]
    private(set) var count = 0

    func contains(_ position: RecordPosition) -> Bool {
        words[position >> 6, default: 0] & (1 << (position & 63)) != 0
    }

    mutating func insert(_ position: RecordPosition) {
        guard !contains(position) else { return }
        words[position >> 6, default: 0] |= 1 << (position & 63)
        count += 1
    }

    mutating func formUnion(_ other: Exclusions) {
        words.merge(other.words) { $0 | $1 }
        count = words.values.reduce(0) { $0 + $1.nonzeroBitCount }
    }

    /// Forgets all but these.
    mutating func keep(only positions: some Sequence<RecordPosition>) {
        var kept = Exclusions()
        for position in positions where contains(position) { kept.insert(position) }
        self = kept
    }

    /// How many are behind a place.
    func count(after position: RecordPosition) -> Int {
        words.reduce(0) { sum, word in
            guard word.key >= position >> 6 else { return sum }
            guard word.key == position >> 6 else { return sum + word.value.nonzeroBitCount }
            let upTo = position & 63
            return sum + (upTo == 63 ? 0 : (word.value >> (upTo + 1)).nonzeroBitCount)
        }
    }
}
