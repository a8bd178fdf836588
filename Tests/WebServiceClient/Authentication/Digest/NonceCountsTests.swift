import Testing

@testable import WebServiceClient

@Suite struct NonceCountsTests {
    @Test func `each nonce counts for itself, and goes on when it comes back`() {
        var counts = NonceCounts()
        #expect(["a", "a", "b", "a", "b"].map { counts.next(for: $0) } == [1, 2, 1, 3, 2])
    }

    @Test func `the nonces used last are kept`() {
        var counts = NonceCounts()
        for number in 0..<(NonceCounts.limit + 1) {
            #expect(counts.next(for: "n\(number)") == 1)
        }
        #expect(counts.next(for: "n1") == 2)
        #expect(counts.next(for: "n0") == 1)
    }
}
