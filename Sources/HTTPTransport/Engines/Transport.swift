/// A type that sends requests over the network and delivers their responses.
///
/// Implement this protocol to use another HTTP engine. A transport
/// * sends exactly what the request specifies, once: it follows no redirects, answers no challenges, and has no cookies and no cache;
/// * returns as soon as the head of the final response has arrived (1xx responses aren't final); the body is then pulled;
/// * ends the transfer if the task is cancelled or the body is dropped, with `CancellationError` for the former;
/// * obeys ``ServiceRequest/timeouts`` and ``ServiceRequest/deadline``;
/// * throws ``TransportError`` for every error below HTTP, and returns a response for every status;
/// * rejects unsupported parts of a request with ``TransportError/Code/unsupported`` and never omits them: see
///   ``ServiceRequest/checkTrust(_:)``.
///
/// To observe or change calls on any engine, write an ``Interceptor`` instead.
public protocol Transport: Sendable {
    /// The capabilities of this transport beyond the plain exchange.
    var capabilities: TransportCapabilities { get }

    /// Sends a request.
    ///
    /// - Throws: ``TransportError``, `CancellationError`, or ``RequestBodyError`` if the body can't be read.
    func send(_ request: ServiceRequest) async throws -> TransportResponse
}

/// A transport that ends an exchange when its call is cancelled from outside the call's task, by a call handle or the client.
///
/// Conform to it if your engine can end an exchange at any moment: it saves a task per call. For other transports, the library runs each
/// exchange in a child task, which it cancels.
///
///     func send(_ request: ServiceRequest, cancellation: CallCancellation) async throws -> TransportResponse {
///         let exchange = engine.start(request)
///         let number = cancellation.onCancel { exchange.fail(with: $0) }
///         do {
///             return try await exchange.response()
///         } catch {
///             cancellation.remove(number)
///             throw error
///         }
///     }
///
/// The handler stays after the head has arrived, so that it also ends the body. The library removes it when the call ends.
public protocol CancellableTransport: Transport {
    /// Whether the transport can end the exchange of this request at any moment; by default it can. If not, the library calls
    /// ``Transport/send(_:)`` in a child task.
    func canCancel(_ request: ServiceRequest) -> Bool

    /// Sends a request. If the call is cancelled, also while the body is read, the exchange ends with the ``CallCancelled`` that the
    /// cancellation passes to its handlers.
    ///
    /// - Throws: The errors of ``Transport/send(_:)``, and ``CallCancelled``.
    func send(_ request: ServiceRequest, cancellation: CallCancellation) async throws -> TransportResponse
}

extension CancellableTransport {
    /// Returns `true`.
    public func canCancel(_ request: ServiceRequest) -> Bool { true }
}

/// The capabilities of a transport beyond the plain exchange. A table that requires a capability which its transport lacks is rejected
/// before the first call.
public struct TransportCapabilities: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt32

    /// Creates a set from its bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A slow reader slows the sender down; otherwise the bytes wait in memory or on disk.
    public static let backPressure = Self(rawValue: 1 << 0)
    /// Stream bodies are sent while they are produced; otherwise they are written to a file first.
    public static let streamingUploads = Self(rawValue: 1 << 1)
    /// Pins of public keys or certificates are checked in addition to the system's evaluation.
    public static let pinning = Self(rawValue: 1 << 2)
    /// Client certificates can be presented.
    public static let clientCertificates = Self(rawValue: 1 << 3)
    /// Custom certificate authorities can be trusted.
    public static let ownCertificateAuthorities = Self(rawValue: 1 << 4)
    /// HTTP/2 is negotiated if the server offers it.
    public static let http2 = Self(rawValue: 1 << 5)
    /// Trailer fields are delivered.
    public static let trailers = Self(rawValue: 1 << 6)
    /// Hosts can be IPv6 literals.
    public static let ipv6Literals = Self(rawValue: 1 << 7)
    /// A proxy's 407 is delivered as a response, so that providers can answer it.
    public static let proxyAuthentication = Self(rawValue: 1 << 8)

    /// The time to connect has a separate limit: ``ServiceTimeouts/connect``.
    public static let connectDeadlines = Self(rawValue: 1 << 9)
    /// The minimum version of TLS can be set.
    public static let minimumTLSVersion = Self(rawValue: 1 << 10)
    /// Times and byte counts of each exchange are reported: ``ExchangeReport/metrics``.
    public static let metrics = Self(rawValue: 1 << 11)
    /// Informational responses are reported: ``ExchangeReport/informational``.
    public static let informationalResponses = Self(rawValue: 1 << 12)
    /// Client certificates can also be in PEM, not only in PKCS#12.
    public static let clientCertificatesInPEM = Self(rawValue: 1 << 13)

    /// A GET can have a body: ``EndpointDescriptor/allowingBody()``.
    public static let bodiesWithGET = Self(rawValue: 1 << 14)

    /// The body of a request with `Expect: 100-continue` waits for the server's consent, for a second at most: see
    /// ``HTTPFields/Name/expect``. A final response before it is delivered without sending the body.
    public static let expectations = Self(rawValue: 1 << 15)
    /// WebSockets can be opened.
    public static let webSockets = Self(rawValue: 1 << 16)

    private static let names: [(Self, String)] = [
        (.backPressure, "back-pressure"), (.streamingUploads, "streaming uploads"), (.pinning, "pinning"),
        (.clientCertificates, "client certificates"), (.ownCertificateAuthorities, "own certificate authorities"), (.http2, "HTTP/2"),
        (.trailers, "trailers"), (.ipv6Literals, "IPv6 literals"), (.proxyAuthentication, "proxy authentication"),
        (.connectDeadlines, "connect deadlines"), (.minimumTLSVersion, "a minimum version of TLS"), (.metrics, "metrics"),
        (.informationalResponses, "informational responses"), (.bodiesWithGET, "bodies with GET"),
        (.expectations, "waiting for 100 Continue"),
        (.webSockets, "WebSockets"),
        (.clientCertificatesInPEM, "client certificates in PEM (\"openssl pkcs12 -export -legacy\" makes PKCS#12 of them)"),
    ]

    /// The names of the capabilities, for messages.
    public var descriptions: [String] {
        Self.names.filter { contains($0.0) }.map(\.1)
    }
}

extension TransportCapabilities: CustomStringConvertible {
    /// The names of the capabilities.
    public var description: String { isEmpty ? "none" : descriptions.joined(separator: ", ") }
}

/// The transport of clients that specify none: one for the whole process, so that connections are shared.
public enum DefaultTransport {
    /// The preferred engine of the platform: URLSession on Apple platforms, ``CurlTransport`` elsewhere, or URLSession if the system has no
    /// usable libcurl.
    public static let shared: any Transport = choice.transport

    /// The reason why ``shared`` isn't the preferred transport; `nil` if it is. Clients report it once to their diagnostics.
    public static let fallbackReason: String? = choice.reason

    private static let choice = choice(from: CurlTransport.attempt)

    /// Returns the transport to use given the result of creating libcurl's transport, which isn't created if the platform's own engine is
    /// preferred.
    static func choice(from attempt: @autoclosure () -> Result<CurlTransport, any Error>) -> (transport: any Transport, reason: String?) {
        #if canImport(FoundationNetworking)
        switch attempt() {
        case .success(let transport): (transport, nil)
        case .failure(let error): (URLSessionTransport.shared, "\(error)")
        }
        #else
        (URLSessionTransport.shared, nil)
        #endif
    }

    /// Returns the diagnostic for a client whose transport isn't the preferred one; `nil` if it is.
    package static func note(to client: String, over transport: any Transport, reason: String? = fallbackReason) -> Diagnostics.Event? {
        guard let reason, transport is URLSessionTransport else { return nil }
        return .init(.notice, "\(client) uses URLSession for its calls. \(reason)")
    }
}
