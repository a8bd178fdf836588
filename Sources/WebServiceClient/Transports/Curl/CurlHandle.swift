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
        let needsHTTP1 = exchange.transfer.loop?.needingHTTP1.contains(exchange.request.origin) == true
        let passesProxies = settings.passesProxies(to: exchange.request.origin)
        guard needsHTTP1 || passesProxies || !isPlain(exchange) else { return }
        isSpecial = true
        if passesProxies { settings.passProxies(easy) }
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
