/// Information about an exchange beyond its head and body. It grows while the body is read, and is complete after the body's end.
public struct ExchangeReport: Sendable {
    private let readMetrics: @Sendable () -> ExchangeMetrics
    private let readTrailers: @Sendable () -> HTTPFields

    /// The informational responses (RFC 9110 §15.2) before the final one, in order, such as 103 Early Hints.
    public let informational: [InformationalResponse]

    /// Creates a report that queries the transport each time it is read.
    public init(
        informational: [InformationalResponse] = [], metrics: @escaping @Sendable () -> ExchangeMetrics,
        trailers: @escaping @Sendable () -> HTTPFields = { [:] }
    ) {
        self.informational = informational
        readMetrics = metrics
        readTrailers = trailers
    }

    /// The times and byte counts known so far.
    public var metrics: ExchangeMetrics { readMetrics() }

    /// The trailer fields (RFC 9110 §6.5); empty until the body has been read to its end.
    public var trailers: HTTPFields { readTrailers() }
}

/// The times, byte counts and connection of an exchange. Values that the transport doesn't know are `nil`.
///
/// Times are measured on the monotonic clock from the moment the transport accepted the request.
public struct ExchangeMetrics: Sendable, Hashable {
    /// The time until the host's name was resolved. Zero on a reused connection.
    public var nameLookup: Duration?
    /// The time until the connection was established (TCP, or a Unix-domain socket). Zero on a reused connection.
    public var connect: Duration?
    /// The time until the secure connection was established. Zero without TLS, and on a reused connection.
    public var secureConnect: Duration?
    /// The time until the first byte of the response's head.
    public var firstByte: Duration?
    /// The time until the last byte of the body; `nil` while it is being received.
    public var total: Duration?
    /// The number of bytes of the request's body sent on the wire.
    public var bytesSent: Int64?
    /// The number of bytes of the response's body received on the wire, before decompression.
    public var bytesReceived: Int64?
    /// Whether an earlier exchange used the same connection.
    public var isConnectionReused: Bool?
    /// The remote address, such as `192.0.2.1:443` or `[2001:db8::1]:443`; with a proxy, the proxy's address. For a Unix-domain socket, it
    /// is the path.
    public var remoteAddress: String?
    /// The TLS version, such as `TLSv1.3`.
    public var tlsVersion: String?

    /// Creates metrics without any values.
    public init() {}
}

/// A response before the final one (RFC 9110 §15.2).
public struct InformationalResponse: Sendable, Hashable {
    /// The status, 100 to 199 except 101.
    public var status: Int
    /// The header fields.
    public var headers: HTTPFields

    /// Creates an informational response.
    public init(status: Int, headers: HTTPFields = [:]) {
        self.status = status
        self.headers = headers
    }
}

/// The progress of a body that is sent or received. It is cumulative and never decreases.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes transferred so far.
    public var completed: Int64

    /// The total number of bytes; `nil` if it is unknown, as with chunked or compressed bodies.
    public var total: Int64?

    /// Creates the state of a transfer.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// The completed fraction, 0 to 1; `nil` if the total is unknown, 1 for an empty body.
    public var fraction: Double? {
        guard let total else { return nil }
        return total <= 0 ? 1 : min(1, Double(completed) / Double(total))
    }
}
