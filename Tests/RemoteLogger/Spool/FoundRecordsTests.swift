import Testing

@testable import RemoteLogger

@Suite struct FoundRecordsTests {
    @Test(arguments: [0, 1, 10_000]) func `they are a collection like any other`(count: Int) {
        var encoder = RecordEncoder()
        for number in 0..<count {
            let record = LogRecord(
                id: LogRecordID(high: 1, low: UInt64(number)), sequence: UInt64(number), time: 1,
                level: LogLevel.allCases[number % LogLevel.allCases.count], message: "\(number)")
            SegmentFrame.write(record, at: UInt64(number + 1), salt: 7, into: &encoder)
        }
        var segment = Segment(name: SegmentName(epoch: 1, number: 1), salt: 7)
        (segment.first, segment.last) = (count > 0 ? 1 : 0, UInt64(count))
        var file = ByteBuffer()
        SegmentHeader(salt: 7).bytes.withUnsafeBufferPointer { file.append($0) }
        encoder.written.withBytes { file.append($0) }
        let found = segment.frames(in: file)
        #expect(found.lazy.map(\.frame.position).elementsEqual((0..<count).map { UInt64($0 + 1) }))
        #expect(found.lazy.map(\.level).elementsEqual((0..<count).map { LogLevel.allCases[$0 % LogLevel.allCases.count] }))
        #expect(found.last?.frame.range.upperBound ?? SegmentHeader.size == file.count)
        #expect(found.count == count && found.isEmpty == (count == 0))
    }
}
