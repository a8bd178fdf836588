import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct AttributeCatalogTests {
    @Test func `Every attribute of the library is in the catalog, or has a reason why not`() {
        let found = ConformanceSymbols.types(conformingTo: "EndpointAttribute")
        #expect(found.contains("WebServiceClient.RateLimit"), "the test process has no symbols, so that nothing is checked")
        let listed = Set(AttributeCatalog.types.map { String(reflecting: $0) })
        for name in found where !listed.contains(name) && AttributeCatalog.others[name] == nil {
            Issue.record(
                "\(name) is an attribute that descriptions don't read: let it conform to PortableAttribute and add it to AttributeCatalog.types, or add it with a reason to AttributeCatalog.others"
            )
        }
        for name in AttributeCatalog.others.keys { #expect(found.contains(name) && !listed.contains(name), "\(name)") }
        #expect(listed.count == AttributeCatalog.types.count)
        // All of them can be stored, unless they only matter while arguments are bound.
        for type in AttributeCatalog.types {
            #expect(type is any PortableAttribute.Type || type is any BindingAttribute.Type, "\(type)")
        }
    }

    // MARK: Texts

    /// Expects that a value is the same after it was a text of a description, and JSON of a stored call.
    private func expectTrip<Attribute: DescribedAttribute>(_ value: Attribute) throws {
        let text = ClientDescription.text(of: value)
        if !Attribute.firstWords.isEmpty {
            #expect(Attribute(described: text) == value, "\(text)")
            #expect(AttributeCatalog.attribute(text, from: .program) as? Attribute == value, "\(text)")
            for source in [AttributeSource.exportedTable, .profile] {
                #expect((AttributeCatalog.attribute(text, from: source) != nil) == (value.leastTrustedSource >= source), "\(text)")
            }
        } else {
            #expect(AttributeCatalog.attribute(text, from: .program) == nil, "\(text)")
        }
        guard let portable = value as? any PortableAttribute else { return }
        let again: any PortableAttribute = try copy(of: portable)
        #expect(again as? Attribute == value, "\(text)")
        #expect(AttributeCatalog.storedTypes[AttributeCatalog.storedName(of: Attribute.self)] == Attribute.self)
    }

    private func copy<Attribute: PortableAttribute>(of value: Attribute) throws -> Attribute {
        let data = try StoredJSON.data(of: value)
        #expect(try JSONDecoder().decode(Attribute.self, from: data) == value)
        return try JSONReader().decode(Attribute.self, from: data)
    }

    @Test func `Random values are read again from their texts and from JSON`() throws {
        var random = RandomAttributes(seed: 30)
        for type in AttributeCatalog.types {
            guard random.value(of: type) != nil else {
                Issue.record("\(type) has no random values: add it to RandomAttributes")
                continue
            }
            for _ in 0..<Sweep.rounds(ofAll: 200) {
                if let value = random.value(of: type) { try expectTrip(value) }
            }
        }
    }

    @Test func `Cases and constants are read again`() throws {
        let values: [any DescribedAttribute] = [
            RetryPolicy.never, RetryPolicy.unattended, RetryPolicy.solicited, RetryPolicy(attempts: 0), RedirectPolicy.follow,
            RedirectPolicy.sameOrigin, CircuitBreakerPolicy.off, CircuitBreakerPolicy(statuses: []), ServiceRateLimits.ignored,
            HedgingPolicy.off, WaitingForNetwork.off, BodyCompression.off, ContinueExpectation.off, EndpointCaching.off, SentDigest([]),
            ReconnectionPolicy.never, ReconnectionPolicy(), WebSocketSettings(), FailingEvents(), StreamEnd.data(""), CacheTags(),
            CacheTags("", "a, b", "\"", "\\", "\u{301}", "()"), Coalescing(isEnabled: false), FaultPlan(), RateLimit(1, per: .zero),
            FieldReflection.DateStrategy.iso8601(fractionDigits: 0), FieldReflection.KeyStrategy.asDeclared,
            PagingStyle.cursor(at: "a", query: "b, more: c"), PagingStyle.linkHeader(relation: "\""),
        ]
        for value in values { try expectTrip(value) }
        // These have different effects, so they can't have the same text.
        let (one, other) = (PagingStyle.cursor(at: "a", query: "b, more: c"), PagingStyle.cursor(at: "a", query: "b", more: "c"))
        #expect(one.description != other.description)
        let custom: [any EndpointAttribute] = [FieldReflection.KeyStrategy.custom { $0 }, FieldReflection.DateStrategy.custom { _ in nil }]
        for value in custom { #expect(AttributeCatalog.attribute(ClientDescription.text(of: value), from: .program) == nil) }
        // The text doesn't have the whole scheme.
        for kind in [SecurityScheme.Kind.openIDConnect(url: "https://a.test"), .unknown("HTTP"), .unknown("a b")] {
            let value = SecurityRequirements([[.init(SecurityScheme(name: "key", kind: kind))]])
            #expect(AttributeCatalog.attribute(ClientDescription.text(of: value), from: .program) == nil, "\(value)")
        }
    }

    /// Files have these texts, so they stay.
    @Test(arguments: [
        "CallPriority.low", "EndpointCaching.lifetime(1.5 s)", "CacheTags(a, b)", "OfflineCaching(upTo: 5 s)",
        "RateLimit(30 per 60 s, burst 2, longest wait 3 s)", "ServiceRateLimits(longest wait 60 s)", "HedgingPolicy(afterPercentile: 0.9)",
        "WaitingForNetwork(up to 4 s)", "solicited", "unsolicited", "idempotent", "not idempotent", "cookies(.off)", "not compressed",
        "compressed by gzip above 9 bytes", "expects 100 Continue above 9 bytes", "sends Content-Digest: sha-256, sha-512",
        "verifies digests, which are required, asking for sha-256", "idempotency key in X-Key, quoted", "keys in snake case",
        "dates in ISO 8601 with 0 digits of a second", "NilStrategy.nameOnly", "Coalescing(isEnabled: true)", "StreamFraming.jsonLines",
        #"StreamEnd.data("[DONE]")"#, #"FailingEvents(types: ["error"])"#, "linkHeader.prefetching(1).limited(pages: 3)",
        "RetryPolicy(7 attempts within 300 s; waits from 0.5 s to 30 s with full jitter; Retry-After up to 60 s; statuses 408, 429, 500, 502…504; failures cannotConnect, connectionLost)",
        "CircuitBreakerPolicy(window: 30 s, failureRatio: 0.5, minimumCalls: 20, openDuration: 5 s, longestOpenDuration: 60 s, statuses: 500…599)",
        #"WebSocketSettings(subprotocols: ["chat.v2"], maximumMessageSize: 9, pingInterval: Optional(30.0 seconds), pongTimeout: 20.0 seconds, closeTimeout: 2.5 seconds)"#,
        "FaultPlan(2 × status 503, Retry-After 1, 1 × passing, 0.1 of connectionLost, latency median 0.08 s, p99 0.9 s)",
    ])
    func `A text is read`(text: String) throws {
        let attribute = try #require(AttributeCatalog.attribute(text, from: .exportedTable))
        #expect(ClientDescription.text(of: attribute) == text)
    }

    @Test func `Changed texts lead to no other value, and are no trap`() throws {
        var random = RandomAttributes(seed: 31)
        let parts = ["", " ", ", ", "(", ")", "\"", "\\", "nil", "9223372036854775808", "-1", "\u{301}", "…", " s", "; ", "none", "NaN"]
        for type in AttributeCatalog.types {
            for _ in 0..<Sweep.rounds(ofAll: 200) {
                guard let value = random.value(of: type) else { continue }
                var text = Array(ClientDescription.text(of: value).unicodeScalars)
                let start = Int.random(in: 0...text.count, using: &random.generator)
                let end = min(text.count, start + Int.random(in: 0...3, using: &random.generator))
                text.replaceSubrange(start..<end, with: Array(random.element(parts).unicodeScalars))
                let changed = String(String.UnicodeScalarView(text))
                guard let found = AttributeCatalog.attribute(changed, from: .program) else { continue }
                #expect(ClientDescription.text(of: found) == changed)
            }
        }
    }

    // MARK: Sources

    /// Values that permit more repetitions, or switch off a check or a limit, of the types that a profile can set otherwise.
    private static let refused: [any DescribedAttribute] = [
        CircuitBreakerPolicy.off, CircuitBreakerPolicy(minimumCalls: .max), CircuitBreakerPolicy(failureRatio: 1),
        CircuitBreakerPolicy(statuses: [599]), Coalescing(), CookiePolicy.matchingHosts, CookiePolicy.service,
        DigestVerification(.ifPresent), DigestVerification(.off), ExpectedDigest(ContentDigest.of(Data())), FailingEvents("x"),
        Idempotence(), IdempotencyKey(named: "X-Key"), ReconnectionPolicy(), RedirectPolicy.follow, RedirectPolicy.sameOrigin,
        RetryPolicy(attempts: 21), RetryPolicy(backoff: Backoff(base: .zero)), RetryPolicy(statuses: [404]),
        RetryPolicy(unsafeMethods: .always), RetryPolicy(longestTotal: .seconds(301)), SecurityRequirements([]), SecurityRequirements([[]]),
        ServiceRateLimits.ignored, StreamEnd.event("x"), WebSocketSettings(maximumMessageSize: .max),
    ]

    @Test func `A profile can't loosen what the program decides`() {
        func faults(_ value: any EndpointAttribute) -> [String] {
            let list = [ClientDescription.text(of: value)]
            let resource: [String: Any] = ["Name": "list()", "URITemplate": "/list", "Attributes": list]
            do {
                _ = try ServiceProfile(dictionary: ["Resources": [resource]])
                return []
            } catch {
                return (error as? ServiceProfileError)?.faults ?? ["\(error)"]
            }
        }
        for value in Self.refused {
            #expect(faults(value).first?.contains("isn't an attribute that a profile can set") == true, "\(value)")
        }
        let allowed: [any EndpointAttribute] = [
            RetryPolicy.unattended, RetryPolicy.solicited, RetryPolicy(attempts: 2, statuses: [503]), RedirectPolicy.stop,
            CookiePolicy.off, CircuitBreakerPolicy(), CircuitBreakerPolicy(minimumCalls: 5), DigestVerification(.required),
            Idempotence(false), IdempotencyKey(format: .quoted), ReconnectionPolicy.never, StreamFraming.jsonLines,
            FaultPlan(.times(1, .connectionLost)), BodyCompression.off, CallPriority.low, RateLimit(30, per: .seconds(60)),
        ]
        for value in allowed { #expect(faults(value).isEmpty, "\(value)") }
        for attempts in 1...20 { #expect(faults(RetryPolicy(attempts: attempts)).isEmpty) }
    }

    @Test func `A document can't let calls leave the service`() {
        let values: [any EndpointAttribute] = [
            RedirectPolicy.follow, RedirectPolicy(.sameOrigin, limit: 11), CookiePolicy.service, CookiePolicy.matchingHosts,
        ]
        for value in values { #expect(AttributeCatalog.attribute(ClientDescription.text(of: value), from: .exportedTable) == nil) }
        for value in Self.refused where !values.contains(where: { "\($0)" == "\(value)" }) {
            #expect(AttributeCatalog.attribute(ClientDescription.text(of: value), from: .exportedTable) != nil, "\(value)")
        }
    }
}
