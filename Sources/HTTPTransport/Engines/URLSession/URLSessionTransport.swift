import Dispatch
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport on Foundation's `URLSession`, used in the one way that is safe on every platform.
///
///     let response = try await URLSessionTransport.shared.send(ServiceRequest(url: url))
///     for try await piece in response.body { … }
///
/// It sends each request once, but for what is said below of Linux: redirects and challenges come back as responses, there are no cookies, no cache
/// and no stored credentials, and the deadlines are kept here. What URLSession does beside that:
///
/// * It adds `Accept`, `Accept-Encoding`, `Accept-Language`, `User-Agent` and `Connection` where the request hasn't got them. Fields of one
///   name go out as one, joined by commas; so do those of a response come back, in the order of their names. A body without a
///   `Content-Type` goes out as `application/octet-stream`.
/// * Compressed bodies arrive decoded, while `Content-Encoding` and `Content-Length` stay in the head as they were. Then
///   ``ResponseBody/expectedLength`` is `nil`.
/// * It can't be slowed down: a body that isn't read piles up to ``Configuration/bufferLimit``, and then the exchange fails. On Linux
///   a connection over which bytes pour in without a pause keeps all others waiting, and its own cancellation as well; the caller is told
///   at once in any case.
/// * A body of several files, or a stream, is written to a temporary file first.
/// * GET and HEAD carry no body (`unsupported`). ``ServiceTimeouts/connect`` is refused (`unsupported`).
///
/// On Apple platforms it is ``TrustEvaluating``.
///
/// Known gaps, which another transport closes: trailers, the version of the protocol, and on Linux hosts that are IPv6 literals and every
/// ``TrustPolicy`` but the system's (`unsupported`). Where URLSession is swift-corelibs-foundation's, as on Linux, some of what a
/// server may send can't be made good from outside:
///
/// * **A response with trailer fields (RFC 9110 §6.5) ends the process.** Don't use this transport with services that send them.
/// * **So does a redirect whose `Location` begins with `//` and names an IPv6 literal or a host with escapes**, such as `//[::1]/`.
/// * **So does a connection that ends within the head of a response.**
/// * **An upload from a file or a stream may end it as well**, when its exchange ends before its body: an early answer, a reset, a
///   cancellation.
/// * On a kept connection that dies, a call with a body hangs until a deadline ends it, and one without a body is sent again by libcurl.
/// * A response header without a blank after its colon fails the exchange (`unreadableResponse`).
/// * The body of a redirect is held back until it is complete. That of a 3xx without a usable `Location` is lost: such an exchange fails
///   with `truncated` where its length was declared, else its body is empty.
/// * Proxies come from the environment (`http_proxy`, `https_proxy`, `no_proxy`). `Proxy-Authorization` is refused by https (`unsupported`); by
///   http it goes to whoever answers, which is the server where there is no proxy.
/// * The variable `URLSessionDebugLibcurl` prints every header, secrets included.
public final class URLSessionTransport: Transport {
    /// The transport that clients use by default on Apple platforms, and where libcurl can't be used: one session for all, since connections
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

    /// A transport with a session of its own.
    public init(configuration: Configuration = Configuration()) {
        spoolFolder = configuration.spoolFolder
        bufferLimit = max(64 * 1024, configuration.bufferLimit)
        self.configuration = configuration
        standard = TrustedSession(Self.sessionConfiguration(configuration), exchanges: URLSessionExchanges())
    }

    /// What it can do: on Apple platforms HTTP/2, IPv6 literals and all that a ``TrustPolicy`` asks for, client identities in PKCS#12 only; on
    /// Linux nothing beyond the plain exchange.
    public var capabilities: TransportCapabilities {
        #if canImport(FoundationNetworking)
        []
        #else
        [.http2, .ipv6Literals, .pinning, .clientCertificates, .ownCertificateAuthorities, .minimumTLSVersion]
        #endif
    }

    /// Ends the transport: exchanges that are under way go on to their end, new ones are refused. The last reference does the same.
    public func invalidate() {
        standard.invalidate()
        #if canImport(Security)
        trusted.invalidate()
        #endif
    }

    /// Sends a request.
    ///
    /// Upload progress is told on the queue that serves all exchanges of the transport: a closure must return at once.
    ///
    /// - Throws: ``TransportError``; `CancellationError` when the task is cancelled; ``RequestBodyError`` when the body can't be read, and
    ///   what a stream of the request's body throws.
    public func send(_ request: ServiceRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        try request.checkTrust(capabilities)
        try request.timeouts.check(capabilities)
        return try await send(request, over: try session(for: request))
    }

    /// Sends a request that has passed all checks.
    func send(_ request: ServiceRequest, over session: TrustedSession) async throws -> TransportResponse {
        let deadlines = ExchangeDeadlines(request, start: .now)
        let outgoing = try URLSessionRequest(request)
        let upload = try await prepare(outgoing, deadlines: deadlines)
        let exchange = URLSessionExchange(
            request, host: outgoing.host, upload: upload, deadlines: deadlines, bufferLimit: bufferLimit)
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
            cancel: { exchange.drop() })
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

    /// What sessions of this transport have in common, but for the trust.
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

    /// Makes the body ready, within the time to the first byte: a stream that stands still must not hold the call for ever.
    private func prepare(_ outgoing: URLSessionRequest, deadlines: ExchangeDeadlines) async throws -> UploadSource {
        let folder = spoolFolder
        guard let body = outgoing.body, body.data == nil, body.file == nil else {
            if let due = deadlines.dueWhileWaiting(), due.instant <= .now { throw deadlines.error(due.code, host: outgoing.host) }
            return try await UploadSource.prepare(outgoing.body, folder: folder)
        }
        let lastWritten = Locked<MonotonicInstant?>(nil)
        return try await deadlines.whileWaiting(for: outgoing.host, lastSent: { lastWritten.withLock { $0 } }) {
            try await UploadSource.prepare(body, folder: folder) { lastWritten.withLock { $0 = .now } }
        }
    }
}

extension URLSessionTransport {
    /// What can be set of a ``URLSessionTransport``.
    public struct Configuration: Sendable {
        /// The most connections to one host at a time, at least 1. Default 6.
        public var maximumConnectionsPerHost = 6

        /// The most bytes of one response's body that wait for their reader, at least 64 KiB. Default 64 MiB.
        ///
        /// URLSession can't be slowed down, so a body that arrives faster than it is read piles up. Above this bound the transfer
        /// ends with ``TransportError/Code/readerTooSlow``.
        public var bufferLimit = 64 * 1024 * 1024

        /// Where bodies that URLSession can't send as they are (streams, several files) are written before they are sent. Each such
        /// file is readable by its owner only and is removed when its exchange ends. Default: the system's folder for temporary files.
        public var spoolFolder: URL = FileManager.default.temporaryDirectory

        /// The defaults.
        public init() {}
    }
}

#if canImport(Security)
public import Foundation

extension URLSessionTransport: TrustEvaluating {
    /// Connects to the URL's host in a session of its own, so that no kept connection is used, checks its certificates and pins, and ends the
    /// handshake there: no request is sent.
    ///
    /// The evaluation doesn't tell the version of TLS, which isn't settled by then.
    ///
    /// - Throws: the same ``TransportError`` as a call; `badRequest` for a URL that isn't `https`.
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
