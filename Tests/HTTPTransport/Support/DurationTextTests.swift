import HTTPTransport
import Testing

@Suite struct DurationTextTests {
    private static let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)

    @Test(arguments: [
        (Duration.nanoseconds(317_642_170), "0.318 s"), (.nanoseconds(1_499_999), "0.001 s"), (.nanoseconds(999_700_000), "1 s"),
        (.zero, "0 s"), (.nanoseconds(-2_600_000), "-0.003 s"), (.nanoseconds(-100), "0 s"), (.seconds(60), "60 s"),
        (.milliseconds(10_100), "10.1 s"), (.milliseconds(295_149), "295.149 s"), (.milliseconds(3_600_002), "3600.002 s"),
        (.milliseconds(-1_250), "-1.25 s"), (longest, "9223372036854775807 s"), (longest * 18, "9223372036854775807 s"),
        (longest * -18, "-9223372036854775807 s"),
    ])
    func `A text has three digits behind the point at most`(duration: Duration, text: String) {
        #expect(duration.text == text)
    }

    @Test func `Components end where 64 bits do`() {
        #expect((Self.longest * 18).clampedComponents == (.max, 0))
        #expect((Self.longest * -18).clampedComponents == (-.max, 0))
        #expect(Duration.milliseconds(-1_250).clampedComponents == Duration.milliseconds(-1_250).components)
    }
}
