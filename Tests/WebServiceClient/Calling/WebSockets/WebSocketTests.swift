import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// A client whose methods open WebSockets.
final class Switchboard: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "line(number:)": .get("/lines/%%number%%"),
            "spoken()": .get("/spoken").webSocket(WebSocketSettings(subprotocols: ["v2.chat", "v1.chat"], maximumMessageSize: 1_000)),
            "kept()": .get("/lines/0").webSocket(WebSocketSettings(pingInterval: .seconds(30), pongTimeout: .seconds(5))),
        ]
    }

    func line(number: Int) async throws -> WebSocket { try await call(number) }
    func spoken() async throws -> WebSocket { try await call() }
    func kept() async throws -> ServiceResponse<WebSocket> { try await call() }
}

@Suite struct WebSocketTests {
    private struct Greeting: Codable, Equatable, Sendable {
        var firstName: String
    }

    /// A server that talks over each WebSocket in the same way.
    private static func server(
        subprotocol: String? = nil, _ serve: @escaping @Sendable (LoopbackWebSocket) throws -> Void
    ) throws -> LoopbackServer {
        try LoopbackServer { routes in
            routes.fallback { .webSocket(to: $0, subprotocol: subprotocol, serve) }
        }
    }

    private static func echo(_ socket: LoopbackWebSocket) throws {
        while let message = try socket.receive() { try socket.send(message) }
    }

    private static func client(
        of server: LoopbackServer, _ change: @escaping (inout WebServiceClient.Configuration) -> Void = { _ in }
    ) -> Switchboard {
        Switchboard(serviceRoot: server.url.absoluteString, configure: change)
    }

    /// The error of a WebSocket that a body throws.
    private static func failure(_ body: () async throws -> Void) async -> WebSocketError? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? ServiceError)?.cause as? WebSocketError
        }
    }

    // MARK: Messages

    @Test func `Messages of all kinds and sizes come back`() async throws {
        let server = try Self.server(Self.echo)
        try await watched {
            let socket = try await Self.client(of: server).line(number: 7)
            #expect(server.requests.first?.path == "/lines/7")
            var messages = socket.messages.makeAsyncIterator()
            for count in [0, 1, 125, 126, 65_535, 65_536, 1_000_000] {
                let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
                try await socket.send(data)
                #expect(try await messages.next() == .binary(data))
            }
            try await socket.send("漢🎈")
            #expect(try await messages.next() == .text("漢🎈"))
            #expect(try await socket.ping() >= .zero)
            try await socket.close()
            #expect(socket.closure == WebSocketClosure(.normal))
            #expect(try await messages.next() == nil)
        }
        try await server.waitForOpenConnections(atMost: 0)
        #expect(server.failures.isEmpty)
    }

    @Test func `Values are coded by the client's serializer`() async throws {
        let server = try Self.server(Self.echo)
        let client = Self.client(of: server) { $0.serializer = JSONSerializer(keys: .snakeCase) }
        try await watched {
            let socket = try await client.http.get("/x").webSocket()
            try await socket.send(json: Greeting(firstName: "Ada"))
            var raw = socket.messages.makeAsyncIterator()
            #expect(try await raw.next() == .text(#"{"first_name":"Ada"}"#))
            try await socket.send("nonsense")
            try await socket.send(json: Greeting(firstName: "Bea"))
            var greetings = socket.messages(of: Greeting.self).makeAsyncIterator()
            let error = await #expect(throws: ServiceError.self) { _ = try await greetings.next() }
            #expect(error?.kind == .decoding && (error?.cause as? WebSocketError)?.kind == .decoding)
            // The next message can still be read.
            #expect(try await greetings.next() == Greeting(firstName: "Bea"))
        }
    }

    @Test func `A reader that waits doesn't stop the other side's pings`() async throws {
        let server = try Self.server { socket in
            try socket.ping("a")
            guard case .pong(let payload)? = try socket.nextEvent() else { throw TestingFailure("There was no pong.") }
            try socket.send(String(decoding: payload, as: UTF8.self))
            try socket.close(.goingAway, reason: "done")
            _ = try socket.receive()
        }
        try await watched {
            let socket = try await Self.client(of: server).line(number: 1)
            #expect(try await socket.messages.all() == [.text("a")])
            #expect(socket.closure == WebSocketClosure(.goingAway, reason: "done"))
            #expect(await Self.failure { try await socket.send("late") }?.kind == .misuse)
        }
        #expect(server.failures.isEmpty)
    }

    @Test func `A slow reader slows the other side down, and no message is lost`() async throws {
        let sent = Locked(0)
        let server = try Self.server { socket in
            for number in 0..<3_000 {
                try socket.send(.binary(Data(repeating: UInt8(truncatingIfNeeded: number), count: 20_000)))
                sent.withLock { $0 = number + 1 }
            }
            try socket.close()
            _ = try socket.receive()
        }
        try await watched {
            let socket = try await Self.client(of: server).line(number: 1)
            try await until { sent.withLock { $0 } > 10 }
            var count = 0
            for try await message in socket.messages {
                #expect(message.data.first == UInt8(truncatingIfNeeded: count))
                if count == 10 { #expect(sent.withLock { $0 } < 3_000) }
                count += 1
            }
            #expect(count == 3_000)
        }
    }

    @Test func `A receiver that doesn't read suspends the sender, who can be cancelled`() async throws {
        let isOver = Locked(false)
        let server = try Self.server { socket in
            try socket.wire.wait { isOver.withLock { $0 } }
            try socket.wire.readToEnd()
        }
        try await watched {
            let socket = try await Self.client(of: server).line(number: 1)
            let sent = Locked(0)
            let task = Task {
                while true {
                    try await socket.send(Data(count: 500_000))
                    sent.withLock { $0 += 1 }
                }
            }
            try await until { sent.withLock { $0 } > 0 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            socket.cancel()
            isOver.withLock { $0 = true }
        }
        try await server.waitForOpenConnections(atMost: 0)
    }

    // MARK: Handshake

    @Test func `The handshake has the client's headers and credentials, and a challenge is answered`() async throws {
        let server = try LoopbackServer { routes in
            routes.guarded(by: .basicAuthentication(user: "ada", password: "secret", realm: "lines")) { routes in
                routes.fallback { .webSocket(to: $0, Self.echo) }
            }
        }
        let client = Self.client(of: server) {
            $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "secret", isPreemptive: false)
            $0.interceptors = [RequestPreparer { $0.headers["X-Team"] = "core" }]
            $0.queue = QueueLimits(active: 1)
        }
        try await watched {
            let first = try await client.line(number: 1)
            // The open WebSocket doesn't hold the only slot.
            let second = try await client.line(number: 2)
            #expect(client.queue.activeCount == 0 && client.calls.count == 2)
            try await second.send("x")
            #expect(try await second.messages.first { _ in true } == .text("x"))
            try await first.close()
            try await second.close()
            #expect(client.calls.isEmpty)
        }
        let last = try #require(server.requests.last)
        #expect(last.fields["X-Team"] == "core" && last.basicCredentials?.user == "ada")
        #expect(last.fields["Sec-WebSocket-Version"] == "13" && last.fields["Host"] == "127.0.0.1:\(server.port)")
        #expect(last.fields["Accept-Encoding"] == nil && last.fields["Content-Length"] == nil)
    }

    @Test func `Subprotocols are offered, and the server's choice is known`() async throws {
        let server = try Self.server(subprotocol: "v1.chat", Self.echo)
        try await watched {
            let socket = try await Self.client(of: server).spoken()
            #expect(socket.subprotocol == "v1.chat")
            #expect(server.requests.first?.fields["Sec-WebSocket-Protocol"] == "v2.chat, v1.chat")
        }
        let other = try Self.server(subprotocol: "v3.chat", Self.echo)
        let error = await #expect(throws: ServiceError.self) { _ = try await Self.client(of: other).spoken() }
        #expect((error?.cause as? TransportError)?.code == .unreadableResponse)
        try await other.waitForOpenConnections(atMost: 0)
    }

    @Test(arguments: [
        LoopbackResponse.json(#"{"title":"No line","detail":"Line 1 is dead"}"#, status: 503),
        .json(#"{"title":"No line"}"#, status: 404).framed(.chunked), .text("no", status: 400).framed(.untilClose), .status(204),
        .text("fine"), .status(426),
    ])
    func `Another status than 101 is the call's error, with its body`(response: LoopbackResponse) async throws {
        let server = try LoopbackServer { routes in routes.fallback { _ in response } }
        let client = Self.client(of: server) { $0.retry = .never }
        try await watched {
            let error = await #expect(throws: ServiceError.self) { _ = try await client.line(number: 1) }
            #expect(error?.kind == .status && error?.response?.status == response.status)
            if response.status >= 400, case .data(let body) = response.body { #expect(error?.response?.body == body) }
            #expect(client.calls.isEmpty && client.queue.activeCount == 0)
        }
        try await server.waitForOpenConnections(atMost: 0)
    }

    @Test(arguments: [
        "nonsense\r\n\r\n", "HTTP/1.1 101 x\r\n\r\n", "HTTP/1.1 400 x\r\nContent-Length: 4x\r\n\r\n", "", "HTTP/1.1 101",
        "HTTP/1.1 400 x\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
    ])
    func `A response that isn't valid is an error of the transport`(text: String) async throws {
        let server = try LoopbackServer { routes in routes.fallback { _ in .raw(text) } }
        try await watched {
            let client = Self.client(of: server) { $0.retry = .never }
            let error = await #expect(throws: ServiceError.self) { _ = try await client.line(number: 1) }
            #expect(error?.cause is TransportError)
        }
    }

    @Test func `Redirects are followed, and ws is http`() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/lines/1") { _ in .redirect(to: "/lines/2", status: 307) }
            routes.get("/lines/2") { .webSocket(to: $0, Self.echo) }
        }
        let client = Switchboard(serviceRoot: "ws://127.0.0.1:\(server.port)")
        try await watched {
            let socket = try await client.line(number: 1)
            try await socket.send("x")
            #expect(try await socket.messages.first { _ in true } == .text("x"))
        }
        let url = try #require(URL(string: "WS://127.0.0.1:\(server.port)/lines/2"))
        try await watched {
            let socket = try await client.http.request(outside: url).webSocket()
            try await socket.close(WebSocketCloseCode(rawValue: 4_000), reason: "bye")
            #expect(socket.closure?.code.rawValue == 4_000)
        }
    }

    @Test func `A deadline, the task and the client end the handshake`() async throws {
        let server = try LoopbackServer { routes in routes.fallback { _ in .hang } }
        let client = Self.client(of: server)
        try await watched {
            let error = await #expect(throws: ServiceError.self) {
                _ = try await client.http.get("/").timeout(.milliseconds(50)).webSocket()
            }
            #expect(error?.kind == .timeout)
            let task = Task { try await client.line(number: 1) }
            try await until { server.requests.contains { $0.path.hasSuffix("/1") } }
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
            let other = Task { try await client.line(number: 2) }
            try await until { server.requests.contains { $0.path.hasSuffix("/2") } }
            client.cancelAll(reason: "enough")
            let cancelled = await #expect(throws: ServiceError.self) { _ = try await other.value }
            #expect(cancelled?.kind == .cancelled && client.calls.isEmpty)
        }
        try await server.waitForOpenConnections(atMost: 0)
    }

    @Test func `A transport without WebSockets is told, by verification too`() async throws {
        let stub = StubTransport(capabilities: [.backPressure])
        stub.fallback(.json("{}"))
        let client = Switchboard(serviceRoot: "https://lines.test") { $0.transport = stub }
        #expect(client.verify().contains { $0.kind == .missingCapability && $0.key == "spoken()" })
        let plain = WebServiceClient(serviceRoot: "https://lines.test") { $0.transport = stub }
        let error = await #expect(throws: ServiceError.self) { _ = try await plain.http.get("/").webSocket() }
        #expect((error?.cause as? TransportError)?.code == .unsupported)
        #expect(stub.requests.isEmpty)
    }

    @Test func `Settings that make no sense are faults`() async throws {
        for settings in [
            WebSocketSettings(subprotocols: ["a b"]), WebSocketSettings(subprotocols: ["a", "a"]), WebSocketSettings(maximumMessageSize: 0),
            WebSocketSettings(pingInterval: .zero), WebSocketSettings(pongTimeout: .seconds(-1)),
            WebSocketSettings(closeTimeout: .seconds(-1)),
        ] {
            #expect(settings.faults.count == 1)
        }
        let client = WebServiceClient(serviceRoot: "https://lines.test")
        await #expect(throws: ServiceError.self) { _ = try await client.http.post("/").webSocket(WebSocketSettings()) }
        await #expect(throws: ServiceError.self) { _ = try await client.http.get("/").webSocket(WebSocketSettings(maximumMessageSize: -1)) }
    }
}
