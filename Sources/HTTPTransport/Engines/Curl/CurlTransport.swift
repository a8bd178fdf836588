import CSystemLibraries
public import Foundation

/// A transport on the system's libcurl: the default on Linux.
///
///     let transport = try CurlTransport()
///     let response = try await transport.send(ServiceRequest(url: url))
///     for try await piece in response.body { … }
///
/// It sends each request once: redirects and challenges are returned as responses. It doesn't use cookies or a cache. It enforces
/// deadlines itself, in milliseconds, and prevents libcurl from resending requests. Before an HTTP/1 connection is reused, its socket is
/// checked: if there is something to read, or the connection has ended, the request uses a new connection. If the server closes the
/// connection at that very moment, the exchange fails with ``TransportError/Code/connectionLost``. (With libcurl before 7.80, no connection
/// is reused.)
///
/// * It adds `Host`, `Content-Length` or `Transfer-Encoding`, and `Accept-Encoding` with the codings that it decodes, unless the request
///   sets them. The body isn't decoded if the request has `Range` or `Accept-Encoding: identity`.
/// * Compressed bodies arrive decoded; `Content-Encoding` and `Content-Length` stay in the head unchanged. Bodies are decoded on the
///   reader's task, in pieces of at most 64 kB, by the system's zlib, libbrotlidec and libzstd if they are available. Truncated or damaged
///   bodies, and bodies with data after their end, are errors; a body with an unsupported coding arrives unchanged.
/// * A slow reader slows the server down: about 256 kB wait at most, in addition to the kernel's buffers. Over HTTP/2, libcurl may buffer
///   up to its window of 32 MB per stream.
/// * A response with a status of 300 or above ends an upload. Another complete response of known length ends it if the server closes the
///   connection, if the upload is silent for the idle time, or over HTTP/2 if the server reads nothing for 3 seconds.
/// * Upload progress is reported on the loop's thread, or on the thread of another call: the closure must return at once.
///
/// One thread, with all signals blocked, runs all exchanges of a transport. The exception on Linux: if this thread is asleep, the caller's
/// thread sends the request. Child processes don't inherit the connections.
public final class CurlTransport: CancellableTransport {
    /// The transport shared by the whole process; `nil` if libcurl can't be used: ``CurlLibrary/open()`` throws the reason.
    public static var shared: CurlTransport? { try? attempt.get() }
    /// The result of creating it.
    static let attempt = Result { try CurlTransport() }

    /// The maximum number of prepared policies to keep, which limits memory if a program creates a policy for each request.
    private static let keptPolicies = 64

    private let settings: CurlSettings
    let engine: CurlEngine
    /// A ``CurlTaskExecutor``, if the system supports task executors.
    let loopExecutor: (any Executor)?
    private let standardTrust: CurlTrust
    private let prepared = Locked<[UInt64: CurlTrust]>([:])

    /// Creates a transport with separate connections.
    ///
    /// - Throws: ``CurlUnavailable`` if libcurl is missing or too old, ``TransportError`` if it doesn't support the trust policy or the
    ///   proxy's authorities, or if the proxy or one of its exceptions is invalid.
    public init(configuration: Configuration = Configuration()) throws {
        let library = try CurlLibrary.open()
        settings = try CurlSettings(library: library, configuration: configuration)
        standardTrust = try CurlTrust(configuration.trust, library: library)
        engine = try CurlEngine(settings)
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            loopExecutor = CurlTaskExecutor(engine)
        } else {
            loopExecutor = nil
        }
    }

    deinit {
        engine.close()
    }

    /// The library in use.
    public var library: CurlLibrary { settings.library }

    /// The capabilities, which depend on the library.
    public var capabilities: TransportCapabilities {
        let library = settings.library
        var capabilities: TransportCapabilities = [
            .backPressure, .streamingUploads, .trailers, .metrics, .informationalResponses, .bodiesWithGET, .expectations,
            .webSockets,
        ]
        capabilities.formUnion(CurlTrust.capabilities(of: library))
        if library.features.contains(.http2), settings.configuration.httpVersion != .http1 { capabilities.insert(.http2) }
        if library.features.contains(.ipv6) { capabilities.insert(.ipv6Literals) }
        if library.reportsConnections { capabilities.formUnion([.connectDeadlines, .proxyAuthentication]) }
        return capabilities
    }

    /// Invalidates the transport: exchanges in progress continue to their end, new ones are refused. Releasing the last reference does the
    /// same.
    public func invalidate() {
        engine.close()
    }

    /// Sends a request.
    ///
    /// - Throws: ``TransportError``; `CancellationError` if the task is cancelled; ``RequestBodyError`` if the body can't be read, and any
    ///   error that a stream of the request's body throws.
    public func send(_ request: ServiceRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        if let opening = request.webSocket { return try await open(opening, request) }
        let exchange = try exchange(for: request)
        let head = try await exchange.head()
        return try exchange.response(to: request, head)
    }

    /// Sends a request; the exchange ends with ``CallCancelled`` when its call is cancelled.
    ///
    /// - Throws: The errors of ``Transport/send(_:)``, and ``CallCancelled``.
    public func send(_ request: ServiceRequest, cancellation: CallCancellation) async throws -> TransportResponse {
        try Task.checkCancellation()
        if let opening = request.webSocket { return try await open(opening, request, cancellation) }
        let exchange = try exchange(for: request)
        let number = cancellation.onCancel { exchange.abandon($0) }
        do {
            let head = try await exchange.head()
            // The body removes the handler when it is read or released.
            return try exchange.response(to: request, head) { cancellation.remove(number) }
        } catch {
            cancellation.remove(number)
            throw error
        }
    }

    /// Creates the exchange for a request.
    ///
    /// - Parameter probe: If set, evaluates the server's trust and sends no request.
    func exchange(for request: ServiceRequest, probe: TrustProbe? = nil) throws -> CurlExchange {
        // Before 7.80, libcurl doesn't report when a connection is established: the wait for the response would count as connecting.
        try request.timeouts.check(capabilities)
        let outgoing = try CurlRequest(request, codings: ContentCoding.acceptable)
        let trust = try trust(of: request)
        try trust.checkPins(callTo: outgoing.origin)
        return CurlExchange(outgoing, from: request, trust: trust, probe: probe, engine: engine)
    }

    /// Opens a WebSocket.
    @inline(never)
    private func open(
        _ opening: WebSocketOpening, _ request: ServiceRequest, _ cancellation: CallCancellation? = nil
    ) async throws -> TransportResponse {
        try request.timeouts.check(capabilities)
        let socket = try CurlWebSocket(request, opening, settings: settings, trust: try trust(of: request))
        let number = cancellation?.onCancel { socket.abandon($0) }
        defer { if let number { cancellation?.remove(number) } }
        return try await socket.response()
    }

    /// Returns a policy in libcurl's form. Prepared policies are kept, because the requests of one client share theirs.
    private func trust(of request: ServiceRequest) throws(TransportError) -> CurlTrust {
        guard let policy = request.trust else { return standardTrust }
        if let known = prepared.withLock({ $0[policy.storageID] }) { return known }
        let trust = try CurlTrust(policy, library: settings.library)
        prepared.withLock { prepared in
            if prepared.count >= Self.keptPolicies { prepared = [:] }
            prepared[policy.storageID] = trust
        }
        return trust
    }
}

extension CurlTransport {
    /// The versions of HTTP to use.
    public enum HTTPVersion: Sendable, Hashable {
        /// Only HTTP/1.1.
        case http1
        /// HTTP/2 over TLS if the server offers it, otherwise HTTP/1.1.
        case http2WhereOffered
        /// HTTP/2 from the start, even without TLS: for servers that are known to support it (RFC 9113 §3.3). libcurl 7.88 can't reuse
        /// connections without TLS: each exchange then has its own.
        case http2WithPriorKnowledge
    }

    /// The proxies to use.
    public enum Proxy: Sendable, Hashable {
        /// The proxies in the environment: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`. Connections to this machine (`localhost`
        /// and the names below it, 127.0.0.0/8 and ::1, in any spelling) use no proxy. If the environment names a proxy when the transport
        /// is created, it is read for each exchange. Otherwise it is never read again, and proxies set later require a new transport.
        case fromEnvironment
        /// No proxy.
        case none
        /// The proxy at a URL with the scheme `http`, `https`, `socks5` or `socks5h` (which resolves names itself), except for these hosts
        /// and their subdomains: names (`*.example.com` and `.example.com` mean `example.com`), addresses, and networks such as
        /// `10.0.0.0/8`; `*` means all hosts. Addresses match in any spelling, and version 4 addresses also as `::ffff:192.0.2.1`.
        /// Exceptions can't have ports. Credentials in the URL are sent to the proxy at once, to HTTP proxies as Basic (RFC 7617); the
        /// client's `proxyAuthenticationProvider` answers challenges. The transport's initializer throws for a proxy with another scheme
        /// and for an exception that would match no host.
        case url(URL, exceptions: [String] = [])
    }

    /// The settings of a ``CurlTransport``.
    public struct Configuration: Sendable {
        /// The maximum number of exchanges that wait for their heads at a time, at least 1. Others are queued: first in, first out for each
        /// origin, and round robin between origins. Exchanges whose bodies are being read don't count. Each takes a descriptor, and one
        /// more if its body is a file: consider the process's limit. Default 256.
        ///
        /// Once half of them are in use, an origin may start another exchange only if it has fewer than an eighth of the free ones. This
        /// leaves some for others if an origin doesn't answer.
        public var maximumConcurrentExchanges = 256
        /// The maximum number of exchanges for one origin, at least 1, so that an origin that doesn't answer leaves room for others. A
        /// single origin gets this many even if few are left for others. Default: half of ``maximumConcurrentExchanges``, at most 128.
        public var maximumConcurrentExchangesPerOrigin: Int {
            get { concurrentExchangesPerOrigin ?? min(128, max(1, maximumConcurrentExchanges - maximumConcurrentExchanges / 2)) }
            set { concurrentExchangesPerOrigin = newValue }
        }
        private var concurrentExchangesPerOrigin: Int?
        /// The maximum number of queued exchanges for one origin, at least 1; `nil` for no limit. Further ones fail at once with
        /// ``TransportError/Code/tooManyWaiting``. Default `nil`: each takes a few kilobytes until its deadline.
        public var maximumWaitingExchangesPerOrigin: Int?
        /// The maximum number of connections to one host at a time; `nil` for no limit other than that of the exchanges. Default `nil`.
        /// Connections through a proxy are separate for each set of proxy credentials: this limit and ``maximumIdleConnections`` apply to
        /// each set.
        public var maximumConnectionsPerHost: Int?
        /// The maximum number of open connections, in use or idle. Above it, a connection that becomes idle is closed instead of being
        /// kept. Default 256.
        public var maximumIdleConnections = 256
        /// The versions of HTTP. Default: HTTP/2 if offered.
        public var httpVersion = HTTPVersion.http2WhereOffered
        /// The proxies. Default: those in the environment.
        public var proxy = Proxy.fromEnvironment
        /// The authorities for proxies with the scheme `https`; values other than the system's require libcurl 7.77. A request's
        /// ``TrustPolicy`` applies to the server, not to the proxy. Default: the system's.
        public var proxyAuthorities = CertificateAuthorities.system
        /// The path of a Unix-domain socket for all connections, whatever the host and the proxies. Default `nil`.
        public var unixSocket: String?
        /// Whether a body that ends with its TLS connection is complete even if the server hasn't sent TLS's close_notify. By default such
        /// a body is ``TransportError/Code/truncated``, because anyone on the network could have cut it off (RFC 9112 §8). Set this for
        /// servers that are known to omit the alert. Bodies with a length or in chunks don't need it.
        public var acceptsUnannouncedEnds = false
        /// The path of a file for the keys of all secure connections, for programs such as Wireshark: the file makes it possible to decrypt
        /// the connections. It is created with access for its owner only, and refused if others have access to it. Requires OpenSSL.
        /// Default `nil`: the environment variable `SSLKEYLOGFILE` is ignored unless the program copies it to this property.
        public var keyLogFile: String?
        /// The trust policy for requests without their own. Its identity is presented to every origin that requests one; the identity of a
        /// client's own policy is presented only to the origin of its service root.
        public var trust = TrustPolicy()

        /// Creates the default configuration.
        public init() {}
    }
}

extension CurlTransport: TrustEvaluating {
    /// Connects to the URL's host, checks its certificates and pins, and closes the connection without sending a request.
    ///
    /// - Throws: The same ``TransportError`` as a call; `badRequest` for a URL that isn't `https`, `unsupported` if the library doesn't
    ///   expose certificates.
    public func evaluateTrust(of url: URL, policy: TrustPolicy?, timeout: Duration) async throws -> TrustEvaluation {
        let request = try TrustProbe.request(to: url, policy: policy, timeout: timeout)
        guard capabilities.contains(.pinning) else {
            throw TransportError(
                .unsupported,
                "libcurl \(library.version) with \(library.tls ?? "no TLS") doesn't show the certificates it has verified: install 7.80 or "
                    + "later with OpenSSL.")
        }
        let probe = TrustProbe()
        return try await probe.evaluation(of: url) {
            let head = try await exchange(for: request, probe: probe).head()
            if head.isOfTunnel {
                throw TransportError(
                    .proxyRefused,
                    "The proxy for \(url.host() ?? "the host") requires credentials. Trust can be evaluated only with those in the URL of "
                        + "CurlTransport.Configuration.proxy.")
            }
        }
    }
}
