import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

/// The samples of the article on choosing transports, with identical code.
@Suite(.enabled(if: CurlTransport.shared != nil, "libcurl isn't here.")) struct TransportSampleTests {
    private final class Shop: WebServiceClient, @unchecked Sendable {}

    private func configured(_ proxy: URL) throws -> Shop {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .url(proxy, exceptions: ["localhost", "intern.example.com"])
        configuration.httpVersion = .http1
        configuration.maximumConcurrentExchangesPerOrigin = 16
        let transport = try CurlTransport(configuration: configuration)
        let shop = Shop(serviceRoot: "https://shop.example.com") { $0.transport = transport }
        return shop
    }

    private func patient(_ shop: Shop) {
        shop.configure {
            $0.timeouts.connect = .seconds(5)  // needs CurlTransport with libcurl 7.80; otherwise the client makes no call
            $0.timeouts.firstByte = .seconds(20)
            $0.timeouts.idle = .seconds(10)
            $0.timeouts.total = .seconds(120)
        }
    }

    private func look(_ shop: Shop) async throws {
        let response = try await shop.http.get("/products").send()
        if let metrics = response.report?.metrics {
            print(metrics.isConnectionReused ?? false, metrics.firstByte ?? .zero, metrics.total ?? .zero, metrics.remoteAddress ?? "?")
        }
        #expect(response.report?.metrics.total != nil)
    }

    @Test func `the samples do what the article says`() async throws {
        let shop = try configured(try #require(URL(string: "http://127.0.0.1:3128")))
        patient(shop)
        #expect(shop.verify().isEmpty)
        let server = try LoopbackServer { routes in routes.get("/products") { _ in .text("[]") } }
        let near = Shop(serviceRoot: server.url.absoluteString)
        try await look(near)
    }
}
