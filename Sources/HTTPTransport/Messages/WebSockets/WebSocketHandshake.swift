import Foundation

/// The opening handshake of a WebSocket over HTTP/1.1 (RFC 6455 §4).
package struct WebSocketHandshake: Sendable {
    /// The value of `Sec-WebSocket-Key`: 16 random bytes in Base64, new for each connection.
    package let key: String

    package init() {
        var generator = SystemRandomNumberGenerator()
        key = Data((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }).base64EncodedString()
    }

    /// Creates the handshake with a known key.
    package init(key: String) {
        self.key = key
    }

    /// The value of `Sec-WebSocket-Accept` that answers a key (§4.2.2).
    package static func accept(_ key: String) -> String {
        var hash = SHA1()
        Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8).withUnsafeBytes { hash.update($0) }
        return Data(hash.finalize()).base64EncodedString()
    }

    /// The fields that the transport adds to the request.
    package var fields: [(name: HTTPFields.Name, value: String)] {
        [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", key)]
    }

    /// The fields that only the transport may set.
    private static let reserved: [HTTPFields.Name] = [
        "Connection", "Upgrade", "Sec-WebSocket-Version", "Sec-WebSocket-Key", "Sec-WebSocket-Accept", "Sec-WebSocket-Extensions",
    ]

    /// Checks that a request can open a WebSocket.
    ///
    /// - Throws: ``TransportError/Code/badRequest``.
    package static func check(_ request: ServiceRequest) throws(TransportError) {
        guard request.method == .get else {
            throw TransportError(.badRequest, "A WebSocket is opened with GET (RFC 6455 §4.1), not with \(request.method).")
        }
        guard request.body == nil else { throw TransportError(.badRequest, "The request that opens a WebSocket has no body: omit it.") }
        for name in reserved where request.headers.contains(name) {
            throw TransportError(.badRequest, "The header \(name) of a WebSocket is set by the transport: omit it.")
        }
    }

    /// The subprotocols that a request offers, in order of preference.
    package static func subprotocols(of headers: HTTPFields) -> [String] {
        (headers["Sec-WebSocket-Protocol"] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }

    /// Checks a response with status 101.
    ///
    /// - Parameter offered: The subprotocols that the request offers.
    /// - Returns: The subprotocol that the server has chosen; `nil` for none.
    /// - Throws: ``TransportError/Code/unreadableResponse`` if the response doesn't answer this handshake (§4.1).
    package func subprotocol(
        in headers: HTTPFields, version: String?, offered: [String], host: String
    ) throws(TransportError) -> String? {
        guard version == nil || version == "HTTP/1.1" else {
            throw Self.invalid(host, "its version is \(version ?? ""), not HTTP/1.1")
        }
        guard Self.lists("websocket", headers["Upgrade"]) else { throw Self.invalid(host, "its Upgrade field isn't \"websocket\"") }
        guard Self.lists("upgrade", headers["Connection"]) else { throw Self.invalid(host, "its Connection field doesn't list Upgrade") }
        guard headers["Sec-WebSocket-Accept"]?.trimmingCharacters(in: .whitespaces) == Self.accept(key) else {
            throw Self.invalid(host, "its Sec-WebSocket-Accept field doesn't match the request's key")
        }
        guard Self.isBlank(headers["Sec-WebSocket-Extensions"]) else {
            throw Self.invalid(host, "it selects an extension that wasn't offered")
        }
        guard let chosen = headers["Sec-WebSocket-Protocol"], !Self.isBlank(chosen) else { return nil }
        let name = chosen.trimmingCharacters(in: .whitespaces)
        guard offered.contains(name) else {
            throw Self.invalid(host, "it selects the subprotocol \"\(name.prefix(60))\", which wasn't offered")
        }
        return name
    }

    private static func invalid(_ host: String, _ reason: String) -> TransportError {
        TransportError(.unreadableResponse, "The response from \(host) doesn't open a WebSocket: \(reason) (RFC 6455 §4.1).")
    }

    private static func isBlank(_ value: String?) -> Bool { value?.trimmingCharacters(in: .whitespaces).isEmpty ?? true }

    private static func lists(_ token: String, _ value: String?) -> Bool {
        (value ?? "").split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces).lowercased() == token }
    }
}

/// An open WebSocket of a transport.
///
/// Every suspended call ends with the error passed to ``end(_:)`` at the latest.
package protocol WebSocketChannel: AnyObject, Sendable {
    /// The subprotocol that the server has chosen; `nil` for none.
    var subprotocol: String? { get }
    /// The way in which the WebSocket was closed; `nil` while it is open.
    var closure: WebSocketClosure? { get }
    /// Whether reading from the connection is paused because messages wait for their reader. Pongs are then delayed as well.
    var waitsForReader: Bool { get }

    /// Sends a message. Returns when the system has accepted all of its bytes.
    func send(_ message: WebSocketMessage) async throws
    /// Returns the next message; `nil` when the WebSocket was closed normally. There is one reader.
    func receive() async throws -> WebSocketMessage?
    /// Sends a ping, and waits for its pong.
    func ping() async throws
    /// Begins the closing handshake. Messages that haven't been read are discarded, and so are those that arrive afterwards.
    func close(_ code: WebSocketCloseCode, reason: String)
    /// Ends the WebSocket immediately; all suspended calls throw the error.
    func end(_ error: any Error)
    /// Calls a closure once when the WebSocket has ended; immediately if it already has.
    func onEnd(_ action: @escaping @Sendable () -> Void)
}

/// The request for a WebSocket within a ``ServiceRequest``: the transport puts the open WebSocket here, and returns the response with
/// status 101.
package final class WebSocketOpening: Sendable {
    /// The maximum number of bytes of a message.
    package let messageLimit: Int
    private let channel = Locked<(any WebSocketChannel)?>(nil)

    package init(messageLimit: Int) {
        self.messageLimit = max(0, messageLimit)
    }

    deinit { discard() }

    /// Stores an open WebSocket. If the request is sent several times, the last one counts.
    package func opened(_ channel: any WebSocketChannel) {
        let last = self.channel.withLock { current in
            defer { current = channel }
            return current
        }
        last?.end(Self.unused)
    }

    /// Returns the open WebSocket, which then belongs to the caller.
    package func take() -> (any WebSocketChannel)? {
        channel.withLock { channel in
            defer { channel = nil }
            return channel
        }
    }

    /// Ends an open WebSocket that isn't needed.
    package func discard() { take()?.end(Self.unused) }

    private static let unused = WebSocketError(.misuse, "The WebSocket isn't needed: its call has ended.")
}
