/// The wait before each retry: exponential growth up to a cap, with random jitter.
///
/// Without jitter, clients that fail at the same time also retry at the same time.
public struct Backoff: Sendable, Hashable, Codable {
    /// Which part of the wait is random.
    public enum Jitter: String, Sendable, Hashable, Codable, CaseIterable {
        /// The wait is random, between zero and the bound. This spreads clients best, but sends the most requests.
        case full
        /// The wait is random, between half the bound and the bound. The minimum limits how often a client asks.
        case equal
        /// The wait isn't random. It equals the bound.
        case none
    }

    /// The longest possible first wait. Default 0.5 seconds; negative values count as zero.
    public var base: Duration
    /// The factor by which the bound grows for each further wait, at most 128 times. Default 2; values below 1 and infinite ones
    /// count as 1.
    public var factor: Double
    /// The maximum of the bound, at most a hundred years. Default 30 seconds; negative values count as zero.
    public var cap: Duration
    /// Which part of the wait is random. Default ``Jitter/full``.
    public var jitter: Jitter

    /// Creates a backoff.
    public init(base: Duration = .milliseconds(500), factor: Double = 2, cap: Duration = .seconds(30), jitter: Jitter = .full) {
        self.base = base
        self.factor = factor
        self.cap = cap
        self.jitter = jitter
    }

    /// Returns the longest possible wait after a number of failures.
    public func bound(afterFailures failures: Int) -> Duration {
        // Arithmetic on longer durations could overflow.
        let cap = max(cap, .zero).bounded
        var bound = min(max(base, .zero), cap)
        for _ in 1..<max(2, min(failures, 128)) where failures > 1 {
            guard bound < cap, factor > 1, factor.isFinite else { break }
            bound = bound > cap / factor ? cap : bound * factor
        }
        return min(bound, cap)
    }

    /// Returns the shortest possible wait after a number of failures.
    public func floor(afterFailures failures: Int) -> Duration {
        switch jitter {
        case .full: .zero
        case .equal: bound(afterFailures: failures) / 2
        case .none: bound(afterFailures: failures)
        }
    }

    /// Returns the wait after a number of failures, counted from 1.
    public func delay(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        delay(afterFailures: failures, fraction: Double.random(in: 0...1, using: &generator))
    }

    /// Returns the wait after a number of failures.
    ///
    /// - Parameter fraction: A random number between 0 and 1.
    package func delay(afterFailures failures: Int, fraction: Double) -> Duration {
        let bound = bound(afterFailures: failures)
        let floor = floor(afterFailures: failures)
        return floor + (bound - floor) * min(max(fraction, 0), 1)
    }

    /// Returns the longer of a wait of this backoff and the wait that a server requests.
    ///
    /// A random part of a second is added to the server's wait, because many clients may have received the same time. Without jitter,
    /// nothing is added.
    ///
    /// - Parameter random: Makes random numbers between 0 and 1.
    package func delay(_ own: Duration, asked: Duration?, random: () -> Double) -> Duration {
        guard let asked, asked >= own else { return own }
        return jitter == .none ? asked : asked + .seconds(1) * random()
    }
}
