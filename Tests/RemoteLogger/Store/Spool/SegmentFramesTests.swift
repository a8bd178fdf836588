import Testing

@testable import RemoteLogger

@Suite struct SegmentFramesTests {
    @Test(arguments: [0, 1, 10_000]) func `the records of a file are found in order`(count: UInt64) {
        let sample = SegmentSample(salt: 7, positions: 1..<count + 1)
        let found = sample.segment.frames(in: sample.file)
        #expect(found.lazy.map(\.frame.position).elementsEqual(1..<count + 1))
        #expect(found.lazy.map(\.level).elementsEqual((1..<count + 1).map(SegmentSample.level)))
        #expect(found.last?.frame.range.upperBound ?? SegmentHeader.size == sample.file.count)
        #expect(found.count == count && found.isEmpty == (count == 0))
    }
}
