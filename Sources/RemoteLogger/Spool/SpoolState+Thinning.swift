/// What becomes of segments that lose records.
extension SpoolState {
    /// The segment before another one; `nil` without one that has records, and where a filter is still to be asked for either.
    func segment(before segment: Segment) -> Segment? {
        guard let index = segments.firstIndex(where: { $0.isLike(segment) }), index > 0, segments[index - 1].first > 0,
            !isUnjudged(segments[index - 1].name), !isUnjudged(segment.name)
        else { return nil }
        return segments[index - 1]
    }

    /// The segment behind another one, if its file has copies of that one's records.
    func copies(of name: SegmentName) -> Segment? {
        guard let index = segments.firstIndex(where: { $0.name == name }), index + 1 < segments.count else { return nil }
        return segments[index + 1].hasCopies ? segments[index + 1] : nil
    }

    private func isUnjudged(_ name: SegmentName) -> Bool {
        destinations.values.contains { $0.unjudged.contains(name) }
    }

    /// Whether a segment can be exchanged for what is left of it: a reader may have handed out some of what is to go since that was asked first.
    func allows(_ thinned: ThinnedSegment, behind before: ThinnedSegment?) -> Bool {
        segments.contains { $0.isLike(thinned.segment) } && !thinned.dropped.contains { isPinned($0.frame.position) }
            && before.map { canAbsorb($0, by: thinned.segment.name) } ?? true
    }

    /// Whether a segment stands before another one, and is as it was seen.
    func canAbsorb(_ before: ThinnedSegment, by name: SegmentName) -> Bool {
        guard let index = segments.firstIndex(where: { $0.name == name }), index > 0 else { return false }
        let now = segments[index - 1]
        // What was found in the next one's file as it is doesn't know of copies.
        return segments[index].found == nil && now.isLike(before.segment) && now.count(from: .trace) == before.count
            && !isUnjudged(now.name) && !isUnjudged(name)
    }

    /// A segment was replaced by a file of that length with fewer of its records.
    mutating func shorten(_ thinned: ThinnedSegment, length: Int) {
        guard let index = segments.firstIndex(where: { $0.name == thinned.segment.name }) else { return }
        let excluded = segments[index].excluded
        for found in thinned.dropped {
            let position = found.frame.position
            lose(position, found.level, .overflow) { excluded[$0]?.contains(position) ?? false }
        }
        if thinned.isEmpty { segments.remove(at: index) } else { segments[index].thin(to: thinned, length: length) }
    }

    /// The records of a segment stand in the next one's file, too, and its own is gone.
    mutating func absorb(_ before: SegmentName, by name: SegmentName) {
        guard let index = segments.firstIndex(where: { $0.name == name }), index > 0, segments[index - 1].name == before else { return }
        segments[index].absorb(segments[index - 1])
        segments.remove(at: index - 1)
    }
}
