import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import HTTPTransport

/// Requests that find the loop asleep are sent on the caller's thread if the system allows it.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlOwnershipTests {
    private func transport() throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        return try CurlTransport(configuration: configuration)
    }

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
