import CSystemLibraries
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A secure connection that libcurl has made and ciphers, and nothing else.
///
/// `@unchecked Sendable`: one thread at a time opens it, and then writes and reads; ``close()`` alone may come from any other, and touches only
/// what is behind the lock and what libcurl allows any thread.
package final class CurlConnection: @unchecked Sendable {
    private struct State {
        var socket: Int32 = -1
        var isClosed = false
    }

    private let connector: CurlConnector
    private let multi: OpaquePointer
    private let easy: OpaquePointer
    /// Owns `easy`; there until the connection ends.
    private var handle: CurlHandle?
    private let state = Locked(State())
    /// Why the connection was refused when it stood.
    private var fault: TransportError?
    /// Why the system gave no socket; 0 where it did.
    private var socketError: Int32 = 0
    /// The version of TLS, such as `TLSv1.3`, where the library tells; `nil` before the connection is open.
    package private(set) var tlsVersion: String?

    init(_ connector: CurlConnector) throws(TransportError) {
        guard csl_curl_enter() else { throw TransportError(.other, "The process exits: no connection is made any more.") }
        defer { csl_curl_leave() }
        guard let handle = CurlHandle(), let multi = csl_multi_new() else {
            throw TransportError(.other, "There is no memory for another connection.")
        }
        self.connector = connector
        self.handle = handle
        easy = handle.easy
        self.multi = multi
        try handle.prepare(for: self, connector)
    }

    deinit {
        // Says goodbye to the other side, if it can do so without waiting.
        work(orElse: ()) {
            _ = csl_multi_remove(multi, easy)
            csl_multi_free(multi)
            handle = nil
        }
    }

    /// The socket, for waiting; -1 before the connection is open.
    package var socket: Int32 { state.withLock { $0.socket } }

    /// Connects, shakes hands, and checks whom it has reached. It waits, at most for so long.
    ///
    /// - Throws: ``TransportError``, the same as for an exchange.
    package func open(within limit: Duration) throws(TransportError) {
        let end = ContinuousClock.now + limit
        let added = work(orElse: -1) { csl_multi_add(multi, easy) }
        guard added == 0 else {
            throw TransportError(.other, "libcurl refuses the connection: \(CurlFault.text(ofSet: added)).")
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
                throw TransportError(.timedOutConnecting, "No secure connection to \(connector.origin.authority) within \(limit).")
            }
            csl_multi_poll(multi, left.pollMilliseconds)
        }
        let socket = work(orElse: -1) { csl_easy_socket(easy) }
        guard socket >= 0 else {
            throw TransportError(.connectionLost, "The connection to \(connector.origin.authority) has gone at once.")
        }
        state.withLock { $0.socket = socket }
        try checkOpen()
    }

    /// Writes what goes out without waiting.
    ///
    /// - Returns: how many bytes went out. After fewer than all, wait for the socket, and come again with all that are left: TLS has begun a
    ///   record with them.
    /// - Throws: ``TransportError`` when the connection is broken or closed.
    package func send(_ bytes: UnsafeRawBufferPointer) throws(TransportError) -> Int {
        try checkOpen()
        handle?.forgetErrorText()
        var count = 0
        let result = work(orElse: -1) { csl_easy_send(easy, bytes.baseAddress, bytes.count, &count) }
        guard result == CSL_RESULT_OK || result == CSL_RESULT_AGAIN else { throw error(result) }
        return count
    }

    /// Reads what is there without waiting.
    ///
    /// - Returns: how many bytes came; 0 at the other side's end, `nil` when there is nothing now.
    /// - Throws: ``TransportError`` when the connection is broken or closed.
    package func receive(into bytes: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int? {
        try checkOpen()
        handle?.forgetErrorText()
        var count = 0
        let result = work(orElse: -1) { csl_easy_receive(easy, bytes.baseAddress, bytes.count, &count) }
        if result == CSL_RESULT_AGAIN { return nil }
        guard result == CSL_RESULT_OK else { throw error(result) }
        return count
    }

    /// Ends the connection: a wait for it, too, also while it is being made.
    package func close() {
        let socket = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed ? -1 : state.socket
        }
        // The number is the connection's until nobody has it any more.
        if socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) }
        csl_multi_wakeup(multi)
    }

    /// The connection stands, and is about to be ours.
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

    /// A socket for the connection, which is about to be made.
    ///
    /// - Returns: -1 where the system gives none.
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
        let error = CurlFault.error(
            code, text: handle?.errorText ?? "", at: connector.origin, showsIdentity: connector.trust.hasIdentity, socketError: socketError,
            easy)
        // Those speak of an answer, and of HTTP.
        guard error.code == .connectionLost || error.code == .unreadableResponse else { return error }
        let reason = (error.underlying as? CurlError)?.text ?? "libcurl's error \(code)"
        return TransportError(
            .connectionLost, "The connection to \(connector.origin.authority) is broken (\(reason)).", underlying: error.underlying)
    }

    /// Calls libcurl on a thread that isn't the library's own, but for the very end of the process, when the other value is the result.
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

/// Makes secure connections to one host that carry another protocol than HTTP, such as syslog over TLS (RFC 5425).
///
/// libcurl finds the host, connects, shakes hands and checks whom it has reached, with the same trust as ``CurlTransport``; then it steps aside
/// and only ciphers. There is no proxy on the way, whatever the environment says, and no protocol is offered by ALPN.
package struct CurlConnector: Sendable {
    let settings: CurlSettings
    let trust: CurlTrust
    let origin: Origin
    /// Where libcurl is told to connect to; of the scheme it takes the TLS only.
    let url: String

    /// Prepares connections to a host, by its name or its address.
    ///
    /// - Throws: ``TransportError``: `unsupported` where there is no libcurl, or none that can do what the trust policy asks for; `badRequest`
    ///   for what is no host or no port, and for a policy that can't be right.
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
                "\"\(host.prefix(100))\" with port \(port) is no place to connect to: give a host's name or address, and a port.")
        }
        var configuration = CurlTransport.Configuration()
        configuration.httpVersion = .http1
        configuration.proxy = .none
        settings = try CurlSettings(library: library, configuration: configuration)
        trust = try CurlTrust(policy, library: library)
        self.origin = origin
        self.url = url.absoluteString
    }

    /// A connection, which isn't open yet.
    ///
    /// - Throws: ``TransportError`` when there is no memory.
    package func connection() throws(TransportError) -> CurlConnection {
        try CurlConnection(self)
    }
}
