import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// How WebSockets end.
@Suite struct WebSocketEndTests {
    private static func server(_ serve: @escaping @Sendable (LoopbackWebSocket) throws -> Void) throws -> LoopbackServer {
        try LoopbackServer { routes in routes.fallback { .webSocket(to: $0, serve) } }
    }

    private static func client(of server: LoopbackServer) -> Switchboard { Switchboard(serviceRoot: server.url.absoluteString) }

    /// The error that ends the messages of a WebSocket.
    private static func end(of socket: WebSocket) async -> (error: ServiceError?, fault: WebSocketError?) {
        do {
            _ = try await socket.messages.all()
            return (nil, nil)
        } catch {
            return (error as? ServiceError, (error as? ServiceError)?.cause as? WebSocketError)
        }
    }

    @Test func `A close with a code of failure is an error with code and reason, after the messages`() async throws {
        let server = try Self.server { socket in
            try socket.send("last")
            try socket.close(.tryAgainLater, reason: "full")
            _ = try socket.receive()
        }
        try await watched {
            let socket = try await Self.client(of: server).line(number: 1)
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("last"))
            let (error, fault) = await Self.end(of: socket)
            #expect(error?.kind == .transport && fault?.kind == .closed)
            #expect(fault?.closure == WebSocketClosure(.tryAgainLater, reason: "full"))
            #expect("\(fault.map(String.init(describing:)) ?? "")".contains("1013"))
        }
    }

    @Test func `A connection that ends without a Close frame is lost`() async throws {
        let server = try Self.server { try $0.send("x") }
        try await watched {
            let socket = try await Self.client(of: server).line(number: 1)
            let (error, fault) = await Self.end(of: socket)
            #expect(error?.kind == .transport && fault?.kind == .connectionLost && socket.closure?.code == .abnormal)
        }
    }

    @Test(
        arguments: [
            ([0xC1, 0x00], 1002), ([0x81, 0x80, 0, 0, 0, 0], 1002), ([0x81, 0x01, 0xFF], 1007), ([0x88, 0x01, 0x03], 1002),
            ([0x82, 0x7E, 0x03, 0xE9], 1009), ([0x09, 0x00], 1002),
        ] as [([UInt8], UInt16)])
    func `A violation is told to both sides`(bytes: [UInt8], code: UInt16) async throws {
        let told = Locked<UInt16>(0)
        let server = try Self.server { socket in
            try socket.wire.write(Data(bytes))
            if case .close(let closure)? = try socket.nextEvent() { told.withLock { $0 = closure.code.rawValue } }
        }
        try await watched {
            let socket = try await Self.client(of: server).http.get("/").webSocket(WebSocketSettings(maximumMessageSize: 1_000))
            let (error, fault) = await Self.end(of: socket)
            #expect(error?.kind == (code == 1009 ? .bodyTooLarge : .format))
            #expect(fault?.kind == (code == 1009 ? .tooLarge : .protocolViolation))
            try await until { told.withLock { $0 } == code }
        }
        try await server.waitForOpenConnections(atMost: 0)
    }

    @Test func `Releasing, cancelling and shutting down end the connection`() async throws {
        let server = try Self.server { while try $0.receive() != nil {} }
        let client = Self.client(of: server)
        try await watched {
            do { _ = try await client.line(number: 1) }
            try await server.waitForOpenConnections(atMost: 0)
            #expect(client.calls.isEmpty)

            let second = try await client.line(number: 2)
            let reading = Task { await Self.end(of: second) }
            second.cancel()
            #expect(await reading.value.error?.kind == .cancelled)

            let third = try await client.line(number: 3)
            client.cancelAll(reason: "enough")
            #expect(await Self.end(of: third).error?.kind == .cancelled)
            await #expect(throws: ServiceError.self) { try await third.send("x") }
            #expect(client.calls.isEmpty)
        }
        try await server.waitForOpenConnections(atMost: 0)
    }

    @Test func `The reader's task can be cancelled, and another one reads on`() async throws {
        let goes = Locked(false)
        let server = try Self.server { socket in
            try socket.wire.wait { goes.withLock { $0 } }
            try socket.send("x")
            _ = try socket.receive()
        }
        try await watched {
            let socket = try await Self.client(of: server).line(number: 1)
            let task = Task { try await socket.messages.first { _ in true } }
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
            goes.withLock { $0 = true }
            #expect(try await socket.messages.first { _ in true } == .text("x"))
        }
    }

    @Test func `A code that can't be sent doesn't close`() async throws {
        let server = try Self.server { while try $0.receive() != nil {} }
        try await watched {
            let socket = try await Self.client(of: server).line(number: 1)
            for code in [WebSocketCloseCode.noStatus, .abnormal, WebSocketCloseCode(rawValue: 0), WebSocketCloseCode(rawValue: 5_000)] {
                await #expect(throws: WebSocketError.self) { try await socket.close(code) }
            }
            #expect(socket.closure == nil)
            try await socket.close()
        }
    }

    @Test func `A Close frame that isn't answered ends at its time`() async throws {
        let server = try Self.server { socket in
            _ = try socket.nextEvent()
            try socket.wire.readToEnd()
        }
        let clock = HandClock()
        let client = clock.provide { Self.client(of: server) }
        try await watched {
            let socket = try await client.line(number: 1)
            let closing = Task { try await socket.close() }
            try await until { clock.timerCount > 0 }
            clock.advance(by: .seconds(11))
            try await closing.value
            #expect(socket.closure?.code == .abnormal)
        }
        try await server.waitForOpenConnections(atMost: 0)
    }

    @Test func `A ping whose pong waits behind unread messages ends at its time, and the WebSocket goes on`() async throws {
        let server = try Self.server { socket in
            for _ in 0..<200 { try socket.send(.binary(Data(count: 20_000))) }
            try socket.close()
            _ = try socket.receive()
        }
        let clock = HandClock()
        let client = clock.provide { Self.client(of: server) }
        try await watched {
            let socket = try await client.line(number: 1)
            let ping = Task { try await socket.ping() }
            try await until { clock.timerCount > 0 }
            clock.advance(by: .seconds(21))
            let error = await #expect(throws: ServiceError.self) { try await ping.value }
            #expect((error?.cause as? WebSocketError)?.kind == .unresponsive)
            #expect(try await socket.messages.all().count == 200)
        }
    }

    @Test func `Pings keep a connection alive, and one without an answer ends it`() async throws {
        let pings = Locked(0)
        let server = try Self.server { socket in
            while let event = try socket.nextEvent() {
                guard case .ping(let payload) = event else { continue }
                let count = pings.withLock { pings in
                    pings += 1
                    return pings
                }
                if count <= 2 { try socket.write(WebSocketFrame(.pong, payload)) }
            }
        }
        let clock = HandClock()
        let client = clock.provide { Self.client(of: server) }
        try await watched {
            let socket = try await client.kept().value
            for number in 1...3 {
                // One timer: the interval's.
                try await until { clock.waits.count >= 2 * number - 1 && clock.timerCount == 1 }
                clock.advance(by: .seconds(30))
                try await until { pings.withLock { $0 } == number }
            }
            clock.advance(by: .seconds(6))
            let (error, fault) = await Self.end(of: socket)
            #expect(error?.kind == .timeout && fault?.kind == .unresponsive)
            #expect(clock.timerCount == 0)
        }
    }
}
