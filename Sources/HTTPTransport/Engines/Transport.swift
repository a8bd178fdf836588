/// Puts a request on the wire and delivers the response.
///
/// This is the seam for another HTTP engine. A transport
/// * sends exactly what the request says, once: it follows no redirect, answers no challenge, keeps no cookies and no cache;
/// * returns as soon as the head of the final response is there (1xx responses aren't final), the body then is pulled;
/// * ends the transfer when the task is cancelled or the body is dropped, with `CancellationError` for the former;
/// * obeys ``ServiceRequest/timeouts`` and ``ServiceRequest/deadline``;
/// * throws ``TransportError`` for everything that goes wrong below HTTP, and answers every status with a response;
/// * refuses what it can't do, with ``TransportError/Code/unsupported``, and never leaves it out: see ``ServiceRequest/checkTrust(_:)``.
///
/// To see or change calls whatever engine carries them, write an ``Interceptor`` instead.
public protocol Transport: Sendable {
    /// What this transport can do beyond the plain exchange.
    var capabilities: TransportCapabilities { get }

    /// Sends a request.
    ///
    /// - Throws: ``TransportError``, `CancellationError`, or ``RequestBodyError`` when the body can't be read.
    func send(_ request: ServiceRequest) async throws -> TransportResponse
}

/// What a transport can do beyond the plain exchange. A table that asks for what its transport lacks is refused before the first call.
public struct TransportCapabilities: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt32

    /// A set of those bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A slow reader slows the sender down; without it the bytes wait in memory or on disk.
    public static let backPressure = Self(rawValue: 1 << 0)
    /// Stream bodies are sent while they are made; without it they are written to a file first.
    public static let streamingUploads = Self(rawValue: 1 << 1)
    /// Pins of public keys or certificates are checked on top of the system's evaluation.
    public static let pinning = Self(rawValue: 1 << 2)
    /// Client certificates can be presented.
    public static let clientCertificates = Self(rawValue: 1 << 3)
    /// Other certificate authorities than the system's can be trusted.
    public static let ownCertificateAuthorities = Self(rawValue: 1 << 4)
    /// HTTP/2 is negotiated where the server offers it.
    public static let http2 = Self(rawValue: 1 << 5)
    /// Trailer fields are delivered.
    public static let trailers = Self(rawValue: 1 << 6)
    /// Hosts that are IPv6 literals can be reached.
    public static let ipv6Literals = Self(rawValue: 1 << 7)
    /// A proxy's 407 is delivered as a response, so that providers can answer it.
    public static let proxyAuthentication = Self(rawValue: 1 << 8)

    /// The time to connect is bounded by itself: ``ServiceTimeouts/connect``.
    public static let connectDeadlines = Self(rawValue: 1 << 9)
    /// The lowest version of TLS can be set.
    public static let minimumTLSVersion = Self(rawValue: 1 << 10)
    /// Times and bytes of each exchange are told: ``ExchangeReport/metrics``.
    public static let metrics = Self(rawValue: 1 << 11)
    /// Informational responses are told: ``ExchangeReport/informational``.
    public static let informationalResponses = Self(rawValue: 1 << 12)
    /// Client certificates may also come in PEM, and not in PKCS#12 only.
    public static let clientCertificatesInPEM = Self(rawValue: 1 << 13)

    /// A GET can have a body: ``EndpointDescriptor/allowingBody()``.
    public static let bodiesWithGET = Self(rawValue: 1 << 14)

    private static let names: [(Self, String)] = [
        (.backPressure, "back-pressure"), (.streamingUploads, "streaming uploads"), (.pinning, "pinning"),
        (.clientCertificates, "client certificates"), (.ownCertificateAuthorities, "own certificate authorities"), (.http2, "HTTP/2"),
        (.trailers, "trailers"), (.ipv6Literals, "IPv6 literals"), (.proxyAuthentication, "proxy authentication"),
        (.connectDeadlines, "connect deadlines"), (.minimumTLSVersion, "a minimum version of TLS"), (.metrics, "metrics"),
        (.informationalResponses, "informational responses"), (.bodiesWithGET, "bodies with GET"),
        (.clientCertificatesInPEM, "client certificates in PEM (\"openssl pkcs12 -export -legacy\" makes PKCS#12 of them)"),
    ]

    /// The capabilities by name, for messages.
    public var descriptions: [String] {
        Self.names.filter { contains($0.0) }.map(\.1)
    }
}

extension TransportCapabilities: CustomStringConvertible {
    /// The capabilities by name.
    public var description: String { isEmpty ? "none" : descriptions.joined(separator: ", ") }
}

/// The transport of clients that name none: one for the whole process, so that connections are shared.
public enum DefaultTransport {
    /// The platform's own HTTP engine, chosen well: URLSession on Apple platforms, elsewhere ``CurlTransport``, and URLSession where the
    /// system has no libcurl that can be used.
    public static let shared: any Transport = choice.transport

    /// Why ``shared`` isn't what it should be; `nil` when it is. Clients report it once through their diagnostics.
    public static let fallbackReason: String? = choice.reason

    private static let choice = choice(from: CurlTransport.attempt)

    /// What to take when that came of making libcurl's transport, which isn't made where the platform's own engine is better.
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

    /// What a client is told whose calls go over a transport that is second best; `nil` where it isn't.
    package static func note(to client: String, over transport: any Transport, reason: String? = fallbackReason) -> Diagnostics.Event? {
        guard let reason, transport is URLSessionTransport else { return nil }
        return .init(.notice, "Calls of \(client) go over URLSession. \(reason)")
    }
}
