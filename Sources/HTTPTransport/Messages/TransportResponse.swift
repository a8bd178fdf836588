public import Foundation

/// A response as a transport delivers it: the head is there, the body is still to be read.
public struct TransportResponse: Sendable {
    /// The status code (RFC 9110 §15).
    public var status: Int
    /// The header fields.
    public var headers: HTTPFields
    /// The URL of the request that was answered: after redirects, the last one's.
    public var url: URL
    /// The body.
    public var body: ResponseBody
    /// The protocol version, such as `HTTP/1.1`, where the transport knows it.
    public var httpVersion: String?
    /// What else the transport knows of the exchange: times, trailers, informational responses.
    public var report: ExchangeReport?

    /// Whether a proxy gave this response instead of opening a tunnel to the server (RFC 9110 §9.3.6): the request was not sent.
    public var isTunnelRefusal = false
    /// What is secret in the request that was answered.
    package var secrets: RequestSecrets?

    /// A response.
    public init(
        status: Int, headers: HTTPFields = [:], url: URL, body: ResponseBody = ResponseBody(), httpVersion: String? = nil,
        report: ExchangeReport? = nil
    ) {
        self.init(
            status: status, headers: headers, url: url, body: body, httpVersion: httpVersion, report: report, isTunnelRefusal: false)
    }

    /// The same, also of a proxy. All at once: a response that is changed before it is returned is copied.
    package init(
        status: Int, headers: HTTPFields, url: URL, body: ResponseBody, httpVersion: String?, report: ExchangeReport?, isTunnelRefusal: Bool
    ) {
        self.status = status
        self.headers = headers
        self.url = url
        self.body = body
        self.httpVersion = httpVersion
        self.report = report
        self.isTunnelRefusal = isTunnelRefusal
    }
}

extension TransportResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Status, URL and fields, secrets masked.
    public var description: String {
        let head = "\(status) from \(SecretMask.text(of: url, of: secrets))"
        return headers.isEmpty ? head : head + "\n" + RequestSecrets.masked(headers, secrets).unmaskedDescription
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Status, URL and fields, secrets masked: not even a dump shows them.
    public var customMirror: Mirror {
        let headers = RequestSecrets.masked(headers, secrets).unmaskedDescription
        return Mirror(self, children: ["status": status, "url": SecretMask.text(of: url, of: secrets), "headers": headers])
    }
}

/// What a transport can say about an exchange beside its head and body. It fills up while the body is read, and is complete after its end.
public struct ExchangeReport: Sendable {
    private let readMetrics: @Sendable () -> ExchangeMetrics
    private let readTrailers: @Sendable () -> HTTPFields

    /// Informational responses (RFC 9110 §15.2) that came before the final one, in order, such as 103 Early Hints.
    public let informational: [InformationalResponse]

    /// A report that asks the transport each time it is read.
    public init(
        informational: [InformationalResponse] = [], metrics: @escaping @Sendable () -> ExchangeMetrics,
        trailers: @escaping @Sendable () -> HTTPFields = { [:] }
    ) {
        self.informational = informational
        readMetrics = metrics
        readTrailers = trailers
    }

    /// Times and bytes, as far as they are known by now.
    public var metrics: ExchangeMetrics { readMetrics() }

    /// The trailer fields (RFC 9110 §6.5): empty until the body was read to its end.
    public var trailers: HTTPFields { readTrailers() }
}

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

/// A response before the final one (RFC 9110 §15.2).
public struct InformationalResponse: Sendable, Hashable {
    /// The status, 100 to 199 but 101.
    public var status: Int
    /// The header fields.
    public var headers: HTTPFields

    /// An informational response.
    public init(status: Int, headers: HTTPFields = [:]) {
        self.status = status
        self.headers = headers
    }
}

/// How far a body has been sent or received: cumulative, never falling.
public struct TransferProgress: Sendable, Hashable {
    /// The bytes that have passed so far.
    public var completed: Int64

    /// The bytes that will pass in all; `nil` where nobody knows, as with chunked or compressed bodies.
    public var total: Int64?

    /// A state of a transfer.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// The completed part, 0 to 1; `nil` when the total is unknown, 1 for an empty body.
    public var fraction: Double? {
        guard let total else { return nil }
        return total <= 0 ? 1 : min(1, Double(completed) / Double(total))
    }
}
