import CSystemLibraries
import Foundation

/// One of libcurl's handles, used for one exchange after the other. For who has the loop's turn only.
final class CurlHandle {
    /// libcurl's own.
    let easy: OpaquePointer
    /// What watches its sockets; `nil` where somebody waits for them by other means.
    private let driver: OpaquePointer?
    /// What it is used for now, which the loop keeps alive for as long. Unchecked: each callback reads it, and who has the turn is alone.
    @exclusivity(unchecked) private(set) var exchange: Unmanaged<CurlExchange>?
    private let errorBuffer: UnsafeMutablePointer<CChar>
    private static let errorSize = 256
    /// Whether what all exchanges have in common is set.
    private var isConfigured = false
    /// Whether something is set that the next exchange must not find.
    private var isSpecial = false
    /// Whether it uses the connections of a pool.
    private var isPooled = false
    /// Whether a connection that is being made is waited for, as it may take several exchanges.
    private var waitsForConnection = false

    /// A new handle; `nil` when there is no memory.
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

    /// What the callbacks get.
    var user: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// What libcurl says about the failure; empty when nothing.
    var errorText: String { String(cString: errorBuffer) }

    /// Before what may fail without saying anything: what was said of something else must not stand there.
    func forgetErrorText() { errorBuffer[0] = 0 }

    /// Makes the handle ready for an exchange.
    ///
    /// - Throws: ``TransportError`` where the library doesn't take what says whom to trust or which way to go: that is never left out.
    func prepare(for exchange: CurlExchange, _ settings: CurlSettings) throws(TransportError) {
        if !isConfigured { try configure(settings) }
        forgetErrorText()
        self.exchange = Unmanaged.passUnretained(exchange)
        // Passed as an argument, the text would be copied once more.
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

    /// Makes a new handle ready to connect, and to do no more.
    ///
    /// - Throws: ``TransportError``, as for an exchange.
    func prepare(for connection: CurlConnection, _ connector: CurlConnector) throws(TransportError) {
        try configure(connector.settings)
        csl_easy_set_callbacks(easy, CurlCallbacks.connecting, Unmanaged.passUnretained(connection).toOpaque(), nil)
        csl_easy_set_text(easy, CSL_OPTION_URL, connector.url)
        csl_easy_set_long(easy, CSL_OPTION_CONNECT_ONLY, 1)
        csl_easy_set_long(easy, CSL_OPTION_TLS_ALPN, 0)
        try connector.trust.apply(to: easy)
    }

    /// Lets go of what belongs to the exchange. What most exchanges have in common stays.
    func release() {
        exchange = nil
        if isPooled {
            // A reset leaves it as it is.
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

    /// Lets nothing of this exchange be known to the next one.
    func forget() { isSpecial = true }

    /// Uses the connections of a pool, and no others.
    func use(_ pool: OpaquePointer) {
        isPooled = true
        csl_easy_set_pointer(easy, CSL_OPTION_SHARE, UnsafeRawPointer(pool))
    }

    /// Closes the connection after the exchange.
    func forbidReuse() {
        isSpecial = true
        csl_easy_set_long(easy, CSL_OPTION_FORBID_REUSE, 1)
    }

    /// Calls the callback `progress` from now on: the last time when all has been read, and the connection is still there.
    func reportProgress() {
        isSpecial = true
        csl_easy_set_long(easy, CSL_OPTION_NO_PROGRESS, 0)
    }

    /// Whether nothing has to be set for an exchange but its URL and its fields: resetting a handle costs more than all of that.
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

/// What libcurl calls while it works, for who has the loop's turn, with the ``CurlHandle`` as its user's pointer: that never changes.
enum CurlCallbacks {
    /// The functions.
    static let all = csl_easy_callbacks(
        header: { bytes, size, count, user in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            guard let user else { return 0 }
            // Once for each line: counting the reference would take as long as taking the line.
            let exchange = Unmanaged<CurlHandle>.fromOpaque(user)._withUnsafeGuaranteedRef { $0.exchange }
            return exchange?._withUnsafeGuaranteedRef { $0.receive(line: line) } == true ? line.count : 0
        },
        body: { bytes, size, count, user in
            let body = UnsafeRawBufferPointer(start: bytes, count: size * count)
            guard let exchange = CurlCallbacks.exchange(user) else { return 0 }
            // Where the head's lines come this way, too, each comes here first: see CurlLibrary.keepsFreedHeader.
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

    /// Those of a connection that carries no exchange, with the ``CurlConnection`` as their user's pointer.
    static let connecting = csl_easy_callbacks(
        header: { _, size, count, _ in size * count }, body: { _, size, count, _ in size * count },
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

    /// The exchange that a handle is used for.
    static func exchange(_ user: UnsafeMutableRawPointer?) -> CurlExchange? {
        user.flatMap { Unmanaged<CurlHandle>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.exchange } }?.takeUnretainedValue()
    }
}
