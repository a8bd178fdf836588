import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article on queues and rate limits.

private final class SampleShop: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "product(id:)": .get("/products/%%id%%"),
            "report()": .get("/report").priority(.low),
            "search(text:)": .get("/search").query("q", .argument(0)).rateLimited(RateLimit(30, per: .seconds(60), burst: 5)),
            "status()": .get("/status").obeyingRateLimits(.ignored),
        ]
    }

    func product(id: Int) async throws -> String { try await call(id) }
    func search(text: String) async throws -> String { try await call(text) }
}

@Suite struct QueueSampleTests {
    private let stub = StubTransport()

    private func shop(_ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }) -> SampleShop {
        stub.fallback(.text("tea"))
        return SampleShop(serviceRoot: "https://shop.example.com/v1") {
            $0.transport = stub
            configure(&$0)
        }
    }

    @Test func `A client has limits, a rate limit and obeys its service`() async throws {
        let shop = shop {
            $0.queue = QueueLimits(active: 8, activePerOrigin: 4, pending: 1_000, wait: .seconds(30))
            $0.rateLimit = RateLimit(10, per: .seconds(1), burst: 10, longestWait: .seconds(20))
            $0.attributes[ServiceRateLimits.self] = ServiceRateLimits(longestWait: .seconds(60))
        }
        #expect(shop.verify().isEmpty)
        #expect(try await shop.search(text: "tea") == "tea")
        #expect(try await shop.with(CallPriority.high) { try await $0.product(id: 7) } == "tea")
        try await shop.http.get("/news").priority(.low).send()
        #expect(shop.queue.activeCount == 0)
    }

    @Test func `A queue is changed, paused, inspected and resumed`() async throws {
        let shop = shop { $0.queue = QueueLimits(active: 8) }
        let origin = try #require(Origin(URL(string: "https://shop.example.com") ?? URL(filePath: "/")))
        let date = Date(timeIntervalSinceNow: 3600)
        let changes = shop.queue.changes.makeAsyncIterator()
        shop.queue.limits.active = 2
        shop.queue.pause()
        shop.queue.pause(origin, until: date)
        let product = Task { try await shop.product(id: 7) }
        var iterator = changes
        while shop.queue.pending.isEmpty, let status = await iterator.next() { #expect(status.activeCount == 0) }
        for call in shop.queue.pending where call.age > .seconds(-1) {
            shop.queue.cancel(call.id, reason: "Too old.")
        }
        let error = await #expect(throws: ServiceError.self) { _ = try await product.value }
        #expect((error?.cause as? CallCancelled)?.reason == "Too old.")
        shop.queue.resume(origin)
        shop.queue.resume()
        #expect(try await shop.product(id: 7) == "tea")
        #expect(shop.queue.limits == QueueLimits(active: 2))
    }
}
