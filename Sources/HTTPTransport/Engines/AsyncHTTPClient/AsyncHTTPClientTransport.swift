#if AsyncHTTPClient
public import AsyncHTTPClient
import Dispatch
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression

/// The transport on swift-server/async-http-client, over an `HTTPClient` of yours; there with the package trait `AsyncHTTPClient`.
///
///     let engine = HTTPClient(configuration: AsyncHTTPClientTransport.configuration)
///     let github = GitHub(serviceRoot: "https://api.github.com") { $0.transport = AsyncHTTPClientTransport(engine) }
///
/// The client stays yours: its pool, TLS, proxy and event loops are as you configured them, and you shut it down, after the last call.
///
/// What to know of it:
///
/// * **The client must not follow redirects**, since this library does, without passing credentials on. `HTTPClient.shared` and a client of
///   the default configuration do follow them: every exchange over such a client is refused (`unsupported`). ``configuration`` fits.
/// * A client that decompresses asks for gzip and deflate, and undoes them without a trace: the response keeps its `Content-Encoding`. One that doesn't delivers the bytes as
///   they came; then don't ask for codings with `Accept-Encoding`.
/// * The time to connect is the client's: `timeout.connect`, for all its requests. ``ServiceTimeouts/connect`` is refused (`unsupported`).
///   A client with `retryConnectionEstablishment`, which is its default, tries for all of that time when nobody listens.
/// * Certificate authorities, client certificates and the minimum version of TLS are the client's `tlsConfiguration`, the same for all its
///   requests; a ``TrustPolicy`` that asks for more than the system's authorities is refused (`unsupported`). The engine doesn't say why it
///   refuses a certificate, other than one for another host: expired ones and those of unknown issuers fail with `tls`. A server that wants
///   a client certificate in TLS 1.3 may end the connection after the handshake: that is `clientCertificate` or, where the engine saw no
///   more than the end, `connectionLost`.
/// * Informational responses are passed over. Trailer fields and a proxy's 407 aren't delivered, and there are no metrics.
/// * Header values that are no UTF-8 have U+FFFD where a byte can't be read.
/// * `Proxy-Authorization` is refused (`unsupported`), since the engine would send it to the server: a proxy's credentials are the client's.
/// * An HTTP/2 server that answers in full before it has read the request's body may end the process (async-http-client 1.37): where you
///   can't rule that out, configure the client for HTTP/1.1.
/// * A control character in a header value, other than a tab, fails the exchange (`badRequest`).
public final class AsyncHTTPClientTransport: Transport {
    /// What it can do. HTTP/2 is left out where the client is configured for HTTP/1.1 only.
    public let capabilities: TransportCapabilities

    private let client: HTTPClient
    private let refusal: TransportError?

    /// Watches the deadlines of bodies: one queue for all.
    private static let timers = DispatchQueue(label: "WebServiceClient.AsyncHTTPClientTransport.timers")

    /// A configuration that suits this transport: no redirects, bodies are decompressed, and a connection that fails does so at once, since
    /// trying again is for the library's own retries, which the endpoints rule.
    public static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow, decompression: .enabled(limit: .none))
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    /// A transport over that client.
    ///
    /// - Parameter client: must be configured to follow no redirects, and must not be shut down before the last exchange has ended.
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
    /// - Throws: ``TransportError``; `CancellationError` when the task is cancelled; ``RequestBodyError`` when the body can't be read, and
    ///   what a stream of the request's body throws.
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
        // The engine's own deadline can't be moved while the body goes out.
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
            // In the pool's queue it gives another error at its deadline than on the wire.
            if let due, due.instant <= .now { throw deadlines.error(due.code, host: outgoing.host) }
            throw TransportError.reading(error, host: outgoing.host, headArrived: false)
        }
    }

    private static func deadline(_ instant: MonotonicInstant) -> NIODeadline {
        let (seconds, attoseconds) = MonotonicInstant.now.duration(to: instant).components
        // Not before the instant, or its passing could not be told from other failures.
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

    /// A value without the blanks at its end, which the engine leaves there (RFC 9110 §5.5).
    private static func trimmed(_ value: String) -> String {
        guard let last = value.utf8.last, last == 32 || last == 9 else { return value }
        let end = value.utf8.lastIndex { $0 != 32 && $0 != 9 }
        return end.map { String(value[...$0]) } ?? ""
    }

    /// The bytes that the reader will see, if the head tells (RFC 9112 §6.3): not with codings, which the client may undo.
    private static func bodyLength(status: Int, headers: HTTPFields, method: ServiceRequest.Method) -> Int64? {
        guard method != .head, status != 204, status != 304 else { return 0 }
        let coding = headers[.contentEncoding]?.lowercased() ?? "identity"
        guard coding == "identity", !headers.contains(.transferEncoding) else { return nil }
        return headers[.contentLength].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
#endif
