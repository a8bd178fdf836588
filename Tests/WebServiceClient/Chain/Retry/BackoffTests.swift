import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct BackoffTests {
    @Test func `The bound grows to the cap`() {
        let backoff = Backoff(base: .seconds(1), factor: 2, cap: .seconds(10), jitter: .none)
        #expect([1, 2, 3, 4, 5, 6, Int.max].map { backoff.bound(afterFailures: $0) } == [1, 2, 4, 8, 10, 10, 10].map { .seconds($0) })
        #expect(backoff.bound(afterFailures: Int.min) == .seconds(1))
    }

    @Test(arguments: Backoff.Jitter.allCases) func `Odd settings neither trap nor leave the bounds`(jitter: Backoff.Jitter) {
        var generator = SeededGenerator(seed: 1)
        let huge = Duration(secondsComponent: .max, attosecondsComponent: 0) * 18
        let durations = [Duration.zero, .seconds(-5), .nanoseconds(1), .seconds(1), .seconds(1 << 40), huge, .zero - huge]
        for factor in [0, -1, .nan, .infinity, -.infinity, 1e308, 1.0000001, .leastNonzeroMagnitude] {
            for base in durations {
                for cap in durations {
                    let backoff = Backoff(base: base, factor: factor, cap: cap, jitter: jitter)
                    for failures in [Int.min, -1, 0, 1, 2, 1_000, Int.max] {
                        let bound = backoff.bound(afterFailures: failures)
                        #expect(bound >= .zero && bound <= max(cap, .zero).bounded)
                        let delay = backoff.delay(afterFailures: failures, using: &generator)
                        #expect(delay >= backoff.floor(afterFailures: failures) && delay <= bound)
                    }
                }
            }
        }
    }

    @Test func `Jitter is between floor and bound`() {
        var generator = SeededGenerator(seed: 2)
        for (jitter, floor) in [(Backoff.Jitter.full, 0.0), (.equal, 0.5), (.none, 1)] {
            let backoff = Backoff(base: .seconds(8), cap: .seconds(8), jitter: jitter)
            let waits = (0..<2_000).map { _ in backoff.delay(afterFailures: 3, using: &generator) / .seconds(8) }
            #expect(waits.allSatisfy { $0 >= floor && $0 <= 1 })
            // The mean of uniformly distributed waits is the middle.
            #expect(abs(waits.reduce(0, +) / 2_000 - (1 + floor) / 2) < 0.03)
        }
    }
}
