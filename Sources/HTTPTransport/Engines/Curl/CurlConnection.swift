import CSystemLibraries
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A secure connection that libcurl has established and encrypts.
///
/// `@unchecked Sendable`: one thread at a time opens it, then writes and reads. Only ``close()`` may be called on any thread; it accesses
/// only the state behind the lock and functions of libcurl that any thread may call.
package final class CurlConnection: @unchecked Sendable {
    private struct State {
        var socket: Int32 = -1
        var isClosed = false
    }

    private let connector: CurlConnector
    private let multi: OpaquePointer
    private let easy: OpaquePointer
    /// Owns `easy`, until the connection ends.
    private var handle: CurlHandle?
    private let state = Locked(State())
    /// The reason why the established connection was rejected.
    private var fault: TransportError?
    /// The system's error when opening the socket; 0 if it succeeded.
    private var socketError: Int32 = 0
    /// The response of a proxy to the request for a tunnel.
    private var proxyLines = CurlHeadReader()
    /// The version of TLS, such as `TLSv1.3`; `nil` before the connection is open, and if the library doesn't report it.
    package private(set) var tlsVersion: String?

    init(_ connector: CurlConnector) throws(TransportError) {
        guard csl_curl_enter() else { throw TransportError(.other, "The process is exiting: no more connections can be established.") }
        defer { csl_curl_leave() }
        guard let handle = CurlHandle(), let multi = csl_multi_new() else {
            throw TransportError(.other, "Memory is exhausted: there is no room for another connection.")
        }
        self.connector = connector
        self.handle = handle
        easy = handle.easy
        self.multi = multi
        try handle.prepare(for: self, connector)
    }

    deinit {
        // Sends a close_notify if that doesn't block.
        work(orElse: ()) {
            _ = csl_multi_remove(multi, easy)
            csl_multi_free(multi)
            handle = nil
        }
    }

    /// The socket, for waiting; -1 before the connection is open.
    package var socket: Int32 { state.withLock { $0.socket } }

    /// Connects, performs the handshake, and verifies the host. Blocks until then, at most for the given time.
    ///
    /// - Throws: The same ``TransportError`` as an exchange.
    package func open(within limit: Duration) throws(TransportError) {
        let end = ContinuousClock.now + limit
        let added = work(orElse: -1) { csl_multi_add(multi, easy) }
        guard added == 0 else {
            throw TransportError(.other, "libcurl rejected the connection: \(CurlFault.text(ofSet: added)).")
        }
        while true {
            let result = work(orElse: -1) { perform() }
            if let fault { throw fault }
            if let result {
                guard result == CSL_RESULT_OK else { throw error(result) }
                break
            }
            try checkOpen()
            let left = end - .now
            guard left > .zero else {
                throw TransportError(
                    .timedOutConnecting,
                    "No secure connection to \(connector.origin.authority) was established within \(limit): is it reachable, and does it "
                        + "support TLS?")
            }
            csl_multi_poll(multi, left.pollMilliseconds)
        }
        let socket = work(orElse: -1) { csl_easy_socket(easy) }
        guard socket >= 0 else {
            throw TransportError(.connectionLost, "The connection to \(connector.origin.authority) was lost at once: connect again.")
        }
        state.withLock { $0.socket = socket }
        try checkOpen()
    }

    /// Writes as many bytes as possible without blocking.
    ///
    /// - Returns: The number of bytes written. If there are more, wait for the socket and call this again with all that are left: TLS has
    ///   begun a record with them.
    /// - Throws: ``TransportError`` if the connection is broken or closed.
    package func send(_ bytes: UnsafeRawBufferPointer) throws(TransportError) -> Int {
        try checkOpen()
        handle?.forgetErrorText()
        var count = 0
        let result = work(orElse: -1) { csl_easy_send(easy, bytes.baseAddress, bytes.count, &count) }
        guard result == CSL_RESULT_OK || result == CSL_RESULT_AGAIN else { throw error(result) }
        return count
    }

    /// Reads the available bytes without blocking.
    ///
    /// - Returns: The number of bytes read; 0 at the end, `nil` if none are available now.
    /// - Throws: ``TransportError`` if the connection is broken or closed.
    package func receive(into bytes: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int? {
        try checkOpen()
        handle?.forgetErrorText()
        var count = 0
        let result = work(orElse: -1) { csl_easy_receive(easy, bytes.baseAddress, bytes.count, &count) }
        if result == CSL_RESULT_AGAIN { return nil }
        guard result == CSL_RESULT_OK else { throw error(result) }
        return count
    }

    /// Waits until the socket can be read or written, the connection is closed, or an instant has passed.
    ///
    /// - Returns: Whether the instant hasn't passed.
    func wait(forWriting isWriting: Bool, until end: MonotonicInstant?) -> Bool {
        while true {
            let left = end.map { $0 - .now } ?? .seconds(60)
            guard left > .zero else { return false }
            // While TLS wants to write, it may have to read first.
            var polled = pollfd(fd: socket, events: Int16(POLLIN) | (isWriting ? Int16(POLLOUT) : 0), revents: 0)
            if poll(&polled, 1, left.pollMilliseconds) > 0 { return true }
        }
    }

    /// Closes the connection, and ends any wait for it, even while it is being established.
    package func close() {
        let socket = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed ? -1 : state.socket
        }
        // The descriptor isn't reused while the connection is referenced.
        if socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) }
        csl_multi_wakeup(multi)
    }

    /// Checks a connection that has just been established.
    func accepts() -> Bool {
        tlsVersion = csl_easy_tls_version(easy).map { String(cString: $0) }
        do {
            try connector.trust.check(easy, origin: connector.origin)
            return true
        } catch {
            fault = error
            return false
        }
    }

    /// Receives a header line of a proxy.
    func receive(line: UnsafeRawBufferPointer) {
        _ = proxyLines.receive(line, isConnected: false)
    }

    /// The head of the proxy's response if it refused to open a tunnel.
    var tunnelRefusal: CurlHead? { proxyLines.tunnel }

    /// Opens a socket for the connection.
    ///
    /// - Returns: -1 if the system provides none.
    func openSocket(to address: OpaquePointer?) -> Int32 {
        let socket = csl_socket_open(address, nil, nil)
        socketError = socket < 0 ? -socket : 0
        return max(socket, -1)
    }

    private func perform() -> Int32? {
        var running: Int32 = 0
        csl_multi_perform(multi, &running)
        var result: Int32 = 0
        return csl_multi_next_done(multi, &result) == nil ? nil : result
    }

    private func checkOpen() throws(TransportError) {
        guard !state.withLock({ $0.isClosed }) else {
            throw TransportError(.connectionLost, "The connection to \(connector.origin.authority) is closed.")
        }
    }

    private func error(_ code: Int32) -> TransportError {
        if let path = connector.settings.configuration.unixSocket, Int(code) == CSL_RESULT_CANNOT_CONNECT,
            DescriptorShortage.sentence(for: socketError) == nil
        {
            let cause = CurlError(code: Int(code), text: handle?.errorText ?? "")
            return CurlFault.noServer(atSocket: path, for: connector.origin.authority, cause)
        }
        let error = CurlFault.error(
            code, text: handle?.errorText ?? "", at: connector.origin, showsIdentity: connector.trust.hasIdentity,
            proxy: connector.settings.proxyText(to: connector.origin), socketError: socketError, easy)
        // The texts of these errors refer to responses and HTTP.
        guard error.code == .connectionLost || error.code == .unreadableResponse else { return error }
        let reason = (error.underlying as? CurlError)?.text ?? "libcurl's error \(code)"
        return TransportError(
            .connectionLost, "The connection to \(connector.origin.authority) is broken (\(reason)).", underlying: error.underlying)
    }

    /// Calls libcurl on a foreign thread. At the very end of the process, returns `none` instead.
    private func work<Value>(orElse none: Value, _ body: () -> Value) -> Value {
        guard csl_curl_enter() else { return none }
        var signals = csl_signal_guard()
        csl_signal_guard_begin(&signals)
        defer {
            csl_signal_guard_end(&signals)
            csl_curl_leave()
        }
        return body()
    }
}

/// Creates secure connections to one host for protocols other than HTTP, such as syslog over TLS (RFC 5425).
///
/// libcurl resolves the host, connects, performs the handshake and verifies the host, with the same trust as ``CurlTransport``. After that
/// it only encrypts. No proxy is used, whatever the environment contains, and ALPN offers no protocol. Connections for WebSockets follow
/// the transport's own settings instead, and needn't be secure.
package struct CurlConnector: Sendable {
    let settings: CurlSettings
    let trust: CurlTrust
    let origin: Origin
    /// The URL to connect to, with a scheme that selects TLS.
    let url: String
    /// The fields for the proxy that opens a tunnel; `nil` for none.
    private(set) var proxyLines: CurlLines?
    /// Whether the connection is for a WebSocket: a proxy opens a tunnel even for http (RFC 6455 §4.1), and ALPN offers HTTP/1.1.
    private(set) var isForWebSocket = false

    /// Prepares the connection for a WebSocket.
    init(for request: CurlRequest, settings: CurlSettings, trust: CurlTrust) {
        self.settings = settings
        self.trust = trust
        origin = request.origin
        url = request.url
        proxyLines = request.fields.proxyLines
        isForWebSocket = true
    }

    /// Prepares connections to a host, given by name or address.
    ///
    /// - Throws: ``TransportError``: `unsupported` if libcurl is missing or doesn't support the trust policy; `badRequest` for an invalid
    ///   host, port or policy.
    package init(host: String, port: UInt16, trust policy: TrustPolicy) throws(TransportError) {
        let library: CurlLibrary
        do {
            library = try CurlLibrary.open()
        } catch {
            throw TransportError(.unsupported, "A secure connection that isn't HTTP needs libcurl: \(error.reason).", underlying: error)
        }
        guard library.features.contains(.tls) else {
            throw TransportError(.unsupported, "libcurl \(library.version) was built without TLS: install one that has it.")
        }
        let isAddress =
            host.contains(":") && host.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
            && host.split(separator: ":", omittingEmptySubsequences: false).count > 2
        let name = isAddress ? "[\(host)]" : host
        guard port > 0, let url = URL(string: "https://\(name):\(port)/"), let origin = Origin(url), origin.port == Int(port),
            url.path(percentEncoded: true) == "/", url.query == nil, url.fragment == nil, url.user == nil, url.password == nil
        else {
            throw TransportError(
                .badRequest,
                "\"\(host.prefix(100))\" with port \(port) isn't a valid host and port: give a host's name or address, and a port from 1 "
                    + "to 65535.")
        }
        var configuration = CurlTransport.Configuration()
        configuration.httpVersion = .http1
        configuration.proxy = .none
        settings = try CurlSettings(library: library, configuration: configuration)
        trust = try CurlTrust(policy, library: library)
        self.origin = origin
        self.url = url.absoluteString
    }

    /// Creates a connection that isn't open yet.
    ///
    /// - Throws: ``TransportError`` if memory is exhausted.
    package func connection() throws(TransportError) -> CurlConnection {
        try CurlConnection(self)
    }
}
