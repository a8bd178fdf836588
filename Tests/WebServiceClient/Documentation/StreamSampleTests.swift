import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article on streams of values.

private struct Question: Codable, Sendable {
    var text: String
    init(_ text: String) { self.text = text }
}

private struct Answer: Codable, Sendable {
    struct Choice: Codable, Sendable { var delta: Delta }
    struct Delta: Codable, Sendable { var content: String? }
    var choices: [Choice]
}

private struct Change: Codable, Sendable, Equatable {
    var id: Int
}

private final class SampleModel: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "answer(to:)": .post("/chat/completions").endsStream(at: "[DONE]"),
            "messages(request:)": .post("/messages").endsStream(atEvent: "message_stop").failsStream(atEvent: "error"),
            "prices()": .get("/prices").reconnecting(),
        ]
    }

    func answer(to question: Question) async throws -> EventStream<Answer> { try await call(question) }
}

private final class SampleShop: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "changes(since:)": .get("/changes").query("since", .argument(0)),
            "rows()": .get("/export").framing(.jsonLines),
            "ingest(changes:)": .post("/changes"),
        ]
    }

    func changes(since: Int) async throws -> ElementStream<Change> { try await call(since) }
    func ingest(changes: StreamUpload) async throws { try await call(changes) }
}

@Suite struct StreamSampleTests {
    private let stub = StubTransport()

    private func shop() -> SampleShop { SampleShop(serviceRoot: "https://shop.example.com/v1") { $0.transport = stub } }

    @Test func `A language model's answer is read while it arrives`() async throws {
        let texts = ["The sky", " is", " blue."].map { "data: {\"choices\":[{\"delta\":{\"content\":\"\($0)\"}}]}\n\n" }
        stub.fallback(.pieces((texts + ["data: [DONE]\n\n"]).map { Data($0.utf8) }, headers: ["Content-Type": "text/event-stream"]))
        let model = SampleModel(serviceRoot: "https://model.example.com/v1") { $0.transport = stub }
        var answer = ""
        for try await part in try await model.answer(to: Question("Why is the sky blue?")) {
            answer += part.choices.first?.delta.content ?? ""
        }
        #expect(answer == "The sky is blue.")
        #expect(SampleModel.verify().isEmpty)
    }

    @Test func `Elements are read, also where some can't be decoded`() async throws {
        stub.fallback(.data(Data("{\"id\":1}\n{}\n{\"id\":3}\n".utf8), type: "application/x-ndjson"))
        let shop = shop()
        var changes: [Change] = []
        for try await result in try await shop.changes(since: 7).results {
            if case .success(let change) = result { changes.append(change) }
        }
        #expect(changes == [Change(id: 1), Change(id: 3)])
        await #expect(throws: ServiceError.self) {
            for try await change in try await shop.changes(since: 7) { #expect(change.id == 1) }
        }
        #expect(SampleShop.verify().isEmpty)
    }

    @Test func `Calls without a declaration stream, too`() async throws {
        let shop = shop()
        stub.fallback(.data(Data("data: 1\n\n".utf8), type: "text/event-stream"))
        let events = try await shop.http.get("/prices").events()
        for try await event in events { #expect(event.data == "1") }
        stub.fallback(.data(Data("[{\"id\":1}]".utf8), type: "application/json"))
        let changes = try await shop.http.get("/changes").elements(of: Change.self)
        for try await change in changes { #expect(change.id == 1) }
        stub.fallback(.text("one"))
        let response = try await shop.http.get("/log").stream()
        for try await line in response.value.lines { #expect(line == "one") }
        stub.fallback(.data(Data("--b\r\nContent-Type: text/plain\r\n\r\none\r\n--b--".utf8), type: "multipart/mixed; boundary=b"))
        for try await part in try await shop.http.get("/batch").stream().parts() {
            #expect(part.headers["Content-Type"] == "text/plain")
            #expect(try await part.body.collect(upTo: 1 << 20).count == 3)
        }
    }

    @Test func `Sequences are sent`() async throws {
        stub.fallback(.status(204))
        let shop = shop()
        let changes = AsyncStream<Change> { continuation in
            continuation.yield(Change(id: 1))
            continuation.finish()
        }
        try await shop.ingest(changes: StreamUpload(.jsonLines, changes))
        #expect(stub.requests.last?.body == Data("{\"id\":1}\n".utf8))
        let events = AsyncStream<ServerEvent> { $0.finish() }
        try await shop.ingest(changes: StreamUpload(events: events))
        #expect(stub.requests.last?.request.headers["Content-Type"] == "text/event-stream")
    }
}
