public import Foundation

/// A value with its response.
public struct ServiceResponse<Value> {
    /// The value.
    public var value: Value
    /// The status code.
    public var status: Int
    /// The header fields.
    public var headers: HTTPFields
    /// The URL that answered, after redirects.
    public var url: URL
    /// The time from the start of the call to the result, including all attempts and waits.
    public var duration: Duration
    /// The protocol version, such as `HTTP/2`, if the transport reports it.
    public var httpVersion: String?
    /// The transport's report of the last exchange: times, bytes, trailers, informational responses.
    public var report: ExchangeReport?
    /// The source of the response: the network, unless the client's cache answered.
    public var source = ResponseSource.network
    /// The secrets in the request that was answered.
    var secrets: RequestSecrets?

    /// Creates a value with its response.
    public init(
        value: Value, status: Int, headers: HTTPFields, url: URL, duration: Duration, httpVersion: String? = nil,
        report: ExchangeReport? = nil
    ) {
        self.value = value
        self.status = status
        self.headers = headers
        self.url = url
        self.duration = duration
        self.httpVersion = httpVersion
        self.report = report
    }

    /// Returns the same response with a transformed value.
    public func map<Other>(_ transform: (Value) throws -> Other) rethrows -> ServiceResponse<Other> {
        var result = ServiceResponse<Other>(
            value: try transform(value), status: status, headers: headers, url: url, duration: duration, httpVersion: httpVersion,
            report: report)
        result.secrets = secrets
        result.source = source
        return result
    }
}

extension ServiceResponse: Sendable where Value: Sendable {}

extension ServiceResponse {
    /// The links of the response's `Link` fields (RFC 8288).
    public var links: [WebLink] { WebLink.links(in: headers, at: url) }

    /// Returns the first link with a relation, such as `next`, whose context is the response itself; `nil` if there is none.
    ///
    /// To read all pages of a list, see ``EndpointDescriptor/paged(by:)``.
    public func link(_ relation: String) -> WebLink? { WebLink.link(relation, in: headers, at: url) }
}

extension ServiceResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value with the response's status, URL and fields, secrets masked. The value's type determines how much of the value is shown.
    public var description: String { MaskedMirror.text(of: customMirror, type: "ServiceResponse") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``. A dump shows no masked part of the URL or the fields.
    public var customMirror: Mirror {
        let url = SecretMask.text(of: url, of: secrets)
        let headers = RequestSecrets.masked(headers, secrets).unmaskedDescription
        return Mirror(self, children: ["value": value, "status": status, "url": url, "headers": headers, "duration": duration])
    }
}

/// The value of a response whose body doesn't matter: `ServiceResponse<NoContent>`.
public struct NoContent: Sendable, Hashable, Codable {
    /// Creates the only value.
    public init() {}

    /// Reads nothing.
    public init(from decoder: any Decoder) {}

    /// Writes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKeys.self)
    }

    private enum NoKeys: CodingKey {}
}
