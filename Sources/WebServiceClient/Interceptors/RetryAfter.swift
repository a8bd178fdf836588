public import Foundation

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
