import Foundation

/// The rate limits of a service, from the fields of one response.
struct RateLimitFields {
    /// A limit with the number of calls that remain.
    struct Remainder: Hashable {
        /// The name of the policy or the resource; empty if there is none.
        let name: String
        /// The number of calls that remain.
        let remaining: Int
        /// The time until more calls are allowed.
        let reset: Duration
        /// Whether calls are paced, and not only stopped when none remain.
        let isPaced: Bool
    }

    /// A policy: a quota in a window.
    struct Policy: Hashable {
        let quota: Int
        /// `nil` if the service doesn't say it.
        let window: Duration?
        /// Whether the quota is a number of requests. Others, such as bytes, can't be obeyed before the response.
        let countsRequests: Bool

        /// Tokens per nanosecond.
        var rate: Double? { window.map { TokenBucket.rate(Double(quota), per: $0) } }
    }

    /// The names of the parameters of draft-ietf-httpapi-ratelimit-headers. They may change before it is an RFC.
    private enum Key {
        static let (quota, window, unit) = ("q", "w", "qu")
        static let (remaining, reset, partition) = ("r", "t", "pk")
        static let requests = "requests"
    }

    /// The prefixes of the older fields. The last is the one of the draft's first versions.
    private static let prefixes = ["X-RateLimit-", "X-Rate-Limit-", "RateLimit-"]

    var remainders: [Remainder] = []
    var policies: [String: Policy] = [:]
    /// The resource that the endpoint belongs to, by the older fields.
    var resource: String?

    /// Reads the fields of a response.
    ///
    /// - Parameters:
    ///   - known: The policies of earlier responses, because not every response repeats them.
    ///   - now: The date, if the response has none.
    init(_ headers: HTTPFields, known: [String: Policy], now: Date) {
        policies = known
        // A response from a cache doesn't describe the current limits.
        if let age = headers["Age"], age.contains(where: { ("1"..."9").contains($0) }) { return }
        if let read = Self.policies(headers[values: "RateLimit-Policy"]) { policies.merge(read) { $1 } }
        remainders = Self.remainders(headers[values: "RateLimit"], policies) ?? []
        if remainders.isEmpty { readOlderFields(headers, now) }
    }

    /// `"minute";q=60;w=60`; `nil` if the field is malformed.
    private static func policies(_ lines: [String]) -> [String: Policy]? {
        guard let list = try? StructuredFields.list(lines) else { return nil }
        var policies: [String: Policy] = [:]
        for member in list {
            guard let name = name(of: member), let quota = count(member.parameters[Key.quota]) else { return nil }
            guard let window = seconds(member.parameters[Key.window]) else { return nil }
            guard let unit = unit(member.parameters[Key.unit]) else { return nil }
            policies[name] = Policy(quota: quota, window: window, countsRequests: unit == Key.requests)
        }
        return policies
    }

    /// `"minute";r=12;t=8`; `nil` if the field is malformed.
    private static func remainders(_ lines: [String], _ policies: [String: Policy]) -> [Remainder]? {
        guard let list = try? StructuredFields.list(lines) else { return nil }
        var remainders: [Remainder] = []
        for member in list {
            guard let name = name(of: member), let remaining = count(member.parameters[Key.remaining]) else { return nil }
            guard let reset = seconds(member.parameters[Key.reset]) else { return nil }
            let policy = policies[name]
            guard policy?.countsRequests ?? true, let reset = reset ?? policy?.window else { continue }
            remainders.append(Remainder(name: name, remaining: remaining, reset: reset, isPaced: true))
        }
        return remainders
    }

    /// The name of a policy with its partition.
    private static func name(of member: StructuredFields.Member) -> String? {
        guard let item = member.item, case .string(let name) = item.value else { return nil }
        switch item.parameters[Key.partition] {
        case nil: return name
        case .bytes(let partition)?: return name + " " + partition.base64EncodedString()
        default: return nil
        }
    }

    /// A count, which must be there; `nil` if it is malformed.
    private static func count(_ value: StructuredFields.BareItem?) -> Int? {
        guard let number = value?.integer, number >= 0 else { return nil }
        return Int(clamping: number)
    }

    /// An optional number of seconds; `nil` if it is malformed.
    private static func seconds(_ value: StructuredFields.BareItem?) -> Duration?? {
        guard let value else { return .some(nil) }
        guard let number = value.integer, number >= 0 else { return nil }
        return .some(Duration.seconds(number).bounded)
    }

    private static func unit(_ value: StructuredFields.BareItem?) -> String? {
        guard let value else { return Key.requests }
        if case .string(let unit) = value { return unit }
        return nil
    }

    // MARK: Older fields

    private mutating func readOlderFields(_ headers: HTTPFields, _ now: Date) {
        if let combined = Self.combined(headers[values: "RateLimit"]) {
            remainders = [combined]
            return
        }
        for prefix in Self.prefixes {
            guard let remaining = Self.number(headers[HTTPFields.Name(prefix + "Remaining")]), remaining >= 0,
                let reset = Self.number(headers[HTTPFields.Name(prefix + "Reset")]), reset >= 0
            else { continue }
            let date = headers["Date"].flatMap { HTTPDate.date(from: $0) } ?? now
            resource = headers[HTTPFields.Name(prefix + "Resource")].map { String($0.prefix(100)) }
            remainders = [
                Remainder(
                    name: prefix + (resource ?? ""), remaining: Int(min(remaining, 1e9)), reset: Self.wait(until: reset, from: date),
                    isPaced: false)
            ]
            return
        }
    }

    /// `limit=100, remaining=12, reset=8`: the field in the draft's seventh version; `nil` if it isn't that.
    private static func combined(_ lines: [String]) -> Remainder? {
        guard let members = try? StructuredFields.dictionary(lines), let remaining = count(members["remaining"]?.item?.value),
            case .some(.some(let reset)) = seconds(members["reset"]?.item?.value)
        else { return nil }
        return Remainder(name: "RateLimit-", remaining: remaining, reset: reset, isPaced: false)
    }

    /// A finite number of at most 20 characters.
    private static func number(_ text: String?) -> Double? {
        guard let text = text?.trimmingCharacters(in: .whitespaces), !text.isEmpty, text.utf8.count <= 20,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(text)
    }

    /// The time until a reset. Services write it as seconds from now, or as seconds or milliseconds since 1970; only its size shows which.
    private static func wait(until reset: Double, from date: Date) -> Duration {
        let seconds =
            switch reset {
            case ..<1e9: reset
            case ..<1e12: reset - date.timeIntervalSince1970
            default: reset / 1_000 - date.timeIntervalSince1970
            }
        return min(.seconds(min(max(0, seconds), 1e9)), .longest)
    }
}
