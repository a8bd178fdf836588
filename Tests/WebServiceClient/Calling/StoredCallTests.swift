import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct StoredCallTests {
    private struct Audited: EndpointAttribute, Codable, Equatable { var by: String }
    private struct Plain: EndpointAttribute {}

    private static func client(
        root: String = "https://api.test/v1?key0=a", _ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }
    ) -> (WebServiceClient, StubTransport) {
        let stub = StubTransport()
        stub.fallback(.status(200))
        return (
            WebServiceClient(serviceRoot: root) {
                $0.transport = stub
                $0.headers["X-Client"] = "c"
                configure(&$0)
            }, stub
        )
    }

    /// The request that a call sends.
    private static func request(_ call: ServiceCall) async throws -> ServiceRequest {
        try await call.client.dryRun { _ in try await call.send() }
    }

    private typealias Make = @Sendable (HTTPCalls) throws -> ServiceCall

    private static let calls: [Make] = [
        { $0.get("/users/%%0%%", "a/b") }, { $0.get("/users?fixed=1").query("tag", ["a b", "c&d"]).query("none", String?.none) },
        { $0.post("/users").body(["b": 1, "a": 2]).accepting(.created).timeout(.milliseconds(1_500)) },
        { $0.put("/raw").body(Data([0xFF, 0])).header("Content-Type", "image/x").raw() },
        { $0.put("/typed").body(["a": 1]).header("Content-Type", "text/overridden") },
        { $0.get("/search").body(["q": "x"]).allowingBody() }, { $0.delete("/users/1").body(RequestBody(Data("x".utf8))) },
        { $0.head("/users") }, { $0.post("/empty").describing { $0.withoutBody() } },
        { $0.get("/x").header("X-Own", "%%0%%").header("X-Client", nil) },
        { $0.get("/x").decoding(at: ["a.b", "c"]).describing { $0.alsoAccepting(.notFound).bodyLimit(7).redirects(.sameOrigin) } },
        { $0.get("/x").describing { $0.timeouts(ServiceTimeouts(firstByte: nil, idle: .seconds(1))).timeout(.seconds(9)) } },
        { $0.get("/x/%%0%%", "i").describing { $0.cacheIdentifier("x/%%0%%").attribute(Audited(by: "me")) } },
        { $0.request("REPORT", "/x") }, { $0.request(encoded: "/People('O''Neil')?$top=1") },
        { $0.request(link: try #require(URL(string: "https://api.test/next?page=2"))).query("a", "b") },
        { $0.request(outside: try #require(URL(string: "https://files.test/a?b=c"))).header("Accept", "x/y") },
        { $0.get("/x").describing { $0.headers(.argument(0)) }.argument("fields", ["X-List": ["a", "b"]]) },
        {
            var policy = RetryPolicy(
                attempts: 4, backoff: Backoff(base: .milliseconds(7), factor: 1.1, cap: .seconds(9), jitter: .equal), statuses: [503, 599],
                failures: [.cannotConnect, .timedOutWaiting, .connectionLost], unsafeMethods: .always, longestWait: .nanoseconds(1),
                longestTotal: .seconds(Int64.max))
            policy.overrules = [.shouldRetry]
            policy.limits = [.gitHub, .secondsUntilReset]
            policy.millisecondFields = RetryPolicy.commonMillisecondFields
            return $0.post("/orders").body(["a": 1]).priority(.high).retry(policy).idempotencyKey("order-7").idempotent().solicited()
        },
        {
            $0.get("/x/%%0%%", "i").identifier("x/%%0%%", .reuse).describing {
                $0.coalesced().rateLimited(RateLimit(3, per: .milliseconds(1), longestWait: .seconds(2))).obeyingRateLimits(.ignored)
                    .hedged(afterPercentile: 0.9).circuitBreaker(.off).waitingForNetwork(upTo: .seconds(1)).cached(for: .seconds(1))
                    .cacheTags("a", "b").cookies(.off).attribute(CacheMode.reload).attribute(OfflineCaching(upTo: .seconds(5)))
                    .verifyingDigests(.required, wanting: [.sha256]).expectingDigest(sha256: String(repeating: "0", count: 64))
            }
        },
        {
            $0.put("/x").body(Data("x".utf8)).describing {
                $0.circuitBreaker(CircuitBreakerPolicy(failureRatio: 0.25)).sendingDigest(.sha512).uncached()
            }
        },
        {
            $0.post("/chat").body(["a": 1]).describing {
                $0.framing(.events).endsStream(at: "[DONE]").failsStream(atEvent: "error").compressed(.gzip, above: 9)
                    .reconnecting(ReconnectionPolicy(attempts: 2)).faults(FaultPlan(.times(1, .status(503, retryAfter: 1))))
                    .attribute(SecurityRequirements([[.init(SecurityScheme(name: "k", kind: .apiKey(name: "X-K", in: .header)))], []]))
            }
        },
    ]

    @Test(arguments: calls.indices) func `a call is equal after the trip and sends the same request`(index: Int) async throws {
        let (client, _) = Self.client()
        let call = try Self.calls[index](client.http)
        let stored = try call.stored(includingSecrets: true)
        #expect(stored.omitted.isEmpty, "\(stored.omitted)")
        let read = try StoredCall(data: try stored.data())
        #expect(read == stored)
        #expect(try JSONDecoder().decode(StoredCall.self, from: JSONEncoder().encode(stored)) == stored)
        let copy = try client.http.call(from: read, attributes: [Audited.self])
        #expect(try copy.stored(includingSecrets: true) == stored)
        let (sent, again) = (try await Self.request(call), try await Self.request(copy))
        #expect(again.method == sent.method && again.url == sent.url && again.timeouts == sent.timeouts)
        #expect(Dictionary(grouping: again.headers, by: \.name) == Dictionary(grouping: sent.headers, by: \.name))
        #expect(again.body?.data == sent.body?.data && again.body?.contentType == sent.body?.contentType)
        #expect(again.identity == sent.identity)
        let (one, other) = (try call.dispatcher().endpoint, try copy.dispatcher().endpoint)
        #expect(other.success == one.success && other.bodyLimit == one.bodyLimit && other.plan.payloadRoot == one.plan.payloadRoot)
        func attributes(_ endpoint: ResolvedEndpoint) -> Set<String> {
            Set(endpoint.settings.attributes.all.filter { !($0 is CallIdentifier) }.map { "\(type(of: $0)): \($0)" })
        }
        #expect(attributes(other) == attributes(one))
        let identifier = try call.bound(try call.dispatcher()).identifier
        #expect(other.settings.attributes[CallIdentifier.self] == identifier)
        #expect(try copy.bound(try copy.dispatcher()).cacheIdentifier == call.bound(try call.dispatcher()).cacheIdentifier)
    }

    private static let limit = RateLimit(3, per: .seconds(1))

    @Test func `an attribute of the program may have the name of one of the library`() throws {
        struct RateLimit: EndpointAttribute, Codable, Equatable { var kind: String }
        let (client, _) = Self.client()
        let limit = Self.limit
        let call = client.http.get("/a").describing { $0.attribute(RateLimit(kind: "own")).rateLimited(limit) }
        let read = try StoredCall(data: try call.stored().data())
        let attributes = try client.http.call(from: read, attributes: [RateLimit.self]).dispatcher().endpoint.settings.attributes
        #expect(attributes[RateLimit.self]?.kind == "own" && attributes.all.contains { "\($0)" == "\(limit)" })
    }

    @Test func `a queued call keeps priority, retries, idempotency key and identifier without a list of their types`() throws {
        let (client, _) = Self.client()
        let policy = RetryPolicy(attempts: 4)
        let call = client.http.post("/orders").body(["a": 1]).priority(.low).retry(policy).idempotencyKey("order-7")
        let stored = try call.identifier("order", .find).stored()
        #expect(stored.omitted.isEmpty, "\(stored.omitted)")
        let copy = try client.http.call(from: try StoredCall(data: try stored.data()))
        let attributes = copy.descriptor.settings.attributes
        #expect(attributes[CallPriority.self] == .low && attributes[RetryPolicy.self] == policy)
        #expect(attributes[IdempotencyKey.Given.self]?.key == "order-7")
        #expect(attributes[CallIdentifier.self] == CallIdentifier("order", .find))
        let decided = try client.http.get("/a").describing { $0.attribute(RetryDecider { _ in .fail }) }.stored()
        #expect(decided.omitted == [StoredOmission(.attribute, "RetryDecider")])
    }

    @Test func `the names of credentials aren't secrets`() throws {
        let (client, _) = Self.client()
        let kinds: [SecurityScheme.Kind] = [
            .apiKey(name: "X-API-Key", in: .header), .http(scheme: "bearer"), .oauth2, .openIDConnect(url: "https://a.test/.well-known"),
            .mutualTLS, .unknown("apiKey"),
        ]
        for kind in kinds {
            let requirement = SecurityRequirements.Requirement(SecurityScheme(name: "key", kind: kind), scopes: ["read"])
            let call = client.http.get("/a").describing { $0.attribute(SecurityRequirements([[requirement], []])) }
            let stored = try call.stored()
            #expect(stored.omitted.isEmpty, "\(stored.omitted)")
            let copy = try client.http.call(from: try StoredCall(data: try stored.data()))
            #expect(copy.descriptor.settings.attributes[SecurityRequirements.self] == SecurityRequirements([[requirement], []]))
        }
    }

    @Test func `generated calls are equal after the trip`() async throws {
        let (client, _) = Self.client(root: "https://api.test/%%tenant%%") { $0.headers["X-Tenant"] = "%%tenant%%" }
        var generator = SeededGenerator(seed: 5)
        let pool = Array("aZ09 /?#&=%+é🙂\"'")
        func text() -> String {
            String((0..<Int.random(in: 1...6, using: &generator)).compactMap { _ in pool.randomElement(using: &generator) }) + "x"
        }
        for number in 0..<200 {
            var call = client.http.request(Bool.random(using: &generator) ? .post : .get, "/a/%%0%%", text())
            for _ in 0..<Int.random(in: 0...3, using: &generator) { call = call.query(text(), text()) }
            if call.descriptor.method == .post {
                call = Bool.random(using: &generator) ? call.body([text(): text()]) : call.body(Data(text().utf8))
            }
            if Bool.random(using: &generator) { call = call.header(HTTPFields.Name("X-\(number)"), "v\(number)") }
            call = call.argument("tenant", "t\(number)")
            let stored = try call.stored(includingSecrets: true)
            let copy = try client.http.call(from: try StoredCall(data: try stored.data()))
            #expect(try copy.stored(includingSecrets: true) == stored)
            let (sent, again) = (try await Self.request(call), try await Self.request(copy))
            #expect(again.url == sent.url && again.body?.data == sent.body?.data && again.headers["X-Tenant"] == "t\(number)")
        }
    }

    @Test func `secrets are left out and listed, and their masks survive the trip`() async throws {
        let (client, _) = Self.client(root: "https://%%token%%.test")
        let call = client.http.post("/a").query("api_key", "s3cr3t-1").argument("token", "s3cr3t-2").header("X-Key", "s3cr3t-3")
            .header("Accept", "x/y").body(["password": "s3cr3t-4"]).prepare { _ in }
            .describing { $0.attribute(Audited(by: "token=s3cr3t-5")).attribute(Plain()).errorHandler(.decoding(StoreItem.self)) }
        var stored = try call.stored()
        let text = String(decoding: try stored.data(), as: UTF8.self)
        #expect(!text.contains("s3cr3t") && !text.contains("mask"), "\(text)")
        #expect(
            Set(stored.omitted) == [
                StoredOmission(.url), StoredOmission(.argument, "token"), StoredOmission(.header, "X-Key"), StoredOmission(.body),
                StoredOmission(.attribute, "Audited"), StoredOmission(.attribute, "Plain"), StoredOmission(.setting, "prepare"),
                StoredOmission(.setting, "errorHandler"),
            ])
        #expect(throws: StoredDataError.self) { try client.http.call(from: stored) }
        for omission in stored.omitted { stored.ignore(omission) }
        #expect(stored.omitted.count == 3)
        stored.supply(target: .path("/a?api_key=new"))
        stored.supply("s3cr3t-2", forArgument: "token")
        try stored.supply(body: RequestBody(Data("{}".utf8), contentType: "application/json"))
        stored.supply("new", forHeader: "X-Key")
        let sent = try await Self.request(try client.http.call(from: stored))
        #expect(sent.url.absoluteString == "https://s3cr3t-2.test/a?api_key=new" && sent.headers["X-Key"] == "new")

        let whole = try client.http.post("/%%token%%").argument("token", "s3cr3t-2").stored(includingSecrets: true)
        let masked = try await Self.request(try client.http.call(from: whole))
        #expect(masked.url.absoluteString.contains("s3cr3t-2") && !masked.description.contains("s3cr3t-2"))
        #expect(!"\(whole)".contains("s3cr3t-2") && !String(reflecting: whole).contains("s3cr3t-2"))
    }

    @Test func `a call of another service is refused`() throws {
        let (client, _) = Self.client()
        let (other, _) = Self.client(root: "https://other.test")
        var stored = try client.http.get("/a").stored()
        let error = #expect(throws: StoredDataError.self) { try other.http.call(from: stored) }
        #expect(error?.message.contains("https://api.test") == true && error?.message.contains("https://other.test") == true)
        let (listed, _) = Self.client(root: "https://other.test") { $0.allowedOrigins = ["https://api.test"] }
        #expect(throws: Never.self) { try listed.http.call(from: stored) }
        stored.origin = nil
        #expect(throws: Never.self) { try other.http.call(from: stored) }
        // A link's credentials stay with the service, whatever the data says.
        let link = try client.http.request(link: #require(URL(string: "https://api.test/next"))).stored()
        var forged = try #require(String(data: try link.data(), encoding: .utf8))
        forged = forged.replacing("https://api.test/next", with: "https://evil.test/next")
        #expect(throws: ServiceError.self) { try client.http.call(from: try StoredCall(data: Data(forged.utf8))) }
    }

    @Test func `an attribute must be listed, or ignored`() throws {
        let (client, _) = Self.client()
        var stored = try client.http.get("/a").describing { $0.attribute(Audited(by: "me")) }.stored()
        let error = #expect(throws: StoredDataError.self) { try client.http.call(from: stored) }
        #expect(error?.message.contains("Audited") == true)
        stored.ignore(StoredOmission(.attribute, "Audited"))
        #expect(throws: Never.self) { try client.http.call(from: stored) }
        let broken = try client.http.get("/a").describing { $0.attribute(Audited(by: "me")) }.stored().data()
        let text = String(decoding: broken, as: UTF8.self).replacing(#"\"by\""#, with: #"\"bi\""#)
        let fault = #expect(throws: StoredDataError.self) {
            try client.http.call(from: try StoredCall(data: Data(text.utf8)), attributes: [Audited.self])
        }
        #expect(fault?.message.contains("Audited") == true && fault?.message.contains("by") == true)
    }

    @Test func `what can't be stored is an error`() throws {
        let (client, _) = Self.client()
        let stream = RequestBody { AsyncThrowingStream { $0.finish() } }
        #expect(throws: StoredDataError.self) { try client.http.post("/a").body(stream).stored() }
        #expect(throws: ServiceError.self) { try client.http.get("/a/%%0%%").stored() }
        let (numbered, _) = Self.client(root: "https://%%0%%.test")
        let error = #expect(throws: StoredDataError.self) { try numbered.http.get("/a/%%0%%", "x").stored() }
        #expect(error?.message.contains("label") == true)
    }

    @Test(arguments: [
        ("{}", "version"), (#"{"version":9}"#, "version 9"), (#"{"version":1,"method":"GET"}"#, "target"),
        (#"{"version":1,"method":"GET","target":{}}"#, "target"),
        (#"{"version":1,"method":"GET","target":{"path":"/a b"}}"#, "target.path"),
        (#"{"version":1,"method":"GET","target":{"path":"/a","link":"https://a.test"}}"#, "target"),
        (#"{"version":1,"method":"GET","target":{"link":"mailto:a"}}"#, "target.link"),
        (#"{"version":1,"method":"GET","target":{"omitted":"path"}}"#, "target"),
        (#"{"version":1,"method":"GET","target":{"path":"/a"},"key":"k","route":""  ,"statuses":[[300,200]]}"#, "statuses"),
        (
            #"{"version":1,"method":"GET","target":{"path":"/a"},"key":"k","route":"","headers":[{"name":"a b","values":[]}]}"#,
            "headers[0].name"
        ),
        (
            #"{"version":1,"method":"GET","target":{"path":"/a"},"key":"k","route":"","headers":[{"name":"a","values":["\r"]}]}"#,
            "headers[0]"
        ),
        (#"{"version":1,"method":"GET","target":{"path":"/a"},"key":"k","route":"","timeout":"x"}"#, "timeout"),
        (#"{"version":1,"method":"GET","target":{"path":"/a"},"key":"k","route":"","retries":3}"#, "retries"),
    ])
    func `bad data is an error that names the member`(text: String, member: String) {
        let error = #expect(throws: StoredDataError.self) { try StoredCall(data: Data(text.utf8)) }
        #expect(error?.message.contains(member) == true, "\(error?.message ?? "")")
    }
}
