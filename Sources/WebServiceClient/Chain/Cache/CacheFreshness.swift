import Foundation

/// The rules for the reuse of a stored response, from its fields (RFC 9111 §4.2). They are computed once, when the response is stored or
/// read.
struct CacheFreshness: Sendable, Hashable {
    /// How long the response is fresh, in seconds from its generation.
    let lifetime: Double
    /// The age when it arrived, in seconds.
    let initialAge: Double
    /// Whether it must be validated before each reuse.
    let isAlwaysValidated: Bool
    /// Whether it must not be reused once it is stale.
    let isNeverStale: Bool
    /// Whether it doesn't change while it is fresh (RFC 8246).
    let isImmutable: Bool
    /// How long it may be reused stale while it is validated (RFC 5861 §3), in seconds.
    let staleWhileRevalidate: Double
    /// How long it may be reused stale after a failure (RFC 5861 §4), in seconds.
    let staleIfError: Double

    /// The longest lifetime without an explicit one: a day.
    static let longestHeuristic = 86_400.0

    /// The statuses whose responses may be reused without explicit freshness (RFC 9110 §15.1), but for 206, which is stored as a part.
    private static let heuristicStatuses: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    /// - Parameters:
    ///   - requested: When the request was sent.
    ///   - received: When the response arrived.
    init(status: Int, headers: HTTPFields, requested: Date, received: Date) {
        let control = CacheControl(in: headers)
        let date = Self.singleDate(headers, .date, now: received)
        let delay = max(0, received.timeIntervalSince(requested))
        let apparent = max(0, received.timeIntervalSince(date ?? received))
        initialAge = max(apparent, Self.age(headers) + delay)
        isAlwaysValidated = control.hasPlain("no-cache")
        isNeverStale = control.has("must-revalidate") || isAlwaysValidated
        isImmutable = control.has("immutable")
        staleWhileRevalidate = control.count("stale-while-revalidate") ?? 0
        staleIfError = control.count("stale-if-error") ?? 0
        if let age = control.seconds("max-age") {
            lifetime = if case .count(let count) = age { count } else { 0 }
        } else if headers.contains(.expires) {
            // Several values contradict each other, and an invalid date counts as a time in the past.
            let expires = Self.singleDate(headers, .expires, now: received)
            lifetime = max(0, expires?.timeIntervalSince(date ?? received) ?? 0)
        } else if Self.heuristicStatuses.contains(status) || control.has("public"),
            let modified = Self.singleDate(headers, .lastModified, now: received)
        {
            lifetime = min(max(0, (date ?? received).timeIntervalSince(modified) / 10), Self.longestHeuristic)
        } else {
            lifetime = 0
        }
    }

    /// The date of a field that must occur once; `nil` without a valid one.
    private static func singleDate(_ headers: HTTPFields, _ name: HTTPFields.Name, now: Date) -> Date? {
        let values = headers[values: name]
        guard values.count == 1 else { return nil }
        return HTTPDate.strictDate(from: values[0], now: now)
    }

    /// The `Age` of a response: the first of several values; 0 for an invalid one, because it must be ignored (RFC 9111 §5.1).
    private static func age(_ headers: HTTPFields) -> Double {
        guard let first = headers[values: .age].first?.split(separator: ",", omittingEmptySubsequences: false).first else { return 0 }
        guard case .count(let age) = CacheControl.seconds(first.trimmingCharacters(in: .whitespaces)) else { return 0 }
        return age
    }

    /// The statuses whose rules for caches are known: those of RFC 9110 §15.
    private static let understoodStatuses = Set(200...206).union(300...303).union([305, 307, 308]).union(400...417).union([421, 422, 426])
        .union(500...505)

    /// Whether a response with these fields may ever be reused: it is fresh for a while (or was, which a request with `max-stale` accepts),
    /// can be validated, or may be reused stale.
    func isUseful(_ headers: HTTPFields) -> Bool {
        lifetime > 0 || staleWhileRevalidate > 0 || staleIfError > 0 || headers.contains(.entityTag)
            || headers.contains(.lastModified)
    }

    /// Whether the response to a GET may be stored in a private cache (RFC 9111 §3).
    static func allowsStoring(status: Int, headers: HTTPFields) -> Bool {
        guard status >= 200, status != 304 else { return false }
        let control = CacheControl(in: headers)
        if control.has("must-understand") {
            // A cache that understands the status may ignore `no-store`; another one stores nothing (§5.2.2.3).
            guard understoodStatuses.contains(status), status != 206 || !control.has("no-store") else { return false }
        } else if control.has("no-store") {
            return false
        }
        return heuristicStatuses.contains(status) || control.has("public") || control.has("private") || control.has("max-age")
            || headers.contains(.expires)
    }
}

/// What to do with a stored response.
enum CacheVerdict: Sendable, Hashable {
    /// Use it.
    case fresh
    /// Use it although it is stale.
    case stale
    /// Use the stale response, and validate it in the background.
    case staleWhileRevalidating
    /// Ask the server.
    case validate
}

/// Decides about the reuse of stored responses: pure functions of the response, the request and the clock.
struct CacheRules: Sendable {
    /// The endpoint's own lifetime, which replaces the server's; `nil` to follow the server.
    var lifetime: Double?
    var mode = CacheMode.standard
    var directives = RequestDirectives.none
    /// The greatest age of an answer while the server can't be reached, in seconds; `nil` for none.
    var offlineAge: Double?

    /// Decides whether a stored response is used for a request.
    func verdict(on head: CacheHead, at now: CacheMoment) -> CacheVerdict {
        let freshness = head.freshness
        if mode == .reload { return .validate }
        let age = head.age(at: now)
        if let lifetime {
            // The endpoint's lifetime counts from the arrival or the last validation, whatever the server's fields say.
            let rest = lifetime - head.residence(at: now)
            return rest > 0 && mode != .revalidate && requestAllows(age: age, rest: rest) ? .fresh : .validate
        }
        let rest = freshness.lifetime - age
        if mode == .revalidate || directives.noCache {
            return mode == .revalidate && freshness.isImmutable && rest > 0 ? .fresh : .validate
        }
        guard !freshness.isAlwaysValidated else { return .validate }
        if rest > 0, requestAllows(age: age, rest: rest) { return .fresh }
        guard !freshness.isNeverStale, rest <= 0 else { return .validate }
        if let most = directives.maxStale, -rest <= most, directives.maxAge.map({ age <= $0 }) ?? true { return .stale }
        guard directives.maxAge == nil, directives.minFresh == nil else { return .validate }
        return -rest <= freshness.staleWhileRevalidate && freshness.staleWhileRevalidate > 0 ? .staleWhileRevalidating : .validate
    }

    private func requestAllows(age: Double, rest: Double) -> Bool {
        if directives.noCache { return false }
        if let most = directives.maxAge, age > most { return false }
        if let least = directives.minFresh, rest < least { return false }
        return true
    }

    /// Whether a stored response may replace an error response of the server (RFC 5861 §4).
    func allowsStaleAfterError(_ head: CacheHead, at now: CacheMoment) -> Bool {
        let freshness = head.freshness
        guard mode != .reload, mode != .revalidate, !directives.noCache, !freshness.isNeverStale else { return false }
        let staleness = head.age(at: now) - freshness.lifetime
        let most = max(freshness.staleIfError, directives.staleIfError ?? 0)
        return most > 0 && staleness <= most
    }

    /// Whether a stored response may be used because the server can't be reached (RFC 9111 §4.2.4).
    func allowsStaleOffline(_ head: CacheHead, at now: CacheMoment) -> Bool {
        if allowsStaleAfterError(head, at: now) { return true }
        guard let offlineAge, mode != .reload, lifetime != nil || !head.freshness.isNeverStale else { return false }
        return head.age(at: now) <= offlineAge
    }

    /// Whether the response to a GET is kept.
    func keeps(status: Int, headers: HTTPFields, freshness: CacheFreshness) -> Bool {
        guard mode != .noStore, !directives.noStore else { return false }
        if lifetime != nil, [200, 203, 204, 300, 301, 308].contains(status) { return !CacheControl(in: headers).has("no-store") }
        return CacheFreshness.allowsStoring(status: status, headers: headers) && (offlineAge != nil || freshness.isUseful(headers))
    }
}

/// A moment on both clocks.
struct CacheMoment: Sendable {
    let date: Date
    let instant: MonotonicInstant

    init(_ clock: CallClock) {
        date = clock.date()
        instant = clock.now()
    }
}
