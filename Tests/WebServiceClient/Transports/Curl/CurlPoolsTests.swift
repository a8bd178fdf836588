import Testing

@testable import WebServiceClient

@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlPoolsTests {
    @Test func `the same key gets the same pool, and another one another`() {
        var pools = CurlPools()
        defer { pools.removeAll() }
        let (first, again, second) = (pools.take(1), pools.take(1), pools.take(2))
        #expect(first != nil && again == first)
        #expect(second != nil && second != first)
        pools.give(1)
        pools.give(1)
        let later = pools.take(1)
        #expect(later == first)
    }

    @Test func `there is a bound, and what is in use doesn't go`() {
        var pools = CurlPools()
        defer { pools.removeAll() }
        let first = (0..<CurlPools.most).map { pools.take($0) }
        #expect(!first.contains(nil))
        let tooMany = pools.take(-1)
        #expect(tooMany == nil)
        pools.give(7)
        pools.give(3)
        // Taken last of the two.
        let third = pools.take(3)
        #expect(third == first[3])
        pools.give(3)
        let (new, stays, gone) = (pools.take(-1), pools.take(3), pools.take(7))
        #expect(new != nil && stays == first[3] && gone == nil)
    }
}
