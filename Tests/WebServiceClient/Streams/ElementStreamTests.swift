import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct ElementStreamTests {
    private static let three = [Reading(id: 1), Reading(id: 2, name: "ä\n"), Reading(id: 3, name: "]},{[\"")]

    private static func json(_ reading: Reading) throws -> String { String(decoding: try JSONEncoder().encode(reading), as: UTF8.self) }

    /// The same readings in each framing, with the media types that mean it.
    private static func bodies() throws -> [(types: [String], body: String)] {
        let texts = try three.map(json)
        return [
            (["application/x-ndjson", "application/jsonl; charset=utf-8", "Application/NDJSON"], texts.joined(separator: "\n\n") + "\n"),
            (["application/x-ndjson"], texts.joined(separator: "\r\n")),
            (["application/json-seq", "application/geo+json-seq"], texts.map { "\u{1E}\($0)\n" }.joined()),
            (["application/json", "application/hal+json"], "[" + texts.joined(separator: " ,\n") + "]"),
            (
                ["multipart/mixed; boundary=\"b\"", "multipart/digest; boundary=b"],
                texts.map { "--b\r\nContent-Type: application/json\r\n\r\n\($0)\r\n" }.joined() + "--b--"
            ),
        ]
    }

    @Test func `The media type decides the framing`() async throws {
        for (types, body) in try Self.bodies() {
            for type in types {
                let (client, stub) = Station.answering(body, type: type)
                #expect(try await client.elements().all() == Self.three, "\(type)")
                #expect(stub.requests.first?.request.headers["Accept"] == StreamFraming.elementTypes)
                #expect(client.calls.isEmpty)
            }
        }
        let (client, stub) = Station.answering(try Self.bodies()[0].body, type: "text/plain")
        #expect(try await client.asLines().all() == Self.three)
        #expect(stub.requests.first?.request.headers["Accept"] == "application/x-ndjson, application/jsonl")
        #expect(try await client.http.get("/").describing { $0.framing(.jsonLines) }.elements(of: Reading.self).all().count == 3)
    }

    @Test func `Another type is an error that names the fix`() async throws {
        for (type, text) in [
            ("text/plain", ".framing("), ("text/event-stream", "EventStream"), ("multipart/mixed", "boundary"), (nil, "without"),
        ] as [(String?, String)] {
            let (client, _) = Station.answering("x", type: type)
            let error = await #expect(throws: ServiceError.self) { _ = try await client.elements() }
            #expect(error?.kind == .format && error?.message.contains(text) == true, "\(error?.message ?? "")")
        }
    }

    @Test func `An array is found at a path`() async throws {
        let body = "{\"found\":{\"n\":2,\"items\":[{\"id\":1,\"name\":\"a\"},{\"id\":2,\"name\":\"b\"}]},\"more\":true}"
        let (client, _) = Station.answering(body, type: "application/json")
        #expect(try await client.rooted().all().map(\.id) == [1, 2])
        let response = try await Station.answering("[]", type: "application/json").client.response()
        #expect(response.status == 200)
        #expect(try await response.value.all().isEmpty)
        let (none, _) = Station.answering("{\"found\":{}}", type: "application/json")
        await #expect(throws: ServiceError.self) { _ = try await none.rooted().all() }
        let (cut, _) = Station.answering("[{\"id\":1,\"name\":\"a\"},{\"id\"", type: "application/json")
        var iterator = try await cut.elements().makeAsyncIterator()
        #expect(try await iterator.next()?.id == 1)
        let error = await #expect(throws: ServiceError.self) { _ = try await iterator.next() }
        #expect((error?.cause as? StreamError)?.kind == .truncated)
        let (empty, _) = Station.answering("", type: nil, status: 204)
        #expect(try await empty.elements().all().isEmpty)
    }

    @Test func `An element that can't be decoded ends the elements, and the results go on`() async throws {
        let (client, _) = Station.answering("{\"id\":1,\"name\":\"a\"}\n\nnull\n{\"id\":3,\"name\":\"c\"}\n", type: "application/jsonl")
        var iterator = try await client.elements().makeAsyncIterator()
        #expect(try await iterator.next()?.id == 1)
        let error = await #expect(throws: ServiceError.self) { _ = try await iterator.next() }
        #expect((error?.cause as? StreamError)?.place == StreamPlace(element: 2, line: 3, byte: 21))
        #expect(error?.kind == .decoding && error?.message.contains("element 2, line 3, byte 21") == true)
        #expect(try await iterator.next() == nil)
        let results = try await client.elements().results.all()
        #expect(results.map { try? $0.get().id } == [1, nil, 3])
        #expect(results.compactMap(\.failure).allSatisfy { ($0 as? ServiceError)?.kind == .decoding })
        let (sequence, _) = Station.answering("\u{1E}{\"id\":1,\u{1E}{\"id\":2,\"name\":\"b\"}\n\u{1E}12", type: "application/json-seq")
        #expect(try await sequence.elements().results.all().map { try? $0.get().id } == [nil, 2, nil])
        let (array, _) = Station.answering("[{\"id\":1,\"name\":\"a\"},{\"id\":\"x\"},{\"id\":3,\"name\":\"c\"}]", type: "application/json")
        #expect(try await array.elements().results.all().map { try? $0.get().id } == [1, nil, 3])
    }

    @Test func `Hostile input is refused within the limit`() async throws {
        let deep = String(repeating: "[", count: 100_000)
        for (type, body) in [
            ("application/jsonl", deep + "\n"), ("application/json", "[" + deep), ("application/json-seq", "\u{1E}" + deep + "\n"),
        ] {
            let (client, _) = Station.answering(body, type: type)
            let error = await #expect(throws: ServiceError.self) { _ = try await client.elements().all() }
            #expect(error?.kind == .decoding)
        }
        for type in ["application/jsonl", "application/json", "application/json-seq", "multipart/mixed; boundary=b", "text/event-stream"] {
            let head =
                switch type {
                case "application/jsonl": "\""
                case "application/json": "[\""
                case "application/json-seq": "\u{1E}\""
                case "text/event-stream": "data: "
                default: "--b\r\n\r\n"
                }
            let piece = String(repeating: "x", count: 1_000)
            let watched = WatchedBody { $0 == 0 ? head : piece }
            let stub = StubTransport()
            stub.fallback(
                StubAnswer { TransportResponse(status: 200, headers: ["Content-Type": type], url: $0.request.url, body: watched.body) })
            let client = Station(serviceRoot: "https://station.test") {
                $0.transport = stub
                $0.bodyLimit = 100_000
            }
            let error = await #expect(throws: ServiceError.self) {
                if type == "text/event-stream" {
                    _ = try await client.events().all()
                } else {
                    _ = try await client.elements().all()
                }
            }
            #expect(error?.kind == .bodyTooLarge && watched.isCancelled, "\(type): \(error?.message ?? "")")
            // An element within one piece of the parser is always accepted.
            #expect(watched.taken < 250)
        }
    }

    @Test func `Bodies are read as lines, elements and parts`() async throws {
        #expect(try await ResponseBody(Data("a\r\nb\n\nc".utf8)).lines.all() == ["a", "b", "", "c"])
        await #expect(throws: StreamError.self) { _ = try await ResponseBody(Data("abcd\n".utf8)).lines(limit: 3).all() }
        let numbers = try ResponseBody(Data("1\n2\n".utf8)).elements(of: Int.self, as: .jsonLines)
        #expect(try await numbers.all() == [1, 2])
        let array = try ResponseBody(Data("{\"v\":[1,2]}".utf8)).elements(of: Int.self, as: .jsonArray, at: ["v"])
        #expect(try await array.all() == [1, 2])
        for framing in [StreamFraming.events, .parts] {
            #expect(throws: StreamError.self) { _ = try ResponseBody().elements(of: Int.self, as: framing) }
        }
    }

    @Test func `Parts have fields and bodies, are skipped, and nest`() async throws {
        let inner = "--i\r\n\r\nx\r\n--i\r\n\r\ny\r\n--i--"
        let text =
            "--b\r\nContent-Type: text/plain\r\n\r\none\r\n--b\r\n\r\n\(String(repeating: "z", count: 200_000))\r\n--b\r\n"
            + "Content-Type: multipart/mixed; boundary=i\r\n\r\n\(inner)\r\n--b--"
        func body() -> ResponseBody {
            let pieces = Station.pieces(of: text, 1_000)
            return WatchedBody { $0 < pieces.count ? String(decoding: pieces[$0], as: UTF8.self) : nil }.body
        }
        var read: [String] = []
        for try await part in try body().parts(contentType: "multipart/mixed; boundary=b") {
            if part.headers[.contentType]?.hasPrefix("multipart") == true {
                for try await nested in try part.parts() {
                    read.append(String(decoding: try await nested.body.collect(upTo: 100), as: UTF8.self))
                }
            } else if part.headers.isEmpty {
                continue
            } else {
                read.append(String(decoding: try await part.body.collect(upTo: 100), as: UTF8.self))
            }
        }
        #expect(read == ["one", "x", "y"])
        var iterator = try body().parts(contentType: "multipart/mixed; boundary=b").makeAsyncIterator()
        let first = try #require(try await iterator.next())
        _ = try await iterator.next()
        let error = await #expect(throws: StreamError.self) { _ = try await first.body.collect(upTo: 100) }
        #expect(error?.kind == .misuse)
        for type in ["text/plain", "multipart/mixed", "?"] {
            #expect(throws: StreamError.self) { _ = try body().parts(contentType: type) }
        }
        let (client, _) = Station.answering(text, type: "multipart/mixed; boundary=b")
        #expect(try await client.http.get("/").stream().parts().all().count == 3)
        await #expect(throws: StreamError.self) {
            _ = try await ResponseBody(Data("--b\r\n\r\ncut".utf8)).parts(contentType: "multipart/mixed; boundary=b").all()
        }
    }

    @Test func `The array is read at the reader's pace`() async throws {
        let watched = WatchedBody { $0 == 0 ? "[{\"id\":0,\"name\":\"\"}" : ",{\"id\":\($0),\"name\":\"\"}" }
        var iterator = try watched.body.map { $0 }.elements(of: Reading.self, as: .jsonArray).makeAsyncIterator()
        for number in 0..<10 {
            #expect(try await iterator.next()?.id == number)
            #expect(watched.taken <= number + 2)
        }
        #expect(!watched.isCancelled)
        iterator = try ResponseBody().elements(of: Reading.self, as: .jsonArray).makeAsyncIterator()
        #expect(watched.isCancelled)
        _ = iterator
    }
}
