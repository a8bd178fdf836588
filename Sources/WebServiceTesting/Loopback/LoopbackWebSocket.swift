import Foundation
public import WebServiceClient

/// The server's side of a WebSocket of a ``LoopbackServer``: for tests of a program's conversation with its service.
///
///     routes.get("/chat") { request in
///         .webSocket(to: request) { socket in
///             while let message = try socket.receive() { try socket.send(message) }
///         }
///     }
///
/// Use it only on the thread that runs its closure. The connection ends when the closure returns. Its methods throw when the client
/// disconnects or the server stops: let these errors propagate, as those of ``LoopbackWire``.
public final class LoopbackWebSocket {
    /// The connection, to send what isn't valid.
    public let wire: LoopbackWire
    private var parser = WebSocketParser(readsClient: true, limit: .max)
    private var isClosed = false

    fileprivate init(_ wire: LoopbackWire) {
        self.wire = wire
    }

    /// Returns the next message; `nil` when the client has closed the WebSocket. Answers pings and the client's Close frame.
    ///
    /// - Throws: ``TestingFailure`` if the client violates the protocol.
    public func receive() throws -> WebSocketMessage? {
        while let event = try nextEvent() {
            switch event {
            case .message(let message): return message
            case .ping(let payload): try write(WebSocketFrame(.pong, payload))
            case .pong: break
            case .close(let closure):
                if !isClosed { try close(closure.code) }
                return nil
            }
        }
        return nil
    }

    /// Returns the next message or control frame; `nil` at the end. Answers nothing.
    package func nextEvent() throws -> WebSocketParser.Event? {
        while true {
            do {
                if let event = try parser.next() { return event }
            } catch {
                throw TestingFailure("The client's frames are invalid: \(error.message)")
            }
            guard let bytes = try wire.read() else { return nil }
            bytes.withUnsafeBytes { parser.feed($0) }
        }
    }

    /// Sends a message.
    public func send(_ message: WebSocketMessage) throws {
        switch message {
        case .text(let text): try write(WebSocketFrame(.text, Array(text.utf8)))
        case .binary(let data): try write(WebSocketFrame(.binary, Array(data)))
        }
    }

    /// Sends text.
    public func send(_ text: String) throws { try send(.text(text)) }

    /// Sends a ping; its pong arrives while ``receive()`` waits.
    public func ping(_ payload: String = "") throws { try write(WebSocketFrame(.ping, Array(payload.utf8))) }

    /// Sends a Close frame. ``receive()`` then returns the messages up to the client's.
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") throws {
        isClosed = true
        try write(.close(code, reason: reason))
    }

    /// Sends a frame.
    package func write(_ frame: WebSocketFrame) throws {
        try wire.write(Data(frame.bytes(mask: nil)))
    }
}

extension LoopbackResponse {
    /// Returns a response that opens a WebSocket and passes it to a closure. A request that isn't a handshake gets the status 426.
    ///
    /// - Parameter subprotocol: The subprotocol to choose; `nil` for none.
    public static func webSocket(
        to request: LoopbackRequest, subprotocol: String? = nil, _ serve: @escaping @Sendable (LoopbackWebSocket) throws -> Void
    ) -> LoopbackResponse {
        guard let key = request.fields["Sec-WebSocket-Key"], request.fields["Upgrade"]?.lowercased() == "websocket" else {
            return LoopbackResponse(status: 426, fields: ["Upgrade": "websocket"])
        }
        return .script { wire in
            var head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            head += "Sec-WebSocket-Accept: \(WebSocketHandshake.accept(key))\r\n"
            if let subprotocol { head += "Sec-WebSocket-Protocol: \(subprotocol)\r\n" }
            try wire.write(head + "\r\n")
            try serve(LoopbackWebSocket(wire))
        }
    }
}
