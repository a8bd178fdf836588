import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import HTTPTransport

/// How much of a body waits for a reader who is slower than the server.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlBackPressureTests {
    @Test func `no more waits than makes the loop stop, and what is read at once`() async throws {
        let length = 16 << 20
        let server = try LoopbackServer { $0.get("/") { _ in .generated(count: length) } }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        let transport = try CurlTransport(configuration: configuration)
        let (count, most) = try await watched {
            let exchange = try transport.exchange(for: ServiceRequest(url: server.url))
            _ = try await exchange.head()
            var (count, most) = (0, 0)
            while true {
                // Until the loop has taken all that it will.
                while exchange.state.withLock({ !$0.isPaused && $0.end == nil }) { await Task.yield() }
                most = max(most, exchange.state.withLock { $0.waiting })
                guard let piece = try await exchange.next() else { return (count, most) }
                count += piece.count
            }
        }
        #expect(count == length)
        #expect((CurlExchange.fullAt...CurlExchange.fullAt + 64 * 1024).contains(most), "\(most)")
    }
}
