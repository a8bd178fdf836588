#if AsyncHTTPClient
public import AsyncHTTPClient
import Dispatch
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression

/// The transport on swift-server/async-http-client, over an `HTTPClient` that you provide; available with the package trait
/// `AsyncHTTPClient`.
///
///     let engine = HTTPClient(configuration: AsyncHTTPClientTransport.configuration)
///     let github = GitHub(serviceRoot: "https://api.github.com") { $0.transport = AsyncHTTPClientTransport(engine) }
///
/// You keep control of the client: you configure its pool, TLS, proxy and event loops, and shut it down after the last call.
///
/// * **The client must not follow redirects**, because this library follows them without passing credentials on. `HTTPClient.shared` and
///   clients with the default configuration follow redirects: every exchange over such a client is rejected (`unsupported`).
///   ``configuration`` is suitable.
/// * A client with decompression requests gzip and deflate, and decodes them without changing `Content-Encoding` in the response. A client
///   without it delivers the bytes unchanged; then don't request codings with `Accept-Encoding`.
/// * The time to connect is the client's `timeout.connect`, for all its requests. ``ServiceTimeouts/connect`` is rejected (`unsupported`).
///   A client with `retryConnectionEstablishment`, which is the default, tries for all of that time if no server listens.
/// * Certificate authorities, client certificates and the minimum version of TLS are set by the client's `tlsConfiguration`, for all its
///   requests; a ``TrustPolicy`` that needs more than the system's authorities is rejected (`unsupported`). The engine reports the reason
///   for rejecting a certificate only if it is for another host: expired certificates and those of unknown issuers fail with `tls`. A
///   server that requires a client certificate in TLS 1.3 may end the connection after the handshake: the error is `clientCertificate` or,
///   if the engine noticed only the end, `connectionLost`.
/// * Informational responses are ignored. Trailer fields and a proxy's 407 aren't delivered, and there are no metrics.
/// * In header values that aren't UTF-8, U+FFFD replaces invalid bytes.
/// * `Proxy-Authorization` is rejected (`unsupported`), because the engine would send it to the server: set a proxy's credentials in the
///   client.
/// * An HTTP/2 server that responds completely before it has read the request's body may end the process (async-http-client 1.37): if you
///   can't exclude that, configure the client for HTTP/1.1.
/// * A control character in a header value, other than a tab, fails the exchange (`badRequest`).
public final class AsyncHTTPClientTransport: Transport {
    /// The capabilities, without HTTP/2 if the client is configured for HTTP/1.1 only.
    public let capabilities: TransportCapabilities

    private let client: HTTPClient
    private let refusal: TransportError?

    /// The queue that watches the deadlines of all bodies.
    private static let timers = DispatchQueue(label: "WebServiceClient.AsyncHTTPClientTransport.timers")

    /// A suitable configuration: no redirects, decompression, and no retries of connections, because retries are up to the library and its
    /// endpoints.
    public static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow, decompression: .enabled(limit: .none))
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    /// Creates a transport over a client.
    ///
    /// - Parameter client: Must not follow redirects, and must not be shut down before the last exchange has ended.
    public init(_ client: HTTPClient) {
        self.client = client
        let settings = HTTPClientSettings(of: client)
        refusal = settings.followsRedirects == true ? HTTPClientSettings.redirectRefusal : nil
        var capabilities: TransportCapabilities = [.backPressure, .streamingUploads, .ipv6Literals, .bodiesWithGET]
        if settings.negotiatesHTTP2 == true { capabilities.insert(.http2) }
        self.capabilities = capabilities
    }

    /// Sends a request.
    ///
    /// - Throws: ``TransportError``; `CancellationError` if the task is cancelled; ``RequestBodyError`` if the body can't be read, and any
    ///   error that a stream of the request's body throws.
    public func send(_ request: ServiceRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        if let refusal { throw refusal }
        try request.checkTrust(capabilities)
        let deadlines = ExchangeDeadlines(request, start: .now)
        let upload = AsyncHTTPClientUpload(over: client.eventLoopGroup, progress: request.uploadProgress)
        let outgoing = try AsyncHTTPClientRequest(request, upload: upload)
        try await AsyncHTTPClientUpload.checkEmptyStream(of: request.body, host: outgoing.host, deadlines: deadlines)
        do {
            let response = try await execute(outgoing, upload, deadlines)
            guard response.history.count < 2 else { throw HTTPClientSettings.redirectRefusal }
            upload.headArrived()
            return deliver(response, to: request, host: outgoing.host, upload: upload, deadlines: deadlines)
        } catch {
            let failure = upload.failure
            upload.abort()
            throw failure ?? error
        }
    }

    private func execute(
        _ outgoing: AsyncHTTPClientRequest, _ upload: AsyncHTTPClientUpload, _ deadlines: ExchangeDeadlines
    ) async throws -> HTTPClientResponse {
        guard upload.isStreamed else { return try await execute(outgoing, deadlines, until: deadlines.dueWhileWaiting()) }
        // The engine's deadline can't be moved while the body is sent.
        return try await deadlines.whileWaiting(for: outgoing.host, lastSent: { upload.lastSent }) {
            try await self.execute(outgoing, deadlines, until: nil)
        }
    }

    private func execute(
        _ outgoing: AsyncHTTPClientRequest, _ deadlines: ExchangeDeadlines, until due: ExchangeDeadlines.Due?
    ) async throws -> HTTPClientResponse {
        if let due, due.instant <= .now { throw deadlines.error(due.code, host: outgoing.host) }
        do {
            return try await client.execute(outgoing.request, deadline: due.map { Self.deadline($0.instant) } ?? .distantFuture)
        } catch {
            if Task.isCancelled { throw CancellationError() }
            // The engine's error at its deadline depends on whether the request is still in the pool's queue.
            if let due, due.instant <= .now { throw deadlines.error(due.code, host: outgoing.host) }
            throw TransportError.reading(error, host: outgoing.host, headArrived: false)
        }
    }

    private static func deadline(_ instant: MonotonicInstant) -> NIODeadline {
        let (seconds, attoseconds) = MonotonicInstant.now.duration(to: instant).components
        // Rounded up, so that the passed deadline can be distinguished from other failures.
        return .now() + .seconds(seconds) + .nanoseconds(attoseconds / 1_000_000_000 + 1)
    }

    private func deliver(
        _ response: HTTPClientResponse, to request: ServiceRequest, host: String, upload: AsyncHTTPClientUpload,
        deadlines: ExchangeDeadlines
    ) -> TransportResponse {
        let headers = HTTPFields(response.headers.map { HTTPFields.Field(name: HTTPFields.Name($0.name), value: Self.trimmed($0.value)) })
        let status = Int(response.status.code)
        let length = Self.bodyLength(status: status, headers: headers, method: request.method)
        let exchange = AsyncHTTPClientExchange(
            response.body, hasBody: length != 0 && headers[.contentLength] != "0", host: host, upload: upload, deadlines: deadlines)
        exchange.watch(on: Self.timers)
        let meter = request.downloadProgress.map { DownloadMeter(total: length, report: $0) }
        let body = ResponseBody(
            expectedLength: length,
            next: {
                let piece = try await exchange.next()
                meter?.passed(piece)
                return piece
            },
            cancel: { exchange.drop() })
        let version = response.version
        return TransportResponse(
            status: status, headers: headers, url: request.url, body: body,
            httpVersion: version.major == 1 ? "HTTP/1.\(version.minor)" : "HTTP/\(version.major)")
    }

    /// Returns a value without trailing whitespace, which the engine keeps (RFC 9110 §5.5).
    private static func trimmed(_ value: String) -> String {
        guard let last = value.utf8.last, last == 32 || last == 9 else { return value }
        let end = value.utf8.lastIndex { $0 != 32 && $0 != 9 }
        return end.map { String(value[...$0]) } ?? ""
    }

    /// Returns the number of bytes that the reader will receive, if the head determines it (RFC 9112 §6.3): not with codings, which the
    /// client may decode.
    private static func bodyLength(status: Int, headers: HTTPFields, method: ServiceRequest.Method) -> Int64? {
        guard method != .head, status != 204, status != 304 else { return 0 }
        guard !ContentCoding.isPresent(in: headers), !headers.contains(.transferEncoding) else { return nil }
        return headers[.contentLength].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// The relevant settings of an `HTTPClient`.
///
/// The client doesn't expose its configuration, so it is read by reflection. If a setting isn't found, it is `nil`: HTTP/2 isn't promised
/// then, and a followed redirect is detected afterwards, from the history in the response.
struct HTTPClientSettings {
    /// Whether the client follows redirects.
    let followsRedirects: Bool?
    /// Whether the client uses HTTP/2 if a server offers it.
    let negotiatesHTTP2: Bool?

    /// Reads the settings of a client.
    init(of client: HTTPClient) {
        let mirror = Mirror(reflecting: client)
        followsRedirects = mirror.descendant("configuration", "redirectConfiguration", "mode").map { "\($0)" != "disallow" }
        negotiatesHTTP2 = mirror.descendant("configuration", "httpVersion", "configuration").map { "\($0)" == "automatic" }
    }

    /// The error for a client that follows redirects.
    static let redirectRefusal = TransportError(
        .unsupported,
        "The HTTPClient follows redirects, and would pass credentials on. Create it with "
            + "AsyncHTTPClientTransport.configuration, or with redirectConfiguration: .disallow; this library follows redirects.")
}
#endif
