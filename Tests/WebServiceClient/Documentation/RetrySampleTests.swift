import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article on retries.

private struct Purchase: Codable, Sendable {
    var id: Int
}

private final class SampleBank: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "heartbeat()": .post("/heartbeat").idempotent().retry(.standard),
            "pay(order:)": .post("/payments").idempotencyKey().retry(.standard),
            "ship(order:)": .post("/shipments").idempotencyKey("ship-%%order%%").withoutBody(),
            "refund(id:)": .post("/refunds").idempotencyKey(named: "PayPal-Request-Id"),
            "account()": .get("/account").solicited(),
        ]
    }

    func heartbeat() async throws { try await call() }
    func pay(order: Purchase) async throws { try await call(order) }
    func ship(order: Int) async throws { try await call(order) }
    func refund(id: Int) async throws { try await call(["id": id]) }
    func account() async throws -> String { try await call() }
}

@Suite struct RetrySampleTests {
    private let stub = StubTransport()

    private func bank(_ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }) -> SampleBank {
        SampleBank(serviceRoot: "https://bank.example.com/v1") {
            $0.transport = stub
            configure(&$0)
        }
    }

    @Test func `The table of the samples has no fault`() {
        #expect(SampleBank.verify().isEmpty, "\(SampleBank.verify())")
    }

    @Test func `The policies of the samples have no fault`() async throws {
        stub.fallback(.status(204))
        let bank = bank {
            $0.retry = .standard
            $0.timeouts.total = .seconds(30)
            $0.retry.overrules = [.stripeShouldRetry]
            $0.retry.limits = [.gitHub]
            $0.retry.millisecondFields = RetryPolicy.commonMillisecondFields
            $0.retryDecider = RetryDecider { failure in
                failure.status == 404 && failure.attempt < 3 ? .retry(after: .seconds(2)) : .default
            }
        }
        #expect(bank.verify().isEmpty)
        try await bank.heartbeat()
        bank.configure {
            $0.retry = RetryPolicy(attempts: 5, longestTotal: .seconds(30))
            $0.retryBudget = nil
        }
        #expect(bank.verify().isEmpty)
        bank.configure {
            $0.retry = RetryPolicy(unsafeMethods: .always)
            $0.retryBudget = RetryBudget(capacity: 100)
        }
        #expect(bank.verify().isEmpty)
    }

    @Test func `The keys of the samples are sent`() async throws {
        stub.fallback(.status(204))
        let order = Purchase(id: 7)
        let bank = bank()
        try await bank.with(.idempotencyKey("order-7")) { try await $0.pay(order: order) }
        try await bank.ship(order: 7)
        try await bank.refund(id: 7)
        let sent = stub.requests.map(\.request.headers)
        #expect(sent[0]["Idempotency-Key"] == "order-7" && sent[1]["Idempotency-Key"] == "ship-7")
        #expect(sent[2]["PayPal-Request-Id"]?.count == 36)
    }

    @Test func `A person waits for the call`() async throws {
        stub.fallback(.json("\"fine\""))
        #expect(try await bank().account() == "\"fine\"")
        let text = try await bank().with(.solicited) { try await $0.account() }
        #expect(text == "\"fine\"")
    }
}
