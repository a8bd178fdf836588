import CSystemLibraries
import Foundation
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Requests that find the loop asleep: where the system can do that, they go out from the caller's own thread.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlTurnTests {
    private func transport() throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        return try CurlTransport(configuration: configuration)
    }

    #if os(Linux)
    @Test func `a caller has the turn only where there is a connection, most likely, and nothing to be asked for`() async throws {
        let library = try CurlLibrary.open()
        let server = try LoopbackServer { $0.get("/") { _ in .text("hello") } }
        let engine = try CurlEngine(try CurlSettings(library: library, configuration: CurlTransport.Configuration()))
        defer { engine.close() }
        let trust = try CurlTrust(TrustPolicy(), library: library)
        func exchange(_ request: ServiceRequest, probe: TrustProbe? = nil) throws -> CurlExchange {
            CurlExchange(try CurlRequest(request, codings: nil), from: request, trust: trust, probe: probe, engine: engine)
        }
        let plain = try exchange(ServiceRequest(url: server.url))
        #expect(engine.loop == nil)
        _ = try await exchange(ServiceRequest(url: server.url)).head()
        let loop = try #require(engine.loop)
        func lets(_ exchange: CurlExchange) -> Bool {
            guard loop.lets(exchange) else { return false }
            csl_driver_leave(loop.driver)
            return true
        }
        // The loop's thread goes to sleep some time after it has told of the head.
        try await watched {
            while !loop.lets(plain) { try await Task.sleep(for: .milliseconds(1)) }
            csl_driver_leave(loop.driver)
        }
        #expect(!lets(try exchange(ServiceRequest(url: try #require(URL(string: "http://127.0.0.1:9/"))))))
        var told = ServiceRequest(method: .post, url: server.url, body: RequestBody(Data(count: 10)))
        #expect(lets(try exchange(told)))
        told.uploadProgress = { _ in }
        #expect(!lets(try exchange(told)))
        #expect(!lets(try exchange(ServiceRequest(url: server.url), probe: TrustProbe())))
    }
    #endif

    @Test func `requests of several tasks find the loop asleep and awake, and each gets its own answer`() async throws {
        let server = try LoopbackServer { routes in
            for number in 0..<4 { routes.get("/\(number)") { _ in .text("answer \(number)") } }
        }
        let transport = try transport()
        let urls = try (0..<4).map { try server.url("/\($0)") }
        try await watched {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, url) in urls.enumerated() {
                    group.addTask {
                        for round in 0..<60 {
                            let body = try await transport.send(ServiceRequest(url: url)).body.collect(upTo: 100)
                            #expect(String(decoding: body, as: UTF8.self) == "answer \(number)")
                            if round % 4 == number { try await Task.sleep(for: .milliseconds(1)) }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `the deadline of a request that its caller has begun wakes the loop`() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/") { _ in .text("hello") }
            routes.get("/never") { _ in .text("late").delayed(by: .seconds(600)) }
        }
        let transport = try transport()
        let (plain, url) = (ServiceRequest(url: server.url), try server.url("/never"))
        for _ in 0..<3 {
            try await watched { _ = try await transport.send(plain).body.collect(upTo: 100) }
            var request = ServiceRequest(url: url)
            request.timeouts.firstByte = .milliseconds(50)
            let hanging = request
            let error = try await watched {
                await #expect(throws: TransportError.self) { try await transport.send(hanging) }
            }
            #expect(error?.code == .timedOutWaiting)
        }
    }

    @Test func `a caller that finds its connection closed makes another one`() async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .text("hello").closing() } }
        let transport = try transport()
        let request = ServiceRequest(url: server.url)
        try await watched {
            for _ in 0..<20 {
                let body = try await transport.send(request).body.collect(upTo: 100)
                #expect(body.count == 5)
            }
        }
    }

    @Test func `a request that is cancelled while its caller lets it go out ends, and the next one is served`() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/") { _ in .text("hello") }
            routes.get("/never") { _ in .text("late").delayed(by: .seconds(600)) }
        }
        let transport = try transport()
        let (plain, hanging) = (ServiceRequest(url: server.url), ServiceRequest(url: try server.url("/never")))
        try await watched {
            for _ in 0..<30 {
                _ = try await transport.send(plain).body.collect(upTo: 100)
                let task = Task { try await transport.send(hanging) }
                await Task.yield()
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
    }
}
