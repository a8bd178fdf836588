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
