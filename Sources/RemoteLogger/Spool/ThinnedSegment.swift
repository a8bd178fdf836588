/// What is left of a segment without some of its records.
struct ThinnedSegment: Sendable {
    /// As it was.
    let segment: Segment
    private let source: ByteBuffer
    private let records: FoundRecords
    /// For each of them, whether it goes.
    private let isDropped: [Bool]
    /// The bytes of the records that stay.
    let bytes: Int

    /// - Parameters:
    ///   - source: the bytes of the segment's file.
    ///   - records: what is found in them.
    ///   - isDropped: for each of these, whether it goes.
    init(_ segment: Segment, _ source: ByteBuffer, _ records: FoundRecords, dropping isDropped: [Bool]) {
        self.segment = segment
        self.source = source
        self.records = records
        self.isDropped = isDropped
        bytes = zip(records, isDropped).reduce(0) { $1.1 ? $0 : $0 + $1.0.frame.range.count }
    }

    /// The bytes of a file with nothing else.
    var fileBytes: Int { SegmentHeader.size + bytes }

    /// How many records stay.
    var count: Int { isDropped.count { !$0 } }
    /// The records that stay.
    var kept: some Sequence<Segment.Found> { records(thatGo: false) }
    /// The records that go.
    var dropped: some Sequence<Segment.Found> { records(thatGo: true) }
    /// Whether no record is left.
    var isEmpty: Bool { bytes == 0 }

    private func records(thatGo: Bool) -> some Sequence<Segment.Found> {
        zip(records, isDropped).lazy.filter { $0.1 == thatGo }.map(\.0)
    }

    /// The file of the segment with what is left of it, behind what is left of the one before, if that is given.
    func content(behind before: ThinnedSegment? = nil) -> ByteBuffer {
        var content = ByteBuffer()
        content.reserve(fileBytes + (before?.bytes ?? 0))
        SegmentHeader(salt: segment.salt).bytes.withUnsafeBufferPointer { content.append($0) }
        before?.write(salt: segment.salt, into: &content)
        write(salt: segment.salt, into: &content)
        return content
    }

    private func write(salt: UInt64, into output: inout ByteBuffer) {
        source.withUnsafeBytes { source in
            for found in kept { found.frame.copy(from: source, salt: salt == segment.salt ? nil : salt, into: &output) }
        }
    }
}
