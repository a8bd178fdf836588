public import Foundation
import WebServiceClient

/// Reads 10,000 values from streams of about a megabyte.
public struct StreamWork: Sendable {
    /// A value of a language model's stream.
    public struct Delta: Codable, Sendable {
        struct Text: Codable, Sendable {
            var type: String
            var text: String
        }

        var index: Int
        var delta: Text
    }

    private struct Answering: Transport {
        let capabilities: TransportCapabilities = []
        let body: Data

        func send(_ request: ServiceRequest) async throws -> TransportResponse {
            TransportResponse(status: 200, headers: ["Content-Type": "text/event-stream"], url: request.url, body: ResponseBody(body))
        }
    }

    /// The number of values.
    public static let count = 10_000
    /// The values as Server-Sent Events, whose type is `delta`.
    public let events: Data
    /// The values as JSON Lines.
    public let lines: Data
    /// The values as a JSON array.
    public let array: Data
    private let client: WebServiceClient

    /// Makes the streams.
    public init() throws {
        let texts = try (0..<Self.count).map { number in
            let delta = Delta(index: number, delta: .init(type: "text_delta", text: "Hello, world, this is a piece of text"))
            return String(decoding: try JSONEncoder().encode(delta), as: UTF8.self)
        }
        events = Data(texts.map { "event: delta\ndata: \($0)\n\n" }.joined().utf8)
        lines = Data(texts.joined(separator: "\n").utf8)
        array = Data(("[" + texts.joined(separator: ",") + "]").utf8)
        let transport = Answering(body: events)
        client = WebServiceClient(serviceRoot: "https://api.example.com") { $0.transport = transport }
    }

    /// Reads the events, without decoding their data.
    public func readEvents() async throws -> Int {
        var count = 0
        for try await event in ResponseBody(events).events { count += event.data.utf8.count }
        return count
    }

    /// Reads the events and decodes their data.
    public func readDecodedEvents() async throws -> Int {
        var count = 0
        for try await delta in try await client.http.get("/").value(EventStream<Delta>.self) { count += delta.index }
        return count
    }

    /// Reads and decodes the lines.
    public func readLines() async throws -> Int {
        var count = 0
        for try await delta in try ResponseBody(lines).elements(of: Delta.self, as: .jsonLines) { count += delta.index }
        return count
    }

    /// Reads and decodes the elements of the array.
    public func readArray() async throws -> Int {
        var count = 0
        for try await delta in try ResponseBody(array).elements(of: Delta.self, as: .jsonArray) { count += delta.index }
        return count
    }

    /// Splits the lines as a whole, and decodes each with a `JSONDecoder`.
    public func readLinesByHand() throws -> Int {
        let decoder = JSONDecoder()
        return try lines.split(separator: 0x0A).reduce(0) { try $0 + decoder.decode(Delta.self, from: $1).index }
    }
}
