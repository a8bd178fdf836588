import Foundation
import Testing

@testable import HTTPTransport

@Suite struct MonotonicInstantTests {
    @Test func `Time goes on, and durations add up to the nanosecond`() {
        let (first, second) = (MonotonicInstant.now, MonotonicInstant.now)
        #expect(first <= second)
        let later = first.advanced(by: .nanoseconds(1_500_000_001))
        #expect(first.duration(to: later) == .nanoseconds(1_500_000_001))
        #expect(first - later == .nanoseconds(-1_500_000_001) && first < later)
        #expect(later.advanced(by: .nanoseconds(-1_500_000_001)) == first)
    }

    @Test func `Centuries are cut to one, whichever way`() {
        let now = MonotonicInstant.now
        for duration in [Duration.seconds(Int64.max), .seconds(1e18)] {
            let (before, after) = (now.advanced(by: .zero - duration), now.advanced(by: duration))
            #expect(before < now && now < after)
            #expect(now.duration(to: after) == .seconds(100 * 366 * 86_400) && after - now == now - before)
        }
    }

    @Test func `An instant of the standard library's clock comes at the same time`() {
        let instant = ContinuousClock.now.advanced(by: .seconds(1_000))
        let before = ContinuousClock.now.duration(to: instant)
        let left = MonotonicInstant.now.duration(to: MonotonicInstant(instant))
        let after = ContinuousClock.now.duration(to: instant)
        // Time passes between the four readings.
        #expect(left <= before + .milliseconds(1) && left >= after - (before - after) - .milliseconds(1))
    }

    @Test(arguments: [Duration.zero, .nanoseconds(1), .seconds(60), .seconds(-3), .seconds(86_400 * 365)])
    func `An instant that goes there and back is the same`(distance: Duration) {
        let instant = ContinuousClock.now.advanced(by: distance)
        #expect(MonotonicInstant(instant).continuous == instant)
        var request = ServiceRequest(url: URL(filePath: "/"))
        request.deadline = instant
        #expect(request.deadline == instant)
    }
}
