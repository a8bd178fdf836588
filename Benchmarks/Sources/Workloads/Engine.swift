public import Foundation
public import WebServiceClient

/// Replaces the network for both sides: the same async function with the same response.
public struct Engine: Sendable {
    /// A response.
    public struct Answer: Sendable {
        /// The status code.
        public let status: Int
        /// The media type of the body.
        public let contentType: String
        /// The body.
        public let body: Data
    }

    private let answer: Answer

    /// Creates an engine that answers every request with a body.
    public init(answering body: Data) {
        answer = Answer(status: 200, contentType: "application/json; charset=utf-8", body: body)
    }

    /// Answers any request. It isn't inlined, so that the compiler can't optimize for it on either side.
    @inline(never)
    public func exchange(_ url: URL) async throws -> Answer {
        answer
    }
}

/// The engine as the client's transport. It answers at once, so that no exchange is left to cancel.
public struct EngineTransport: CancellableTransport {
    /// The engine's capabilities: none.
    public let capabilities: TransportCapabilities = []
    private let engine: Engine

    /// Creates a transport on an engine.
    public init(_ engine: Engine) {
        self.engine = engine
    }

    /// Passes the request to the engine and returns its response.
    public func send(_ request: ServiceRequest, cancellation: CallCancellation) async throws -> TransportResponse {
        try await send(request)
    }

    /// Passes the request to the engine and returns its response.
    public func send(_ request: ServiceRequest) async throws -> TransportResponse {
        let answer = try await engine.exchange(request.url)
        return TransportResponse(
            status: answer.status, headers: ["Content-Type": answer.contentType], url: request.url, body: ResponseBody(answer.body))
    }
}
