/// A segment without some of its records, before it takes the other's place.
struct ThinnedSegment: Sendable {
    /// The file's bytes.
    let content: ByteBuffer
    private let found: FoundRecords
    /// For each of them, whether it goes.
    private let isDropped: [Bool]

    /// - Parameters:
    ///   - bytes: those of the segment's file.
    ///   - records: what is found in them.
    ///   - goes: for each of these, whether it is left out.
    init(_ segment: Segment, _ bytes: ByteBuffer, _ records: FoundRecords, dropping goes: [Bool]) {
        found = records
        isDropped = goes
        var content = ByteBuffer()
        content.reserve(bytes.count)
        SegmentHeader(salt: segment.salt).bytes.withUnsafeBufferPointer { content.append($0) }
        bytes.withBytes { bytes in
            for (record, goes) in zip(records, goes) where !goes {
                content.append(UnsafeBufferPointer(rebasing: bytes[record.frame.range]))
            }
        }
        self.content = content
    }

    /// The records that stay.
    var kept: some Sequence<Segment.Found> { records(thatGo: false) }
    /// The records that go.
    var dropped: some Sequence<Segment.Found> { records(thatGo: true) }
    /// Whether no record is left.
    var isEmpty: Bool { !isDropped.contains(false) }

    private func records(thatGo: Bool) -> some Sequence<Segment.Found> {
        zip(found, isDropped).lazy.filter { $0.1 == thatGo }.map(\.0)
    }
}
