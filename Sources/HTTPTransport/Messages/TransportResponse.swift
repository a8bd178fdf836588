public import Foundation

/// A response from a transport: its head has been received, its body hasn't been read yet.
public struct TransportResponse: Sendable {
    /// The status code (RFC 9110 §15).
    public var status: Int
    /// The header fields.
    public var headers: HTTPFields
    /// The URL of the answered request; after redirects, that of the last one.
    public var url: URL
    /// The body.
    public var body: ResponseBody
    /// The protocol version, such as `HTTP/1.1`, if the transport knows it.
    public var httpVersion: String?
    /// Further information about the exchange: times, trailers, informational responses.
    public var report: ExchangeReport?

    /// Whether a proxy sent this response instead of opening a tunnel to the server (RFC 9110 §9.3.6). The request was not sent.
    public var isTunnelRefusal = false
    /// The source of the response: the network, unless a client's cache answered.
    public var source = ResponseSource.network
    /// The secrets of the answered request.
    package var secrets: RequestSecrets?

    /// Creates a response.
    public init(
        status: Int, headers: HTTPFields = [:], url: URL, body: ResponseBody = ResponseBody(), httpVersion: String? = nil,
        report: ExchangeReport? = nil
    ) {
        self.init(
            status: status, headers: headers, url: url, body: body, httpVersion: httpVersion, report: report, isTunnelRefusal: false)
    }

    /// Creates a response, possibly from a proxy. Setting all properties at once avoids the copy that a later change would cause.
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
    /// The status, URL and fields, with secrets masked.
    public var description: String {
        let head = "\(status) from \(SecretMask.text(of: url, of: secrets))"
        return headers.isEmpty ? head : head + "\n" + RequestSecrets.masked(headers, secrets).unmaskedDescription
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The status, URL and fields, masked so that a dump shows no secrets.
    public var customMirror: Mirror {
        let headers = RequestSecrets.masked(headers, secrets).unmaskedDescription
        return Mirror(self, children: ["status": status, "url": SecretMask.text(of: url, of: secrets), "headers": headers])
    }
}

/// The source of a response.
public enum ResponseSource: String, Sendable, Hashable, CaseIterable {
    /// The server sent it.
    case network
    /// The cache had it, and it was fresh.
    case cache
    /// The cache had it, and the server confirmed that it is current (RFC 9111 §4.3).
    case validated
    /// The cache had it, and it may be out of date (RFC 9111 §4.2.4).
    case stale
}
