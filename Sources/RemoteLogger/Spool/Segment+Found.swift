extension Segment {
    /// A record in a segment's file.
    struct Found: Sendable {
        let frame: SegmentFrame
        let level: LogLevel
    }

    /// The records in the file, each once, without those that were dropped while they were written.
    func frames(in bytes: ByteBuffer) -> FoundRecords {
        bytes.withUnsafeBytes { bytes in
            var found = FoundRecords()
            var scanner = SegmentScanner(bytes, from: min(bytes.count, SegmentHeader.size), salt: salt)
            while let frame = scanner.next() {
                guard frame.position >= first, frame.position > found.last?.frame.position ?? 0, !dropped.contains(frame.position),
                    let level = frame.level(in: bytes)
                else { continue }
                found.append(Found(frame: frame, level: level))
            }
            return found
        }
    }
}

extension SpoolState {
    /// A segment was replaced by one with fewer records.
    mutating func shorten(_ name: SegmentName, to thinned: ThinnedSegment) {
        guard let index = segments.firstIndex(where: { $0.name == name }) else { return }
        let excluded = segments[index].excluded
        for found in thinned.dropped {
            let position = found.frame.position
            lose(position, found.level, .overflow) { excluded[$0]?.contains(position) ?? false }
        }
        if thinned.isEmpty {
            segments.remove(at: index)
            return
        }
        var segment = segments[index]
        segment.counts = LogLevel.allCases.map { _ in 0 }
        segment.first = 0
        for found in thinned.kept { segment.note(level: found.level, position: found.frame.position) }
        segment.length = thinned.content.count
        segment.fileBytes = thinned.content.count
        segment.dropped = []
        segment.keepReports(thinned.kept.lazy.map(\.frame.position))
        for name in excluded.keys { segment.excluded[name]?.keep(only: thinned.kept.lazy.map(\.frame.position)) }
        segment.generation += 1
        segments[index] = segment
    }
}
