/// A limit on how often calls start: a token bucket.
///
///     "search(text:)": .get("/search").query("q", .argument(0)).rateLimited(RateLimit(30, per: .seconds(60))),
///
/// Set for an endpoint, it limits the calls of that endpoint. `Configuration.rateLimit` and ``EndpointDefaults/rateLimited(_:)`` limit all
/// calls of a client together. If both are set, both apply. Each attempt and each redirect counts.
///
/// Waiting calls start in the order of their arrival. In any period at most `count + burst` calls start, whenever it begins.
public struct RateLimit: EndpointAttribute, PortableAttribute, Hashable, Codable {
    /// The number of calls that may start in a period. At least 1.
    public var count: Int
    /// The period. Longer than zero.
    public var period: Duration
    /// The number of calls that may start at once after a pause. At least 1. With 1, calls start at equal distances.
    public var burst: Int
    /// The longest wait. A call that would wait longer fails at once with ``RateLimitError``. `nil` for an unlimited wait.
    public var longestWait: Duration?

    /// Creates a limit.
    public init(_ count: Int, per period: Duration, burst: Int = 1, longestWait: Duration? = nil) {
        self.count = count
        self.period = period
        self.burst = burst
        self.longestWait = longestWait
    }

    /// The problems of the limit, each with its fix.
    var faults: [(problem: String, fix: String)] {
        var faults: [(String, String)] = []
        if count < 1 { faults.append(("the rate limit has the count \(count), so no call could start", "use at least 1")) }
        if period <= .zero { faults.append(("the rate limit has the period \(period.text)", "use a period longer than zero")) }
        if burst < 1 { faults.append(("the rate limit has the burst \(burst), so no call could start", "use at least 1")) }
        if let longestWait, longestWait < .zero {
            faults.append(("the rate limit has the longest wait \(longestWait.text)", "use zero or longer, or nil for no limit"))
        }
        return faults
    }
}

extension RateLimit: CustomStringConvertible {
    /// The limit, such as `30 per 60 s, burst 5`.
    public var description: String {
        "RateLimit(\(count) per \(period.text), burst \(burst)" + (longestWait.map { ", longest wait \($0.text)" } ?? "") + ")"
    }

    package init?(described text: String) {
        guard let parts = text.inside("RateLimit(")?.listed(), (2...3).contains(parts.count), let rate = parts[0].divided(by: " per "),
            let count = Int(rate.before), let period = Duration(text: rate.after),
            let burst = parts[1].inside("burst ", "").flatMap({ Int($0) })
        else { return nil }
        self.init(count, per: period, burst: burst)
        guard parts.count == 3 else { return }
        guard let wait = parts[2].inside("longest wait ", "").flatMap({ Duration(text: $0) }) else { return nil }
        longestWait = wait
    }
}

/// The limit of all calls of a client together. Clients and classes set it, so it isn't the same attribute as an endpoint's own limit.
struct ClientRateLimit: EndpointAttribute, Hashable, CustomStringConvertible {
    let limit: RateLimit
    /// The method whose calls it counts, if it is the limit of a class's method; `nil` for all calls.
    var method: ServiceRequest.Method?

    var description: String { "Client\(limit)" }
}

/// Obeys the limits that a service states in its responses: a setting of client, class, endpoint and call. The default is not to.
///
///     $0.attributes[ServiceRateLimits.self] = ServiceRateLimits()
///
/// * `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers): calls are paced by the smaller of what remains and what the
///   policy allows; up to a tenth of what remains may start at once. A malformed field is ignored as a whole, and so are fields of a
///   response from a cache (`Age`).
/// * `X-RateLimit-Remaining` and `X-RateLimit-Reset`, also without `X-` or as `X-Rate-Limit-`: when no calls remain, calls wait for the
///   reset, which may be in seconds from now, or in seconds or milliseconds since 1970. Endpoints with different `X-RateLimit-Resource`
///   count separately. The form `RateLimit: limit=100, remaining=12, reset=8` of the draft's seventh version is obeyed in the same way.
/// * `Retry-After` on 429 and 503 pauses the origin for all calls of the client.
///
/// A call that would wait longer than ``longestWait`` fails at once with ``RateLimitError``, which has the length of the wait.
public struct ServiceRateLimits: EndpointAttribute, PortableAttribute, Hashable, Codable {
    /// The longest wait. Default 60 seconds. At least zero.
    public var longestWait: Duration
    /// Whether the limits are obeyed. An endpoint or a call uses ``ignored`` to differ from its client.
    public var areObeyed = true

    /// Creates the setting.
    public init(longestWait: Duration = .seconds(60)) {
        self.longestWait = longestWait
    }

    /// Ignores what services state.
    public static let ignored: ServiceRateLimits = {
        var setting = ServiceRateLimits()
        setting.areObeyed = false
        return setting
    }()

    /// The problems of the setting, each with its fix.
    var faults: [(problem: String, fix: String)] {
        longestWait < .zero ? [("ServiceRateLimits.longestWait is \(longestWait.text)", "use zero or longer")] : []
    }
}

extension ServiceRateLimits: CustomStringConvertible {
    /// The setting, such as `ServiceRateLimits(longest wait 60 s)`.
    public var description: String { areObeyed ? "ServiceRateLimits(longest wait \(longestWait.text))" : "ServiceRateLimits(ignored)" }

    package init?(described text: String) {
        if text == Self.ignored.description {
            self = .ignored
        } else if let wait = text.inside("ServiceRateLimits(longest wait ").flatMap({ Duration(text: $0) }) {
            self.init(longestWait: wait)
        } else {
            return nil
        }
    }

    /// A profile can't switch off the pace that the service asks for.
    package var leastTrustedSource: AttributeSource { areObeyed ? .profile : .exportedTable }
}

/// A call would have had to wait too long for a rate limit: it wasn't sent. A ``ServiceError`` of the kind `rateLimit` has it as its cause.
public struct RateLimitError: DescribedError, Sendable, Hashable {
    /// How long the call would have had to wait.
    public let wait: Duration
    /// The limit and the fix, as a sentence.
    public let description: String

    static func limit(_ limit: RateLimit, wait: Duration, longest: Duration) -> RateLimitError {
        RateLimitError(
            wait: wait,
            description: "The rate limit of \(limit.count) calls per \(limit.period.text) would delay the call by \(wait.text), longer "
                + "than its longestWait of \(longest.text). Make fewer calls at once, or raise longestWait.")
    }

    static func service(_ origin: Origin?, wait: Duration, longest: Duration) -> RateLimitError {
        RateLimitError(
            wait: wait,
            description: "\(origin?.description ?? "The service") allows no call before \(wait.text) have passed, longer than the "
                + "longestWait of \(longest.text). Call again after that time, or raise ServiceRateLimits.longestWait.")
    }

    /// The error of a call whose deadline is before its turn.
    static func deadline(wait: Duration) -> TransportError {
        TransportError(
            .timedOutTotal,
            "The call's total time would pass before the rate limit lets the call start, in \(wait.text); it wasn't sent. Raise the total time, "
                + "or make fewer calls at once.")
    }
}
