import TestSupport
import Testing

@testable import RemoteLogger

@Suite struct ArrivalMarksTests {
    @Test func `the oldest is never younger than it is, and not much older`() {
        var random = SeededGenerator(seed: 5)
        var marks = ArrivalMarks()
        var arrivals: [UInt64] = []
        var (now, passed) = (UInt64(1_000), 0)
        for _ in 0..<20_000 {
            now += .random(in: 0...20_000_000, using: &random)
            arrivals.append(now)
            marks.take(UInt64(arrivals.count), at: now)
            guard Int.random(in: 0..<20, using: &random) == 0, passed < arrivals.count - 1 else { continue }
            passed = .random(in: passed..<arrivals.count - 1, using: &random)
            marks.pass(UInt64(passed))
            #expect(marks.oldest <= arrivals[passed])
            // The 64 marks are spread over all waiting records, or were spread over those that waited before.
            #expect(marks.oldest + (now - arrivals[passed]) / 8 + 5_000_000_000 >= arrivals[passed])
        }
        marks.passAll()
        #expect(marks.oldest == 0)
    }

    @Test func `what an earlier run has left is older than all`() {
        var marks = ArrivalMarks()
        marks.take(0, at: 0)
        marks.take(11, at: 7_000_000_000)
        #expect(marks.oldest == 0)
        marks.pass(9)
        #expect(marks.oldest == 0)
        marks.pass(10)
        #expect(marks.oldest == 7_000_000_000)
    }
}
