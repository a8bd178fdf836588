import Foundation

/// A response field by which the server decides whether a call is repeated, such as `x-should-retry: false`.
///
///     $0.retry.overrules = [.shouldRetry]
///
/// It overrules the policy's statuses both ways, but neither its bounds nor the conditions on methods and bodies.
public struct RetryOverrule: Sendable, Hashable, Codable {
    /// The field's name.
    public var field: HTTPFields.Name
    /// The value that asks to repeat the call; letter case doesn't matter.
    public var yes: String
    /// The value that asks not to.
    public var no: String

    /// Creates an overrule.
    public init(_ field: HTTPFields.Name, yes: String = "true", no: String = "false") {
        self.field = field
        self.yes = yes
        self.no = no
    }

    /// `x-should-retry`, of OpenAI and others.
    public static let shouldRetry = RetryOverrule("x-should-retry")
    /// `stripe-should-retry`, of Stripe.
    public static let stripeShouldRetry = RetryOverrule("stripe-should-retry")

    /// The text in the description of a policy.
    var described: String { "\(field.rawName) (\(yes), \(no))" }

    /// Reads what ``described`` writes. Values with commas or parentheses aren't read, because their text may have another meaning.
    init?(described text: Substring) {
        guard let (name, rest) = text.divided(by: " ("), let (yes, no) = rest.inside("", ")")?.divided(by: ", "),
            HTTPFields.Name.isToken(String(name)), !(yes + no).contains(where: { ",;()\"".contains($0) })
        else { return nil }
        self.init(HTTPFields.Name(String(name)), yes: String(yes), no: String(no))
    }

    /// Whether the server asks to repeat the call; `nil` if it has no opinion.
    func verdict(_ headers: HTTPFields) -> Bool? {
        guard let value = headers[field]?.trimmingCharacters(in: .whitespaces).lowercased() else { return nil }
        return value == yes.lowercased() ? true : value == no.lowercased() ? false : nil
    }
}

/// A service's rate limit that a call has exceeded, described by the fields of its response.
///
///     $0.retry.limits = [.gitHub]
///
/// A response with one of the ``statuses`` is a reason to repeat the call if ``remaining`` is 0 and ``reset`` is valid, or if it has
/// `Retry-After`. The call waits until the reset, or as long as `Retry-After` asks, whichever is longer. If that exceeds
/// ``RetryPolicy/longestWait``, the failure is delivered, and ``ServiceError/retryAfter`` has the wait.
public struct RetryLimit: Sendable, Hashable, Codable {
    /// The unit of the field ``RetryLimit/reset``.
    public enum Unit: String, Sendable, Hashable, Codable, CaseIterable {
        /// The time of the reset, in seconds since 1970.
        case epochSeconds
        /// The seconds until the reset.
        case seconds
    }

    /// The statuses of a call that exceeded the limit. Default 403 and 429.
    public var statuses: StatusSet
    /// The field with the number of calls that remain.
    public var remaining: HTTPFields.Name
    /// The field with the time at which the limit is reset.
    public var reset: HTTPFields.Name
    /// The unit of the field ``reset``.
    public var unit: Unit

    /// Creates a limit.
    public init(
        statuses: StatusSet = [403, 429], remaining: HTTPFields.Name = "X-RateLimit-Remaining",
        reset: HTTPFields.Name = "X-RateLimit-Reset", unit: Unit
    ) {
        self.statuses = statuses
        self.remaining = remaining
        self.reset = reset
        self.unit = unit
    }

    /// The limits of GitHub: `X-RateLimit-Reset` is a time in seconds since 1970.
    public static let gitHub = RetryLimit(unit: .epochSeconds)
    /// Limits whose `X-RateLimit-Reset` is the number of seconds until the reset.
    public static let secondsUntilReset = RetryLimit(unit: .seconds)

    /// The text in the description of a policy.
    var described: String { "\(reset.rawName) (\(unit), \(remaining.rawName), statuses \(statuses))" }

    /// Reads what ``described`` writes.
    init?(described text: Substring) {
        guard let (reset, rest) = text.divided(by: " ("), let (word, more) = rest.inside("", ")")?.divided(by: ", "),
            let (remaining, list) = more.divided(by: ", statuses "), let unit = Unit(rawValue: String(word)),
            let statuses = StatusSet(described: list), HTTPFields.Name.isToken(String(reset)), HTTPFields.Name.isToken(String(remaining))
        else { return nil }
        self.init(
            statuses: statuses, remaining: HTTPFields.Name(String(remaining)), reset: HTTPFields.Name(String(reset)), unit: unit)
    }

    /// Seconds since 1970 have been larger than this since 2001, and no wait is.
    private static let smallestTime = 1_000_000_000

    /// Whether a response states that the call exceeded the limit.
    func applies(status: Int, headers: HTTPFields) -> Bool {
        guard statuses.contains(status) else { return false }
        return headers.contains(.retryAfter) && RetryAfter.delay(in: headers, limit: .longest) != nil || resetTime(in: headers) != nil
    }

    /// The time from `now` to the reset; `nil` if the response doesn't say that the call exceeded the limit. A time is relative to the
    /// response's `Date` if it has one.
    func wait(status: Int, headers: HTTPFields, now: Date) -> Duration? {
        guard statuses.contains(status) else { return nil }
        return resetTime(in: headers)?.delay(from: RetryAfter.time(of: headers) ?? now, limit: .longest)
    }

    private func resetTime(in headers: HTTPFields) -> RetryAfter? {
        guard let left = headers[remaining], Int(left.trimmingCharacters(in: .whitespaces)) == 0,
            let value = headers[reset].flatMap({ RetryAfter($0) })
        else { return nil }
        let seconds: Int
        switch value {
        case .seconds(let whole): seconds = whole
        case .milliseconds(let thousandths): seconds = thousandths / 1_000 + 1
        case .date: return nil
        }
        switch unit {
        case .seconds: return seconds < Self.smallestTime ? value : nil
        case .epochSeconds:
            // A larger number isn't a time in seconds, but maybe in milliseconds.
            guard (Self.smallestTime..<10 * Self.smallestTime).contains(seconds) else { return nil }
            return .date(Date(timeIntervalSince1970: Double(seconds)))
        }
    }
}
