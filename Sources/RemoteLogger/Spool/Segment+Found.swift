extension Segment {
    /// A record in a segment's file.
    struct Found: Sendable {
        let frame: SegmentFrame
        let level: LogLevel
    }

    /// The records in the file, each once, without those that were dropped while they were written. Of a file that has nothing but what others
    /// have, none count.
    func frames(in bytes: ByteBuffer) -> FoundRecords {
        bytes.withUnsafeBytes { bytes in
            var found = FoundRecords()
            var scanner = SegmentScanner(bytes, from: min(bytes.count, SegmentHeader.size), salt: salt)
            while let frame = scanner.next() {
                guard has(frame.position), frame.position > found.last?.frame.position ?? 0, !dropped.contains(frame.position),
                    let level = frame.level(in: bytes)
                else { continue }
                found.append(Found(frame: frame, level: level))
            }
            return found
        }
    }

    /// Counts only what is left in the file, which has that length now, maybe with copies of what stands before.
    mutating func thin(to thinned: ThinnedSegment, length: Int) {
        hasCopies = length > thinned.fileBytes
        counts = LogLevel.allCases.map { _ in 0 }
        found = nil
        first = 0
        for found in thinned.kept { note(level: found.level, position: found.frame.position) }
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
