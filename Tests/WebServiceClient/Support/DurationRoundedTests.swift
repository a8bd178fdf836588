import Testing
import WebServiceClient

@Suite struct DurationRoundedTests {
    @Test(arguments: [
        (Duration.nanoseconds(317_642_170), "0.318 seconds"), (.nanoseconds(1_499_999), "0.001 seconds"),
        (.nanoseconds(999_700_000), "1.0 seconds"), (.zero, "0.0 seconds"), (.nanoseconds(-2_600_000), "-0.003 seconds"),
        (.seconds(60), "60.0 seconds"),
    ])
    func `Texts have three digits at most`(duration: Duration, text: String) {
        #expect("\(duration.roundedToMilliseconds)" == text)
    }

    @Test func `The longest durations stay what they are`() {
        for duration in [
            Duration(secondsComponent: .max, attosecondsComponent: 0), Duration(secondsComponent: .min, attosecondsComponent: 0),
        ] {
            #expect(duration.roundedToMilliseconds == duration)
        }
    }
}
