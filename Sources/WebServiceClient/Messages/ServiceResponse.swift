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

    /// A value with its response.
    public init(value: Value, status: Int, headers: HTTPFields, url: URL, duration: Duration) {
        self.value = value
        self.status = status
        self.headers = headers
        self.url = url
        self.duration = duration
    }

    /// The same response with another value.
    public func map<Other>(_ transform: (Value) throws -> Other) rethrows -> ServiceResponse<Other> {
        ServiceResponse<Other>(value: try transform(value), status: status, headers: headers, url: url, duration: duration)
    }
}

extension ServiceResponse: Sendable where Value: Sendable {}
