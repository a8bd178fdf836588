import Foundation
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

    #if os(Linux)
    @Test func `what is given back is the system's again`() throws {
        func gibibytes() throws -> Int {
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ").first.flatMap { Int($0) }
            return try #require(pages) * 4_096 >> 30
        }
        let before = try gibibytes()
        for _ in 0..<256 { SystemPages.deallocate(try #require(SystemPages.allocate(1 << 30)), 1 << 30) }
        // Leaves room for concurrent tests.
        #expect(try gibibytes() < before + 128)
    }
    #endif

    @Test func `what the system hasn't got is said`() {
        #expect(SystemPages.allocate(.max - 4_096) == nil)
    }
}
