import Testing
import WebServiceTesting

@Suite struct ManualClockTests {
    @Test func sleepersWakeWhenTheirTimeComes() async throws {
        let clock = ManualClock()
        let (woken, continuation) = AsyncStream.makeStream(of: Int.self)
        for seconds in [3, 1, 2] {
            Task {
                try await clock.sleep(for: .seconds(seconds))
                continuation.yield(seconds)
            }
        }
        try await clock.waitForSleepers(count: 3, within: .seconds(300))
        var iterator = woken.makeAsyncIterator()
        for seconds in [1, 2, 3] {
            clock.advance(by: .seconds(1))
            #expect(await iterator.next() == seconds)
            #expect(clock.sleeperCount == 3 - seconds)
        }
        #expect(clock.now.offset == .seconds(3))
    }

    @Test func aDeadlineInThePastIsNoSleep() async throws {
        let clock = ManualClock()
        try await clock.sleep(until: clock.now, tolerance: nil)
        try await clock.sleep(for: .zero)
    }

    @Test func cancellingWakes() async throws {
        let clock = ManualClock()
        let sleeping = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers(count: 1, within: .seconds(300))
        sleeping.cancel()
        await #expect(throws: CancellationError.self) { try await sleeping.value }
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func waitingForSleepersHasALimit() async {
        let failure = await #expect(throws: TestingFailure.self) {
            try await ManualClock().waitForSleepers(count: 1, within: .milliseconds(5))
        }
        #expect(failure?.description.contains("Expected 1 tasks") == true)
    }
}
