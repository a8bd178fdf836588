import CSystemLibraries

/// A point in time on the system's clock that never goes back and counts on while the machine sleeps: what `ContinuousClock` tells, as a
/// plain number.
///
/// The standard library hides how its instants look, so that each copy and comparison of one asks the runtime; an exchange makes some
/// dozens of them.
package struct MonotonicInstant: Sendable, Hashable, Comparable {
    /// Nanoseconds since some moment, the same for all of the process.
    private let nanoseconds: Int64

    private init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// One moment on both clocks: an instant that goes there and back is the same.
    private static let reference = (own: MonotonicInstant.now, continuous: ContinuousClock.now)

    /// The instant at which an instant of the standard library's clock comes.
    package init(_ instant: ContinuousClock.Instant) {
        let reference = Self.reference
        self = reference.own.advanced(by: reference.continuous.duration(to: instant))
    }

    /// This instant on the standard library's clock.
    var continuous: ContinuousClock.Instant {
        let reference = Self.reference
        return reference.continuous.advanced(by: reference.own.duration(to: self))
    }

    /// This moment.
    package static var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: csl_continuous_nanoseconds())
    }

    /// The instant that is so much later; at most a hundred years, on both sides.
    package func advanced(by duration: Duration) -> MonotonicInstant {
        let (seconds, attoseconds) = max(duration.bounded, .zero - Duration.longest).components
        // A hundred years before or after any time of a running system fit into the number.
        return MonotonicInstant(nanoseconds: nanoseconds &+ (seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }

    /// How long it is until another instant; negative when that one is earlier.
    package func duration(to other: MonotonicInstant) -> Duration {
        .nanoseconds(other.nanoseconds &- nanoseconds)
    }

    /// Sleeps until this instant has come.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before.
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
    /// A hundred years: what is longer means "for ever", and the clocks' sleep traps on it.
    package static let longest = Duration.seconds(100 * 366 * 86_400)

    /// The duration, but no longer than ``longest``.
    package var bounded: Duration { min(self, Self.longest) }

    /// The components of the nearest duration that has some: `components` traps from 2^63 seconds on, and a duration can be 18 times as long.
    package var clampedComponents: (seconds: Int64, attoseconds: Int64) {
        let limit = Duration(secondsComponent: .max, attosecondsComponent: 0)
        return max(.zero - limit, min(limit, self)).components
    }
}

extension Duration {
    /// The duration in seconds, with three digits behind the point at most, as messages tell it: `0.318 s`. Its description would have up to 18.
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
