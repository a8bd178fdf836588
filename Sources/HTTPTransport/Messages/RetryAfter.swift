public import Foundation

/// The `Retry-After` field (RFC 9110 §10.2.3) in any of its forms.
public enum RetryAfter: Sendable, Hashable {
    /// A number of seconds.
    case seconds(Int)
    /// A number of milliseconds: seconds with a fraction. RFC 9110 doesn't allow fractions, but many services send them.
    case milliseconds(Int)
    /// A date.
    case date(Date)

    /// Parses a field's value; `nil` if it is neither a number of seconds nor an HTTP date.
    ///
    /// A fraction such as `1.5` is rounded up to milliseconds. A number of any length is valid; a thousand million million seconds is the
    /// largest value. Negative numbers and exponents are invalid.
    public init?(_ value: String) {
        let text = value.trimmingCharacters(in: .whitespaces)
        if let number = Self.decimal(text) {
            self = number.isWhole ? .seconds(number.thousandths / 1_000) : .milliseconds(number.thousandths)
        } else if let date = HTTPDate.date(from: text) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Parses a number of milliseconds, as in the field `retry-after-ms`. Fractions are rounded up.
    package init?(milliseconds value: String) {
        guard let number = Self.decimal(value.trimmingCharacters(in: .whitespaces)) else { return nil }
        self = .milliseconds((number.thousandths + 999) / 1_000)
    }

    /// Returns the wait that a response's fields request, computed with ``delay(from:limit:)``; `nil` if there is none.
    ///
    /// If there are several values, in separate fields or separated by commas, the longest counts, because each comes from a server or a
    /// proxy. Values that are neither a number of seconds nor a date are ignored. A date is relative to the response's `Date` if it has
    /// one, because the server's clock may differ from this machine's.
    package static func delay(in headers: HTTPFields, from now: Date = Date(), limit: Duration = .seconds(3600)) -> Duration? {
        let asked = headers[values: .retryAfter].flatMap { value in
            // Commas separate values, except the comma after the day of the week in a date.
            value.split(separator: ",").reduce(into: [String]()) { values, part in
                let joined = values.last.map { $0 + "," + part }
                if let joined, RetryAfter(joined) != nil { values[values.count - 1] = joined } else { values.append(String(part)) }
            }
        }
        guard !asked.isEmpty else { return nil }
        let now = time(of: headers) ?? now
        return asked.compactMap { RetryAfter($0)?.delay(from: now, limit: limit) }.max()
    }

    /// Returns the date of a response from its `Date` field; `nil` if the field is missing or invalid.
    package static func time(of headers: HTTPFields) -> Date? {
        headers["Date"].flatMap { HTTPDate.date(from: $0) }
    }

    /// Returns the wait from `now`, at least zero and at most `limit`.
    public func delay(from now: Date = Date(), limit: Duration = .seconds(3600)) -> Duration {
        let limit = max(limit, .zero)
        switch self {
        case .seconds(let seconds):
            return min(max(.zero, .seconds(seconds)), limit)
        case .milliseconds(let milliseconds):
            return min(max(.zero, .milliseconds(milliseconds)), limit)
        case .date(let date):
            let interval = date.timeIntervalSince(now)
            guard interval > 0 else { return .zero }
            return interval >= Double(limit.clampedComponents.seconds) ? limit : .seconds(interval)
        }
    }

    /// The largest whole number: its thousandths don't overflow, and no wait is as long.
    private static let largest = 1_000_000_000_000_000

    /// Parses a non-negative decimal number, at most ``largest``. Further digits after the third place round up.
    private static func decimal(_ text: String) -> (thousandths: Int, isWhole: Bool)? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let whole = parts.first, !whole.isEmpty, parts.allSatisfy({ $0.allSatisfy(digits.contains) }) else { return nil }
        // A number that is too large for an integer asks for a long wait, too: it must not count as none.
        let seconds = min(Int(Substring(whole)) ?? largest, largest)
        guard parts.count == 2 else { return (seconds * 1_000, true) }
        guard !parts[1].isEmpty else { return nil }
        let places = parts[1].prefix(3).reduce(0) { $0 * 10 + Int($1 - digits.lowerBound) }
        let scale = [1, 100, 10, 1][min(parts[1].count, 3)]
        let thousandths = places * scale + (parts[1].dropFirst(3).contains { $0 != digits.lowerBound } ? 1 : 0)
        return (seconds * 1_000 + thousandths, thousandths == 0)
    }
}
