import Foundation
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct PerMethodDefaultsTests {
    private struct Audited: EndpointAttribute, Equatable { var by: String }

    private final class Shop: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "read()": .get("/read"),
                "create(_:)": .post("/items"),
                "special(_:)": .post("/special").header("X-Level", "endpoint").accepting(.ok).attribute(Audited(by: "endpoint"))
                    .serializer(JSONSerializer()).timeout(.seconds(1)),
            ]
        }
        override class var defaults: EndpointDefaults {
            var defaults = EndpointDefaults(
                serviceRoot: "https://a.test", headers: ["X-Level": "class", "X-Class": "1"], statuses: [299],
                timeouts: ServiceTimeouts(total: .seconds(30))
            ).attribute(Audited(by: "class"))
            defaults.perMethod[.post] = EndpointDefaults(
                headers: ["X-Level": "post", "X-Post": "1", "Accept": "text/csv"], statuses: [201], serializer: FormSerializer(),
                timeouts: ServiceTimeouts(total: .seconds(5)), retry: RetryPolicy(attempts: 7)
            ).attribute(Audited(by: "post"))
            return defaults
        }
        func read() async throws { try await call() }
        func create(_ item: [String: Int]) async throws { try await call(item) }
        func special(_ item: [String: Int]) async throws { try await call(item) }
    }

    private static func shop(_ answer: StubAnswer = .status(201)) -> (Shop, StubTransport) {
        let stub = StubTransport()
        stub.fallback(answer)
        return (Shop { $0.transport = stub }, stub)
    }

    private static func endpoint(_ key: String) throws -> ResolvedEndpoint { try shop().0.state.endpoint(for: key) }

    @Test func `the class is overridden by its defaults of the method, and those by the endpoint`() throws {
        #expect(Shop.verify().isEmpty)
        let (read, create, special) = (
            try Self.endpoint("read()"), try Self.endpoint("create(_:)"), try Self.endpoint("special(_:)")
        )
        #expect([read, create, special].map { $0.headers["X-Level"] } == ["class", "post", "endpoint"])
        #expect([read, create, special].map { $0.headers["X-Post"] } == [nil, "1", "1"])
        #expect([read, create, special].allSatisfy { $0.headers["X-Class"] == "1" })
        #expect([read, create, special].map(\.success) == [[299], [201], .ok])
        #expect([read, create, special].map { $0.settings.deadlines.total } == [.seconds(30), .seconds(5), .seconds(1)])
        #expect([read, create, special].map { $0.settings.attributes[Audited.self]?.by } == ["class", "post", "endpoint"])
        #expect([read, create, special].map { $0.settings.attributes[RetryPolicy.self]?.attempts } == [nil, 7, 7])
        #expect(read.serializer is JSONSerializer && create.serializer is FormSerializer && special.serializer is JSONSerializer)
        #expect([read, create, special].map(\.hasOwnAccept) == [false, true, true])
        #expect(read.headers["Accept"] == "application/json" && create.headers["Accept"] == "text/csv")
    }

    @Test func `declared and ad-hoc calls have them`() async throws {
        let (shop, stub) = Self.shop()
        try await shop.create(["a": 1])
        try await shop.http.post("/other").body(["b": 2]).send()
        for request in stub.requests.map(\.request) {
            #expect(request.headers["X-Level"] == "post" && request.headers["Content-Type"] == "application/x-www-form-urlencoded")
        }
        let error = await #expect(throws: ServiceError.self) { try await shop.read() }
        #expect(error?.kind == .status)
    }

    @Test func `the parsers of a method's serializer read its responses`() async throws {
        let (shop, _) = Self.shop(.text("a=1", status: 201, headers: ["Content-Type": "application/x-www-form-urlencoded"]))
        let value: [String: String] = try await shop.http.post("/x").body(["b": 2]).value()
        #expect(value == ["a": "1"])
    }

    private final class Templated: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable { ["read(tenant:)": .get("/%%tenant%%"), "remove(id:)": .delete("/%%id%%")] }
        override class var defaults: EndpointDefaults {
            var defaults = EndpointDefaults(serviceRoot: "https://a.test")
            defaults.perMethod[.get] = EndpointDefaults(headers: ["X-Tenant": "%%tenant%%"])
            return defaults
        }
        func read(tenant: String) async throws { try await call(tenant) }
    }

    @Test func `their headers have placeholders for the endpoints of the method only`() async throws {
        #expect(Templated.verify().isEmpty, "\(Templated.verify())")
        let client = Templated { $0.transport = StubTransport() }
        #expect(try await client.dryRun { try await $0.read(tenant: "acme") }.headers["X-Tenant"] == "acme")
        #expect(try await client.dryRun { try await $0.http.delete("/x").send() }.headers["X-Tenant"] == nil)
    }

    private final class Faulty: WebServiceClient, @unchecked Sendable {
        override class var defaults: EndpointDefaults {
            var defaults = EndpointDefaults(serviceRoot: "https://a.test")
            defaults.perMethod["post"] = EndpointDefaults()
            defaults.perMethod["P T"] = EndpointDefaults()
            var nested = EndpointDefaults(serviceRoot: "https://b.test", headers: ["X-%%0%%": "a", "X": "a\nb"], statuses: [])
            nested.perMethod[.get] = EndpointDefaults()
            defaults.perMethod[.get] = nested
            defaults.perMethod[.put] = EndpointDefaults(requiring: .trailers)
            return defaults
        }
    }

    @Test func `verify names their faults, on the class and on the client`() async throws {
        let kinds: [TableFault.Kind] = [.badDefaults, .badDefaults, .badStatuses, .badHeader, .badHeader, .badMethod, .badMethod]
        #expect(Faulty.verify().map(\.kind) == kinds, "\(Faulty.verify())")
        #expect(Faulty.verify().allSatisfy { $0.key == nil && !$0.fix.isEmpty })
        let client = Faulty { $0.transport = StubTransport() }
        #expect(client.verify().map(\.kind).starts(with: kinds))
        let missing = Faulty.verify(for: []).filter { $0.kind == .missingCapability }
        #expect(missing.count == 1 && missing[0].problem.contains("the defaults of PUT"))
        let error = await #expect(throws: ServiceError.self) { try await client.http.get("/x").send() }
        #expect(error?.kind == .table)
    }

    private final class Payments: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "pay(_:)": .post("/payments").retry(RetryPolicy(backoff: Backoff(base: .zero))),
                "slow()": .get("/slow").hedged(after: .seconds(4)),
            ]
        }
        override class var defaults: EndpointDefaults {
            var defaults = EndpointDefaults(serviceRoot: "https://a.test", timeouts: ServiceTimeouts(total: .seconds(2)))
            defaults.perMethod[.post] = EndpointDefaults().attribute(IdempotencyKey())
            defaults.perMethod[.get] = EndpointDefaults(timeouts: ServiceTimeouts(total: .seconds(20)))
            return defaults
        }
        func pay(_ amount: [String: Int]) async throws { try await call(amount) }
    }

    @Test func `verify judges an endpoint under the defaults of its method`() async throws {
        #expect(Payments.verify().isEmpty, "\(Payments.verify())")
        let stub = StubTransport()
        stub.fallback(.inTurn(.status(503), .status(200)))
        let client = Payments { $0.transport = stub }
        #expect(client.verify().isEmpty, "\(client.verify())")
        try await client.pay(["amount": 1])
        try await client.http.post("/other").body(["a": 1]).retry(.standard).send()
        let keys = stub.requests.map { $0.request.headers["Idempotency-Key"] }
        #expect(keys.count == 3 && keys[0] != nil && keys[0] == keys[1] && keys[2] != keys[0] && keys[2] != nil)
    }

    private final class Senseless: WebServiceClient, @unchecked Sendable {
        override class var defaults: EndpointDefaults {
            var defaults = EndpointDefaults(serviceRoot: "https://a.test")
            defaults.perMethod[.get] = EndpointDefaults(timeouts: ServiceTimeouts(idle: .seconds(-1)), retry: RetryPolicy(attempts: 0))
                .rateLimited(RateLimit(0, per: .seconds(1))).attribute(CircuitBreakerPolicy(minimumCalls: 0))
            defaults.perMethod[.post] = EndpointDefaults().attribute(IdempotencyKey(named: "Cookie"))
                .attribute(HedgingPolicy.after(.seconds(1))).attribute(Coalescing())
            return defaults
        }
    }

    @Test func `settings of a method that make no sense are faults`() {
        let kinds: [TableFault.Kind] = [.badRetry, .badPolicy, .badLimit, .badLimit, .badRetry, .badPolicy, .badPolicy]
        for faults in [Senseless.verify(), Senseless { $0.transport = StubTransport() }.verify()] {
            #expect(faults.map(\.kind) == kinds, "\(faults)")
            let places = faults.map { $0.problem.hasPrefix("in the defaults of GET ") ? "GET" : "POST" }
            #expect(places == ["GET", "GET", "GET", "GET", "POST", "POST", "POST"] && faults.allSatisfy { !$0.fix.isEmpty })
        }
    }

    @Test func `descriptions show them`() throws {
        let described = try #require(Shop.describe().perMethod)
        #expect(described.map(\.method) == ["POST"])
        #expect(described[0].headers == ["X-Level", "X-Post", "Accept"] && described[0].success == "201")
        #expect(described[0].attributes.contains { $0.contains("Audited") })
        #expect(Shop.defaults.description.contains("POST"))
        // An earlier description has no such member.
        let plain = Store.describe()
        #expect(plain.perMethod == nil)
        let text = try JSONEncoder().encode(plain)
        #expect(!String(decoding: text, as: UTF8.self).contains("perMethod"))
        #expect(try JSONDecoder().decode(ClientDescription.self, from: text) == plain)
    }
}
