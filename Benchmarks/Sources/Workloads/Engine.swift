public import Foundation
public import WebServiceClient

/// What stands for the network on both sides: the same asynchronous function with the same answer.
public struct Engine: Sendable {
    /// An answer.
    public struct Answer: Sendable {
        /// The status code.
        public let status: Int
        /// The media type of the body.
        public let contentType: String
        /// The body.
        public let body: Data
    }

    private let answer: Answer

    /// An engine that answers everything with that body.
    public init(answering body: Data) {
        answer = Answer(status: 200, contentType: "application/json; charset=utf-8", body: body)
    }

    /// Answers a request, whatever it asks for. It isn't inlined, so that neither side gains by knowing it.
    @inline(never)
    public func exchange(_ url: URL) async throws -> Answer {
        answer
    }
}

/// The engine as the client's transport.
public struct EngineTransport: Transport {
    /// All that the engine can do, which is nothing.
    public let capabilities: TransportCapabilities = []
    private let engine: Engine

    /// A transport on an engine.
    public init(_ engine: Engine) {
        self.engine = engine
    }

    /// Gives the request to the engine and the answer back.
    public func send(_ request: ServiceRequest) async throws -> TransportResponse {
        let answer = try await engine.exchange(request.url)
        return TransportResponse(
            status: answer.status, headers: ["Content-Type": answer.contentType], url: request.url, body: ResponseBody(answer.body))
    }
}
