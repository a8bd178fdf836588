public import Foundation
public import WebServiceClient

/// A question to a receiver whether it has stored a batch.
public struct AcknowledgementQuery: Sendable, Hashable {
    /// Where.
    public var url: URL
    /// Header fields.
    public var headers: HTTPFields
    /// The body.
    public var body: Data

    /// A question.
    public init(url: URL, headers: HTTPFields = [:], body: Data = Data()) {
        self.url = url
        self.headers = headers
        self.body = body
    }
}
