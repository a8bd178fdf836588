import Testing

@testable import RemoteLogger

@Suite struct RecordBufferTests {
    /// Ten records of 100 bytes each, with alternating levels.
    private static var buffer: RecordBuffer {
        var buffer = RecordBuffer()
        for number in 1...10 as ClosedRange<UInt64> {
            let item = RecordBuffer.Item(
                position: number, record: .sample(number, number % 2 == 0 ? .info : .error), size: 100, since: 0)
            _ = buffer.append(item, limits: BufferLimits())
        }
        return buffer
    }

    @Test(
        arguments: [
            (10, 20, 2_000, 10), (10, 4, 2_000, 4), (10, 20, 399, 3), (10, 20, 400, 4), (5, 20, 2_000, 5), (0, 20, 2_000, 0), (10, 1, 1, 1),
            (10, 4, 300, 3),
        ] as [(RecordPosition, Int, Int, Int)])
    func `the oldest are given in order and within each bound, but one at least`(
        last: RecordPosition, records: Int, bytes: Int, expected: Int
    ) {
        let items = Self.buffer.oldest(through: last, within: BufferLimits(records: records, bytes: bytes))
        #expect(items.map(\.position) == (0..<expected).map { RecordPosition($0 + 1) })
    }
}
