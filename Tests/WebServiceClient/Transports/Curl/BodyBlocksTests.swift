import Foundation
import Testing

@testable import WebServiceClient

@Suite struct BodyBlocksTests {
    @Test(arguments: [0, 1, 60, 32 * 1024, 32 * 1024 + 1, BodyBlocks.size])
    func `the bytes come out as they went in, and outlive the blocks`(count: Int) {
        var data = Data()
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        do {
            let blocks = BodyBlocks()
            var block = blocks.take()
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
        Data(count: BodyBlocks.size).withUnsafeBytes { block.append($0) }
        #expect(block.room == 0)
        Data(count: 1).withUnsafeBytes { block.append($0) }
        #expect(block.count == BodyBlocks.size)
        blocks.give(block)
        #expect(blocks.take().count == 0)
    }
}
