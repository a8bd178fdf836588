package import Foundation

/// Whether and how a call is repeated after a failure.
///
/// The policy is a client setting and an attribute of classes, endpoints and calls; the innermost counts. A call is repeated only if its
/// method is idempotent (RFC 9110 §9.2.2), its endpoint declares ``EndpointDescriptor/idempotent(_:)``, or ``unsafeMethods`` permits it,
/// and only if its body can be replayed. A call is never repeated after success: a status that the endpoint accepts.
///
///     $0.retry = .standard
///     $0.retry = RetryPolicy(attempts: 5, longestTotal: .seconds(30))
///
/// The server may state that it didn't process a request: by HTTP/2 (RFC 9113 §8.7), or by the statuses 421 (RFC 9110 §15.5.20) and 425
/// (RFC 8470 §5.2). Under every policy, such a request is sent again at once, one time for each attempt, whatever its method.
public struct RetryPolicy: EndpointAttribute, PortableAttribute, Hashable {
    /// Which requests are repeated whose methods aren't idempotent, such as POST.
    public enum UnsafeMethods: String, Sendable, Hashable, Codable, CaseIterable {
        /// None.
        case never
        /// Those with an idempotency key: see ``IdempotencyKey``.
        case withIdempotencyKey
        /// All. The server may perform the operation several times.
        case always
    }

    /// The maximum number of attempts, including the first: 3 means one call and two repeats. With 1, calls aren't repeated. The limit
    /// applies to the whole call: redirect hops share the repeats. Default 3.
    public var attempts: Int
    /// The waits between attempts.
    public var backoff: Backoff
    /// The statuses after which the call is repeated. Default 408, 429, 500, 502, 503, 504.
    public var statuses: StatusSet
    /// The transport failures after which the call is repeated. Default ``standardFailures``.
    public var failures: Set<TransportError.Code>
    /// Which requests with methods that aren't idempotent are repeated. Default ``UnsafeMethods/withIdempotencyKey``.
    public var unsafeMethods: UnsafeMethods
    /// The longest wait that a server may ask for, by `Retry-After` for instance. If it asks for more, the failure is delivered, and
    /// ``ServiceError/retryAfter`` has the wait. Default 60 seconds.
    public var longestWait: Duration
    /// The time from the call's first attempt within which the last one must begin. The call's deadline applies as well. Default 5 minutes.
    public var longestTotal: Duration
    /// The further statuses after which a request with an idempotency key is repeated. Default 409 and 425, which mean that the first
    /// request is still being processed. Services that use 409 for other conflicts need a set without it.
    public var keyedStatuses: StatusSet = [409, 425]
    /// The response fields by which the server decides whether a call is repeated. They take precedence over the statuses. Default none.
    public var overrules: [RetryOverrule] = []
    /// The rate limits that count as a reason to repeat the call after their reset. Default none.
    public var limits: [RetryLimit] = []
    /// The response fields with a wait in milliseconds, which take precedence over `Retry-After`; the first that is present counts.
    /// Default none; see ``commonMillisecondFields``.
    public var millisecondFields: [HTTPFields.Name] = []

    /// Creates a policy.
    public init(
        attempts: Int = 3, backoff: Backoff = Backoff(), statuses: StatusSet = [408, 429, 500, 502, 503, 504],
        failures: Set<TransportError.Code> = RetryPolicy.standardFailures, unsafeMethods: UnsafeMethods = .withIdempotencyKey,
        longestWait: Duration = .seconds(60), longestTotal: Duration = .seconds(300)
    ) {
        self.attempts = attempts
        self.backoff = backoff
        self.statuses = statuses
        self.failures = failures
        self.unsafeMethods = unsafeMethods
        self.longestWait = longestWait
        self.longestTotal = longestTotal
    }

    /// The failures that may be transient: no address, no connection, a lost connection, and timeouts before a response.
    public static let standardFailures: Set<TransportError.Code> = [
        .cannotConnect, .connectionLost, .hostNotFound, .timedOutConnecting, .timedOutWaiting,
    ]

    /// The fields of Azure (`retry-after-ms`, `x-ms-retry-after-ms`, also OpenAI's) and AWS (`x-amz-retry-after`) for a wait in
    /// milliseconds.
    public static let commonMillisecondFields: [HTTPFields.Name] = ["retry-after-ms", "x-ms-retry-after-ms", "x-amz-retry-after"]

    // MARK: Presets

    /// Repeats nothing. This is the default of a client. The exception is a request that the server states it didn't process: it is sent
    /// again once.
    public static let never = RetryPolicy(attempts: 1)

    /// Three attempts, with waits up to half a second, then up to a second: `RetryPolicy()`.
    public static let standard = RetryPolicy()

    /// For calls that a person waits for: see ``Solicited``. It is ``standard``, widened.
    public static let solicited = RetryPolicy.standard.solicited

    /// For work in the background, in programs with many instances: waits of 30 to 60 seconds, for up to an hour. While a service is down,
    /// each call sends at most one request in 30 seconds, and the instances don't return at the same time.
    public static let unattended = RetryPolicy(
        attempts: 120, backoff: Backoff(base: .seconds(60), cap: .seconds(60), jitter: .equal), longestWait: .seconds(3_600),
        longestTotal: .seconds(3_600))
}

extension RetryPolicy {
    /// This policy for a call that a person waits for: more statuses, more failures, more attempts within at least a minute, shorter waits.
    var solicited: RetryPolicy {
        var policy = self
        let doubled = attempts.multipliedReportingOverflow(by: 2)
        policy.attempts = max(8, doubled.overflow ? attempts : doubled.partialValue)
        policy.backoff.cap = min(backoff.cap, .seconds(10))
        policy.statuses = statuses.union([408, 425, 429, 500, 502, 503, 504]).union(.range(506...510)).union(.range(512...599))
        policy.failures = failures.union(Self.standardFailures).union([.proxyRefused, .tooManyWaiting, .unreadableResponse])
        policy.longestWait = max(longestWait, .seconds(60))
        policy.longestTotal = max(longestTotal, .seconds(60))
        return policy
    }

    /// The wait that a response asks for; `nil` if it asks for none.
    package func askedWait(status: Int, headers: HTTPFields, now: @autoclosure () -> Date) -> Duration? {
        for name in millisecondFields {
            if let value = headers[name].flatMap({ RetryAfter(milliseconds: $0) }) { return value.delay(limit: .longest) }
        }
        let asked = headers.contains(.retryAfter) ? RetryAfter.delay(in: headers, from: now(), limit: .longest) : nil
        let limited = limits.compactMap { $0.wait(status: status, headers: headers, now: now()) }.max()
        guard let limited else { return asked }
        return max(limited, asked ?? .zero)
    }

    /// Whether a wait ends before a deadline and within the policy's total time.
    ///
    /// - Parameters:
    ///   - now: The beginning of the wait.
    ///   - start: The beginning of the total time; `nil` if it isn't limited.
    func allows(_ wait: Duration, at now: MonotonicInstant, since start: MonotonicInstant?, before deadline: MonotonicInstant?) -> Bool {
        if let deadline, now.advanced(by: wait) >= deadline { return false }
        guard let start else { return true }
        // Instants are bounded, so that two long times would seem to end at once.
        return (now - start) + wait.bounded <= longestTotal
    }

    /// Whether a response that isn't a success is a reason to repeat the call.
    package func covers(status: Int, headers: HTTPFields, hasKey: Bool) -> Bool {
        for overrule in overrules {
            if let verdict = overrule.verdict(headers) { return verdict }
        }
        if statuses.contains(status) || hasKey && keyedStatuses.contains(status) { return true }
        return limits.contains { $0.applies(status: status, headers: headers) }
    }

    /// The faults of the policy with their fixes.
    var problems: [(problem: String, fix: String)] {
        var problems: [(String, String)] = []
        if attempts < 1 {
            problems.append(("the retry policy allows \(attempts) attempts", "use at least 2, or .never"))
        }
        if backoff.base < .zero || backoff.cap < .zero {
            problems.append(("the backoff of the retry policy has a negative duration", "use a base and a cap of zero or more"))
        }
        if !(backoff.factor >= 1 && backoff.factor.isFinite) {
            problems.append(("the backoff of the retry policy has the factor \(backoff.factor)", "use a finite factor of 1 or more"))
        }
        if longestWait < .zero {
            problems.append(("the retry policy has a negative longestWait", "use zero or more"))
        }
        guard attempts > 1 else { return problems }
        if longestTotal <= .zero {
            problems.append(("the retry policy can never repeat a call: its longestTotal isn't positive", "use a longer time, or .never"))
        } else if backoff.floor(afterFailures: 1) > longestTotal {
            problems.append(
                (
                    "the retry policy can never repeat a call: its first wait is longer than longestTotal",
                    "raise longestTotal, or lower the backoff's base"
                ))
        }
        if statuses.isEmpty, failures.isEmpty, overrules.isEmpty, limits.isEmpty {
            problems.append(
                ("the retry policy can never repeat a call: it has neither statuses nor failures", "add some, or use .never"))
        }
        for limit in limits where limit.statuses.isEmpty {
            problems.append(("the limit of \(limit.reset) in the retry policy has no statuses", "use its default, 403 and 429"))
        }
        return problems
    }
}

extension RetryPolicy: Codable {
    private enum CodingKeys: String, CodingKey {
        case attempts, backoff, statuses, failures, unsafeMethods, longestWait, longestTotal, keyedStatuses, overrules, limits
        case millisecondFields
    }

    /// Reads a policy.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let failures = try container.decode([String].self, forKey: .failures)
        self.init(
            attempts: try container.decode(Int.self, forKey: .attempts), backoff: try container.decode(Backoff.self, forKey: .backoff),
            statuses: try container.decode(StatusSet.self, forKey: .statuses),
            failures: Set(failures.map { TransportError.Code(rawValue: $0) }),
            unsafeMethods: try container.decode(UnsafeMethods.self, forKey: .unsafeMethods),
            longestWait: try container.decode(Duration.self, forKey: .longestWait),
            longestTotal: try container.decode(Duration.self, forKey: .longestTotal))
        keyedStatuses = try container.decode(StatusSet.self, forKey: .keyedStatuses)
        overrules = try container.decode([RetryOverrule].self, forKey: .overrules)
        limits = try container.decode([RetryLimit].self, forKey: .limits)
        millisecondFields = try container.decode([HTTPFields.Name].self, forKey: .millisecondFields)
    }

    /// Writes the policy, the failures in the order of their names.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(attempts, forKey: .attempts)
        try container.encode(backoff, forKey: .backoff)
        try container.encode(statuses, forKey: .statuses)
        try container.encode(failures.map(\.rawValue).sorted(), forKey: .failures)
        try container.encode(unsafeMethods, forKey: .unsafeMethods)
        try container.encode(longestWait, forKey: .longestWait)
        try container.encode(longestTotal, forKey: .longestTotal)
        try container.encode(keyedStatuses, forKey: .keyedStatuses)
        try container.encode(overrules, forKey: .overrules)
        try container.encode(limits, forKey: .limits)
        try container.encode(millisecondFields, forKey: .millisecondFields)
    }
}

extension RetryPolicy: CustomStringConvertible {
    /// The values of the policy, those that have no effect omitted.
    public var description: String {
        guard attempts > 1 else { return "RetryPolicy(\(attempts == 1 ? "never" : "\(attempts) attempts"))" }
        var parts = [
            "\(attempts) attempts within \(longestTotal.text)",
            "waits from \(backoff.base.text) to \(backoff.cap.text) with \(backoff.jitter.rawValue) jitter"
                + (backoff.factor == Backoff().factor ? "" : " and factor \(backoff.factor)"),
            "Retry-After up to \(longestWait.text)", "statuses \(statuses.isEmpty ? "none" : "\(statuses)")",
            "failures \(failures.isEmpty ? "none" : failures.map(\.rawValue).sorted().joined(separator: ", "))",
        ]
        if unsafeMethods != .withIdempotencyKey { parts.append("unsafe methods \(unsafeMethods.rawValue)") }
        if keyedStatuses != [409, 425] { parts.append("with a key \(keyedStatuses.isEmpty ? "none" : "\(keyedStatuses)")") }
        if !overrules.isEmpty { parts.append("overruled by \(overrules.map(\.described).joined(separator: ", "))") }
        if !limits.isEmpty { parts.append("limits of \(limits.map(\.described).joined(separator: ", "))") }
        if !millisecondFields.isEmpty { parts.append("milliseconds in \(millisecondFields.map(\.rawName).joined(separator: ", "))") }
        return "RetryPolicy(\(parts.joined(separator: "; ")))"
    }

    package init?(described text: String) {
        guard let content = text.inside("RetryPolicy(") else { return nil }
        self.init()
        if content == "never" {
            self = .never
        } else if let attempts = content.inside("", " attempts").flatMap({ Int($0) }) {
            self.attempts = attempts
        } else {
            for part in content.split(mark: "; ") where !read(part) { return nil }
        }
    }

    /// Reads a part of the text.
    ///
    /// - Returns: Whether it could be read.
    private mutating func read(_ part: Substring) -> Bool {
        func names(_ list: Substring) -> [Substring] { list == "none" ? [] : list.listed() }
        func statuses(_ list: Substring) -> StatusSet? { list == "none" ? [] : StatusSet(described: list) }
        if let (count, total) = part.divided(by: " attempts within ") {
            guard let attempts = Int(count), let total = Duration(text: total) else { return false }
            (self.attempts, longestTotal) = (attempts, total)
        } else if let waits = part.inside("waits from ", "") {
            guard let backoff = Self.backoff(waits) else { return false }
            self.backoff = backoff
        } else if let wait = part.inside("Retry-After up to ", "") {
            guard let wait = Duration(text: wait) else { return false }
            longestWait = wait
        } else if let list = part.inside("statuses ", "") {
            guard let set = statuses(list) else { return false }
            self.statuses = set
        } else if let list = part.inside("failures ", "") {
            failures = Set(names(list).map { TransportError.Code(rawValue: String($0)) })
        } else if let rule = part.inside("unsafe methods ", "") {
            guard let rule = UnsafeMethods(rawValue: String(rule)) else { return false }
            unsafeMethods = rule
        } else if let list = part.inside("with a key ", "") {
            guard let set = statuses(list) else { return false }
            keyedStatuses = set
        } else if let list = part.inside("overruled by ", "") {
            overrules = list.listed().compactMap { RetryOverrule(described: $0) }
        } else if let list = part.inside("limits of ", "") {
            limits = list.listed().compactMap { RetryLimit(described: $0) }
        } else if let list = part.inside("milliseconds in ", "") {
            millisecondFields = list.listed().map { HTTPFields.Name(String($0)) }
        } else {
            return false
        }
        return true
    }

    /// Reads `0.5 s to 30 s with full jitter and factor 3.0`.
    private static func backoff(_ text: Substring) -> Backoff? {
        guard let (range, rest) = text.divided(by: " with "), let (first, last) = range.divided(by: " to "),
            let (kind, end) = rest.divided(by: " jitter"), let jitter = Backoff.Jitter(rawValue: String(kind)),
            let base = Duration(text: first), let cap = Duration(text: last),
            let factor = end.isEmpty ? Backoff().factor : end.inside(" and factor ", "").flatMap({ Double($0) })
        else { return nil }
        return Backoff(base: base, factor: factor, cap: cap, jitter: jitter)
    }

    /// A profile may set the presets, and policies that permit no more repetitions than 20 attempts of the default one. In particular, it
    /// can't have requests repeated whose methods aren't idempotent.
    package var leastTrustedSource: AttributeSource {
        if attempts <= 1 || self == .unattended || self == .solicited { return .profile }
        let usual = RetryPolicy()
        let isModest =
            attempts <= 20 && backoff.base >= usual.backoff.base && backoff.cap >= backoff.base
            && backoff.factor >= usual.backoff.factor && usual.statuses.union(statuses) == usual.statuses
            && failures.isSubset(of: usual.failures) && unsafeMethods != .always && longestWait <= usual.longestWait
            && longestTotal <= usual.longestTotal && usual.keyedStatuses.union(keyedStatuses) == usual.keyedStatuses && overrules.isEmpty
            && limits.isEmpty
        return isModest ? .profile : .exportedTable
    }
}
