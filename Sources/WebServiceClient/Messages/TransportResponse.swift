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
    var secrets: RequestSecrets?

    /// A response.
    public init(
        status: Int, headers: HTTPFields = [:], url: URL, body: ResponseBody = ResponseBody(), httpVersion: String? = nil,
        report: ExchangeReport? = nil
    ) {
        self.init(
            status: status, headers: headers, url: url, body: body, httpVersion: httpVersion, report: report, isTunnelRefusal: false)
    }

    /// The same, also of a proxy. All at once: a response that is changed before it is returned is copied.
    init(
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
