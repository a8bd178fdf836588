import HTTPTransport
import Testing

@testable import RemoteLogger

@Suite struct LogClockTests {
    private static let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
    private static let cases: [(Duration, UInt64)] = [
        (.zero, 0), (.milliseconds(-1), 0), (.nanoseconds(1_500_000_001), 1_500_000_001), (longest, 1 << 63 - 1),
        (longest * 18, 1 << 63 - 1), (longest * -18, 0),
    ]

    @Test(arguments: cases)
    func `Nanoseconds stay within their range, however long a duration is`(duration: Duration, nanoseconds: UInt64) {
        #expect(duration.wholeNanoseconds == nanoseconds)
    }

    /// The timer of a wait is a task, which may run long after the moment that it waits for.
    @Test func `a wait whose end passes before its timer runs is over`() async {
        let (clock, signal, isOver) = (ManualLogClock(), Signal(), Locked(false))
        let end = clock.uptime + 1_000_000_000
        clock.advance(by: .seconds(1))
        let waiting = Task {
            await signal.wait(until: end, clock: clock)
            isOver.withLock { $0 = true }
        }
        #expect(await eventually { isOver.withLock { $0 } })
        waiting.cancel()
    }

    @Test func `the system's clock waits until a moment, and not for one that has passed`() async throws {
        let clock = SystemLogClock()
        let end = clock.uptime + 2_000_000
        try await clock.sleep(until: end)
        #expect(clock.uptime >= end)
        try await clock.sleep(until: 0)
        try await clock.sleep(for: .seconds(-1))
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(until: 0)
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }
}
