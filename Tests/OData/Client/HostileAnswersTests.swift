import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Responses that a service sends with malicious intent or in distress: each is an error within the client's limit.
@Suite struct HostileAnswersTests {
    struct Item: Decodable, Sendable, EntityType {
        static let entitySetName = "Items"
        let id: Int
        let text: String?
    }

    private static let bound = 300_000
    private let taken = Locked(0)

    /// A page whose text is a gigabyte long; ``taken`` counts the bytes that are read.
    private func endless(_ beginning: String, _ filler: String) -> StubAnswer {
        let piece = Data(String(repeating: filler, count: 65_536 / filler.utf8.count).utf8)
        let taken = taken
        return StubAnswer { request in
            taken.withLock { $0 = 0 }
            let body = ResponseBody(
                expectedLength: nil,
                next: {
                    let count = taken.withLock { $0 }
                    guard count < 1 << 30 else { return nil }
                    let next = count == 0 ? Data(beginning.utf8) : piece
                    taken.withLock { $0 += next.count }
                    return next
                },
                cancel: {})
            return TransportResponse(status: 200, headers: ["Content-Type": "application/json"], url: request.request.url, body: body)
        }
    }

    private func client(_ answer: StubAnswer) -> ODataClient {
        let stub = StubTransport()
        stub.fallback(answer)
        return ODataClient(serviceRoot: "https://h.example/svc/") {
            $0.transport = stub
            $0.bodyLimit = Self.bound
        }
    }

    /// Returns the number of entities before the error, and the errors when streaming and when reading whole pages.
    private func read(_ client: ODataClient) async -> (count: Int, errors: [ServiceError?]) {
        var count = 0
        var errors: [ServiceError?] = []
        for streams in [true, false] {
            client.streamsPages = streams
            do {
                for try await _ in client.entities(matching: FetchRequest<Item>()) { count += 1 }
                errors.append(nil)
            } catch {
                errors.append(error as? ServiceError)
            }
            // Searching the end of a broken payload stays within the limit.
            #expect(taken.withLock { $0 } <= 2 * Self.bound + 3 * 65_536)
        }
        return (count, errors)
    }

    @Test(arguments: [#"{"value":[{"id":1,"text":"#, #"{"value":"#, #"{"@a.b":"#, #"{"d":{"results":"#, ""])
    func `ten thousand levels of nesting are an error`(beginning: String) async {
        for opening in ["[", #"{"a":"#] {
            let text = beginning + String(repeating: opening, count: 10_000)
            let (count, errors) = await read(client(.json(text)))
            #expect(count == 0)
            for error in errors {
                #expect(error?.kind == .decoding && error?.cause is DecodingError, "\(beginning)\(opening): \(String(describing: error))")
            }
        }
        let closed =
            #"{"value":[{"id":1,"text":"#
            + String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000) + "}]}"
        let (_, errors) = await read(client(.json(closed)))
        for error in errors { #expect(error?.message.contains("deep") == true, "\(String(describing: error))") }
    }

    @Test(
        arguments: [
            (#"{"value":[{"id":1,"text":""#, "x"), (#"{"value":[{"id":1,""#, "x"), (#"{"value":["#, " "), (#"{"@a.b":""#, "x"),
            (#"{"value":[{"id":1}],"@a.b":""#, "x"), (#"{"value":[{"id":1,"text":["#, "5,"), (#"{"value":[{"id":1"#, "1"),
            (#"{"a":{"b":"#, "[],"), (" ", " "), (#"{"value":[]}"#, " "),
        ])
    func `a page of a gigabyte without an end`(beginning: String, filler: String) async {
        let (count, errors) = await read(client(endless(beginning, filler)))
        #expect(count <= 1)
        #expect(errors.count == 2)
        for error in errors { #expect(error?.stage == .body || error?.stage == .decoding, "\(beginning): \(String(describing: error))") }
        #expect(errors.last??.cause is ResponseBodyTooLarge)
    }

    @Test func `a gigabyte of small entities is an error in memory, and can be streamed`() async throws {
        let client = client(endless(#"{"value":[{"id":0}"#, #",{"id":1}"#))
        await #expect(throws: ServiceError.self) { try await client.fetch(FetchRequest<Item>()) }
        #expect(taken.withLock { $0 } <= Self.bound + 2 * 65_536)
        var count = 0
        for try await _ in client.entities(matching: FetchRequest<Item>()) {
            count += 1
            // Twice the limit shows that it doesn't apply to the whole page.
            if count > 2 * Self.bound / 9 { break }
        }
        #expect(taken.withLock { $0 } >= 2 * Self.bound - 65_536)
    }

    @Test func `a string of a hundred megabytes is an error, one within the bound is read`() async throws {
        let piece = String(repeating: "x", count: 1 << 20)
        func answer(_ megabytes: Int) -> StubAnswer {
            .pieces(
                [Data(#"{"value":[{"id":1,"text":""#.utf8)] + Array(repeating: Data(piece.utf8), count: megabytes) + [Data(#""}]}"#.utf8)],
                headers: ["Content-Type": "application/json"])
        }
        let (count, errors) = await read(client(answer(100)))
        #expect(count == 0)
        for error in errors { #expect(error?.kind == .decoding || error?.cause is ResponseBodyTooLarge, "\(String(describing: error))") }
        let large = client(answer(8))
        large.configure { $0.bodyLimit = 9 << 20 }
        var length = 0
        for try await item in large.entities(matching: FetchRequest<Item>()) { length += item.text?.utf8.count ?? 0 }
        #expect(length == 8 << 20)
    }

    @Test(arguments: [true, false]) func `a cycle of next links is an error`(streams: Bool) async {
        // Each page links to the next one, and the last one to the second.
        let client = client(
            .answering { exchange in
                let number = exchange.request.url.query?.split(separator: "=").last.flatMap { Int($0) } ?? 1
                return .json(#"{"value":[{"id":\#(number)}],"@odata.nextLink":"Items?$skiptoken=\#(number % 5 + 1)"}"#)
            })
        client.streamsPages = streams
        var count = 0
        let error = await #expect(throws: ServiceError.self) {
            for try await _ in client.entities(matching: FetchRequest<Item>()) { count += 1 }
        }
        guard case .loop = error?.cause as? ODataLinkError else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(error?.kind == .link && count <= 6)
    }

    @Test(arguments: [true, false]) func `a next link to another host is refused`(streams: Bool) async {
        let hosts = Locked<Set<String>>([])
        let client = client(
            .answering { exchange in
                hosts.withLock { _ = $0.insert(exchange.request.url.host() ?? "") }
                return .json(#"{"value":[{"id":1}],"@odata.nextLink":"https://evil.example/svc/Items?2"}"#)
            })
        client.streamsPages = streams
        var count = 0
        let error = await #expect(throws: ServiceError.self) {
            for try await _ in client.entities(matching: FetchRequest<Item>()) { count += 1 }
        }
        guard case .foreignOrigin = error?.cause as? ODataLinkError else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(count == 1 && hosts.withLock { $0 } == ["h.example"])
    }
}
