/// What becomes of a segment that loses records, and of the one behind it.
extension Segment {
    /// Counts only what is left in the file, which has that length now, maybe with copies of what stands before.
    mutating func thin(to thinned: ThinnedSegment, length: Int) {
        hasCopies = length > thinned.fileBytes
        counts = LogLevel.allCases.map { _ in 0 }
        found = nil
        first = 0
        for record in thinned.kept { note(level: record.level, position: record.frame.position) }
        dropped = []
        self.length = length
        fileBytes = length
        let positions = thinned.kept.lazy.map(\.frame.position)
        keepReports(positions)
        for name in excluded.keys { excluded[name]?.keep(only: positions) }
        generation += 1
    }

    /// Counts the records of the segment before, which the file has before its own.
    mutating func absorb(_ before: Segment) {
        for index in counts.indices { counts[index] += before.counts[index] }
        first = before.first
        hasCopies = false
        takeReports(of: before)
        for (name, exclusions) in before.excluded where exclusions.count > 0 { excluded[name, default: Exclusions()].formUnion(exclusions) }
        generation += 1
    }
}
