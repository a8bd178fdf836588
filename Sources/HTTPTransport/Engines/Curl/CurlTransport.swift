import CSystemLibraries
public import Foundation

/// A transport on the system's libcurl: the default on Linux.
///
///     let transport = try CurlTransport()
///     let response = try await transport.send(ServiceRequest(url: url))
///     for try await piece in response.body { … }
///
/// It sends what the request says, once: redirects and challenges come back as responses, there are no cookies and no cache, and the
/// deadlines are kept here, to the millisecond. Nothing is sent a second time, also where libcurl by itself would. A kept connection of HTTP/1
/// is looked at before it carries another request: where it has something to read, or has ended, the request goes out over a new one. On a
/// connection that the server closes at that very moment, the exchange fails with ``TransportError/Code/connectionLost``. (With a libcurl
/// before 7.80 no connection is kept.)
///
/// * Of its own it adds `Host`, `Content-Length` or `Transfer-Encoding`, and `Accept-Encoding` with the codings it undoes; a request that
///   names its own gets that one. A request with `Range`, or with `Accept-Encoding: identity`, gets the body as it comes.
/// * Compressed bodies arrive decoded, while `Content-Encoding` and `Content-Length` stay in the head as they were. They are decoded on the
///   reader's task, piece by piece of at most 64 kB, by the system's zlib, libbrotlidec and libzstd, as far as these are there. Bytes that
///   end too early, are damaged, or go on behind their end are errors; a body with a coding that can't be undone arrives as it is.
/// * A reader that is slow slows the server down: some 256 kB wait at most, beside what the kernel holds. Over HTTP/2 libcurl itself may
///   hold up to its window of 32 MB per stream.
/// * A refusal, from status 300 on, ends an upload. So does another answer that is complete by its length, where the server closes the connection
///   behind it, where the body goes silent for the idle time, or over HTTP/2 where the server takes nothing of it for 3 seconds.
/// * Upload progress is told on the loop's thread, or on that of another call: a closure must return at once.
///
/// One thread, with all signals blocked, runs all exchanges of a transport. On Linux, a request that finds this thread asleep is sent on the
/// caller's thread. Child processes don't inherit the connections.
public final class CurlTransport: Transport {
    /// The transport for the whole process; `nil` where libcurl can't be used: ``CurlLibrary/open()`` says why.
    public static var shared: CurlTransport? { try? attempt.get() }
    /// How it went to make it.
    static let attempt = Result { try CurlTransport() }

    /// Prepared policies that are kept, at most: a program has few, but it may make one for each request.
    private static let keptPolicies = 64

    private let settings: CurlSettings
    let engine: CurlEngine
    /// A ``CurlTaskExecutor``, where the system has such.
    let loopExecutor: (any Executor)?
    private let standardTrust: CurlTrust
    private let prepared = Locked<[UInt64: CurlTrust]>([:])

    /// A transport with connections of its own.
    ///
    /// - Throws: ``CurlUnavailable`` when libcurl isn't there or too old, ``TransportError`` when it can't do what the trust policy and
    ///   the proxy's authorities ask for, or the proxy or one of its exceptions can't be one.
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

    /// The library that does the work.
    public var library: CurlLibrary { settings.library }

    /// What it can do: most things, as far as the library can.
    public var capabilities: TransportCapabilities {
        let library = settings.library
        var capabilities: TransportCapabilities = [
            .backPressure, .streamingUploads, .trailers, .metrics, .informationalResponses, .bodiesWithGET,
        ]
        capabilities.formUnion(CurlTrust.capabilities(of: library))
        if library.features.contains(.http2), settings.configuration.httpVersion != .http1 { capabilities.insert(.http2) }
        if library.features.contains(.ipv6) { capabilities.insert(.ipv6Literals) }
        if library.reportsConnections { capabilities.formUnion([.connectDeadlines, .proxyAuthentication]) }
        return capabilities
    }

    /// Ends the transport: exchanges that are under way go on to their end, new ones are refused. The last reference does the same.
    public func invalidate() {
        engine.close()
    }

    /// Sends a request.
    ///
    /// - Throws: ``TransportError``; `CancellationError` when the task is cancelled; ``RequestBodyError`` when the body can't be read, and
    ///   what a stream of the request's body throws.
    public func send(_ request: ServiceRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        let exchange = try exchange(for: request)
        let head = try await exchange.head()
        return try exchange.response(to: request, head)
    }

    /// The exchange that a request becomes.
    ///
    /// - Parameter probe: takes the request's place once the connection stands.
    func exchange(for request: ServiceRequest, probe: TrustProbe? = nil) throws -> CurlExchange {
        // Before 7.80 libcurl doesn't tell when a connection stands: the wait for the answer would be counted.
        try request.timeouts.check(capabilities)
        let outgoing = try CurlRequest(request, codings: ContentCoding.acceptable)
        let trust = try trust(of: request)
        try trust.checkPins(callTo: outgoing.origin)
        return CurlExchange(outgoing, from: request, trust: trust, probe: probe, engine: engine)
    }

    /// A policy as libcurl takes it. What was prepared for a policy is kept, since requests of one client share it.
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
    /// Which versions of HTTP are used.
    public enum HTTPVersion: Sendable, Hashable {
        /// HTTP/1.1 only.
        case http1
        /// HTTP/2 over TLS where the server offers it, else HTTP/1.1.
        case http2WhereOffered
        /// HTTP/2 at once, also without TLS: for servers that are known to speak it (RFC 9113 §3.3). libcurl 7.88 can't use a connection without
        /// TLS again: each exchange has one of its own there.
        case http2WithPriorKnowledge
    }

    /// The proxies on the way.
    public enum Proxy: Sendable, Hashable {
        /// What the environment says: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`. Connections to this machine go through none of them:
        /// to `localhost` and the names below it, 127.0.0.0/8 and ::1, in any spelling. The environment is asked for each exchange where it names a
        /// proxy when the transport is made. Where it names none by then, no exchange asks, and one that is set later goes unseen: make
        /// another transport.
        case fromEnvironment
        /// None.
        case none
        /// The proxy at a URL, of scheme `http`, `https`, `socks5` or `socks5h` (which resolves names itself), but for these hosts and
        /// their subdomains: names (`*.example.com` and `.example.com` are `example.com`), addresses, and networks such as `10.0.0.0/8`;
        /// `*` is all hosts. An address is the same however it is spelled, and one of version 4 is `::ffff:192.0.2.1` too. There is no
        /// exception for one port. Credentials in the URL are sent to it at once, to one of HTTP as Basic (RFC 7617); the client's
        /// `proxyAuthenticationProvider` answers what it asks for. A proxy of another scheme, or an exception that would match nothing,
        /// can't be used: the transport isn't made.
        case url(URL, exceptions: [String] = [])
    }

    /// What can be set of a ``CurlTransport``.
    public struct Configuration: Sendable {
        /// The most exchanges that wait for their heads at one time, at least 1; the others wait for their turn: in order to one origin, and
        /// the origins by turns. Exchanges whose bodies are being read don't count. Each takes a descriptor, and one more where its body is
        /// a file: mind the process's limit. Default 256.
        ///
        /// When half of them are under way, the rest is shared: an origin gets another one only while it has less than an eighth of those that are
        /// left. Origins that don't answer leave some for others that way.
        public var maximumConcurrentExchanges = 256
        /// The most of them that go to one origin, at least 1, so that one that doesn't answer leaves room for the others. An origin by itself
        /// gets as many, whatever is left then for others. Default: half of ``maximumConcurrentExchanges``, at most 128.
        public var maximumConcurrentExchangesPerOrigin: Int {
            get { concurrentExchangesPerOrigin ?? min(128, max(1, maximumConcurrentExchanges - maximumConcurrentExchanges / 2)) }
            set { concurrentExchangesPerOrigin = newValue }
        }
        private var concurrentExchangesPerOrigin: Int?
        /// The most exchanges that wait for their turn to one origin, at least 1; `nil` for no bound. Another one fails at once with
        /// ``TransportError/Code/tooManyWaiting``. Default `nil`: each takes a few kilobytes until its time is over.
        public var maximumWaitingExchangesPerOrigin: Int?
        /// The most connections to one host at a time; `nil` for no bound but that of the exchanges. Default `nil`. Each set of
        /// credentials that is shown to a proxy has connections of its own: this bound and ``maximumIdleConnections`` count for each by itself.
        public var maximumConnectionsPerHost: Int?
        /// The most connections that are open at a time, in use or not, before one that gets free is closed instead of being kept for later
        /// exchanges. Default 256.
        public var maximumIdleConnections = 256
        /// The versions of HTTP. Default: 2 where offered.
        public var httpVersion = HTTPVersion.http2WhereOffered
        /// The proxies. Default: from the environment.
        public var proxy = Proxy.fromEnvironment
        /// Who vouches for a proxy of scheme `https`; needs libcurl 7.77 where it isn't the system's. A request's own ``TrustPolicy`` is about
        /// the server behind it. Default: the system's.
        public var proxyAuthorities = CertificateAuthorities.system
        /// The path of a Unix-domain socket that all connections go to, whatever the host and the proxies. Default none.
        public var unixSocket: String?
        /// Whether a body that ends where a TLS connection ends is complete although the server hasn't announced the end by TLS's close_notify. By
        /// default such a body is ``TransportError/Code/truncated``: anybody on the way could have cut it off (RFC 9112 §8). Set it for servers that
        /// are known to do so. Bodies with a length or in chunks don't need the notice.
        public var acceptsUnannouncedEnds = false
        /// The path of a file to which the keys of all secure connections are written, for programs such as Wireshark: whoever reads it can read what
        /// goes over them. It is made readable by its owner only, and refused where others may read it; needs OpenSSL. Default none: the variable
        /// `SSLKEYLOGFILE` of the environment counts for nothing, unless a program sets this to it.
        public var keyLogFile: String?
        /// Whom to trust where a request doesn't say. An identity in it is shown to every origin that asks for one; that of a client's own
        /// policy goes to the origin of its service root only.
        public var trust = TrustPolicy()

        /// The defaults.
        public init() {}
    }
}

extension CurlTransport: TrustEvaluating {
    /// Connects to the URL's host, checks its certificates and pins, and closes the connection: no request is sent.
    ///
    /// - Throws: the same ``TransportError`` as a call; `badRequest` for a URL that isn't `https`, `unsupported` where the library doesn't
    ///   show its certificates.
    public func evaluateTrust(of url: URL, policy: TrustPolicy?, timeout: Duration) async throws -> TrustEvaluation {
        let request = try TrustProbe.request(to: url, policy: policy, timeout: timeout)
        guard capabilities.contains(.pinning) else {
            throw TransportError(
                .unsupported, "libcurl \(library.version) with \(library.tls ?? "no TLS") doesn't show the certificates it has verified.")
        }
        let probe = TrustProbe()
        return try await probe.evaluation(of: url) {
            let head = try await exchange(for: request, probe: probe).head()
            if head.isOfTunnel {
                throw TransportError(
                    .proxyRefused,
                    "The proxy on the way to \(url.host() ?? "the host") wants credentials: a check without a call has only those in the URL of "
                        + "CurlTransport.Configuration.proxy.")
            }
        }
    }
}
