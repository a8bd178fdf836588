public import Foundation

/// A value with the response that it came in.
public struct ServiceResponse<Value> {
    /// The value.
    public var value: Value
    /// The status code.
    public var status: Int
    /// The header fields.
    public var headers: HTTPFields
    /// The URL that answered: after redirects the last one's.
    public var url: URL
    /// From the start of the call to this point, every attempt and wait included.
    public var duration: Duration
    /// The protocol version, such as `HTTP/2`, where the transport knows it.
    public var httpVersion: String?
    /// What the transport knows of the last exchange: times, bytes, trailers, informational responses.
    public var report: ExchangeReport?
    /// What is secret in the request that was answered.
    var secrets: RequestSecrets?

    /// A value with its response.
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

    /// The same response with another value.
    public func map<Other>(_ transform: (Value) throws -> Other) rethrows -> ServiceResponse<Other> {
        var result = ServiceResponse<Other>(
            value: try transform(value), status: status, headers: headers, url: url, duration: duration, httpVersion: httpVersion,
            report: report)
        result.secrets = secrets
        return result
    }
}

extension ServiceResponse: Sendable where Value: Sendable {}

extension ServiceResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value, and of the response status, URL and fields, secrets masked. The value shows what its type shows.
    public var description: String { MaskedMirror.text(of: customMirror, type: "ServiceResponse") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``: not even a dump shows what the URL or the fields hide.
    public var customMirror: Mirror {
        let url = SecretMask.text(of: url, of: secrets)
        let headers = RequestSecrets.masked(headers, secrets).unmaskedDescription
        return Mirror(self, children: ["value": value, "status": status, "url": url, "headers": headers, "duration": duration])
    }
}

/// The value of a response whose body doesn't matter: `ServiceResponse<NoContent>`.
public struct NoContent: Sendable, Hashable, Codable {
    /// The only value.
    public init() {}

    /// Reads nothing.
    public init(from decoder: any Decoder) {}

    /// Writes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKeys.self)
    }

    private enum NoKeys: CodingKey {}
}
