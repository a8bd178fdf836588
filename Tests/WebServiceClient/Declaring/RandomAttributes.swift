import Foundation
import TestSupport

@testable import WebServiceClient

/// Makes random attributes of every type in the catalog.
struct RandomAttributes {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    // MARK: Parts

    mutating func element<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &generator)] }

    private mutating func flag() -> Bool { Bool.random(using: &generator) }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    private mutating func optional<Value>(_ make: (inout Self) -> Value) -> Value? { flag() ? make(&self) : nil }

    private mutating func list<Value>(_ counts: ClosedRange<Int>, _ make: (inout Self) -> Value) -> [Value] {
        let count = number(counts)
        return (0..<count).map { _ in make(&self) }
    }

    private mutating func several<Value: CaseIterable>(_ type: Value.Type) -> [Value] {
        let all = Value.allCases.shuffled(using: &generator)
        return Array(all.prefix(number(1...all.count)))
    }

    /// Descriptions contain milliseconds.
    private mutating func duration() -> Duration {
        element([.milliseconds(number(1...99_999)), .seconds(number(0...99_999)), .milliseconds(number(1...999)), .seconds(Int64.max)])
    }

    /// A duration that Swift's description contains exactly.
    private mutating func shortDuration() -> Duration {
        element([.milliseconds(number(1...99_999_999)), .microseconds(number(1...999_999)), .seconds(number(0...99_999))])
    }

    private mutating func share() -> Double { Double(number(1...999)) / 1_000 }

    private mutating func name() -> String { String(list(1...8) { $0.element(Array("abcXYZ019-_")) }) }

    private mutating func fieldName() -> HTTPFields.Name { HTTPFields.Name("X-\(name())") }

    /// Any text, also one with the marks of descriptions.
    private mutating func text() -> String {
        let pool = [
            "a", "Z", "0", " ", ",", ", ", ": ", "\"", "'", "\\", "(", ")", "[", "]", ".", "…", "\n", "\u{0}", "\u{301}", "é", "👩‍👩‍👧", "; ",
        ]
        return list(0...6) { $0.element(pool) }.joined()
    }

    private mutating func statuses() -> StatusSet {
        list(0...4) { random in
            let first = random.number(100...599)
            return StatusSet.range(first...(first + random.number(0...9)))
        }.reduce([]) { $0.union($1) }
    }

    private mutating func backoff(_ duration: (inout Self) -> Duration) -> Backoff {
        Backoff(
            base: duration(&self), factor: element([1, 1.5, 2, 3, 10]), cap: duration(&self), jitter: element(Backoff.Jitter.allCases))
    }

    private mutating func digest() -> ContentDigest {
        let algorithm = element(ContentDigest.Algorithm.allCases)
        return ContentDigest(algorithm, list(algorithm.length...algorithm.length) { UInt8($0.number(0...255)) })
    }

    private mutating func fault() -> InjectedFault {
        element([
            .status(number(200...599)), .status(number(200...599), retryAfter: number(0...99)), .connectionLost,
            .cut(afterBytes: number(0...99)), .reset(afterBytes: number(0...99)), .noResponse,
        ])
    }

    // MARK: Attributes

    /// Returns an attribute; `nil` for an unknown type.
    mutating func value(of type: any DescribedAttribute.Type) -> (any DescribedAttribute)? {
        switch type {
        case is CallPriority.Type: element(CallPriority.allCases)
        case is CacheMode.Type: element(CacheMode.allCases)
        case is CookiePolicy.Type: element(CookiePolicy.allCases)
        case is ProblemReading.Type: element(ProblemReading.allCases)
        case is StreamFraming.Type: element(StreamFraming.allCases)
        case is FieldReflection.NestingStrategy.Type: element(FieldReflection.NestingStrategy.allCases)
        case is FieldReflection.NilStrategy.Type: element(FieldReflection.NilStrategy.allCases)
        case is FieldReflection.KeyStrategy.Type: element([FieldReflection.KeyStrategy.asDeclared, .snakeCase])
        case is FieldReflection.DateStrategy.Type:
            element([FieldReflection.DateStrategy.seconds, .milliseconds, .iso8601(fractionDigits: number(0...9))])
        case is Coalescing.Type: Coalescing(isEnabled: flag())
        case is Idempotence.Type: Idempotence(flag())
        case is Solicited.Type: Solicited(flag())
        case is CallIdentifier.Type: CallIdentifier(text(), element(CallIdentifier.Policy.allCases))
        case is IdempotencyKey.Given.Type: IdempotencyKey.Given(text())
        case is IdempotencyKey.Type: IdempotencyKey(named: fieldName(), format: element(IdempotencyKey.Format.allCases))
        default: messageAttribute(of: type) ?? policy(of: type)
        }
    }

    private mutating func messageAttribute(of type: any DescribedAttribute.Type) -> (any DescribedAttribute)? {
        switch type {
        case is BodyCompression.Type: BodyCompression(element(ContentCoding.allCases), above: number(-9...9_999))
        case is ContinueExpectation.Type: ContinueExpectation(above: optional { Int64($0.number(0...99_999)) })
        case is SentDigest.Type: SentDigest(several(ContentDigest.Algorithm.self), in: element(ContentDigest.Field.allCases))
        case is DigestVerification.Type:
            DigestVerification(
                element(DigestVerification.Requirement.allCases), wanting: flag() ? several(ContentDigest.Algorithm.self) : [])
        case is ExpectedDigest.Type: ExpectedDigest(digest())
        case is CacheTags.Type: tags()
        case is EndpointCaching.Type: element([EndpointCaching.byServer, .off, .lifetime(duration())])
        case is OfflineCaching.Type: OfflineCaching(upTo: duration())
        case is PagingStyle.Type: pagingStyle()
        case is StreamEnd.Type: element([StreamEnd.data(text()), .event(text())])
        case is FailingEvents.Type: FailingEvents(types: list(0...3) { $0.text() })
        case is SecurityRequirements.Type: SecurityRequirements(list(0...2) { $0.list(0...2) { $0.requirement() } })
        default: nil
        }
    }

    private mutating func policy(of type: any DescribedAttribute.Type) -> (any DescribedAttribute)? {
        switch type {
        case is RateLimit.Type:
            RateLimit(number(0...99), per: duration(), burst: number(0...9), longestWait: optional { $0.duration() })
        case is ServiceRateLimits.Type: ServiceRateLimits(longestWait: duration())
        case is HedgingPolicy.Type: element([HedgingPolicy.off, .after(duration()), .afterPercentile(share())])
        case is WaitingForNetwork.Type: element([WaitingForNetwork.off, WaitingForNetwork(upTo: duration())])
        case is RedirectPolicy.Type:
            RedirectPolicy(element([RedirectPolicy.Rule.follow, .sameOrigin, .stop]), limit: number(-1...99))
        case is CircuitBreakerPolicy.Type:
            CircuitBreakerPolicy(
                window: duration(), failureRatio: share(), minimumCalls: number(0...99), openDuration: duration(),
                longestOpenDuration: duration(), statuses: statuses())
        case is ReconnectionPolicy.Type:
            ReconnectionPolicy(
                attempts: number(0...99), backoff: backoff { $0.shortDuration() }, longestWait: shortDuration())
        case is WebSocketSettings.Type:
            WebSocketSettings(
                subprotocols: list(0...2) { $0.text() }, maximumMessageSize: number(0...99_999),
                pingInterval: optional { $0.shortDuration() }, pongTimeout: shortDuration(), closeTimeout: shortDuration())
        case is FaultPlan.Type: faultPlan()
        case is RetryPolicy.Type: retryPolicy()
        // A type of another module, which these tests don't import.
        default: type.init(described: element(loggingTexts))
        }
    }

    private let loggingTexts = ["Optional(debug)", "Optional(critical)", "nil"].flatMap { level in
        ["nil", "Optional(0)", "Optional(2000)"].map { "LoggingAttribute(level: \(level), bodyLimit: \($0))" }
    }

    private mutating func tags() -> CacheTags {
        var tags = CacheTags()
        tags.names = list(0...4) { $0.text() }
        return tags
    }

    private mutating func pagingStyle() -> PagingStyle {
        let style: PagingStyle =
            switch number(0...6) {
            case 0: .linkHeader
            case 1: .linkHeader(relation: text())
            case 2: .nextURL(at: text())
            case 3: .cursor(at: text(), query: text(), more: optional { $0.text() }, emptyEnds: flag())
            case 4: .cursor(at: text(), body: text(), more: optional { $0.text() })
            case 5:
                .lastID(
                    at: text(), query: text(), more: optional { $0.text() }, limit: 9, limitQuery: name(), items: optional { $0.text() })
            default:
                .pageNumber(query: text(), first: number(0...1), size: 9, sizeQuery: name(), pages: optional { $0.text() })
            }
        return style.prefetching(number(0...1)).limited(pages: optional { $0.number(1...9) }, items: optional { $0.number(1...9) })
    }

    private mutating func requirement() -> SecurityRequirements.Requirement {
        let kind: SecurityScheme.Kind = element([
            .apiKey(name: name(), in: element(SecurityScheme.Place.allCases)), .http(scheme: name()), .oauth2, .mutualTLS,
        ])
        return SecurityRequirements.Requirement(SecurityScheme(name: name(), kind: kind), scopes: list(0...2) { "\($0.name()):read" })
    }

    private mutating func faultPlan() -> FaultPlan {
        var plan = FaultPlan()
        plan.steps = list(0...3) { random in
            random.flag() ? .times(random.number(1...9), random.fault()) : .passing(random.number(1...9))
        }
        plan.last = optional { $0.fault() }
        if flag() { (plan.share, plan.fault) = (share(), fault()) }
        plan.latency = optional { random in
            random.element([
                .fixed(random.duration()), .uniform(random.duration(), random.duration()),
                .logNormal(median: random.duration(), p99: random.duration()),
            ])
        }
        return plan
    }

    private mutating func retryPolicy() -> RetryPolicy {
        var policy = RetryPolicy(
            attempts: number(2...99), backoff: backoff { $0.duration() }, statuses: statuses(),
            failures: Set(list(0...4) { $0.element([.cannotConnect, .connectionLost, .hostNotFound, .unreadableResponse]) }),
            unsafeMethods: element(RetryPolicy.UnsafeMethods.allCases), longestWait: duration(), longestTotal: duration())
        if flag() { policy.keyedStatuses = statuses() }
        policy.overrules = list(0...2) { RetryOverrule($0.fieldName(), yes: $0.name(), no: $0.name()) }
        policy.limits = list(0...2) {
            RetryLimit(
                statuses: $0.statuses(), remaining: $0.fieldName(), reset: $0.fieldName(), unit: $0.element(RetryLimit.Unit.allCases))
        }
        policy.millisecondFields = list(0...2) { $0.fieldName() }
        return policy
    }
}
