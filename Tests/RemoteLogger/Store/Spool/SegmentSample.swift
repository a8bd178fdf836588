@testable import RemoteLogger

/// A segment file as the spool writes it, with records at given positions and alternating levels.
struct SegmentSample {
    let segment: Segment
    let file: ByteBuffer

    init(number: UInt64 = 1, salt: UInt64, positions: Range<RecordPosition>) {
        var encoder = RecordEncoder()
        for position in positions {
            let record = LogRecord(
                id: LogRecordID(high: 1, low: position), sequence: position, time: 1, level: Self.level(at: position),
                message: "\(position)")
            SegmentFrame.write(record, at: position, salt: salt, into: &encoder)
        }
        var segment = Segment(name: SegmentName(epoch: 1, number: number), salt: salt)
        if let last = positions.last { (segment.first, segment.last) = (positions.lowerBound, last) }
        self.segment = segment
        var file = ByteBuffer()
        SegmentHeader(salt: salt).bytes.withUnsafeBufferPointer { file.append($0) }
        encoder.written.withBytes { file.append($0) }
        self.file = file
    }

    static func level(at position: RecordPosition) -> LogLevel {
        LogLevel.allCases[Int(position - 1) % LogLevel.allCases.count]
    }
}
