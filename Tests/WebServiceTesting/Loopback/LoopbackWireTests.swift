import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@Suite struct LoopbackWireTests {
    private let transport = DefaultTransport.shared

    @Test func `a script writes byte by byte and reads the body`() async throws {
        let read = Locked(Data())
        let server = try LoopbackServer { routes in
            routes.on("POST", "/", reading: .headOnly) { _ in
                .script { wire in
                    while read.withLock({ $0.count }) < 4, let bytes = try wire.read() { read.withLock { $0.append(bytes) } }
                    for byte in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8 { try wire.write(Data([byte])) }
                }
            }
        }
        defer { server.stop() }
        let request = ServiceRequest(method: .post, url: server.url, body: RequestBody(Data("body".utf8)))
        #expect(try await transport.send(request).body.collect(upTo: 10) == Data("ok".utf8))
        #expect(read.withLock { $0 } == Data("body".utf8))
        #expect(server.failures == [])
    }

    @Test func `a script waits for conditions, and its delay goes before it`() async throws {
        let isOpen = Locked(false)
        let server = try LoopbackServer { routes in
            routes.get("/") { _ in
                .script { wire in
                    try wire.wait { isOpen.withLock { $0 } }
                    try wire.write("HTTP/1.1 204 No Content\r\n\r\n")
                }.delayed(by: .milliseconds(20))
            }
        }
        defer { server.stop() }
        async let response = transport.send(ServiceRequest(url: server.url))
        try await server.waitForRequests(count: 1, within: .seconds(300))
        isOpen.withLock { $0 = true }
        #expect(try await response.status == 204)
    }

    @Test func `a script ends with its client, and with its server`() async throws {
        let ended = Locked(0)
        let server = try LoopbackServer { routes in
            routes.get("/") { _ in
                .script { wire in
                    defer { ended.withLock { $0 += 1 } }
                    try wire.hang()
                }
            }
        }
        let task = Task { [transport] in try await transport.send(ServiceRequest(url: server.url)) }
        try await server.waitForRequests(count: 1, within: .seconds(300))
        #expect(server.openConnectionCount == 1)
        task.cancel()
        try await server.waitForOpenConnections(atMost: 0, within: .seconds(300))
        #expect(ended.withLock { $0 } == 1)
        let second = Task { [transport] in try await transport.send(ServiceRequest(url: server.url)) }
        try await server.waitForRequests(count: 2, within: .seconds(300))
        server.stop()
        #expect(ended.withLock { $0 } == 2)
        #expect(server.failures == [])
        second.cancel()
        _ = try? await second.value
    }

    @Test func `a wait for connections that stay open fails with their number`() async throws {
        let server = try LoopbackServer { $0.fallback { _ in .hang } }
        let task = Task { [transport] in try await transport.send(ServiceRequest(url: server.url)) }
        try await server.waitForRequests(count: 1, within: .seconds(300))
        let failure = await #expect(throws: TestingFailure.self) {
            try await server.waitForOpenConnections(atMost: 0, within: .milliseconds(20))
        }
        #expect(failure?.description.contains("found 1") == true)
        server.stop()
        task.cancel()
        _ = try? await task.value
    }

    @Test func `an error that a script throws is noted`() async throws {
        struct Odd: Error {}
        let server = try LoopbackServer { $0.fallback { _ in .script { _ in throw Odd() } } }
        _ = try? await transport.send(ServiceRequest(url: server.url))
        try await server.waitForOpenConnections(atMost: 0, within: .seconds(300))
        #expect(server.failures.count == 1)
        server.stop()
    }

    @Test func `a server on IPv6 answers there`() async throws {
        var options = LoopbackServer.Options()
        options.isIPv6 = true
        guard transport.capabilities.contains(.ipv6Literals),
            let server = try? LoopbackServer(options: options, { $0.fallback { _ in .text("six") } })
        else { return }
        defer { server.stop() }
        #expect(server.url.absoluteString == "http://[::1]:\(server.port)")
        #expect(try await transport.send(ServiceRequest(url: server.url)).body.collect(upTo: 10) == Data("six".utf8))
    }

    @Test func `ports refuse connections, or don't respond`() async throws {
        for (kind, code) in [(LoopbackPort.Kind.closed, TransportError.Code.cannotConnect), (.silent, .timedOutWaiting)] {
            let port = try LoopbackPort(kind)
            var request = ServiceRequest(url: try #require(URL(string: "http://127.0.0.1:\(port.number)/")))
            if code == .timedOutWaiting { request.timeouts.firstByte = .milliseconds(200) }
            let sent = request
            let error = await #expect(throws: TransportError.self) { try await transport.send(sent) }
            #expect(error?.code == code)
            withExtendedLifetime(port) {}
        }
    }
}
