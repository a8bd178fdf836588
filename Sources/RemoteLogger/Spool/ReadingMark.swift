/// A place in a segment's file before which everything was read.
struct ReadingMark: Sendable {
    let name: SegmentName
    let generation: Int
    let offset: Int
    /// The last record before it.
    let position: RecordPosition
}
