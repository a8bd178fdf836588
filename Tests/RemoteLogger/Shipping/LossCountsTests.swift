import Testing

@testable import RemoteLogger

@Suite struct LossCountsTests {
    @Test func `counts by reason`() {
        var counts = LossCounts()
        #expect(counts.byReason.isEmpty && counts[.overflow] == 0)
        for (count, reason) in [(1, .overflow), (7, .damaged), (2, .overflow), (1, DropReason(rawValue: "own"))] as [(UInt64, DropReason)] {
            counts.add(count, reason)
        }
        #expect(counts[.overflow] == 3 && counts[.damaged] == 7 && counts[.expired] == 0)
        #expect(counts.byReason == [.overflow: 3, .damaged: 7, DropReason(rawValue: "own"): 1])
    }
}
