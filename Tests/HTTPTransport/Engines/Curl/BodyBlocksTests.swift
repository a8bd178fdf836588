import Foundation
import Testing

@testable import HTTPTransport

@Suite struct BodyBlocksTests {
    @Test(arguments: [0, 1, 60, 32 * 1024, 32 * 1024 + 1] + BodyBlocks.sizes)
    func `the bytes come out as they went in, and outlive the blocks`(count: Int) {
        var data = Data()
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        do {
            let blocks = BodyBlocks()
            var block = blocks.take(for: count)
            bytes.withUnsafeBytes { block.append($0) }
            data = blocks.data(of: block)
            // The next one to write must not write into what has been given out.
            var other = blocks.take()
            Data(count: 100).withUnsafeBytes { other.append($0) }
            blocks.give(other)
        }
        #expect(data == bytes)
    }

    @Test func `what doesn't fit isn't written`() {
        let blocks = BodyBlocks()
        var block = blocks.take()
        Data(count: block.room).withUnsafeBytes { block.append($0) }
        #expect(block.room == 0)
        Data(count: 1).withUnsafeBytes { block.append($0) }
        #expect(block.count == block.capacity)
        blocks.give(block)
        #expect(blocks.take().count == 0)
    }

    @Test func `a block has room for all that is expected, where one has`() {
        let blocks = BodyBlocks()
        let kilobyte = 1024
        let rooms = [
            (0, 64), (1, 64), (64 * kilobyte, 64), (64 * kilobyte + 1, 128), (88_000, 128), (256 * kilobyte, 256),
            (256 * kilobyte + 1, 64), (.max, 64),
        ]
        for (expected, room) in rooms {
            let block = blocks.take(for: expected)
            #expect(block.room == room * kilobyte)
            blocks.give(block)
        }
        #expect(blocks.take(for: -1).room == 64 * kilobyte)
    }
}
