import CSystemLibraries
import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import HTTPTransport

#if os(Linux)
/// Callers that send their request on their own thread.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlCallerOwnershipTests {
    /// An engine by itself, and a thread for its callers.
    private struct Engine {
        let engine: CurlEngine
        private let trust: CurlTrust
        private let callers: CurlTransport

        init() throws {
            let library = try CurlLibrary.open()
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .none
            engine = try CurlEngine(try CurlSettings(library: library, configuration: configuration))
            trust = try CurlTrust(TrustPolicy(), library: library)
            callers = try CurlTransport(configuration: configuration)
        }

        func exchange(_ request: ServiceRequest, probe: TrustProbe? = nil) throws -> CurlExchange {
            CurlExchange(try CurlRequest(request, codings: nil), from: request, trust: trust, probe: probe, engine: engine)
        }

        func exchange(_ url: URL) throws -> CurlExchange { try exchange(ServiceRequest(url: url)) }

        /// Starts it on a caller's thread.
        func begin(_ exchange: CurlExchange) -> Task<CurlHead, any Error> {
            Task(executorPreference: callers.taskExecutor) { try await exchange.head() }
        }

        /// Acquires and releases ownership for a caller. Returns whether that was possible.
        func canAcquire(_ exchange: CurlExchange) throws -> Bool {
            let loop = try #require(engine.loop)
            guard loop.acquire(for: exchange) else { return false }
            csl_driver_release(loop.driver)
            return true
        }

        /// Establishes a connection, and waits until a caller can acquire ownership: the loop's thread sleeps some time after the response.
        func connect(to url: URL) async throws {
            _ = try await begin(try exchange(url)).value
            let plain = try exchange(url)
            try await watched { while try !canAcquire(plain) { try await Task.sleep(for: .milliseconds(1)) } }
        }
    }

    @Test func `a caller acquires ownership only if there probably is a connection, and without progress or probe`() async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .text("hello") } }
        let engine = try Engine()
        defer { engine.engine.close() }
        #expect(engine.engine.loop == nil)
        try await engine.connect(to: server.url)
        #expect(try !engine.canAcquire(engine.exchange(try #require(URL(string: "http://127.0.0.1:9/")))))
        var told = ServiceRequest(method: .post, url: server.url, body: RequestBody(Data(count: 10)))
        #expect(try engine.canAcquire(engine.exchange(told)))
        told.uploadProgress = { _ in }
        #expect(try !engine.canAcquire(engine.exchange(told)))
        #expect(try !engine.canAcquire(engine.exchange(ServiceRequest(url: server.url), probe: TrustProbe())))
    }

    @Test func `the loop receives the response to a request that its caller has sent`() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/") { _ in .text("hello") }
            routes.get("/soon") { _ in .text("soon").delayed(by: .milliseconds(5)) }
        }
        let engine = try Engine()
        defer { engine.engine.close() }
        for _ in 0..<8 {
            try await engine.connect(to: server.url)
            let exchange = try engine.exchange(server.url("/soon"))
            let body = try await watched {
                _ = try await engine.begin(exchange).value
                var body = Data()
                while let piece = try await exchange.next() { body += piece }
                return body
            }
            #expect(String(decoding: body, as: UTF8.self) == "soon")
        }
    }
}
#endif
