import Foundation
import TestSupport
import Testing

@_spi(Fuzzing) @testable import HTTPTransport

@Suite struct ContentEncoderTests {
    private static let codings = ContentCoding.allCases.filter { $0.canEncode && $0.isAvailable }

    private func decoded(_ bytes: Data, _ coding: ContentCoding) throws -> Data {
        var decoder = ContentDecoder([coding], host: "example.com")
        decoder.give(bytes)
        decoder.completeInput()
        var whole = Data()
        while case .piece(let piece) = try decoder.next() { whole.append(piece) }
        return whole
    }

    /// Random bytes with repetitions.
    private func content(_ random: inout SeededGenerator) -> Data {
        let count = [0, 1, 100, 65_535, 65_536, 65_537, 200_000].randomElement(using: &random) ?? 0
        let word = Data((0..<Int.random(in: 1...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
        var content = Data()
        while content.count < count {
            if Bool.random(using: &random) { content.append(word) } else { content.append(UInt8.random(in: 0...255, using: &random)) }
        }
        return content.prefix(count)
    }

    private func streamed(_ content: Data, _ random: inout SeededGenerator, isReplayable: Bool = true) -> RequestBody {
        var pieces: [Data] = []
        var rest = content[...]
        while !rest.isEmpty {
            let count = Int.random(in: 0...min(rest.count, 90_000), using: &random)
            pieces.append(Data(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return RequestBody(length: Int64(content.count), isReplayable: isReplayable, contentType: "text/x") { [pieces] in
            AsyncThrowingStream { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }
        }
    }

    @Test(arguments: codings) func `What is coded is decoded again, in memory and as a stream`(coding: ContentCoding) async throws {
        var random = SeededGenerator(seed: 33)
        for _ in 0..<Sweep.rounds(ofAll: 80) {
            let content = content(&random)
            let whole = try RequestBody(content, contentType: "text/x").coded(in: coding)
            let bytes = try #require(whole.data)
            #expect(try decoded(bytes, coding) == content)
            #expect(whole.length == Int64(bytes.count) && whole.isReplayable && whole.contentType == "text/x")
            let stream = try streamed(content, &random).coded(in: coding)
            #expect(stream.length == nil && stream.isReplayable && stream.contentType == "text/x")
            let sent = try await stream.collect(upTo: .max)
            #expect(try decoded(sent, coding) == content)
            #expect(try await stream.collect(upTo: .max) == sent, "a repeat sends the same bytes")
            #expect(try await streamed(content, &random).coded(in: coding).collect(upTo: .max) == sent, "whatever the pieces")
        }
    }

    @Test(arguments: codings) func `A file is coded while it is sent`(coding: ContentCoding) async throws {
        let file = FileManager.default.temporaryDirectory.appending(component: "coded-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(repeating: 7, count: 3_000_000).write(to: file)
        let body = try RequestBody(file: file).coded(in: coding)
        #expect(body.data == nil && body.length == nil && body.isReplayable)
        var count = 0
        for try await piece in body.chunks() { count += piece.count }
        #expect(count > 0 && count < 100_000)
        #expect(try decoded(try await body.collect(upTo: .max), coding) == Data(repeating: 7, count: 3_000_000))
    }

    @Test func `An error of the stream passes, and ends the body`() async throws {
        struct Broken: Error {}
        let body = try RequestBody(isReplayable: false) {
            AsyncThrowingStream { continuation in
                continuation.yield(Data(repeating: 1, count: 200_000))
                continuation.finish(throwing: Broken())
            }
        }.coded(in: .gzip)
        #expect(!body.isReplayable)
        await #expect(throws: Broken.self) { try await body.collect(upTo: .max) }
    }

    @Test func `A form keeps its binding type`() throws {
        let form = try MultipartForm([.text("a", String(repeating: "b", count: 5_000))], boundary: "x").body().coded(in: .gzip)
        #expect(form.contentTypeIsBinding && form.contentType == "multipart/form-data; boundary=x")
    }
}
