import Testing

@testable import HTTPTransport

@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlPoolsTests {
    private static let start = MonotonicInstant.now

    @Test func `the same key gets the same pool, and another one another`() {
        var pools = CurlPools()
        defer { pools.removeAll() }
        let now = Self.start
        let (first, again, second) = (pools.take(1, now: now), pools.take(1, now: now), pools.take(2, now: now))
        #expect(first != nil && again == first)
        #expect(second != nil && second != first)
        pools.give(1, now: now)
        pools.give(1, now: now)
        let later = pools.take(1, now: now.advanced(by: .seconds(1000)))
        #expect(later == first)
    }

    @Test func `those in use are as many as it takes, and of others the oldest go`() {
        var pools = CurlPools()
        defer { pools.removeAll() }
        let count = CurlPools.most + 3
        let taken = (0..<count).map { pools.take($0, now: Self.start) }
        #expect(Set(taken).count == count && !taken.contains(nil))
        for key in (0..<count).reversed() { pools.give(key, now: Self.start.advanced(by: .milliseconds(count - key))) }
        #expect(pools.count == CurlPools.most)
        // The first to be given were the last ones.
        let kept = (0..<CurlPools.most).map { pools.take($0, now: Self.start.advanced(by: .seconds(1))) }
        #expect(kept == Array(taken.prefix(CurlPools.most)))
    }

    @Test func `what nobody has used for long goes`() {
        var pools = CurlPools()
        defer { pools.removeAll() }
        for key in 0..<3 { _ = pools.take(key, now: Self.start) }
        pools.give(0, now: Self.start)
        pools.give(1, now: Self.start.advanced(by: .seconds(60)))
        _ = pools.take(3, now: Self.start.advanced(by: CurlPools.patience + .seconds(1)))
        #expect(pools.count == 3)
    }
}
