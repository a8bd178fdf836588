import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Tests streaming of entities and the settings for pages.
@Suite struct ODataPagingTests {
    struct Item: Decodable, Sendable, Equatable, EntityType {
        static let entitySetName = "Items"
        let id: Int
    }

    private let stub = StubTransport()

    private func client(_ root: String = "https://h.example/svc/") -> ODataClient {
        ODataClient(serviceRoot: root) { $0.transport = stub }
    }

    /// A response in chunks that breaks off after them if there is an error.
    private func pieces(_ texts: [String], failing error: (any Error)? = nil) -> StubAnswer {
        .pieces(texts.map { Data($0.utf8) }, failing: error, headers: ["Content-Type": "application/json"])
    }

    /// Waits until a condition holds; a generous limit ends a hanging test.
    private func wait(until isSo: () -> Bool) async {
        let deadline = ContinuousClock.now.advanced(by: .seconds(300))
        while !isSo(), ContinuousClock.now < deadline { await Task.yield() }
        #expect(isSo())
    }

    private func read(_ client: ODataClient, _ request: FetchRequest<Item> = FetchRequest()) async -> (ids: [Int], error: ServiceError?) {
        var ids: [Int] = []
        do {
            for try await item in client.entities(matching: request) { ids.append(item.id) }
            return (ids, nil)
        } catch {
            return (ids, error as? ServiceError)
        }
    }

    // MARK: Streams

    @Test func `entities are returned before their page is complete`() async throws {
        struct Waited: Error {}
        stub.fallback(pieces([#"{"value":[{"id":1},{"id""#, #":2},{"#], failing: Waited()))
        var entities = client().entities(matching: FetchRequest<Item>()).makeAsyncIterator()
        #expect(try await entities.next()?.id == 1)
        #expect(try await entities.next()?.id == 2)
        let error = await #expect(throws: ServiceError.self) { try await entities.next() }
        #expect(error?.cause is Waited && error?.stage == .body)
        #expect(try await entities.next() == nil)
    }

    @Test func `an empty piece doesn't end the body`() async throws {
        stub.fallback(pieces([#"{"value":[{"id":1},"#, "", "", #"{"id":2}]}"#]))
        let (ids, error) = await read(client())
        #expect(ids == [1, 2] && error == nil)
        stub.fallback(pieces([#"{"value":[]}"#, "", "garbage"]))
        #expect(await read(client()).error != nil)
    }

    @Test func `a long error body is read completely`() async throws {
        let trace = String(repeating: "at somewhere, ", count: 10_000)
        stub.fallback(.json(#"{"error":{"code":"E1","message":"m","innererror":{"stacktrace":"\#(trace)"}}}"#, status: 500))
        let error = await read(client()).error
        #expect((error?.errorBody as? ODataErrorBody)?.code == "E1" && error?.status == 500)
    }

    @Test func `streamed pages follow next links up to the query's top`() async throws {
        let page = #"{"@odata.nextLink":"Items?2","value":[{"id":1},{"id":2}]}"#
        stub["Items"] = .inTurn(.json(page), .json(#"{"value":[{"id":3},{"id":4}],"@odata.nextLink":"Items?3"}"#))
        #expect(await read(client(), FetchRequest().top(3)).ids == [1, 2, 3])
        #expect(stub.requests.count == 2)
        stub["Items"] = .inTurn(.json(page), .json(#"{"value":[],"@odata.nextLink":"Items?3"}"#), .json(#"{"value":[{"id":5}]}"#))
        #expect(await read(client()).ids == [1, 2, 5])
        stub["Items"] = .inTurn(.json(page), .json(page))
        let (ids, error) = await read(client())
        #expect(ids == [1, 2, 1, 2] && error?.kind == .link)
    }

    @Test func `a page that the service broke off throws the service's error after its entities`() async throws {
        let filler = String(repeating: " ", count: 200_000)
        for text in [
            #"{"value":[{"id":1},{"id":2,"na{"error":{"code":"E1","message":"late"}}"#,
            #"{"value":[{"id":1},{"error":{"code":"E1","message":"late"}}]}"#,
            #"{"value":[{"id":1}],"error":{"code":"E1","message":"late"}}"#,
            #"{"value":[{"id":1},"# + filler + #"{"id":2,"na{"error":{"code":"E1","message":"late"}}"#,
        ] {
            stub.fallback(pieces([text]))
            let (ids, error) = await read(client())
            #expect(ids == [1] && (error?.errorBody as? ODataErrorBody)?.code == "E1" && error?.message.contains("late") == true)
        }
        stub.fallback(pieces([#"{"error":{"code":"E1","message":"late"}}"#]))
        #expect((await read(client()).error?.errorBody as? ODataErrorBody)?.code == "E1")
    }

    @Test func `streamed pages fail like whole pages`() async throws {
        let answers: [StubAnswer] = [
            .json(#"{"value":[{"id":"x"}]}"#), .json(#"{"value":[{"id":1}"#), .json("{}"), .json(""), .status(204), .status(503),
            .json(#"{"error":{"code":"Busy","message":"later"}}"#, status: 503),
            .data(Data("<html><title>Sign in</title></html>".utf8), type: "text/html"),
        ]
        for answer in answers {
            stub.fallback(answer)
            let streamed = await read(client()).error
            let whole = await #expect(throws: ServiceError.self) { try await client().fetch(FetchRequest<Item>()) }
            #expect(streamed?.kind == whole?.kind && streamed?.stage == whole?.stage && streamed?.status == whole?.status)
            if whole?.kind != .decoding { #expect(streamed?.message == whole?.message) }
        }
    }

    @Test func `a page in UTF-16 is read, too`() async throws {
        let text = #"{"value":[{"id":1}]}"#
        let data = try #require(text.data(using: .utf16))
        stub.fallback(.data(data, type: "application/json"))
        #expect(await read(client()).ids == [1])
        stub.fallback(.data(try #require(text.data(using: .utf16BigEndian)), type: "application/json; charset=utf-16be"))
        #expect(await read(client()).ids == [1])
    }

    @Test func `an error in a page's trailer is thrown after its entities`() async throws {
        stub.fallback(.json(#"{"value":[{"id":1}]}"#))
        let client = client().takingBackItsAnswers()
        let (ids, error) = await read(client)
        #expect(ids == [1] && (error?.errorBody as? ODataErrorBody)?.code == "E1" && error?.kind == .refused)
    }

    @Test func `a page may exceed the limit for bodies, an entity may not`() async throws {
        let large = (1...3_000).map { #"{"id":\#($0),"text":"\#(String(repeating: "x", count: 100))"}"# }.joined(separator: ",")
        stub.fallback(pieces([#"{"value":["#, large, "]}"]))
        let client = client()
        client.configure { $0.bodyLimit = 100_000 }
        #expect(await read(client).ids == Array(1...3_000))
        stub.fallback(pieces([#"{"value":[{"id":1,"text":""#] + Array(repeating: String(repeating: "x", count: 50_000), count: 5)))
        #expect(await read(client).error?.kind == .decoding)
    }

    // MARK: Settings

    @Test func `the page size is requested in the version's spelling`() async throws {
        stub["Items"] = .inTurn(
            .json(#"{"value":[{"id":1}],"@odata.nextLink":"Items?2"}"#), .json(#"{"value":[]}"#), .json(#"{"value":[]}"#))
        let client = client()
        client.maxPageSize = 50
        _ = await read(client)
        for request in stub.requests { try request.expectHeader("Prefer", "odata.maxpagesize=50") }
        client.printer = QueryPrinter(version: .v401)
        _ = try await client.fetch(FetchRequest<Item>())
        try stub.requests[2].expectHeader("Prefer", "maxpagesize=50")
        stub.fallback(.json(#"{"value":[]}"#))
        stub["Items"] = .json(#"{"value":[]}"#)
        client.printer = QueryPrinter(version: .v2)
        _ = try await client.page(FetchRequest<Item>())
        client.printer = QueryPrinter()
        client.maxPageSize = 0
        _ = try await client.page(FetchRequest<Item>())
        for request in stub.requests.suffix(2) { #expect(request.request.headers["Prefer"] == nil) }
    }

    @Test func `the page size is sent in one field line with the client's other preferences`() async throws {
        stub["Items"] = .json(#"{"value":[]}"#)
        let client = client()
        client.configure { $0.headers["Prefer"] = #"odata.include-annotations="*""# }
        client.maxPageSize = 50
        _ = await read(client)
        let values = stub.requests[0].request.headers[values: "Prefer"]
        #expect(values == [#"odata.include-annotations="*", odata.maxpagesize=50"#])
    }

    @Test func `with prefetching, the next page is fetched while one is used`() async throws {
        let second = Locked(0)
        stub["Items"] = .answering { exchange in
            if exchange.request.url.query?.hasPrefix("$select") == true {
                return .json(#"{"value":[{"id":1}],"@odata.nextLink":"Items?2"}"#)
            }
            second.withLock { $0 += 1 }
            return .json(#"{"value":[{"id":2}]}"#)
        }
        let client = client()
        client.prefetchesPages = true
        var entities = client.entities(matching: FetchRequest<Item>()).makeAsyncIterator()
        #expect(try await entities.next()?.id == 1)
        await wait { second.withLock { $0 } == 1 }
        #expect(try await entities.next()?.id == 2)
        #expect(try await entities.next() == nil)
        #expect(second.withLock { $0 } == 1)
        client.prefetchesPages = false
        var later = client.pages(matching: FetchRequest<Item>()).makeAsyncIterator()
        #expect(try await later.next()?.entities == [Item(id: 1)])
        for _ in 0..<1_000 { await Task.yield() }
        #expect(second.withLock { $0 } == 1)
    }

    @Test func `a prefetched page fails when it is used, and is cancelled with its iterator`() async throws {
        struct Broken: Error {}
        let cancelled = Locked(false)
        let failing = ODataPages<Int>(
            foreignLinks: .refuse, limit: nil, origin: URL(string: "https://h").flatMap { Origin($0) }, prefetches: true,
            fetch: { step in
                guard case .first = step, let first = URL(string: "https://h/A") else { throw Broken() }
                return (ODataPage(entities: [1], nextLink: "A?2"), first)
            })
        var early = failing.makeAsyncIterator()
        #expect(try await early.next()?.entities == [1])
        await #expect(throws: Broken.self) { try await early.next() }
        #expect(try await early.next()?.entities == nil)

        let waiting = ODataPages<Int>(
            foreignLinks: .refuse, limit: nil, origin: URL(string: "https://h").flatMap { Origin($0) }, prefetches: true,
            fetch: { step in
                guard let first = URL(string: "https://h/A") else { throw Broken() }
                if case .first = step { return (ODataPage(entities: [1], nextLink: "A?2"), first) }
                await withTaskCancellationHandler {
                    while !Task.isCancelled { await Task.yield() }
                } onCancel: {
                    cancelled.withLock { $0 = true }
                }
                throw Broken()
            })
        do {
            var iterator = waiting.makeAsyncIterator()
            #expect(try await iterator.next()?.entities == [1])
        }
        await wait { cancelled.withLock { $0 } }
    }
}
