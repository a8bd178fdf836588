import CSystemLibraries
import Foundation

/// A handle of libcurl, used for one exchange at a time. Only the loop's owner uses it.
final class CurlHandle {
    /// libcurl's handle.
    let easy: OpaquePointer
    /// The driver that watches its sockets; `nil` if its sockets are awaited in another way.
    private let driver: OpaquePointer?
    /// The current exchange, which the loop keeps alive. Unchecked: each callback reads it, and only the loop's owner accesses it.
    @exclusivity(unchecked) private(set) var exchange: Unmanaged<CurlExchange>?
    private let errorBuffer: UnsafeMutablePointer<CChar>
    private static let errorSize = 256
    /// Whether the settings common to all exchanges are set.
    private var isConfigured = false
    /// Whether options are set that must not remain for the next exchange.
    private var isSpecial = false
    /// Whether it uses the connections of a pool.
    private var isPooled = false
    /// Whether it waits for a connection that is being established, because several exchanges may share it.
    private var waitsForConnection = false

    /// Creates a handle; `nil` if memory is exhausted.
    init?(_ driver: OpaquePointer? = nil) {
        guard let easy = csl_easy_new() else { return nil }
        self.easy = easy
        self.driver = driver
        errorBuffer = .allocate(capacity: Self.errorSize)
        errorBuffer.initialize(repeating: 0, count: Self.errorSize)
    }

    deinit {
        csl_easy_free(easy)
        errorBuffer.deallocate()
    }

    /// The user pointer of the callbacks.
    var user: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// libcurl's description of the failure; empty if there is none.
    var errorText: String { String(cString: errorBuffer) }

    /// Clears the error text before a call that may fail without setting it.
    func forgetErrorText() { errorBuffer[0] = 0 }

    /// Prepares the handle for an exchange.
    ///
    /// - Throws: ``TransportError`` if the library doesn't support an option of the trust policy or the route: such options are never
    ///   omitted.
    func prepare(for exchange: CurlExchange, _ settings: CurlSettings) throws(TransportError) {
        if !isConfigured { try configure(settings) }
        forgetErrorText()
        self.exchange = Unmanaged.passUnretained(exchange)
        // Passing the text as an argument would copy it once more.
        exchange.request.url.withCString { _ = csl_easy_set_text(easy, CSL_OPTION_URL, $0) }
        settings.applyExceptions(to: easy, callTo: exchange.request.origin)
        csl_easy_set_pointer(easy, CSL_OPTION_HTTP_HEADER, exchange.request.fields.lines.first)
        wait(forConnection: settings.sharesConnections(to: exchange.request.origin))
        if !settings.keepsConnections(to: exchange.request.origin) {
            csl_easy_set_long(easy, CSL_OPTION_FRESH_CONNECTION, 1)
            forbidReuse()
        }
        if exchange.transfer.needsNewConnection {
            isSpecial = true
            csl_easy_set_long(easy, CSL_OPTION_FRESH_CONNECTION, 1)
        }
        let needsHTTP1 = exchange.transfer.loop?.originsNeedingHTTP1.contains(exchange.request.origin) == true
        let bypassesProxies = settings.bypassesProxies(to: exchange.request.origin)
        guard needsHTTP1 || bypassesProxies || !isPlain(exchange) else { return }
        isSpecial = true
        if bypassesProxies { settings.bypassProxies(easy) }
        if needsHTTP1 {
            csl_easy_set_long(easy, CSL_OPTION_HTTP_VERSION, CSL_HTTP_VERSION_1_1)
            if !settings.library.keepsVersionsApart { csl_easy_set_long(easy, CSL_OPTION_FRESH_CONNECTION, 1) }
        }
        if let proxyLines = exchange.request.fields.proxyLines { csl_easy_set_pointer(easy, CSL_OPTION_PROXY_HEADER, proxyLines.first) }
        setMethod(exchange.request)
        try exchange.trust.apply(to: easy)
        if exchange.probe != nil {
            csl_easy_set_long(easy, CSL_OPTION_FRESH_CONNECTION, 1)
            csl_easy_set_long(easy, CSL_OPTION_TLS_SESSION_CACHE, 0)
        }
    }

    /// Prepares a new handle that only connects.
    ///
    /// - Throws: The same ``TransportError`` as for an exchange.
    func prepare(for connection: CurlConnection, _ connector: CurlConnector) throws(TransportError) {
        try configure(connector.settings)
        csl_easy_set_callbacks(easy, CurlCallbacks.connecting, Unmanaged.passUnretained(connection).toOpaque(), nil)
        csl_easy_set_text(easy, CSL_OPTION_URL, connector.url)
        csl_easy_set_long(easy, CSL_OPTION_CONNECT_ONLY, 1)
        if connector.isForWebSocket {
            prepareForWebSocket(connector)
        } else {
            csl_easy_set_long(easy, CSL_OPTION_TLS_ALPN, 0)
        }
        try connector.trust.apply(to: easy)
    }

    private func prepareForWebSocket(_ connector: CurlConnector) {
        connector.settings.applyExceptions(to: easy, callTo: connector.origin)
        if connector.settings.bypassesProxies(to: connector.origin) { connector.settings.bypassProxies(easy) }
        csl_easy_set_long(easy, CSL_OPTION_HTTP_VERSION, CSL_HTTP_VERSION_1_1)
        csl_easy_set_long(easy, CSL_OPTION_PROXY_TUNNEL, 1)
        if let lines = connector.proxyLines { csl_easy_set_pointer(easy, CSL_OPTION_PROXY_HEADER, lines.first) }
    }

    /// Releases everything that belongs to the exchange. The settings common to most exchanges remain.
    func release() {
        exchange = nil
        if isPooled {
            // A reset doesn't change this option.
            csl_easy_set_pointer(easy, CSL_OPTION_SHARE, nil)
            isPooled = false
        }
        if isSpecial {
            csl_easy_reset(easy)
            isSpecial = false
            isConfigured = false
        } else {
            csl_easy_set_pointer(easy, CSL_OPTION_HTTP_HEADER, nil)
        }
    }

    /// Ensures that nothing of this exchange remains for the next one.
    func forget() { isSpecial = true }

    /// Uses only the connections of a pool.
    func use(_ pool: OpaquePointer) {
        isPooled = true
        csl_easy_set_pointer(easy, CSL_OPTION_SHARE, UnsafeRawPointer(pool))
    }

    /// Closes the connection after the exchange.
    func forbidReuse() {
        isSpecial = true
        csl_easy_set_long(easy, CSL_OPTION_FORBID_REUSE, 1)
    }

    /// Calls the callback `progress` from now on. Its last call is when everything has been read, and the connection still exists.
    func reportProgress() {
        isSpecial = true
        csl_easy_set_long(easy, CSL_OPTION_NO_PROGRESS, 0)
    }

    /// Whether an exchange needs only its URL and its fields set: resetting a handle costs more than that.
    private func isPlain(_ exchange: CurlExchange) -> Bool {
        guard case .none = exchange.request.upload else { return false }
        return exchange.request.method == .get && exchange.request.fields.proxyLines == nil && exchange.trust.isStandard
            && exchange.probe == nil
    }

    private func wait(forConnection waits: Bool) {
        guard waits != waitsForConnection else { return }
        waitsForConnection = waits
        csl_easy_set_long(easy, CSL_OPTION_PIPE_WAIT, waits ? 1 : 0)
    }

    private func configure(_ settings: CurlSettings) throws(TransportError) {
        waitsForConnection = false
        csl_easy_set_pointer(easy, CSL_OPTION_ERROR_BUFFER, errorBuffer)
        csl_easy_set_callbacks(easy, CurlCallbacks.all, user, driver)
        try settings.apply(to: easy)
        isConfigured = true
    }

    private func setMethod(_ request: CurlRequest) {
        switch request.upload {
        case .none where request.method == .head:
            csl_easy_set_long(easy, CSL_OPTION_NO_BODY, 1)
        case .none:
            if request.method != .get { csl_easy_set_text(easy, CSL_OPTION_CUSTOM_REQUEST, request.method.rawValue) }
        case .bytes(let data):
            csl_easy_set_long(easy, CSL_OPTION_POST, 1)
            csl_easy_set_size(easy, CSL_OPTION_POST_LENGTH, Int64(data.count))
            data.withUnsafeBytes { bytes in
                withUnsafePointer(to: UInt8(0)) { nothing in
                    _ = csl_easy_set_pointer(easy, CSL_OPTION_COPY_POST_FIELDS, bytes.baseAddress ?? UnsafeRawPointer(nothing))
                }
            }
            if request.method != .post { csl_easy_set_text(easy, CSL_OPTION_CUSTOM_REQUEST, request.method.rawValue) }
        case .stream(let body):
            csl_easy_set_long(easy, CSL_OPTION_UPLOAD, 1)
            csl_easy_set_size(easy, CSL_OPTION_UPLOAD_LENGTH, body.length ?? -1)
            if request.method != .put { csl_easy_set_text(easy, CSL_OPTION_CUSTOM_REQUEST, request.method.rawValue) }
        }
    }
}

/// The functions that libcurl calls, on the thread of the loop's owner. Their user pointer is the ``CurlHandle``, which never changes.
enum CurlCallbacks {
    /// The functions for exchanges.
    static let all = csl_easy_callbacks(
        header: { bytes, size, count, user in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            guard let user else { return 0 }
            // Called for each line: retaining the exchange would take as long as processing the line.
            let exchange = Unmanaged<CurlHandle>.fromOpaque(user)._withUnsafeGuaranteedRef { $0.exchange }
            return exchange?._withUnsafeGuaranteedRef { $0.receive(line: line) } == true ? line.count : 0
        },
        body: { bytes, size, count, user in
            let body = UnsafeRawBufferPointer(start: bytes, count: size * count)
            guard let exchange = CurlCallbacks.exchange(user) else { return 0 }
            // If the lines of the head also arrive here, each arrives here first: see CurlLibrary.keepsFreedHeader.
            guard exchange.transfer.hasHead else { return exchange.accepts(line: body) ? body.count : 0 }
            return exchange.receive(body) ? body.count : Int(CSL_WRITE_PAUSE)
        },
        upload: { bytes, size, count, user in
            guard let exchange = CurlCallbacks.exchange(user) else { return Int(CSL_READ_ABORT) }
            return switch exchange.send(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count)) {
            case .bytes(let count): count
            case .wait: Int(CSL_READ_PAUSE)
            case .end: 0
            }
        },
        ready: { user, _, _, _, localPort in
            guard let exchange = CurlCallbacks.exchange(user) else { return 1 }
            exchange.transfer.localPort = localPort
            return exchange.transfer.loop?.maySend(exchange) == true ? 0 : 1
        },
        connect: { user, _, address in
            CurlCallbacks.exchange(user)?.openSocket(to: address, owner: user) ?? -1
        },
        progress: { user, _, _, _, _ in
            guard let exchange = CurlCallbacks.exchange(user), let handle = exchange.transfer.handle else { return 0 }
            exchange.transfer.hasCloseNotify = csl_easy_has_close_notify(handle.easy)
            return 0
        })

    /// The functions for a connection without an exchange; the user pointer is the ``CurlConnection``.
    static let connecting = csl_easy_callbacks(
        header: { bytes, size, count, user in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            if let user { Unmanaged<CurlConnection>.fromOpaque(user).takeUnretainedValue().receive(line: line) }
            return line.count
        },
        body: { _, size, count, _ in size * count },
        upload: { _, _, _, _ in Int(CSL_READ_ABORT) },
        ready: { user, _, _, _, _ in
            guard let user else { return 1 }
            return Unmanaged<CurlConnection>.fromOpaque(user).takeUnretainedValue().accepts() ? 0 : 1
        },
        connect: { user, _, address in
            guard let user else { return -1 }
            return Unmanaged<CurlConnection>.fromOpaque(user).takeUnretainedValue().openSocket(to: address)
        },
        progress: { _, _, _, _, _ in 0 })

    /// Returns the exchange that uses a handle.
    static func exchange(_ user: UnsafeMutableRawPointer?) -> CurlExchange? {
        user.flatMap { Unmanaged<CurlHandle>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.exchange } }?.takeUnretainedValue()
    }
}
