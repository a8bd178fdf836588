import Dispatch
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport on Foundation's `URLSession`, in the configuration that is safe on every platform.
///
///     let response = try await URLSessionTransport.shared.send(ServiceRequest(url: url))
///     for try await piece in response.body { … }
///
/// It sends each request once, with the exceptions on Linux below: redirects and challenges are returned as responses, there are no
/// cookies, no cache and no stored credentials, and the deadlines are kept here. In addition, URLSession behaves as follows:
///
/// * It adds `Accept`, `Accept-Encoding`, `Accept-Language`, `User-Agent` and `Connection` if the request lacks them. Fields with the same
///   name are sent as one, joined by commas; response fields are joined as well, and ordered by name. A body without a `Content-Type` is
///   sent as `application/octet-stream`.
/// * Compressed bodies arrive decoded; `Content-Encoding` and `Content-Length` stay in the head unchanged. ``ResponseBody/expectedLength``
///   is `nil` then.
/// * It can't be slowed down: an unread body accumulates up to ``Configuration/bufferLimit``, and then the exchange fails. On Linux, a
///   connection that receives bytes without pause blocks all others, and its own cancellation as well; the caller is notified at once in
///   any case.
/// * A body of several files, or a stream, is written to a temporary file first.
/// * GET and HEAD can't have a body (`unsupported`). ``ServiceTimeouts/connect`` is rejected (`unsupported`).
///
/// On Apple platforms it is ``TrustEvaluating``.
///
/// Known gaps, for which another transport is needed: trailers, the version of the protocol, and on Linux hosts that are IPv6 literals and
/// every ``TrustPolicy`` other than the system's (`unsupported`). With swift-corelibs-foundation, as on Linux, some behavior can't be
/// corrected from outside:
///
/// * **A response with trailer fields (RFC 9110 §6.5) ends the process.** Don't use this transport with services that send them.
/// * **So does a redirect whose `Location` begins with `//` and names an IPv6 literal or a host with escapes**, such as `//[::1]/`.
/// * **So does a connection that ends within the head of a response.**
/// * **An upload from a file or a stream may end it as well**, if its exchange ends before its body: an early response, a reset, a
///   cancellation.
/// * If a kept connection breaks, a call with a body hangs until a deadline ends it, and libcurl resends one without a body.
/// * A response header without a blank after its colon fails the exchange (`unreadableResponse`).
/// * The body of a redirect is held back until it is complete. The body of a 3xx without a usable `Location` is lost: such an exchange
///   fails with `truncated` if its length was declared; otherwise its body is empty.
/// * Proxies are those in the environment (`http_proxy`, `https_proxy`, `no_proxy`). `Proxy-Authorization` is rejected over https
///   (`unsupported`); over http it is sent to the peer, which is the server if no proxy is set.
/// * The environment variable `URLSessionDebugLibcurl` prints every header, including secrets.
public final class URLSessionTransport: CancellableTransport {
    /// The default transport of clients on Apple platforms, and of those without a usable libcurl: one session for all, because connections
    /// are kept per session.
    public static let shared = URLSessionTransport()

    private let standard: TrustedSession
    #if canImport(Security)
    private let trusted = TrustedSessions()
    #endif
    private let timers = DispatchQueue(label: "WebServiceClient.URLSessionTransport.timers")
    private let spoolFolder: URL
    private let bufferLimit: Int
    private let configuration: Configuration

    /// Creates a transport with a separate session.
    public init(configuration: Configuration = Configuration()) {
        spoolFolder = configuration.spoolFolder
        bufferLimit = max(64 * 1024, configuration.bufferLimit)
        self.configuration = configuration
        standard = TrustedSession(Self.sessionConfiguration(configuration), exchanges: URLSessionExchanges())
    }

    /// The capabilities: on Apple platforms HTTP/2, IPv6 literals, WebSockets and everything in a ``TrustPolicy``, with client identities
    /// only in PKCS#12; on Linux nothing beyond the plain exchange.
    public var capabilities: TransportCapabilities {
        #if canImport(FoundationNetworking)
        []
        #else
        [.http2, .ipv6Literals, .pinning, .clientCertificates, .ownCertificateAuthorities, .minimumTLSVersion, .webSockets]
        #endif
    }

    /// Invalidates the transport: exchanges in progress continue to their end, new ones are refused. Releasing the last reference does the
    /// same.
    public func invalidate() {
        standard.invalidate()
        #if canImport(Security)
        trusted.invalidate()
        #endif
    }

    /// Sends a request.
    ///
    /// Upload progress is reported on the queue that serves all exchanges of the transport: the closure must return at once.
    ///
    /// - Throws: ``TransportError``; `CancellationError` if the task is cancelled; ``RequestBodyError`` if the body can't be read, and any
    ///   error that a stream of the request's body throws.
    public func send(_ request: ServiceRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        try request.checkTrust(capabilities)
        try request.timeouts.check(capabilities)
        return try await send(request, over: try session(for: request))
    }

    /// Whether the request has no body, or one in memory or a file. Bodies that are written to a file first may stall before there is an
    /// exchange to end.
    public func canCancel(_ request: ServiceRequest) -> Bool {
        guard let body = request.body else { return true }
        return body.data != nil || body.file != nil
    }

    /// Sends a request; the exchange ends with ``CallCancelled`` when its call is cancelled.
    ///
    /// - Throws: The errors of ``Transport/send(_:)``, and ``CallCancelled``.
    public func send(_ request: ServiceRequest, cancellation: CallCancellation) async throws -> TransportResponse {
        try Task.checkCancellation()
        try request.checkTrust(capabilities)
        try request.timeouts.check(capabilities)
        return try await send(request, over: try session(for: request), cancellation: cancellation)
    }

    /// Sends a request that has passed all checks.
    func send(
        _ request: ServiceRequest, over session: TrustedSession, cancellation: CallCancellation? = nil
    ) async throws -> TransportResponse {
        if let opening = request.webSocket {
            #if canImport(FoundationNetworking)
            _ = opening
            throw TransportError(.unsupported, "URLSession opens no WebSockets on this platform: use CurlTransport.")
            #else
            return try await open(opening, request, over: session, cancellation)
            #endif
        }
        let deadlines = ExchangeDeadlines(request, start: .now)
        let outgoing = try URLSessionRequest(request)
        let upload = try await prepare(outgoing, deadlines: deadlines)
        let exchange = URLSessionExchange(
            request, host: outgoing.host, upload: upload, deadlines: deadlines, bufferLimit: bufferLimit)
        let number = cancellation?.onCancel { exchange.abandon($0) }
        var isAnswered = false
        defer { if !isAnswered, let number { cancellation?.remove(number) } }
        let head = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard exchange.begin(continuation, timers: timers) else { return }
                session.start(exchange, outgoing.urlRequest, upload)
            }
        } onCancel: {
            exchange.abandon(CancellationError())
        }
        let meter = request.downloadProgress.map { DownloadMeter(total: head.expectedLength, report: $0) }
        let body = ResponseBody(
            expectedLength: head.expectedLength,
            next: {
                let piece = try await exchange.next()
                meter?.passed(piece)
                return piece
            },
            cancel: {
                if let number { cancellation?.remove(number) }
                exchange.drop()
            })
        isAnswered = true
        return TransportResponse(status: head.status, headers: head.headers, url: request.url, body: body)
    }
}

extension URLSessionTransport {
    private func session(for request: ServiceRequest) throws -> TrustedSession {
        #if canImport(Security)
        if let trust = request.trust, !trust.isStandard {
            let pins = request.origin.flatMap { trust.pins(forHost: $0.host) }
            return try trusted.session(for: trust, pins: pins, sessionConfiguration)
        }
        #endif
        return standard
    }

    /// The configuration common to the sessions of this transport, without the trust.
    var sessionConfiguration: URLSessionConfiguration { Self.sessionConfiguration(configuration) }

    private static func sessionConfiguration(_ configuration: Configuration) -> URLSessionConfiguration {
        let session = URLSessionConfiguration.ephemeral
        session.urlCache = nil
        session.requestCachePolicy = .reloadIgnoringLocalCacheData
        session.httpCookieStorage = nil
        session.httpShouldSetCookies = false
        session.httpCookieAcceptPolicy = .never
        session.urlCredentialStorage = nil
        session.timeoutIntervalForRequest = URLSessionRequest.engineTimeout
        session.timeoutIntervalForResource = URLSessionRequest.engineTimeout
        session.httpMaximumConnectionsPerHost = max(1, configuration.maximumConnectionsPerHost)
        #if !canImport(FoundationNetworking)
        session.waitsForConnectivity = false
        #endif
        return session
    }

    /// Prepares the body within the time to the first byte: a stream that stalls must not hold the call forever.
    private func prepare(_ outgoing: URLSessionRequest, deadlines: ExchangeDeadlines) async throws -> URLSessionUpload {
        let folder = spoolFolder
        guard let body = outgoing.body, body.data == nil, body.file == nil else {
            if let due = deadlines.dueWhileWaiting(), due.instant <= .now { throw deadlines.error(due.code, host: outgoing.host) }
            return try await URLSessionUpload.prepare(outgoing.body, folder: folder)
        }
        let lastWritten = Locked<MonotonicInstant?>(nil)
        return try await deadlines.whileWaiting(for: outgoing.host, lastSent: { lastWritten.withLock { $0 } }) {
            try await URLSessionUpload.prepare(body, folder: folder) { lastWritten.withLock { $0 = .now } }
        }
    }
}

extension URLSessionTransport {
    /// The settings of a ``URLSessionTransport``.
    public struct Configuration: Sendable {
        /// The maximum number of connections to one host at a time, at least 1. Default 6.
        public var maximumConnectionsPerHost = 6

        /// The maximum number of bytes of one response's body that wait for their reader, at least 64 KiB. Default 64 MiB.
        ///
        /// URLSession can't be slowed down, so a body that arrives faster than it is read accumulates. Above this limit the transfer ends
        /// with ``TransportError/Code/readerTooSlow``.
        public var bufferLimit = 64 * 1024 * 1024

        /// The folder for bodies that URLSession can't send directly (streams, several files) and that are written to a file first. Only
        /// the owner can read such a file, and it is removed when its exchange ends. Default: the system's folder for temporary files.
        public var spoolFolder: URL = FileManager.default.temporaryDirectory

        /// Creates the default configuration.
        public init() {}
    }
}

#if canImport(Security)
public import Foundation

extension URLSessionTransport: TrustEvaluating {
    /// Connects to the URL's host in a separate session, so that no kept connection is used, checks its certificates and pins, and ends the
    /// handshake without sending a request.
    ///
    /// The evaluation doesn't contain the version of TLS, which isn't known by then.
    ///
    /// - Throws: The same ``TransportError`` as a call; `badRequest` for a URL that isn't `https`.
    public func evaluateTrust(of url: URL, policy: TrustPolicy?, timeout: Duration) async throws -> TrustEvaluation {
        try Task.checkCancellation()
        let request = try TrustProbe.request(to: url, policy: policy, timeout: timeout)
        try policy?.check(capabilities, callTo: request.origin)
        let probe = TrustProbe()
        let session = try TrustedSession(policy ?? TrustPolicy(), sessionConfiguration, probe: probe)
        return try await probe.evaluation(of: url) {
            _ = try await send(request, over: session)
        }
    }
}
#endif
