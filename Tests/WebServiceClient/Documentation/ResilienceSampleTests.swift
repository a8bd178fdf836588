import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article "Circuit breakers and hedging".

private final class PriceShop: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "product(id:)": .get("/products/%%id%%"),
            "health()": .get("/health").circuitBreaker(.off),
            "report(id:)": .get("/reports/%%id%%").circuitBreaker(CircuitBreakerPolicy(minimumCalls: 5)),
            "price(id:)": .get("/prices/%%id%%").hedged(after: .milliseconds(300)),
            "stock(id:)": .get("/stock/%%id%%").hedged(afterPercentile: 0.95),
        ]
    }

    func product(id: Int) async throws -> Product { try await call(id) }
    func health() async throws { try await call() }
    func price(id: Int) async throws -> Int { try await call(id) }
}

@Suite struct ResilienceSampleTests {
    private let stub = StubTransport()

    private func shop() -> PriceShop {
        PriceShop(serviceRoot: "https://shop.example.com/v1") {
            $0.circuitBreaker = CircuitBreakerPolicy(failureRatio: 0.5, minimumCalls: 20)
            $0.transport = stub
        }
    }

    @Test func `The table of the samples has no fault`() {
        #expect(PriceShop.verify().isEmpty && shop().verify().isEmpty, "\(shop().verify())")
    }

    @Test func `An open circuit ends calls with its own kind of error`() async throws {
        stub.fallback(.status(503))
        // On a busy machine, twenty calls may take longer than the policy's window.
        let shop = HandClock().provide { self.shop() }
        func show(_ product: Product) { Issue.record("There is no product.") }
        var until: Date?
        func showUnavailable(until date: Date?) { until = date }
        for _ in 0..<20 { await #expect(throws: ServiceError.self) { try await shop.product(id: 7) } }
        do {
            let product = try await shop.product(id: 7)
            show(product)
        } catch let error as ServiceError where error.kind == .circuitOpen {
            showUnavailable(until: (error.cause as? CircuitOpen)?.retryDate)
        }
        #expect(until != nil && stub.requests.count == 20)
        await #expect(throws: ServiceError.self) { try await shop.health() }
        #expect(stub.requests.count == 21)
        var lines: [String] = []
        for circuit in shop.circuits.all where circuit.phase != .closed {
            lines.append("\(circuit.origin): \(circuit.failures) of \(circuit.calls) calls failed, the last with \(circuit.lastFailure)")
        }
        #expect(lines == ["https://shop.example.com: 20 of 20 calls failed, the last with status 503"])
        if let url = URL(string: "https://shop.example.com"), let origin = Origin(url) {
            shop.circuits.hold(.open, for: origin)
            shop.circuits.hold(nil, for: origin)
            shop.circuits.reset(origin)
        }
        #expect(shop.circuits.all.map(\.phase) == [.closed])
    }

    @Test func `One call is hedged`() async throws {
        stub.fallback(.json("250"))
        let price = try await shop().with(HedgingPolicy.after(.milliseconds(300))) { try await $0.price(id: 7) }
        #expect(price == 250)
    }
}
