import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct IdempotencyKeyTests {
    private static let field = HTTPFields.Name("Idempotency-Key")

    private final class Bank: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "pay(amount:)": .post("/pay").idempotencyKey(), "order(id:)": .post("/orders").idempotencyKey("order-%%id%%").withoutBody(),
                "quoted()": .post("/quoted").idempotencyKey(named: "X-Idempotency-Key", format: .quoted),
                "read()": .get("/read").idempotencyKey(), "plain()": .post("/plain"),
            ]
        }

        func pay(amount: Int) async throws { try await call(["amount": amount]) }
        func order(id: String?) async throws { try await call(id) }
        func quoted() async throws { try await call() }
        func read() async throws { try await call() }
        func plain() async throws { try await call() }
    }

    private let stub = StubTransport()

    private func bank(_ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }) -> Bank {
        Bank(serviceRoot: "https://bank.test") {
            $0.transport = stub
            $0.retry = RetryPolicy(attempts: 3, backoff: Backoff(base: .zero))
            configure(&$0)
        }
    }

    private func keys(_ name: HTTPFields.Name = field) -> [String?] { stub.requests.map { $0.request.headers[name] } }

    @Test func `A key is generated once per call, the same in every attempt`() async throws {
        stub.fallback(.inTurn(.status(503), .failure(TransportError(.connectionLost, "gone")), .status(200)))
        try await bank().pay(amount: 1)
        let first = keys()
        #expect(first.count == 3 && Set(first).count == 1)
        let key = try #require(first[0])
        #expect(UUID(uuidString: key) != nil && key == key.lowercased())
        stub.fallback(.status(200))
        try await bank().pay(amount: 1)
        #expect(keys().count == 4 && Set(keys()).count == 2)
    }

    @Test func `A key comes from an argument, or from the call`() async throws {
        stub.fallback(.status(200))
        try await bank().order(id: "7")
        try await bank().with(.idempotencyKey("mine")) { try await $0.order(id: "7") }
        try await bank().with(.idempotencyKey("mine")) { try await $0.plain() }
        try await bank().http.post("/x").idempotencyKey("own").send()
        #expect(keys() == ["order-7", "mine", "mine", "own"])
        try await bank().order(id: nil)
        #expect(UUID(uuidString: try #require(keys()[4])) != nil)
        try await bank().http.post("/x").idempotencyKey().send()
        #expect(UUID(uuidString: try #require(keys()[5])) != nil)
    }

    @Test func `Name and format are the endpoint's, also for a given key`() async throws {
        stub.fallback(.status(200))
        try await bank().quoted()
        let generated = try #require(keys("X-Idempotency-Key")[0])
        #expect(generated.hasPrefix("\"") && generated.hasSuffix("\"") && generated.count == 38)
        try await bank().with(.idempotencyKey(#"a"b\c"#)) { try await $0.quoted() }
        #expect(keys("X-Idempotency-Key")[1] == #""a\"b\\c""#)
        #expect(keys() == [nil, nil])
    }

    @Test func `Safe methods have none, and neither have endpoints without a rule`() async throws {
        stub.fallback(.status(200))
        try await bank().read()
        try await bank().with(.idempotencyKey("mine")) { try await $0.read() }
        try await bank().plain()
        #expect(keys() == [nil, nil, nil])
        // A client's rule is for all others.
        try await bank { $0.attributes[IdempotencyKey.self] = IdempotencyKey() }.plain()
        #expect(keys()[3] != nil)
    }

    @Test func `A key stays in redirects on the origin, and with it`() async throws {
        for location in ["/next", "https://eu.bank.test/next", "https://elsewhere.test/next"] {
            stub.forgetRequests()
            stub.fallback(.inTurn(.status(307, headers: ["Location": location]), .status(200)))
            try await bank { $0.allowedOrigins = ["https://eu.bank.test"] }.pay(amount: 1)
            #expect(keys().count == 2 && keys()[0] != nil)
            #expect(keys()[1] == (location.contains("elsewhere") ? nil : keys()[0]))
        }
        // A call outside the service has only the key that it was given.
        stub.forgetRequests()
        stub.fallback(.status(200))
        let outside = try #require(URL(string: "https://elsewhere.test/x"))
        try await bank().http.request(.post, outside: outside).idempotencyKey("own").send()
        #expect(keys() == ["own"])
    }

    @Test func `The error has the key, to repeat the call later`() async throws {
        stub.fallback(.status(503))
        let error = await serviceError { try await bank().with(.idempotencyKey("order-7")) { try await $0.pay(amount: 1) } }
        #expect(error?.request?.idempotencyKey == "order-7")
        #expect(error?.description.contains("idempotency key: order-7") == true)
        #expect(stub.requests.count == 3)
        let hidden = bank { $0.headerRules = HeaderRules(secret: ["Idempotency-Key"]) }
        let masked = await serviceError { try await hidden.with(.idempotencyKey("order-7")) { try await $0.pay(amount: 1) } }
        #expect(masked?.request?.idempotencyKey == nil && masked?.description.contains("order-7") == false)
        #expect(await serviceError { try await bank().plain() }?.request?.idempotencyKey == nil)
    }

    @Test(arguments: ["", " ", "a ", "a\nb", "é", "\u{7F}", String(repeating: "x", count: 256)])
    func `A bad key is an error before anything is sent`(key: String) async throws {
        stub.fallback(.status(200))
        let error = await serviceError { try await bank().with(.idempotencyKey(key)) { try await $0.plain() } }
        #expect(error?.kind == .request && error?.message.contains("1 to 255 printable ASCII characters") == true)
        #expect(stub.requests.isEmpty)
    }
}
