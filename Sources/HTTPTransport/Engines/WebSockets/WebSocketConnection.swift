import Foundation

/// The byte stream under a ``WebSocketConnection``. It calls its user on a single queue.
protocol WebSocketWire: AnyObject, Sendable {
    /// Begins to read. The wire retains its user until the end.
    func start(_ user: any WebSocketWireUser)
    /// Called when there are bytes to write.
    func wantsToWrite()
    /// Called when there is room for more bytes.
    func wantsToRead()
    /// Writes as many bytes as the system accepts immediately, closes the connection, and makes no further calls to the user.
    func finish()
}

/// The user of a ``WebSocketWire``.
protocol WebSocketWireUser: AnyObject, Sendable {
    /// Receives bytes.
    ///
    /// - Returns: Whether to continue reading.
    func received(_ bytes: UnsafeRawBufferPointer) -> Bool
    /// Called when the connection has ended, normally or with an error.
    func wireEnded(_ error: (any Error)?)
    /// Returns the next bytes to write; `nil` if there are none.
    func nextBytes() -> [UInt8]?
    /// Called when the previous bytes have been written.
    func wrote()
}

/// A WebSocket over a connection whose bytes the engine delivers (RFC 6455).
///
/// It answers pings and Close frames itself. Messages wait for their reader. When too many wait, the connection stops reading, which slows
/// the other side down.
final class WebSocketConnection: WebSocketChannel {
    let subprotocol: String?
    private let wire: any WebSocketWire
    private let state: Locked<WebSocketState>

    init(_ wire: any WebSocketWire, subprotocol: String?, messageLimit: Int) {
        self.wire = wire
        self.subprotocol = subprotocol
        state = Locked(WebSocketState(messageLimit: messageLimit))
        wire.start(self)
    }

    var closure: WebSocketClosure? { state.withLock { $0.end?.closure } }
    var waitsForReader: Bool { state.withLock { $0.isPaused } }

    /// Changes the state, then does the work that the change requires.
    private func change<Value>(_ body: (inout WebSocketState, inout WebSocketState.Effects) -> Value) -> Value {
        var effects = WebSocketState.Effects()
        let value = state.withLock { body(&$0, &effects) }
        effects.perform(wire)
        return value
    }

    func send(_ message: WebSocketMessage) async throws {
        try await suspended { state, number, waiter, effects in state.send(message, number, waiter, &effects) }
    }

    func ping() async throws {
        try await suspended { state, number, waiter, effects in state.ping(number, waiter, &effects) }
    }

    private func suspended(
        _ begin: @Sendable (inout WebSocketState, Int, CheckedContinuation<Void, any Error>, inout WebSocketState.Effects) -> (any Error)?
    ) async throws {
        try Task.checkCancellation()
        let number = state.withLock { $0.nextNumber() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let error = change({ begin(&$0, number, continuation, &$1) }) { return continuation.resume(throwing: error) }
                // The task may have been cancelled before the call was registered.
                if Task.isCancelled { change { $0.cancelSending(number, &$1) } }
            }
        } onCancel: {
            change { $0.cancelSending(number, &$1) }
        }
    }

    func receive() async throws -> WebSocketMessage? {
        try Task.checkCancellation()
        let number = state.withLock { $0.nextNumber() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let result = change({ $0.read(number, continuation, &$1) }) { return continuation.resume(with: result) }
                if Task.isCancelled { change { $0.cancelReader(number, &$1) } }
            }
        } onCancel: {
            change { $0.cancelReader(number, &$1) }
        }
    }

    func close(_ code: WebSocketCloseCode, reason: String) {
        change { $0.close(code, reason: reason, &$1) }
    }

    func end(_ error: any Error) {
        change { $0.abort(error, .goingAway, &$1) }
    }

    func onEnd(_ action: @escaping @Sendable () -> Void) {
        if change({ state, _ in state.hasEnded(or: action) }) { action() }
    }
}

extension WebSocketConnection: WebSocketWireUser {
    func received(_ bytes: UnsafeRawBufferPointer) -> Bool { change { $0.receive(bytes, &$1) } }
    func wireEnded(_ error: (any Error)?) { change { $0.wireEnded(error, &$1) } }
    func nextBytes() -> [UInt8]? { state.withLock { $0.nextBytes() } }
    func wrote() { change { $0.wrote(&$1) } }
}
