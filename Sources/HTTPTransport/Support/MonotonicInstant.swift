import CSystemLibraries

/// A point in time on the system's monotonic clock, which continues while the machine sleeps: the time of `ContinuousClock` as a plain
/// number.
///
/// The layout of the standard library's instants is opaque, so each copy and comparison needs a runtime call; an exchange makes dozens of
/// them.
package struct MonotonicInstant: Sendable, Hashable, Comparable {
    /// Nanoseconds since a fixed moment of the system, such as its start.
    private let nanoseconds: Int64

    private init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Both clocks, read once, almost together; because it stays fixed, a converted instant converts back to itself.
    private static let reference = (own: MonotonicInstant.now, continuous: ContinuousClock.now)

    /// Converts an instant of the standard library's clock.
    package init(_ instant: ContinuousClock.Instant) {
        let reference = Self.reference
        self = reference.own.advanced(by: reference.continuous.duration(to: instant))
    }

    /// The instant on the standard library's clock.
    var continuous: ContinuousClock.Instant {
        let reference = Self.reference
        return reference.continuous.advanced(by: reference.own.duration(to: self))
    }

    /// The current instant.
    package static var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: csl_continuous_nanoseconds())
    }

    /// Returns the instant after a duration, which is limited to a hundred years in both directions.
    package func advanced(by duration: Duration) -> MonotonicInstant {
        let (seconds, attoseconds) = max(duration.bounded, .zero - Duration.longest).components
        // Can't overflow if this instant is near the present.
        return MonotonicInstant(nanoseconds: nanoseconds &+ (seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }

    /// Returns the duration until another instant; negative if it is earlier.
    package func duration(to other: MonotonicInstant) -> Duration {
        .nanoseconds(other.nanoseconds &- nanoseconds)
    }

    /// Sleeps until this instant.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it.
    package func sleep() async throws {
        try await Task.sleep(for: Self.now.duration(to: self), clock: .continuous)
    }

    package static func - (left: MonotonicInstant, right: MonotonicInstant) -> Duration {
        right.duration(to: left)
    }

    package static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// A hundred years. Longer durations mean "forever", and the clocks' sleep traps on them.
    package static let longest = Duration.seconds(100 * 366 * 86_400)

    /// The duration, limited to ``longest``.
    package var bounded: Duration { min(self, Self.longest) }

    /// The components of the nearest representable duration: `components` traps from 2^63 seconds on, and a duration can be 18 times as
    /// long.
    package var clampedComponents: (seconds: Int64, attoseconds: Int64) {
        let limit = Duration(secondsComponent: .max, attosecondsComponent: 0)
        return max(.zero - limit, min(limit, self)).components
    }
}

extension Duration {
    /// The duration in seconds with at most three decimal places, for messages: `0.318 s`. Its description would have up to 18.
    package var text: String {
        let (seconds, attoseconds) = clampedComponents
        var thousandths = (attoseconds.magnitude + 500_000_000_000_000) / 1_000_000_000_000_000
        let whole = seconds.magnitude + thousandths / 1_000
        thousandths %= 1_000
        var text = whole == 0 && thousandths == 0 || self > .zero ? "\(whole)" : "-\(whole)"
        if thousandths > 0 {
            text += "." + String(1_000 + thousandths).dropFirst()
            while text.hasSuffix("0") { text.removeLast() }
        }
        return text + " s"
    }
}
