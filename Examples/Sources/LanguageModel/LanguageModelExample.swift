import Foundation
import WebServiceClient
import WebServiceTesting

enum LanguageModelExample: Example {
    static let name = "language-model"
    static let summary = "a language model's answer as a stream of events"

    static func run() async throws {
        let service = ModelService()
        let server = try service.start()
        let model = LanguageModel(root: server.url.absoluteString + "/v1", key: "key")

        // The service is busy at first: 429 with Retry-After. Then the answer comes piece by piece.
        var text = ""
        for try await part in try await model.answer(to: question("Why is the sky blue?")) {
            text += part.choices.first?.delta.content ?? ""
        }
        ExampleRun.show("\(text) (\(server.requests.count) requests)")
        try ExampleRun.expect(text == "Because the air scatters blue light.", "the whole answer, found \(text)")
        try ExampleRun.expect(server.requests.count == 2 && service.busy == 1, "one repeat after 429")

        // Leaving the loop ends the connection: the service stops writing.
        for try await part in try await model.answer(to: question("Count to infinity.")) {
            text = part.choices.first?.delta.content ?? ""
            if text == "100 " { break }
        }
        try await server.waitForOpenConnections(atMost: 0)
        ExampleRun.show("left at \(text)")
        try ExampleRun.expect(text == "100 ", "the hundredth part, found \(text)")

        // An error in the middle of an answer.
        let error = try await ExampleRun.failure(ServiceError.self) {
            for try await _ in try await model.answer(to: question("Fail.")) {}
        }
        ExampleRun.show(error.message)
        let failure = error.body(as: LanguageModel.Failure.self, at: "error")
        try ExampleRun.expect(failure?.type == "overloaded_error", "the error, found \(error)")

        // An answer without its end mark was cut.
        let cut = try await ExampleRun.failure(ServiceError.self) {
            for try await _ in try await model.answer(to: question("Hang up.")) {}
        }
        try ExampleRun.expect((cut.cause as? StreamError)?.kind == .truncated, "a cut stream, found \(cut)")

        // An error before the answer.
        let stranger = LanguageModel(root: server.url.absoluteString + "/v1", key: "wrong")
        let refusal = try await ExampleRun.failure(ServiceError.self) { _ = try await stranger.answer(to: question("Why?")) }
        ExampleRun.show(refusal.message)
        try ExampleRun.expect(refusal.body(as: LanguageModel.Failure.self)?.type == "authentication_error", "the error, found \(refusal)")
    }

    private static func question(_ text: String) -> LanguageModel.Question {
        LanguageModel.Question(model: "m-1", messages: [.init(role: "user", content: text)])
    }
}

/// A model that knows four answers.
private final class ModelService: Sendable {
    private let refusals = Guarded(0)

    var busy: Int { refusals.withLock { $0 } }

    func start() throws -> LoopbackServer {
        try LoopbackServer { routes in
            routes.on("POST", "/v1/chat/completions") { try self.answer($0) }
        }
    }

    private func answer(_ request: LoopbackRequest) throws -> LoopbackResponse {
        guard request.fields["Authorization"] == "Bearer key" else {
            return .json(#"{"error": {"type": "authentication_error", "message": "The key is unknown."}}"#, status: 401)
        }
        let isBusy = refusals.withLock { count in
            defer { count = 1 }
            return count == 0
        }
        if isBusy {
            return .json(#"{"error": {"type": "rate_limit_error", "message": "Busy."}}"#, status: 429).with("Retry-After", "0")
        }
        let question = try request.decoded(as: Question.self)
        switch question.messages.last?.content {
        case "Count to infinity.":
            return .script { wire in
                try wire.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
                for number in 1... { try wire.write(Self.part("\(number) ")) }
            }
        case "Fail.":
            let error = #"{"error": {"type": "overloaded_error", "message": "Overloaded"}}"#
            return events([Self.part("I "), "event: error\ndata: \(error)\n\n"])
        case "Hang up.":
            return events([Self.part("I ")])
        default:
            return events(["Because ", "the air ", "scatters ", "blue light."].map(Self.part) + [": keep-alive\n\n", "data: [DONE]\n\n"])
        }
    }

    private struct Question: Decodable {
        let messages: [LanguageModel.Message]
    }

    private static func part(_ text: String) -> String {
        "data: {\"choices\": [{\"delta\": {\"content\": \"\(text)\"}, \"finish_reason\": null}]}\n\n"
    }

    private func events(_ events: [String]) -> LoopbackResponse {
        .pieces(events.map { LoopbackResponse.Piece($0) }, type: "text/event-stream")
    }
}
