public import Foundation

/// The wait before each retry: exponential growth up to a cap, with full jitter.
///
/// Full jitter chooses a random wait between zero and the capped bound, so that many clients don't retry at the same time.
public struct Backoff: Sendable, Hashable {
    /// The bound of the first wait. Default 0.5 seconds.
    public var base: Duration
    /// The factor by which the bound grows for each further wait; values below 1 count as 1. Default 2.
    public var factor: Double
    /// The maximum of the bound. Default 30 seconds.
    public var cap: Duration
    /// Whether the wait is random below the bound. Default `true`; otherwise the wait equals the bound.
    public var hasJitter: Bool

    /// Creates a backoff.
    public init(base: Duration = .milliseconds(500), factor: Double = 2, cap: Duration = .seconds(30), hasJitter: Bool = true) {
        self.base = base
        self.factor = factor
        self.cap = cap
        self.hasJitter = hasJitter
    }

    /// Returns the longest possible wait after a number of failures.
    public func bound(afterFailures failures: Int) -> Duration {
        var bound = max(base, .zero)
        let cap = max(cap, .zero)
        for _ in 1..<max(2, min(failures, 128)) where failures > 1 {
            guard bound < cap, factor > 1, factor.isFinite else { break }
            bound = bound > cap / factor ? cap : bound * factor
        }
        return min(bound, cap)
    }

    /// Returns the wait after a number of failures, counted from 1.
    public func delay(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let bound = bound(afterFailures: failures)
        return hasJitter ? bound * Double.random(in: 0...1, using: &generator) : bound
    }
}

/// The `Retry-After` field (RFC 9110 §10.2.3) in either of its forms.
public enum RetryAfter: Sendable, Hashable {
    /// A number of seconds.
    case seconds(Int)
    /// A date.
    case date(Date)

    /// Parses a field's value; `nil` if it is neither a number of seconds nor an HTTP date.
    public init?(_ value: String) {
        let text = value.trimmingCharacters(in: .whitespaces)
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            self = .seconds(Int(text) ?? .max)
        } else if let date = HTTPDate.date(from: text) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Returns the wait that a response's fields request, computed with ``delay(from:limit:)``; `nil` if there is none.
    ///
    /// If there are several values, in separate fields or separated by commas, the longest counts, because each comes from a server or a
    /// proxy. Values that are neither a number of seconds nor a date are ignored.
    package static func delay(in headers: HTTPFields, from now: Date = Date(), limit: Duration = .seconds(3600)) -> Duration? {
        let asked = headers[values: .retryAfter].flatMap { value in
            // Only one comma is part of a value: the one after a date's day of the week.
            value.split(separator: ",").reduce(into: [String]()) { values, part in
                let joined = values.last.map { $0 + "," + part }
                if let joined, RetryAfter(joined) != nil { values[values.count - 1] = joined } else { values.append(String(part)) }
            }
        }
        return asked.compactMap { RetryAfter($0)?.delay(from: now, limit: limit) }.max()
    }

    /// Returns the wait from `now`, at least zero and at most `limit`.
    public func delay(from now: Date = Date(), limit: Duration = .seconds(3600)) -> Duration {
        switch self {
        case .seconds(let seconds):
            return min(.seconds(seconds), limit)
        case .date(let date):
            let interval = date.timeIntervalSince(now)
            guard interval > 0 else { return .zero }
            return interval >= Double(limit.clampedComponents.seconds) ? limit : .seconds(interval)
        }
    }
}
