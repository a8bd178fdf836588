import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

private struct StrictHandler: ErrorHandler {
    func verdict(on outcome: CallOutcome) -> ErrorVerdict { .default }
}

private struct LenientHandler: ErrorHandler {
    func verdict(on outcome: CallOutcome) -> ErrorVerdict { .accept }
}

private struct Builder: URLBuilder {
    func url(from parts: URLParts) throws -> URL { try parts.standardURL() }
}

private struct Owner: EndpointAttribute { let team: String }

extension XMLSerializer {
    fileprivate init(rootNamed name: String) {
        var rules = XMLRules()
        rules.rootName = name
        self.init(rules)
    }
}

@Suite struct ClientDescriptionTests {
    typealias Modifier = @Sendable (EndpointDescriptor) -> EndpointDescriptor

    private static func encoded(_ encoding: PropertyEncoding) -> Modifier {
        { descriptor in
            let typed = descriptor.bodyTypes == nil ? descriptor.bodyTypes("multipart/form-data") : descriptor
            return typed.with { $0.bodyTypes?.encodings = ["multipart/form-data": ["a": encoding]] }
        }
    }

    /// What endpoints can differ in. The values of one slot lead to different requests, results or attributes.
    static let slots: [(name: String, values: [Modifier])] = [
        (
            "query",
            [
                { $0.query("s", .argument(0)).query("t", .argument(1)) }, { $0.query("t", .argument(0)).query("s", .argument(1)) },
                { $0.query("s", .argument("b")) }, { $0.query(["a": "1"]) }, { $0.query(["a": "2"]) }, { $0.query(["a": "%%0%%"]) },
                { $0.query(["a": "1", "b": "2"]) }, { $0.query(["b": "2", "a": "1"]) }, { $0.query(.argument(0)) },
                { $0.query(.argument(1)) },
            ]
        ),
        (
            "headers",
            [
                { $0.header("X-Team", "1") }, { $0.header("X-Team", "2") }, { $0.header("X-Team", "%%0%%") },
                { $0.header("X-Team", "%%1%%") },
                { $0.header("Accept", "text/csv") }, { $0.header("Accept", "text/plain") }, { $0.headers(.argument(0)) },
                { $0.header("X-Team", "1").header("X-Level", "1") }, { $0.header("Authorization", "%%0%%") },
            ]
        ),
        ("body", [{ $0.withoutBody() }, { $0.body(.argument(0)) }, { $0.body(.argument(1)) }]),
        ("allowingBody", [{ $0.allowingBody() }]),
        ("ignoring", [{ $0.ignoring("a") }, { $0.ignoring("b") }, { $0.ignoring("a", "b") }]),
        (
            "serializer",
            [
                { $0.serializer(JSONSerializer()) }, { $0.serializer(JSONSerializer(keys: .snakeCase)) },
                { $0.serializer(JSONSerializer(dates: .seconds)) }, { $0.serializer(JSONSerializer(contentType: "application/x+json")) },
                { $0.serializer(FormSerializer()) }, { $0.serializer(FormSerializer(FieldReflection(arrays: .comma))) },
                { $0.serializer(FormSerializer(FieldReflection(arrays: .brackets))) }, { $0.serializer(PlainTextSerializer()) },
                { $0.serializer(PropertyListSerializer()) }, { $0.serializer(PropertyListSerializer(.binary)) },
                { $0.serializer(FormSerializer(charset: .isoLatin1)) },
                { $0.serializer(FormSerializer(FieldReflection(objects: .joined))) },
                { $0.serializer(XMLSerializer()) }, { $0.serializer(XMLSerializer(rootNamed: "order")) },
            ]
        ),
        ("arrays", [{ $0.arrays(.comma) }, { $0.arrays(.brackets) }, { $0.arrays(.repeatedKey) }]),
        ("keys", [{ $0.fields(keys: .snakeCase) }, { $0.fields(keys: .asDeclared) }]),
        ("dates", [{ $0.fields(dates: .seconds) }, { $0.fields(dates: .iso8601) }, { $0.fields(dates: .iso8601(fractionDigits: 0)) }]),
        (
            "statuses",
            [
                { $0.accepting(.ok) }, { $0.accepting([200, 201]) }, { $0.accepting(.any) }, { $0.alsoAccepting(.notFound) },
                { $0.alsoAccepting(.redirection) }, { $0.accepting(.ok).alsoAccepting(.notFound) },
            ]
        ),
        ("root", [{ $0.decoding(at: "a.b") }, { $0.decoding(at: ["a.b"]) }, { $0.decoding(at: "a") }]),
        ("parsing", [{ $0.raw() }, { $0.decoding(with: JSONSerializer()) }, { $0.decoding(with: PlainTextSerializer()) }]),
        ("errorHandler", [{ $0.errorHandler(StrictHandler()) }, { $0.errorHandler(LenientHandler()) }]),
        ("urlBuilder", [{ $0.urlBuilder(Builder()) }]),
        ("bodyLimit", [{ $0.bodyLimit(1) }, { $0.bodyLimit(2) }]),
        ("cacheIdentifier", [{ $0.cacheIdentifier("x") }, { $0.cacheIdentifier("x/%%0%%") }]),
        ("identifier", [{ $0.identifier("x") }, { $0.identifier("x", .reuse) }, { $0.identifier("y") }]),
        (
            "deadlines",
            [
                { $0.timeout(.seconds(5)) }, { $0.timeout(.seconds(6)) }, { $0.timeouts(ServiceTimeouts(total: .seconds(5))) },
                { $0.timeouts(ServiceTimeouts(idle: .seconds(5))) }, { $0.timeouts(ServiceTimeouts(firstByte: .seconds(5))) },
            ]
        ),
        (
            "trust",
            [
                { $0.trust(TrustPolicy()) }, { $0.trust(TrustPolicy(minimumTLSVersion: .tlsv13)) },
                { $0.trust(TrustPolicy(pins: ["a.test": [.publicKey(sha256: SampleCertificate.pin)]])) },
                { $0.trust(TrustPolicy(pins: ["a.test": [.publicKey(sha256: Data(repeating: 1, count: 32))]])) },
            ]
        ),
        ("requiring", [{ $0.requiring(.webSockets) }]),
        ("redirects", [{ $0.redirects(.stop) }, { $0.redirects(.sameOrigin) }, { $0.redirects(RedirectPolicy(.follow, limit: 3)) }]),
        (
            "retry",
            [
                { $0.retry(.never) }, { $0.retry(RetryPolicy()) }, { $0.retry(RetryPolicy(attempts: 7)) },
                { $0.retry(RetryPolicy(attempts: 7, backoff: Backoff(base: .seconds(1), factor: 3, jitter: .none), statuses: [503])) },
            ]
        ),
        ("idempotence", [{ $0.idempotent() }, { $0.idempotent(false) }]),
        ("solicited", [{ $0.solicited() }, { $0.solicited(false) }]),
        ("hedging", [{ $0.hedged(after: .seconds(4)) }, { $0.hedged(afterPercentile: 0.9) }]),
        ("priority", [{ $0.priority(.high) }, { $0.priority(.low) }]),
        ("rate", [{ $0.rateLimited(RateLimit(1, per: .seconds(1))) }, { $0.rateLimited(RateLimit(2, per: .seconds(1))) }]),
        ("network", [{ $0.waitingForNetwork(upTo: .seconds(4)) }, { $0.waitingForNetwork(upTo: .seconds(5)) }]),
        ("cookies", [{ $0.cookies(.off) }, { $0.cookies(.matchingHosts) }]),
        ("coalescing", [{ $0.coalesced() }]),
        ("caching", [{ $0.cached(for: .seconds(5)) }, { $0.cached(for: .seconds(6)) }, { $0.uncached() }]),
        ("tags", [{ $0.cacheTags("a") }, { $0.cacheTags("a", "b") }, { $0.cacheTags("a, b") }, { $0.cacheTags() }, { $0.cacheTags("") }]),
        ("compression", [{ $0.compressed(.gzip) }, { $0.compressed(.gzip, above: 9) }]),
        ("expectation", [{ $0.expectingContinue() }, { $0.expectingContinue(above: 9) }]),
        ("digest", [{ $0.sendingDigest() }, { $0.sendingDigest(.sha512) }]),
        ("verification", [{ $0.verifyingDigests() }, { $0.verifyingDigests(.required) }, { $0.verifyingDigests(wanting: [.sha256]) }]),
        (
            "paging",
            [
                { $0.paged(by: .linkHeader) }, { $0.paged(by: .nextURL(at: "next")) }, { $0.paged(by: .linkHeader.limited(pages: 3)) },
                { $0.paged(by: .linkHeader.limited(items: 3)) }, { $0.paged(by: .linkHeader.prefetching()) },
            ]
        ),
        (
            "parameters",
            [
                { $0.query("s", .argument(0), arrays: .comma) }, { $0.query("s", .argument(0), arrays: .pipe) },
                { $0.query("s", .argument(0), objects: .joined) }, { $0.query("s", .argument(0), as: .json) },
                { $0.query("s", .argument(0), keepingReserved: true) }, { $0.header("X-S", .argument(0), exploding: true) },
                { $0.header("X-S", .argument(0), as: .json) }, { $0.cookie("s", .argument(0)) },
                { $0.cookie("s", .argument(0), exploding: true) }, { $0.cookie("t", .argument(0)) },
            ]
        ),
        ("optional", [{ $0.optional() }, { $0.optional("a") }, { $0.optional("a", "b") }]),
        ("alias", [{ $0.alias("x", of: "a") }, { $0.alias("x", of: "b") }]),
        ("own root", [{ $0.serviceRoot("/up") }, { $0.serviceRoot("https://up.test") }]),
        (
            "body types",
            [{ $0.bodyTypes("a/b") }, { $0.bodyTypes("a/b", "a/c") }, { $0.bodyTypes("a/b", chosenBy: .argument(0)) }]
        ),
        (
            "encodings",
            [
                encoded(PropertyEncoding(contentType: "image/png")), encoded(PropertyEncoding(contentType: "text/csv")),
                encoded(PropertyEncoding(style: ArgumentStyle(arrays: .comma, objects: .joined))),
            ]
        ),
        (
            "circuit",
            [
                { $0.circuitBreaker(.off) }, { $0.circuitBreaker(CircuitBreakerPolicy()) },
                { $0.circuitBreaker(CircuitBreakerPolicy(minimumCalls: 5)) },
            ]
        ),
        ("framing", [{ $0.framing(.jsonLines) }, { $0.framing(.events) }]),
        ("stream end", [{ $0.endsStream(at: "[DONE]") }, { $0.endsStream(atEvent: "done") }, { $0.endsStream(atEvent: "[DONE]") }]),
        ("failing events", [{ $0.failsStream(atEvent: "error") }, { $0.failsStream(atEvent: "error", "fault") }]),
        ("reconnecting", [{ $0.reconnecting() }, { $0.reconnecting(.never) }, { $0.reconnecting(ReconnectionPolicy(attempts: 3)) }]),
        (
            "sockets",
            [
                { $0.webSocket() }, { $0.webSocket(WebSocketSettings(subprotocols: ["a, b", "c"])) },
                { $0.webSocket(WebSocketSettings(pingInterval: .milliseconds(1_500))) },
            ]
        ),
        (
            "faults",
            [
                { $0.faults(FaultPlan(.times(2, .status(503, retryAfter: 1)), then: .reset(afterBytes: 10))) },
                { $0.faults(FaultPlan(share: 0.1, of: .connectionLost, latency: .fixed(.seconds(1)))) },
            ]
        ),
        ("limits", [{ $0.obeyingRateLimits() }, { $0.obeyingRateLimits(.ignored) }]),
        ("custom", [{ $0.attribute(Owner(team: "a")) }, { $0.attribute(Owner(team: "b")) }]),
        ("mode", [{ $0.attribute(CacheMode.allCases[0]) }, { $0.attribute(CacheMode.allCases[1]) }]),
    ]

    static let routes: [EndpointDescriptor] = [
        .get("/x"), .post("/x"), .endpoint("REPORT", "/x"), .get("/y"), .get("/x?a=1"), .get("/x?a=%%0%%"), .get("/%%a%%/%%b%%"),
        .get("/%%b%%/%%a%%"), .get(uriTemplate: "/x"), .get(uriTemplate: "/x{?a,b}"), .get(uriTemplate: "/x{/a,b}"),
    ]

    private func description(_ descriptor: EndpointDescriptor, key: String = "call(a:b:)") -> ClientDescription {
        ClientDescription(client: "C", table: EndpointTable(dictionaryLiteral: (key, descriptor)))
    }

    @Test func `Each two values of a slot are described differently, and stably`() throws {
        for (name, values) in Self.slots {
            let descriptions = [description(.post("/x"))] + values.map { description($0(.post("/x"))) }
            for (index, first) in descriptions.enumerated() {
                for (other, second) in descriptions.enumerated() where other > index {
                    #expect(first != second, "\(name): \(index) and \(other)")
                    #expect(
                        !second.changes(since: first).isEmpty && !first.changes(since: second).isEmpty, "\(name): \(index) and \(other)")
                }
                #expect(first.changes(since: first).isEmpty)
            }
            #expect(zip(values, descriptions.dropFirst()).allSatisfy { description($0(.post("/x"))) == $1 }, "\(name)")
        }
        #expect(Set(Self.routes.map { description($0) }).count == Self.routes.count)
    }

    @Test func `Random endpoints are described alike only if they are made alike`() throws {
        var random = SeededGenerator(seed: 36)
        var made: [[Int]: ClientDescription] = [:]
        for _ in 0..<Sweep.rounds(ofAll: 400) {
            var choice = [Int.random(in: Self.routes.indices, using: &random)]
            var descriptor = Self.routes[choice[0]]
            for slot in Self.slots {
                let index = Bool.random(using: &random) ? Int.random(in: slot.values.indices, using: &random) : -1
                if index >= 0 { descriptor = slot.values[index](descriptor) }
                choice.append(index)
            }
            let described = description(descriptor)
            if let last = made[choice] { #expect(last == described) }
            made[choice] = described
            // One slot more or less, or another value.
            let place = Int.random(in: Self.slots.indices, using: &random)
            let changed = choice.indices.map { index in
                guard index == place + 1 else { return choice[index] }
                return choice[index] + 1 < Self.slots[place].values.count ? choice[index] + 1 : -1
            }
            guard changed != choice else { continue }
            var other = Self.routes[changed[0]]
            for (slot, index) in zip(Self.slots, changed.dropFirst()) where index >= 0 { other = slot.values[index](other) }
            let next = description(other)
            #expect(next != described, "\(Self.slots[place].name): \(choice) → \(changed)")
            #expect(!next.changes(since: described).isEmpty)
            #expect(try JSONReader().decode(ClientDescription.self, from: Data(next.json.utf8)) == next)
        }
        #expect(Set(made.values).count == made.count)
    }

    @Test func `Different bodies and labels have different arguments`() throws {
        let table: EndpointTable = [
            "save(id:order:)": .put("/orders/%%id%%").query("dry", .argument("order")).identifier("order/%%id%%").ignoring("x"),
            "find(_:in:)": .get(uriTemplate: "/x{/in}{?0}"), "broken(": .get("/x"),
        ]
        let described = ClientDescription(client: "C", table: table, defaults: EndpointDefaults(serviceRoot: "https://%%id%%.test"))
        let arguments = described.endpoints.map(\.arguments)
        #expect(
            arguments[0] == [
                ClientDescription.Argument(label: "id", position: 0, places: ["service root", "path", "identifier"]),
                ClientDescription.Argument(label: "order", position: 1, places: ["query dry"]),
            ])
        #expect(arguments[1]?.map(\.places) == [["route"], ["route"]] && arguments[2] == nil)
        let ignoring = description(.get("/%%b%%").ignoring("a"))
        #expect(
            ignoring.endpoints[0].arguments == [
                ClientDescription.Argument(label: "a", position: nil, places: []),
                ClientDescription.Argument(label: "b", position: 0, places: ["path"]),
            ])
    }

    @Test func `The class's defaults are described`() throws {
        let plain = ClientDescription(client: "C", table: [:])
        #expect(plain.defaults == nil && plain.version == 2)
        let all = [
            EndpointDefaults(serviceRoot: "https://a.test"), EndpointDefaults(headers: ["Accept": "text/csv"]),
            EndpointDefaults(headers: ["Accept": "text/plain"]), EndpointDefaults(statuses: .ok), EndpointDefaults(arrays: .comma),
            EndpointDefaults(timeouts: ServiceTimeouts(total: .seconds(1))), EndpointDefaults(redirects: .stop),
            EndpointDefaults(requiring: .pinning), EndpointDefaults().decoding(with: JSONSerializer()),
        ].map { ClientDescription(client: "C", table: [:], defaults: $0) }
        #expect(Set(all + [plain]).count == all.count + 1)
        for description in all { #expect(description.changes(since: plain).map(\.kind) == [.defaults], "\(description)") }
        var methods = EndpointDefaults()
        methods.perMethod[.get] = EndpointDefaults(headers: ["Accept": "text/csv"])
        let perMethod = ClientDescription(client: "C", table: [:], defaults: methods)
        #expect(perMethod.defaults == nil && perMethod.perMethod?.first?.fields.first?.value == "text/csv")
        #expect(perMethod.changes(since: plain).map(\.kind) == [.defaults])
    }

    // MARK: Changes

    @Test(arguments: [
        ("root", DescriptionChange.Kind.result), ("parsing", .result), ("errorHandler", .result), ("bodyLimit", .result),
        ("cacheIdentifier", .identifier), ("identifier", .identifier), ("requiring", .requirements), ("query", .query), ("body", .body),
        ("serializer", .body), ("arrays", .encoding), ("deadlines", .deadline), ("redirects", .attribute), ("paging", .attribute),
        ("urlBuilder", .route),
    ])
    func `A change has its kind`(name: String, kind: DescriptionChange.Kind) throws {
        let slot = try #require(Self.slots.first { $0.name == name })
        let old = description(.post("/x"))
        for modifier in slot.values {
            let changes = description(modifier(.post("/x"))).changes(since: old)
            #expect(changes.contains { $0.kind == kind && $0.key == "call(a:b:)" }, "\(changes)")
            // The error also names the source of an argument.
            #expect(changes.allSatisfy { [kind, .argument, .requirements].contains($0.kind) }, "\(changes)")
        }
        #expect(kind.effect != .neutral)
    }

    @Test func `Keys, order and statuses`() throws {
        func changes(_ old: EndpointTable, _ new: EndpointTable) -> [DescriptionChange] {
            ClientDescription(client: "C", table: new).changes(since: ClientDescription(client: "C", table: old))
        }
        let added = changes(["a()": .get("/a")], ["a()": .get("/a"), "b()": .get("/b")])
        #expect(added.map(\.kind) == [.keyAdded] && added[0].kind.effect == .neutral)
        let renamed = changes(["issues(name:)": .get("/%%0%%")], ["issue(name:)": .get("/%%0%%")])
        #expect(Set(renamed.map(\.kind)) == [.keyAdded, .keyRemoved])
        #expect(renamed.contains { $0.description.contains("\"issue(name:)\" is new") && $0.kind.effect == .callers })
        #expect(changes(["a()": .get("/a"), "b()": .get("/b")], ["b()": .get("/b"), "a()": .get("/a")]).map(\.kind) == [.order])
        #expect(changes(["a()": .get("/a")], ["a()": .get("/a").alsoAccepting(.notFound)]).map(\.kind) == [.successWidened])
        #expect(changes(["a()": .get("/a")], ["a()": .get("/a").accepting(.ok)]).map(\.kind) == [.successNarrowed])
        #expect(changes(["a()": .get("/a")], ["a()": .get("/a").accepting(.success)]).map(\.kind) == [.successWidened])
        let method = changes(["a()": .get("/a")], ["a()": .delete("/b")])
        #expect(method.map(\.kind) == [.method, .route] && method[0].text == "the method: GET → DELETE")
        let twice = EndpointTable(dictionaryLiteral: ("a()", .get("/a")), ("a()", .get("/b")))
        #expect(!changes(["a()": .get("/a")], twice).isEmpty && !changes(twice, ["a()": .get("/a")]).isEmpty)
    }

    @Test func `Statuses in a file may have any length`() {
        var old = description(.get("/x"))
        old.endpoints[0].success = "0…9223372036854775807, -5, 9…3, x"
        #expect(!description(.get("/x")).changes(since: old).isEmpty)
    }

    // MARK: Texts

    private final class Market: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "items(filter:page:)": .get("/items|all").query(.argument(0)).query("page", .argument(1)).decoding(at: "items"),
                "order(_:`x`:)": .post("/orders").header("X-Note", "a|b*c*").accepting(.created),
                "pay(id:token:)": .post("/pay/%%id%%").header("Authorization", "Bearer %%token%%").header("X-Api-Key", "hush")
                    .withoutBody(),
            ]
        }
        override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "https://market.test/v1?api_key=hush") }
    }

    @Test func `The reference in Markdown names keys, arguments and settings`() {
        let text = Market.describe(as: .markdown)
        for line in [
            "# Market", "## `items(filter:page:)`", "`GET /items|all`", "| argument | goes to |", "| `filter` | query … |",
            "| `page` | query page |", "* Result at `items`", "* Success: 201", "* No body", "| `token` | header Authorization |",
        ] {
            #expect(text.split(separator: "\n").contains { $0 == line }, "\(line)")
        }
        #expect(text.contains("Service root: `https://market.test/v1?api_key=<masked>`") && !text.contains("hush"))
        #expect(!Market.describe(as: .json).contains("hush"))
        // Each cell's bars are escaped.
        for row in text.split(separator: "\n") where row.hasPrefix("|") {
            #expect(row.replacing("\\|", with: "").filter { $0 == "|" }.count == 3, "\(row)")
        }
    }

    @Test func `The JSON is stable and is read again`() throws {
        let text = Market.describe(as: .json)
        #expect(text == Market.describe(as: .json) && text.hasSuffix("}\n"))
        #expect(try JSONDecoder().decode(ClientDescription.self, from: Data(text.utf8)) == Market.describe())
        #expect(Market.describe().changes(since: Market.describe()).isEmpty)
    }

    @Test func `Unknown headers are told apart without their values`() {
        let (first, second) = (description(.get("/x").header("X-Tenant", "alpha")), description(.get("/x").header("X-Tenant", "beta")))
        #expect(first != second && !first.json.contains("alpha"))
        #expect(first.endpoints[0].headers[0].value?.contains("checksum") == true)
        let secret = description(.get("/x").header("X-Api-Key", "alpha")).endpoints[0].headers[0].value
        #expect(secret == "<masked>")
    }
}
