/// What is left of a segment without some of its records.
struct ThinnedSegment: Sendable {
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
    init(_ source: ByteBuffer, _ records: FoundRecords, dropping isDropped: [Bool]) {
        self.source = source
        self.records = records
        self.isDropped = isDropped
        bytes = zip(records, isDropped).reduce(0) { $1.1 ? $0 : $0 + $1.0.frame.range.count }
    }

    /// The bytes of a file with nothing else.
    var fileBytes: Int { SegmentHeader.size + bytes }

    /// The records that stay.
    var kept: some Sequence<Segment.Found> { records(thatGo: false) }
    /// The records that go.
    var dropped: some Sequence<Segment.Found> { records(thatGo: true) }
    /// Whether no record is left.
    var isEmpty: Bool { bytes == 0 }

    private func records(thatGo: Bool) -> some Sequence<Segment.Found> {
        zip(records, isDropped).lazy.filter { $0.1 == thatGo }.map(\.0)
    }

    /// The file of a segment with that salt and what is left.
    func content(salt: UInt64) -> ByteBuffer {
        var content = ByteBuffer()
        content.reserve(fileBytes)
        SegmentHeader(salt: salt).bytes.withUnsafeBufferPointer { content.append($0) }
        write(salt: salt, into: &content)
        return content
    }

    /// What is left, for a segment with that salt.
    func frames(salt: UInt64) -> ByteBuffer {
        var frames = ByteBuffer()
        frames.reserve(bytes)
        write(salt: salt, into: &frames)
        return frames
    }

    private func write(salt: UInt64, into output: inout ByteBuffer) {
        source.withUnsafeBytes { source in
            for found in kept { found.frame.copy(from: source, salt: salt, into: &output) }
        }
    }
}
