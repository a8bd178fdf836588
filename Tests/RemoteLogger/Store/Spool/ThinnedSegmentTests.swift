import Testing

@testable import RemoteLogger

@Suite struct ThinnedSegmentTests {
    private static func thinned(_ sample: SegmentSample, dropping isDropped: (RecordPosition) -> Bool) -> ThinnedSegment {
        let frames = sample.segment.frames(in: sample.file)
        return ThinnedSegment(sample.segment, sample.file, frames, dropping: frames.map { isDropped($0.frame.position) })
    }

    /// Returns what a reader finds in a file, independent of the segment's state.
    private static func read(_ content: ByteBuffer) -> (salt: UInt64?, positions: [RecordPosition], damages: Int) {
        content.withUnsafeBytes { bytes in
            guard let header = SegmentHeader(bytes) else { return (nil, [], 0) }
            var scanner = SegmentScanner(bytes, from: SegmentHeader.size, salt: header.salt)
            var positions: [RecordPosition] = []
            while let frame = scanner.next() { positions.append(frame.position) }
            return (header.salt, positions, scanner.damages)
        }
    }

    @Test func `what stays is written as it was, and what goes is told`() {
        let thinned = Self.thinned(SegmentSample(salt: 7, positions: 1..<101)) { $0 % 10 != 0 }
        let tens = (1...10).map { RecordPosition($0 * 10) }
        #expect(thinned.kept.map(\.frame.position) == tens && thinned.count == 10 && !thinned.isEmpty)
        #expect(thinned.dropped.map(\.frame.position) == (1...100).filter { $0 % 10 != 0 })
        let content = thinned.content()
        #expect(content.count == thinned.fileBytes)
        let read = Self.read(content)
        #expect(read.salt == 7 && read.positions == tens && read.damages == 0)
    }

    @Test func `the records of the one before come first, under the later one's salt`() {
        let before = Self.thinned(SegmentSample(number: 1, salt: 7, positions: 1..<21)) { $0 > 5 }
        let later = Self.thinned(SegmentSample(number: 2, salt: 8, positions: 21..<41)) { $0 < 38 }
        let content = later.content(after: before)
        #expect(content.count == later.fileBytes + before.bytes)
        let read = Self.read(content)
        #expect(read.salt == 8 && read.positions == [1, 2, 3, 4, 5, 38, 39, 40] && read.damages == 0)
    }

    @Test func `nothing is left of one whose records all go`() {
        for positions in [1..<1, 1..<8] as [Range<RecordPosition>] {
            let thinned = Self.thinned(SegmentSample(salt: 7, positions: positions)) { _ in true }
            #expect(thinned.isEmpty && thinned.kept.map(\.level).isEmpty && thinned.count == 0)
            #expect(Self.read(thinned.content()).positions.isEmpty && thinned.fileBytes == SegmentHeader.size)
        }
    }
}
