/// How long to wait before each repeat: exponential growth to a cap, with full jitter.
///
/// Full jitter draws the wait evenly between zero and the grown value, after the cap, so that a fleet of clients spreads out instead of
/// returning in step.
public struct Backoff: Sendable, Hashable {
    /// The bound of the first wait. Default half a second.
    public var base: Duration
    /// What the bound is multiplied by for each further wait; below 1 counts as 1. Default 2.
    public var factor: Double
    /// What the bound never exceeds. Default 30 seconds.
    public var cap: Duration
    /// Whether the wait is drawn at random below the bound. Default yes; without it the wait is the bound.
    public var hasJitter: Bool

    /// A back-off.
    public init(base: Duration = .milliseconds(500), factor: Double = 2, cap: Duration = .seconds(30), hasJitter: Bool = true) {
        self.base = base
        self.factor = factor
        self.cap = cap
        self.hasJitter = hasJitter
    }

    /// The longest possible wait after a number of failures.
    public func bound(afterFailures failures: Int) -> Duration {
        var bound = max(base, .zero)
        let cap = max(cap, .zero)
        for _ in 1..<max(2, min(failures, 128)) where failures > 1 {
            guard bound < cap, factor > 1, factor.isFinite else { break }
            bound = bound > cap / factor ? cap : bound * factor
        }
        return min(bound, cap)
    }

    /// The wait after a number of failures, counted from 1.
    public func delay(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let bound = bound(afterFailures: failures)
        return hasJitter ? bound * Double.random(in: 0...1, using: &generator) : bound
    }
}
