import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Tests which entities are read while their page arrives, and which from whole pages.
@Suite struct StreamedEntitiesTests {
    struct Item: Decodable, Sendable, Equatable, EntityType {
        static let entitySetName = "Items"
        let id: Int
    }

    struct Cut: Error {}

    private let stub = StubTransport()

    private func client() -> ODataClient { ODataClient(serviceRoot: "https://h.example/svc/") { $0.transport = stub } }

    /// A page that breaks off after its second entity.
    private var cut: StubAnswer {
        .pieces([Data(#"{"value":[{"id":2},{"id":3},"#.utf8)], failing: Cut(), headers: ["Content-Type": "application/json"])
    }

    private func relation(_ text: String) throws -> ToMany<Item> {
        struct Owner: Decodable { let Items: ToMany<Item> }
        return try ODataDecoder().decode(Owner.self, from: Data(text.utf8)).Items
    }

    private func read(_ entities: ODataEntities<Item>) async -> (ids: [Int], error: ServiceError?) {
        var ids: [Int] = []
        var iterator = entities.makeAsyncIterator()
        do {
            while let item = try await iterator.next() { ids.append(item.id) }
            return (ids, nil)
        } catch {
            // After an error, the sequence has ended and doesn't throw again.
            do {
                let next = try await iterator.next()
                #expect(next == nil)
            } catch {
                Issue.record("a second error: \(error)")
            }
            return (ids, error as? ServiceError)
        }
    }

    @Test(arguments: [#"{"Items":[{"id":1}],"Items@odata.nextLink":"Items?2"}"#, #"{"Items@odata.navigationLink":"Items?2"}"#])
    func `a relation's pages are read while they arrive`(owner: String) async throws {
        stub.fallback(cut)
        let relation = try relation(owner)
        let (ids, error) = await read(client().entities(of: relation))
        #expect(ids == (relation.elements ?? []).map(\.id) + [2, 3])
        #expect(error?.cause is Cut && error?.stage == .body)
        let whole = client()
        whole.streamsPages = false
        let (few, same) = await read(whole.entities(of: relation))
        #expect(few == (relation.elements ?? []).map(\.id) && same?.cause is Cut)
    }

    @Test func `a relation's pages are one sequence, streamed or whole`() async throws {
        stub["relation"] = .answering { exchange in
            let isLast = exchange.request.url.path().hasSuffix("More")
            return .json(isLast ? #"{"value":[{"id":3}]}"# : #"{"value":[{"id":2}],"@odata.nextLink":"More?3"}"#)
        }
        let relation = try relation(#"{"Items":[{"id":1}],"Items@odata.nextLink":"Items?2"}"#)
        #expect(await read(client().entities(of: relation)).ids == [1, 2, 3])
        let whole = client()
        whole.streamsPages = false
        #expect(await read(whole.entities(of: relation)).ids == [1, 2, 3])
        #expect(await read(client().entities(of: ToMany([Item(id: 7)]))).ids == [7])
        #expect(stub.requests.count == 4)
    }

    @Test func `without streaming, a page is complete before its first entity`() async throws {
        stub.fallback(cut)
        let client = client()
        #expect(await read(client.entities(matching: FetchRequest<Item>())).ids == [2, 3])
        client.streamsPages = false
        let (ids, error) = await read(client.entities(matching: FetchRequest<Item>()))
        #expect(ids.isEmpty && error?.cause is Cut)
        // The next page isn't requested before it is needed.
        stub.fallback(.json(#"{"value":[{"id":1}],"@odata.nextLink":"Items?2"}"#))
        let before = stub.requests.count
        var iterator = client.entities(matching: FetchRequest<Item>()).makeAsyncIterator()
        #expect(try await iterator.next()?.id == 1)
        for _ in 0..<1_000 { await Task.yield() }
        #expect(stub.requests.count == before + 1)
    }

    @Test(
        arguments: [
            (String.Encoding.utf16, ""), (.utf16BigEndian, "; charset=utf-16be"), (.isoLatin1, "; charset=iso-8859-1"), (.utf8, ""),
        ])
    func `the text of a service's error is read in its charset`(encoding: String.Encoding, parameter: String) async throws {
        let body = #"{"error":{"code":"E1","message":"zu spät"}}"#
        let page = #"{"value":[{"id":1},{"id":2,"na"# + body
        for (text, status) in [(body, 500), (body, 200), (page, 200)] {
            let data = try #require(text.data(using: encoding))
            stub.fallback(.data(data, type: "application/json" + parameter, status: status))
            let client = client()
            for streams in [true, false] {
                client.streamsPages = streams
                let error = await read(client.entities(matching: FetchRequest<Item>())).error
                let said = error?.errorBody as? ODataErrorBody
                #expect(said?.code == "E1" && said?.message == "zu spät", "\(encoding) \(text) \(streams): \(String(describing: error))")
                #expect(error?.message.contains("zu spät") == true && error?.status == status)
            }
        }
    }
}
