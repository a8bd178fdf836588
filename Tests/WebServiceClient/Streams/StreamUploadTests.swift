import Foundation
import TestSupport
import Testing
import WebServiceTesting

@_spi(Fuzzing) @testable import WebServiceClient

@Suite struct StreamUploadTests {
    private static func values<Element: Sendable>(_ elements: [Element]) -> AsyncStream<Element> {
        AsyncStream { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish()
        }
    }

    @Test func `Elements are sent as lines and sequences, with the endpoint's serializer`() async throws {
        let stub = StubTransport()
        stub.fallback(.status(204))
        let client = Station(serviceRoot: "https://station.test") {
            $0.transport = stub
            $0.serializer = JSONSerializer { encoder, _ in encoder.outputFormatting.insert(.sortedKeys) }
        }
        let readings = [Reading(id: 1), Reading(id: 2, name: "\n\r")]
        try await client.ingest(readings: StreamUpload(.jsonLines, Self.values(readings)))
        try await client.ingest(readings: StreamUpload(.jsonSequence, Self.values(readings)))
        try await client.ingest(readings: StreamUpload(events: Self.values([ServerEvent(type: "a", data: "1\n2", id: "3")])))
        #expect(
            stub.requests.map { $0.request.headers["Content-Type"] }
                == ["application/x-ndjson", "application/json-seq", "text/event-stream"])
        let bodies = stub.requests.map { String(decoding: $0.body ?? Data(), as: UTF8.self) }
        #expect(bodies[0] == "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"\\n\\r\"}\n")
        #expect(bodies[1] == "\u{1E}{\"id\":1,\"name\":\"a\"}\n\u{1E}{\"id\":2,\"name\":\"\\n\\r\"}\n")
        #expect(bodies[2] == "event: a\nid: 3\ndata: 1\ndata: 2\n\n")
    }

    @Test func `A sequence that can be made again is sent again`() async throws {
        let stub = StubTransport()
        stub.fallback(.inTurn(.redirect(to: "/other", status: 307), .status(204)))
        let client = Station(serviceRoot: "https://station.test") { $0.transport = stub }
        try await client.ingest(readings: StreamUpload(.jsonLines, replaying: { Self.values([Reading(id: 1)]) }))
        #expect(stub.requests.count == 2)
        // The order of members varies.
        #expect(stub.requests[0].body?.sorted() == stub.requests[1].body?.sorted())
        #expect(stub.requests[1].body?.isEmpty == false)
        stub.fallback(.inTurn(.redirect(to: "/other", status: 307), .status(204)))
        await #expect(throws: ServiceError.self) {
            try await client.ingest(readings: StreamUpload(.jsonLines, Self.values([Reading(id: 1)])))
        }
    }

    @Test func `Errors of the sequence and of the encoder are the call's`() async throws {
        let stub = StubTransport()
        stub.fallback(.status(204))
        let client = Station(serviceRoot: "https://station.test") { $0.transport = stub }
        let failing = AsyncThrowingStream<Reading, any Error> { $0.finish(throwing: Refusal()) }
        let broken = await #expect(throws: ServiceError.self) { try await client.ingest(readings: StreamUpload(.jsonLines, failing)) }
        #expect(broken?.kind == .encoding && broken?.cause is Refusal)
        let number = await #expect(throws: ServiceError.self) {
            try await client.ingest(readings: StreamUpload(.jsonLines, Self.values([Double.nan])))
        }
        #expect(number?.kind == .encoding)
        let pretty = JSONSerializer { encoder, _ in encoder.outputFormatting.insert(.prettyPrinted) }
        var body = StreamUpload(.jsonLines, Self.values([Reading(id: 1)])).body(with: pretty)
        await #expect(throws: SerializationError.self) { _ = try await body.collect(upTo: 1_000) }
        body = StreamUpload(.jsonSequence, Self.values([Reading(id: 1)])).body(with: pretty)
        #expect(try await body.collect(upTo: 1_000).contains(0x0A))
        body = StreamUpload(events: Self.values([ServerEvent(data: "\r")])).body()
        await #expect(throws: EventEncodingError.self) { _ = try await body.collect(upTo: 1_000) }
    }

    @Test func `The sequence isn't read ahead`() async throws {
        let taken = Locked(0)
        let endless = AsyncStream<Reading> {
            taken.withLock { taken in
                taken += 1
                return Reading(id: taken)
            }
        }
        var pieces = StreamUpload(.jsonLines, endless).body().chunks().makeAsyncIterator()
        for number in 1...5 {
            #expect(try await pieces.next() != nil)
            #expect(taken.withLock { $0 } == number)
        }
    }

    @Test func `What is uploaded is read back`() async throws {
        var random = SeededGenerator(seed: 12)
        let letters = Array("a\n\r\u{1E}\u{2028}ä\"\\")
        for _ in 0..<Sweep.rounds(ofAll: 400) {
            let readings = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                let name = (0..<Int.random(in: 0...6, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" }
                return Reading(id: Int.random(in: Int.min...Int.max, using: &random), name: String(name))
            }
            for (framing, upload) in [(StreamFraming.jsonLines, StreamUpload.Framing.jsonLines), (.jsonSequence, .jsonSequence)] {
                let sent = try await StreamUpload(upload, Self.values(readings)).body().collect(upTo: 100_000)
                let size = Int.random(in: 1...30, using: &random)
                let records = try #require(StreamParsers.records(of: sent, as: framing, inPiecesOf: size, limit: 1_000))
                #expect(try records.map { try JSONDecoder().decode(Reading.self, from: $0 ?? Data()) } == readings)
                let stream = try ResponseBody(sent).elements(of: Reading.self, as: framing)
                #expect(try await stream.all() == readings)
            }
        }
    }
}
