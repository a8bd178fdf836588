import Foundation
import TestSupport
import WebServiceTesting

@testable import WebServiceClient

/// A value of a stream.
struct Reading: Codable, Sendable, Equatable {
    var id: Int
    var name = "a"
}

/// A client whose methods return streams of values.
final class Station: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "events()": .get("/events"),
            "texts()": .get("/events"),
            "readings()": .get("/events"),
            "chat(question:)": .post("/chat").endsStream(at: "[DONE]").failsStream(atEvent: "error"),
            "untilStop()": .get("/events").endsStream(atEvent: "stop"),
            "live()": .get("/live").reconnecting(),
            "posted(body:)": .post("/live").reconnecting(),
            "elements()": .get("/elements"),
            "rooted()": .get("/elements").decoding(at: "found.items"),
            "asLines()": .get("/elements").framing(.jsonLines),
            "response()": .get("/elements"),
            "optional()": .get("/events"),
            "ingest(readings:)": .post("/readings"),
        ]
    }

    func events() async throws -> EventStream<ServerEvent> { try await call() }
    func texts() async throws -> EventStream<String> { try await call() }
    func readings() async throws -> EventStream<Reading> { try await call() }
    func chat(question: String) async throws -> EventStream<Reading> { try await call(question) }
    func untilStop() async throws -> EventStream<ServerEvent> { try await call() }
    func live() async throws -> EventStream<ServerEvent> { try await call() }
    func posted(body: RequestBody) async throws -> EventStream<ServerEvent> { try await call(body) }
    func elements() async throws -> ElementStream<Reading> { try await call() }
    func rooted() async throws -> ElementStream<Reading> { try await call() }
    func asLines() async throws -> ElementStream<Reading> { try await call() }
    func response() async throws -> ServiceResponse<ElementStream<Reading>> { try await call() }
    func optional() async throws -> EventStream<Reading>? { try await call() }
    func ingest(readings: StreamUpload) async throws { try await call(readings) }

    /// A client of a stub that answers every request with a body in small pieces.
    static func answering(
        _ body: String, type: String? = "text/event-stream", failing error: (any Error)? = nil, status: Int = 200
    ) -> (client: Station, stub: StubTransport) {
        let headers: HTTPFields = type.map { ["Content-Type": $0] } ?? [:]
        let stub = StubTransport()
        stub.fallback(.pieces(pieces(of: body), failing: error, status: status, headers: headers))
        return (Station(serviceRoot: "https://station.test") { $0.transport = stub }, stub)
    }

    static func pieces(of text: String, _ size: Int = 5) -> [Data] {
        let bytes = Data(text.utf8)
        return stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
    }
}

extension AsyncSequence {
    /// All elements.
    func all() async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self { elements.append(element) }
        return elements
    }
}

/// A body that says when it was cancelled before its end, and whose pieces are made on demand.
struct WatchedBody: Sendable {
    let body: ResponseBody
    private let state: Locked<(taken: Int, isCancelled: Bool)>

    /// - Parameter piece: Makes the pieces by their numbers; `nil` ends the body.
    init(_ piece: @escaping @Sendable (Int) -> String?) {
        let state = Locked((taken: 0, isCancelled: false))
        self.state = state
        body = ResponseBody(
            expectedLength: nil,
            next: {
                let number = state.withLock { state in
                    defer { state.taken += 1 }
                    return state.taken
                }
                return piece(number).map { Data($0.utf8) }
            },
            cancel: { state.withLock { $0.isCancelled = true } })
    }

    /// The number of pieces that were asked for.
    var taken: Int { state.withLock { $0.taken } }
    var isCancelled: Bool { state.withLock { $0.isCancelled } }
}
