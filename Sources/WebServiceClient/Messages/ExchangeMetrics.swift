/// What an exchange took: times, bytes, and the connection it went over. What the transport doesn't know is `nil`.
///
/// Times are measured from the moment the transport took the request on, on the monotonic clock.
public struct ExchangeMetrics: Sendable, Hashable {
    /// Until the host's name was resolved. Zero on a connection that was used before.
    public var nameLookup: Duration?
    /// Until the connection stood (TCP, or a Unix-domain socket). Zero on a connection that was used before.
    public var connect: Duration?
    /// Until the secure connection stood. Zero without TLS, and on a connection that was used before.
    public var secureConnect: Duration?
    /// Until the first byte of the response's head.
    public var firstByte: Duration?
    /// Until the last byte of the body; `nil` while it is being received.
    public var total: Duration?
    /// The bytes of the request's body that went onto the wire.
    public var bytesSent: Int64?
    /// The bytes of the response's body as they came over the wire: before decompression.
    public var bytesReceived: Int64?
    /// Whether an earlier exchange had used the connection.
    public var isConnectionReused: Bool?
    /// The address at the other end, such as `192.0.2.1:443` or `[2001:db8::1]:443`: a proxy's where there is one.
    /// Of a Unix-domain socket it is the path.
    public var remoteAddress: String?
    /// The version of TLS, such as `TLSv1.3`.
    public var tlsVersion: String?

    /// Metrics of which nothing is known.
    public init() {}
}
