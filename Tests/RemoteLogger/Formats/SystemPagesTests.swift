import Testing

@testable import RemoteLogger

@Suite struct SystemPagesTests {
    @Test(arguments: [1, SystemPages.least, 1 << 20]) func `a block is empty, and can be written to from end to end`(bytes: Int) throws {
        let block = try #require(SystemPages.allocate(bytes))
        #expect((0..<bytes).allSatisfy { block[$0] == 0 })
        block.update(repeating: 1, count: bytes)
        #expect(block[bytes - 1] == 1)
        SystemPages.deallocate(block, bytes)
    }

    @Test func `what the system hasn't got is said`() {
        #expect(SystemPages.allocate(.max >> 1) == nil)
    }
}
