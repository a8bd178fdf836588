import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the articles on calls as data, traces, defaults per method and headers with placeholders.

private struct Audited: EndpointAttribute, Codable {
    let by: String
}

private final class TenantShop: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "products(tenant:)": .get("/products"),
            "status()": .get("/status").header("X-Tenant", "none"),
        ]
    }

    override class var defaults: EndpointDefaults {
        EndpointDefaults(headers: ["X-Tenant": "%%tenant%%"])
    }

    func products(tenant: String?) async throws { try await call(tenant) }
}

private final class MethodShop: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        ["product(id:)": .get("/products/%%id%%")]
    }

    override class var defaults: EndpointDefaults {
        var defaults = EndpointDefaults(timeouts: ServiceTimeouts(firstByte: .seconds(10)))
        defaults.perMethod[.get] = EndpointDefaults(retry: RetryPolicy())
        defaults.perMethod[.post] = EndpointDefaults(headers: ["Prefer": "return=minimal"], statuses: [201, 204])
        return defaults
    }

    func product(id: Int) async throws { try await call(id) }
}

@Suite struct StoredSampleTests {
    private let stub = StubTransport()

    private func shop(_ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }) -> MethodShop {
        stub.fallback(.status(201))
        return MethodShop(serviceRoot: "https://shop.example.com/v1") {
            $0.transport = stub
            configure(&$0)
        }
    }

    @Test func `headers of all endpoints`() async throws {
        #expect(TenantShop.verify().isEmpty)
        stub.fallback(.status(200))
        let shop = TenantShop(serviceRoot: "https://shop.example.com") { $0.transport = stub }
        try await shop.products(tenant: "acme")
        try await shop.products(tenant: nil)
        try await shop.http.get("/other").argument("tenant", "acme").send()
        #expect(stub.requests.map { $0.request.headers["X-Tenant"] } == ["acme", nil, "acme"])
    }

    @Test func `defaults per method`() async throws {
        #expect(MethodShop.verify().isEmpty)
        let shop = shop()
        try await shop.http.post("/orders").body(Order(product: 7, count: 1)).send()
        #expect(stub.requests[0].request.headers["Prefer"] == "return=minimal")
        #expect(stub.requests[0].request.timeouts.firstByte == .seconds(10))
    }

    @Test func `traces`() async throws {
        let incoming: HTTPFields = ["baggage": "region=eu"]
        let shop = shop {
            $0.tracing = .service
        }
        var propagation = TracePropagation(headers: incoming)
        propagation.trace = propagation.trace ?? .random()
        propagation.baggage["tenant"] = "acme"
        try await TracePropagation.$current.withValue(propagation) { try await shop.product(id: 7) }
        #expect(stub.requests[0].request.headers["baggage"] == "region=eu,tenant=acme")
        #expect(stub.requests[0].request.headers["traceparent"] != nil)
    }

    @Test func `calls as data`() async throws {
        let (shop, order, key) = (shop(), Order(product: 7, count: 1), "k-123456")
        let data = try shop.http.post("/orders").body(order).accepting(.created).stored().data()

        let call = try shop.http.call(from: StoredCall(data: data))
        try await call.send()

        var stored = try shop.http.get("/orders").header("X-API-Key", key).describing { $0.attribute(Audited(by: "billing")) }.stored()
        #expect(stored.omitted.map(\.description) == ["the header X-API-Key"])
        stored.supply(key, forHeader: "X-API-Key")
        try await shop.http.call(from: stored, attributes: [Audited.self]).send()

        #expect(stub.requests.map { $0.request.method } == [.post, .get])
        #expect(stub.requests[1].request.headers["X-API-Key"] == key)

        let request = try await shop.dryRun { try await $0.product(id: 7) }
        let copy = try ServiceRequest(StoredRequest(data: request.stored().data()))
        #expect(copy.url == request.url && copy.headers == request.headers)
    }
}
