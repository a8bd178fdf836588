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
