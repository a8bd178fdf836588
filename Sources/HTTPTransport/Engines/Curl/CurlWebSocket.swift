import CSystemLibraries
import Foundation

/// Opens a WebSocket over a connection of libcurl: connects, sends the handshake, and reads the response.
///
/// Many builds lack libcurl's own WebSocket protocol, such as Debian 12's. Therefore libcurl only resolves, connects through the proxies,
/// performs the TLS handshake and verifies the server, as for other exchanges, and encrypts; this package implements the protocol. A
/// separate thread waits for the connection until the response has arrived; an open WebSocket has no thread.
final class CurlWebSocket: Sendable {
    private struct State {
        var waiter: UnsafeContinuation<TransportResponse, any Error>?
        var isOver = false
        /// The reason for which the opening was cancelled.
        var cause: (any Error)?
    }

    /// The maximum number of bytes of the body of a response that doesn't open a WebSocket.
    static let bodyLimit = 1 << 20

    private let request: ServiceRequest
    private let outgoing: CurlRequest
    private let opening: WebSocketOpening
    private let connection: CurlConnection
    private let deadlines: ExchangeDeadlines
    private let handshake = WebSocketHandshake()
    private let reportsConnections: Bool
    private let state = Locked(State())

    /// Checks a request, and prepares its connection.
    ///
    /// - Throws: ``TransportError``: `badRequest` if the request can't open a WebSocket.
    init(_ request: ServiceRequest, _ opening: WebSocketOpening, settings: CurlSettings, trust: CurlTrust) throws(TransportError) {
        try WebSocketHandshake.check(request)
        self.request = request
        self.opening = opening
        deadlines = ExchangeDeadlines(request, start: .now)
        outgoing = try CurlRequest(request, codings: nil)
        try trust.checkPins(callTo: outgoing.origin)
        reportsConnections = settings.library.reportsConnections
        connection = try CurlConnector(for: outgoing, settings: settings, trust: trust).connection()
    }

    /// Opens the WebSocket.
    ///
    /// - Returns: The response; with status 101, the WebSocket is in the request's ``WebSocketOpening``.
    func response() async throws -> TransportResponse {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let cause = state.withLock { state in
                    if state.cause == nil { state.waiter = continuation }
                    return state.cause
                }
                if let cause { return continuation.resume(throwing: cause) }
                startThread()
            }
        } onCancel: {
            abandon(CancellationError())
        }
    }

    /// Ends the opening.
    func abandon(_ error: any Error) {
        let waiter = state.withLock { state -> UnsafeContinuation<TransportResponse, any Error>? in
            guard !state.isOver, state.cause == nil else { return nil }
            state.cause = error
            defer { state.waiter = nil }
            return state.waiter
        }
        // The caller is notified before the thread.
        waiter?.resume(throwing: error)
        connection.close()
    }

    private func startThread() {
        let context = Unmanaged.passRetained(self).toOpaque()
        let isStarted = csl_thread_start(
            "curl-websocket",
            { context in
                guard let context else { return }
                TransportThread.mark()
                Unmanaged<CurlWebSocket>.fromOpaque(context).takeRetainedValue().run()
            }, context)
        guard !isStarted else { return }
        Unmanaged<CurlWebSocket>.fromOpaque(context).release()
        end(.failure(TransportError(.other, "No thread can be started for a WebSocket: the limit of threads or memory is reached.")))
    }

    private func run() {
        do throws(TransportError) {
            end(.success(try exchange()))
        } catch {
            end(.failure(error))
        }
    }

    private func end(_ result: Result<TransportResponse, TransportError>) {
        let (waiter, cause) = state.withLock { state in
            state.isOver = true
            defer { state.waiter = nil }
            return (state.waiter, state.cause)
        }
        guard cause == nil, let waiter else { return opening.discard() }
        waiter.resume(with: result.mapError { $0 as any Error })
    }
}

// The exchange, on the thread.
extension CurlWebSocket {
    private func exchange() throws(TransportError) -> TransportResponse {
        if let refusal = try connect() { return refusal }
        try send(head())
        var reader = HandshakeReader(host: outgoing.host)
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = try receive(into: &buffer)
            if try reader.receive(buffer[..<count], isEnd: count == 0) { break }
        }
        return try response(reader)
    }

    /// Connects.
    ///
    /// - Returns: The response of a proxy that wants credentials.
    private func connect() throws(TransportError) -> TransportResponse? {
        let due = deadlines.dueWhileConnecting
        do throws(TransportError) {
            try connection.open(within: due.map { $0.instant - .now } ?? Duration.longest)
            return nil
        } catch {
            if error.code == .timedOutConnecting, let due { throw deadlines.error(due.code, host: outgoing.host) }
            guard let refusal = connection.tunnelRefusal, !error.isTrustFailure else { throw error }
            guard refusal.status == 407 else { throw CurlFault.tunnelRefused(to: outgoing.host, status: refusal.status) }
            let (status, version, headers) = refusal.parsed()
            return TransportResponse(
                status: status, headers: headers, url: request.url, body: ResponseBody(), httpVersion: version, report: nil,
                isTunnelRefusal: true)
        }
    }

    /// The head of the request.
    private func head() -> [UInt8] {
        var bytes = Array("GET \(request.target) HTTP/1.1\r\n".utf8)
        if !request.headers.contains("Host") { bytes += "Host: \(outgoing.host)\r\n".utf8 }
        for field in handshake.fields { bytes += "\(field.name.rawName): \(field.value)\r\n".utf8 }
        outgoing.fields.lines.append(to: &bytes)
        bytes += "\r\n".utf8
        return bytes
    }

    private func send(_ bytes: [UInt8]) throws(TransportError) {
        var done = 0
        while done < bytes.count {
            let (piece, connection) = (done..<bytes.count, connection)
            let sent = bytes.withUnsafeBytes { all in
                Result { () throws(TransportError) in try connection.send(UnsafeRawBufferPointer(rebasing: all[piece])) }
            }
            let count = try sent.get()
            done += count
            if count == 0 { try wait(forWriting: true) }
        }
    }

    private func receive(into buffer: inout [UInt8]) throws(TransportError) -> Int {
        while true {
            let connection = connection
            let received = buffer.withUnsafeMutableBytes { room in
                Result { () throws(TransportError) in try connection.receive(into: room) }
            }
            if let count = try received.get() { return count }
            try wait(forWriting: false)
        }
    }

    private func wait(forWriting isWriting: Bool) throws(TransportError) {
        let due = deadlines.dueWhileWaiting()
        guard !connection.wait(forWriting: isWriting, until: due?.instant), let due else { return }
        throw deadlines.error(due.code, host: outgoing.host)
    }

    private func response(_ reader: HandshakeReader) throws(TransportError) -> TransportResponse {
        guard let head = reader.head else { throw CurlFault.noHead(of: outgoing.host) }
        let (status, version, headers) = head.parsed()
        let report = ExchangeReport(informational: head.parsedInformational(), metrics: { ExchangeMetrics() }, trailers: { [:] })
        var response = TransportResponse(status: status, headers: headers, url: request.url, httpVersion: version, report: report)
        guard status == 101 else {
            response.body = reader.responseBody
            return response
        }
        let offered = WebSocketHandshake.subprotocols(of: request.headers)
        let subprotocol = try handshake.subprotocol(in: headers, version: version, offered: offered, host: outgoing.host)
        opening.opened(
            WebSocketConnection(
                CurlSocket(connection, beginning: reader.rest), subprotocol: subprotocol, messageLimit: opening.messageLimit))
        return response
    }
}

extension CurlLines {
    /// Appends the lines as they are sent.
    fileprivate func append(to bytes: inout [UInt8]) {
        var line = first
        while let current = line {
            let text = UnsafeRawBufferPointer(start: current.pointee.text, count: strlen(current.pointee.text))
            line = current.pointee.next
            // libcurl's marks: a name with a colon alone omits a field, one with a semicolon has an empty value.
            if text.last == UInt8(ascii: ":") { continue }
            if text.last == UInt8(ascii: ";"), !text.contains(UInt8(ascii: ":")) {
                bytes += text.dropLast()
                bytes += ":\r\n".utf8
            } else {
                bytes += text
                bytes += "\r\n".utf8
            }
        }
    }
}
