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
}
