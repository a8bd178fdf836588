import WebServiceClient

/// A client of a language model: an answer as a stream of events, the end mark `[DONE]`, errors within the stream, and waiting for a busy
/// service.
final class LanguageModel: WebServiceClient, @unchecked Sendable {
    struct Question: Encodable, Sendable {
        let model: String
        let messages: [Message]
        let stream = true
    }

    struct Message: Codable, Sendable {
        let role: String
        let content: String
    }

    struct Part: Decodable, Sendable {
        let choices: [Choice]

        struct Choice: Decodable, Sendable {
            let delta: Delta
            let finishReason: String?
        }

        struct Delta: Decodable, Sendable {
            let content: String?
        }
    }

    struct Failure: Decodable, Sendable {
        let type: String
        let message: String
    }

    override class var endpoints: EndpointTable {
        ["answer(to:)": .post("/chat/completions").endsStream(at: "[DONE]").failsStream(atEvent: "error").idempotent()]
    }

    override class var defaults: EndpointDefaults {
        EndpointDefaults(errorHandler: .decoding(Failure.self, at: "error"), retry: .standard)
    }

    convenience init(root: String, key: String) {
        self.init(serviceRoot: root) {
            $0.authenticationProvider = BearerTokenProvider(token: key)
            $0.serializer = JSONSerializer(keys: .snakeCase)
        }
    }

    func answer(to question: Question) async throws -> EventStream<Part> { try await call(question) }
}
