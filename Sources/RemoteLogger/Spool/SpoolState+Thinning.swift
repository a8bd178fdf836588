/// What becomes of segments that lose records.
extension SpoolState {
    /// Whether a segment can lose what is to go: a reader may have handed some of it out since that was asked first.
    func isFree(_ thinned: ThinnedSegment) -> Bool {
        !thinned.dropped.contains { isPinned($0.frame.position) }
    }

    /// The segment before another one, where it has room for what is left of that; `nil` without one.
    func segment(before name: SegmentName, withRoomFor bytes: Int, within bound: Int) -> Segment? {
        guard let index = segments.firstIndex(where: { $0.name == name }), index > 0 else { return nil }
        let before = segments[index - 1]
        return before.length + bytes <= bound && canJoin(segments[index], to: before) ? before : nil
    }

    /// Whether one segment stands before another one as it was seen, and its records can be followed by the other's.
    func canJoin(_ segment: Segment, to before: Segment) -> Bool {
        guard let index = segments.firstIndex(where: { $0.name == segment.name }), index > 0 else { return false }
        let now = segments[index - 1]
        // What a failed write has left can't be followed by anything; what a destination's filter hasn't judged is judged by the file.
        return now.name == before.name && now.length == before.length && now.fileBytes == now.length && now.first > 0
            && !destinations.values.contains { $0.unjudged.contains(before.name) || $0.unjudged.contains(segment.name) }
    }

    /// A segment was replaced by one with fewer records.
    mutating func shorten(_ name: SegmentName, to thinned: ThinnedSegment) {
        guard let index = segments.firstIndex(where: { $0.name == name }) else { return }
        drop(thinned, of: index)
        if thinned.isEmpty { segments.remove(at: index) } else { segments[index].thin(to: thinned) }
    }

    /// What is left of a segment stands behind the one before now, and its file is gone.
    mutating func join(_ name: SegmentName, as thinned: ThinnedSegment, to before: SegmentName) {
        guard let index = segments.firstIndex(where: { $0.name == name }), index > 0, segments[index - 1].name == before else { return }
        drop(thinned, of: index)
        var next = segments.remove(at: index)
        next.thin(to: thinned)
        segments[index - 1].append(next)
    }

    private mutating func drop(_ thinned: ThinnedSegment, of index: Int) {
        let excluded = segments[index].excluded
        for found in thinned.dropped {
            let position = found.frame.position
            lose(position, found.level, .overflow) { excluded[$0]?.contains(position) ?? false }
        }
    }
}
