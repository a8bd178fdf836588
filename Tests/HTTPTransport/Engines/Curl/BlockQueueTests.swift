import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct BlockQueueTests {
    /// Returns a block with room for this many more bytes.
    private func block(_ blocks: BodyBlocks, room: Int) -> BodyBlocks.Block {
        var block = blocks.take()
        Data(count: block.room - room).withUnsafeBytes { block.append($0) }
        return block
    }

    @Test func `bytes go into the last block, as far as it has room`() throws {
        let blocks = BodyBlocks()
        var queue = BlockQueue()
        let bytes = Data(1...10)
        func fill(_ queue: inout BlockQueue) -> Int { bytes.withUnsafeBytes { queue.fill($0) } }
        #expect(queue.isEmpty && !queue.isFirstFull)
        #expect(fill(&queue) == 0)
        queue.append(block(blocks, room: 13))
        #expect(!queue.isEmpty && !queue.isFirstFull)
        #expect(fill(&queue) == 10)
        #expect(fill(&queue) == 3)
        #expect(queue.isFirstFull)
        #expect(fill(&queue) == 0)
        queue.append(block(blocks, room: 4))
        #expect(queue.isFirstFull)
        #expect(fill(&queue) == 4)
        queue.append(block(blocks, room: 20))
        #expect(fill(&queue) == 10)
        #expect(Data().withUnsafeBytes { queue.fill($0) } == 0)
        for room in [0, 0, 10] {
            #expect(queue.isFirstFull == (room == 0))
            let popped = queue.popFirst()
            let first = try #require(popped)
            #expect(first.room == room)
            blocks.give(first)
        }
        #expect(queue.popFirst() == nil && queue.isEmpty)
        // The slot of the last block is empty.
        #expect(!queue.isFirstFull)
        #expect(fill(&queue) == 0)
    }

    @Test func `blocks leave in their order, one by one or all at once`() {
        var random = SeededGenerator(seed: 7)
        let blocks = BodyBlocks()
        var queue = BlockQueue()
        var expected: [BodyBlocks.Block] = []
        for step in 0..<500 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                var all = queue.popAll()
                for block in expected {
                    #expect(all.popFirst() == block)
                    blocks.give(block)
                }
                #expect(all.popFirst() == nil)
                expected = []
            case 1..<11:
                let next = block(blocks, room: step % 60_000)
                queue.append(next)
                expected.append(next)
            default:
                let first = queue.popFirst()
                #expect(first == (expected.isEmpty ? nil : expected.removeFirst()))
                if let first { blocks.give(first) }
            }
            #expect(queue.isEmpty == expected.isEmpty)
        }
        blocks.give(queue)
    }
}
