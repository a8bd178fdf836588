public import Foundation
public import WebServiceClient

/// A request that reached a ``StubTransport``, with the bytes of its body.
public struct RecordedRequest: Sendable, CustomStringConvertible {
    /// The request as it would have been sent.
    public let request: ServiceRequest
    /// The bytes of its body; `nil` without one.
    public let body: Data?
    /// The decoded values of the `:name` and `*name` segments, where a route's pattern chose the answer.
    public internal(set) var parameters: [String: String] = [:]

    /// Makes a record of a request.
    public init(_ request: ServiceRequest, body: Data?) {
        self.request = request
        self.body = body
    }

    /// The key of the endpoint; of a request made by hand, the method and the path.
    public var key: String { request.identity?.key ?? "\(request.method) \(request.url.path(percentEncoded: true))" }

    /// The segments of the path, each percent-decoded after the split.
    public var pathSegments: [String] { RequestTarget(Array(request.target.utf8)).segments }

    /// Method and URL, secrets masked.
    public var description: String { "\(request.method) \(SecretMask.text(of: request))" }
}
