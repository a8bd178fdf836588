#if !canImport(FoundationNetworking)
import Foundation

/// A WebSocket of URLSession on Apple platforms. The system performs the handshake, answers pings and Close frames, and decides how far it
/// reads ahead.
final class URLSessionSocket: WebSocketChannel {
    private struct State {
        /// The continuation that waits for the handshake.
        var opening: CheckedContinuation<Void, any Error>?
        var isOpen = false
        var subprotocol: String?
        var end: (closure: WebSocketClosure, error: (any Error)?)?
        var reader: (number: Int, waiter: CheckedContinuation<WebSocketMessage?, any Error>)?
        /// A message whose reader was cancelled.
        var kept: WebSocketMessage?
        /// Whether URLSession has been asked for a message.
        var isReceiving = false
        var isClosing = false
        var count = 0
        var endHandlers: [@Sendable () -> Void] = []
    }

    let task: URLSessionWebSocketTask
    private let table: URLSessionExchanges
    private let state = Locked(State())

    init(_ task: URLSessionWebSocketTask, table: URLSessionExchanges) {
        self.task = task
        self.table = table
    }

    var subprotocol: String? { state.withLock { $0.subprotocol } }
    var closure: WebSocketClosure? { state.withLock { $0.end?.closure } }
    var waitsForReader: Bool { state.withLock { $0.isOpen && !$0.isReceiving } }

    /// Performs the handshake.
    func open() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let error: (any Error)? = state.withLock { state in
                    if let end = state.end { return end.error ?? CancellationError() }
                    state.opening = continuation
                    return nil
                }
                if let error { return continuation.resume(throwing: error) }
                table.control.async { self.task.resume() }
            }
        } onCancel: {
            end(CancellationError())
        }
    }

    /// The handshake has succeeded.
    func opened(_ subprotocol: String?) {
        let opening = state.withLock { state in
            (state.isOpen, state.subprotocol) = (true, subprotocol)
            defer { state.opening = nil }
            return state.opening
        }
        opening?.resume()
    }

    /// The task has ended.
    func completed(_ error: (any Error)?) {
        let (code, reason) = (task.closeCode, task.closeReason)
        guard code != .invalid else { return finish(WebSocketClosure(.abnormal), WebSocketError.lost(error)) }
        let closure = WebSocketClosure(
            WebSocketCloseCode(rawValue: UInt16(clamping: code.rawValue)), reason: String(decoding: reason ?? Data(), as: UTF8.self))
        let isClosing = state.withLock { $0.isClosing }
        finish(closure, closure.code.isOrderly || isClosing ? nil : WebSocketError.closed(closure))
    }

    private func finish(_ closure: WebSocketClosure, _ error: (any Error)?) {
        let (opening, reader, handlers) = state.withLock { state in
            guard state.end == nil else { return (nil, nil, []) as Waiters }
            state.end = (closure, error)
            defer { (state.opening, state.reader, state.endHandlers) = (nil, nil, []) }
            return (state.opening, state.reader?.waiter, state.endHandlers)
        }
        table.remove(task)
        opening?.resume(throwing: error ?? WebSocketError.notOpen(closure))
        if let error { reader?.resume(throwing: error) } else { reader?.resume(returning: nil) }
        for handler in handlers { handler() }
    }

    private typealias Waiters = (
        CheckedContinuation<Void, any Error>?, CheckedContinuation<WebSocketMessage?, any Error>?, [@Sendable () -> Void]
    )

    func send(_ message: WebSocketMessage) async throws {
        try checkOpen()
        do {
            switch message {
            case .text(let text): try await task.send(.string(text))
            case .binary(let data): try await task.send(.data(data))
            }
        } catch {
            throw failure(error)
        }
    }

    func ping() async throws {
        try checkOpen()
        // URLSession may call its closure twice if the task ends.
        let waiting = Locked<CheckedContinuation<Void, any Error>?>(nil)
        @Sendable func end(_ error: (any Error)?) {
            let continuation = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            if let error { continuation?.resume(throwing: error) } else { continuation?.resume() }
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting.withLock { $0 = continuation }
                task.sendPing { end($0.map(self.failure)) }
                onEnd { end(self.failure(WebSocketError.notOpen(self.closure))) }
                if Task.isCancelled { end(CancellationError()) }
            }
        } onCancel: {
            end(CancellationError())
        }
    }

    func receive() async throws -> WebSocketMessage? {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let result = begin(number, continuation) { return continuation.resume(with: result) }
                if Task.isCancelled { cancelReader(number) }
            }
        } onCancel: {
            cancelReader(number)
        }
    }

    /// Returns what the reader gets at once; `nil` if it waits.
    private func begin(
        _ number: Int, _ waiter: CheckedContinuation<WebSocketMessage?, any Error>
    ) -> Result<WebSocketMessage?, any Error>? {
        let (result, asks): (Result<WebSocketMessage?, any Error>?, Bool) = state.withLock { state in
            if let kept = state.kept {
                state.kept = nil
                return (.success(kept), false)
            }
            if let end = state.end { return (end.error.map { .failure($0) } ?? .success(nil), false) }
            if state.isClosing { return (.success(nil), false) }
            guard state.reader == nil else {
                return (.failure(WebSocketError(.misuse, "Another task reads the WebSocket: its messages have one reader.")), false)
            }
            state.reader = (number, waiter)
            defer { state.isReceiving = true }
            return (nil, !state.isReceiving)
        }
        if asks { task.receive { self.received($0) } }
        return result
    }

    private func received(_ result: Result<URLSessionWebSocketTask.Message, any Error>) {
        // The end of the task, which has the code, follows an error.
        guard case .success(let received) = result else { return state.withLock { $0.isReceiving = false } }
        let message: WebSocketMessage
        switch received {
        case .string(let text): message = .text(text)
        case .data(let data): message = .binary(data)
        @unknown default: return end(WebSocketError(.protocolViolation, "A message is neither text nor bytes."))
        }
        let waiter = state.withLock { state -> CheckedContinuation<WebSocketMessage?, any Error>? in
            state.isReceiving = false
            defer { state.reader = nil }
            if state.reader == nil, !state.isClosing { state.kept = message }
            return state.reader?.waiter
        }
        waiter?.resume(returning: message)
    }

    private func cancelReader(_ number: Int) {
        let waiter = state.withLock { state -> CheckedContinuation<WebSocketMessage?, any Error>? in
            guard let reader = state.reader, reader.number == number else { return nil }
            state.reader = nil
            return reader.waiter
        }
        waiter?.resume(throwing: CancellationError())
    }

    func close(_ code: WebSocketCloseCode, reason: String) {
        var reader: CheckedContinuation<WebSocketMessage?, any Error>?
        let isFirst = state.withLock { state in
            guard state.end == nil, !state.isClosing else { return false }
            (state.isClosing, state.kept) = (true, nil)
            reader = state.reader?.waiter
            state.reader = nil
            return true
        }
        guard isFirst else { return }
        reader?.resume(returning: nil)
        let payload = WebSocketFrame.close(code, reason: reason).payload.dropFirst(2)
        let systemCode = URLSessionWebSocketTask.CloseCode(rawValue: Int(code.rawValue)) ?? .normalClosure
        table.control.async { self.task.cancel(with: systemCode, reason: payload.isEmpty ? nil : Data(payload)) }
    }

    func end(_ error: any Error) {
        guard state.withLock({ $0.end == nil }) else { return }
        state.withLock { $0.kept = nil }
        finish(WebSocketClosure(.abnormal), error)
        table.control.async { self.task.cancel(with: .goingAway, reason: nil) }
    }

    func onEnd(_ action: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if state.end == nil { state.endHandlers.append(action) }
            return state.end != nil
        }
        if hasEnded { action() }
    }

    private func checkOpen() throws {
        try Task.checkCancellation()
        let refusal: (any Error)? = state.withLock { state in
            if let end = state.end { return end.error ?? WebSocketError.notOpen(end.closure) }
            return state.isClosing ? WebSocketError(.misuse, "The WebSocket is being closed: send before close().") : nil
        }
        if let refusal { throw refusal }
    }

    private func failure(_ error: any Error) -> any Error {
        state.withLock { $0.end?.error } ?? (error is WebSocketError ? error : WebSocketError.lost(error))
    }
}

extension URLSessionTransport {
    /// Opens a WebSocket.
    ///
    /// - Returns: The response; one with another status than 101 has no body, which URLSession doesn't deliver.
    func open(
        _ opening: WebSocketOpening, _ request: ServiceRequest, over session: TrustedSession, _ cancellation: CallCancellation?
    ) async throws -> TransportResponse {
        try WebSocketHandshake.check(request)
        let outgoing = try URLSessionRequest(request)
        let socket = try session.socket(outgoing.urlRequest, messageLimit: opening.messageLimit)
        let number = cancellation?.onCancel { socket.end($0) }
        defer { if let number { cancellation?.remove(number) } }
        let deadlines = ExchangeDeadlines(request, start: .now)
        do {
            try await deadlines.whileWaiting(for: outgoing.host, lastSent: { nil }) { try await socket.open() }
        } catch {
            socket.end(error)
            if let cause = cancellation?.cause { throw cause }
            if let response = socket.task.response as? HTTPURLResponse, response.statusCode != 101 {
                return TransportResponse(
                    status: response.statusCode, headers: ResponseFraming(response, method: .get).headers, url: request.url)
            }
            guard let cause = (error as? WebSocketError)?.cause else { throw error }
            if cause is TransportError { throw cause }
            throw TransportError(urlSession: cause, host: outgoing.host, headArrived: false)
        }
        opening.opened(socket)
        let headers = (socket.task.response as? HTTPURLResponse).map { ResponseFraming($0, method: .get).headers } ?? [:]
        return TransportResponse(status: 101, headers: headers, url: request.url, httpVersion: "HTTP/1.1")
    }
}
#endif
