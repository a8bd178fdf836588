/// Which call a request belongs to. It travels with the request, so that every interceptor, metric and log line can name the endpoint.
public struct CallIdentity: Sendable, Hashable, CustomStringConvertible {
    /// The type of the client, such as `GitHub`.
    public let client: String
    /// The endpoint's key, such as `repository(owner:name:)`, or the method and path of a call without an entry.
    public let key: String
    /// The route as it was declared, with its placeholders: few distinct values, good for metrics.
    public let route: String

    /// The identity of a call.
    public init(client: String, key: String, route: String) {
        self.client = client
        self.key = key
        self.route = route
    }

    /// `GitHub.repository(owner:name:)`.
    public var description: String { "\(client).\(key)" }
}
