import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article on caching.

private struct Rate: Codable, Sendable {
    var currency: String
}

private final class Rates: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "current()": .get("/rates").cached(for: .seconds(300)).cacheTags("rates"),
            "history(day:)": .get("/rates/%%day%%").cacheIdentifier("day/%%day%%"),
            "balance()": .get("/balance").uncached(),
        ]
    }

    func current() async throws -> ServiceResponse<[Rate]> { try await call() }
    func history(day: String) async throws -> [Rate] { try await call(day) }
    func balance() async throws -> Int { try await call() }
}

@Suite struct CacheSampleTests {
    @Test func `the samples of the article`() async throws {
        let stub = StubTransport()
        stub.fallback(.json(#"[{"currency":"CHF"}]"#, headers: ["Cache-Control": "max-age=6000"]))
        let cache = ResponseCache()
        let rates = Rates(serviceRoot: "https://rates.example.com") {
            $0.cache = cache
            $0.transport = stub
            $0.attributes[OfflineCaching.self] = OfflineCaching(upTo: .seconds(86_400))
        }
        #expect(Rates.verify().isEmpty && rates.verify().isEmpty)
        _ = try await rates.current()
        let response: ServiceResponse<[Rate]> = try await rates.current()
        if response.source == .stale { print("from before") }
        #expect(response.source == .cache)
        let now: ServiceResponse<[Rate]> = try await rates.with(CacheMode.reload) { try await $0.current() }
        #expect(now.source == .network)
        _ = try await rates.history(day: "2026-11-26")
        let stored = await cache.entries(urlPrefix: "https://rates.example.com/")
        #expect(stored.count == 2)
        #expect(await cache.flush(tag: "rates") == 1)
        #expect(await cache.flush(identifier: "day/2026-11-26") == 1)
        let folder = TemporaryFolder().url
        let onDisk = ResponseCache(directory: folder, limit: 100_000_000)
        #expect(await onDisk.entries().isEmpty)
    }
}
