public import Foundation

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

/// The `Retry-After` field (RFC 9110 §10.2.3), in both of its forms.
public enum RetryAfter: Sendable, Hashable {
    /// A number of seconds.
    case seconds(Int)
    /// A date.
    case date(Date)

    /// Reads a field's value; `nil` when it is neither a number of seconds nor an HTTP date.
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

    /// How long the fields of a response ask to wait, as ``delay(from:limit:)``; `nil` where none says it.
    ///
    /// Of several, in fields of their own or joined by commas, the longest counts: each was asked for by somebody on the way. One that is
    /// neither a number of seconds nor a date is passed over.
    package static func delay(in headers: HTTPFields, from now: Date = Date(), limit: Duration = .seconds(3600)) -> Duration? {
        let asked = headers[values: .retryAfter].flatMap { value in
            // The only comma that is a part of a value is the one behind a date's day of the week.
            value.split(separator: ",").reduce(into: [String]()) { values, part in
                let joined = values.last.map { $0 + "," + part }
                if let joined, RetryAfter(joined) != nil { values[values.count - 1] = joined } else { values.append(String(part)) }
            }
        }
        return asked.compactMap { RetryAfter($0)?.delay(from: now, limit: limit) }.max()
    }

    /// How long to wait from `now`, never below zero and never above `limit`.
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
