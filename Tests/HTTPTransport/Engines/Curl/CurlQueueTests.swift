import Testing

@testable import HTTPTransport

@Suite struct CurlQueueTests {
    @Test func `the first in is the first out, however it fills and empties`() {
        var queue = CurlQueue<Int>()
        var (next, oldest) = (0, 0)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                queue.append(next)
                next += 1
            }
            #expect(Array(queue.waiting) == Array(oldest..<next))
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                guard let first = queue.popFirst() else { break }
                #expect(first == oldest)
                oldest += 1
            }
            #expect(queue.isEmpty == (oldest == next))
        }
        while queue.popFirst() != nil { oldest += 1 }
        let nothing = queue.popFirst()
        #expect(oldest == next && queue.isEmpty && nothing == nil)
    }
}
