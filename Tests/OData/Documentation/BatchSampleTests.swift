import Foundation
import OData
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

// The code samples of Batch.md, letter for letter: a sample that doesn't compile here is wrong there.

private struct User: Codable, Sendable, EntityType {
    static let entitySetName = "Users"
    var Name: String
}

private struct Item: Codable, Sendable { var Name: String }

private struct Order: Codable, Sendable, EntityType {
    static let entitySetName = "Orders"
    var ID: Int
    var Items: ToMany<Item> = ToMany()
}

private struct Note: Codable, Sendable, EntityType {
    static let entitySetName = "Notes"
    var Text: String
}

@Suite struct BatchSampleTests {
    private let stub = StubTransport()
    private let draft = Order(ID: 7)
    private let line = Item(Name: "x")
    private let note = Note(Text: "n")

    private var client: ODataClient { ODataClient(serviceRoot: "https://h.example/") { $0.transport = stub } }

    /// An answer whose responses have these bodies.
    private func answer(_ bodies: [String]) -> StubAnswer {
        let parts = bodies.enumerated().map { index, body in
            let type = body.first == "{" ? "application/json" : "text/plain"
            return
                "--b\r\nContent-Type: application/http\r\nContent-ID: \(index + 1)\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n"
                + "\(body)\r\n"
        }
        return .data(Data((parts.joined() + "--b--").utf8), type: "multipart/mixed; boundary=b")
    }

    @Test func handlesAndClosures() async throws {
        let client = client
        stub.fallback(answer([#"{"Name":"Ada"}"#, #"{"value":[{"ID":7}]}"#, "5", #"{"Name":"Bob"}"#]))
        do {
            var batch = ODataBatch()
            let user = batch.fetch(FetchRequest<User>().key("ada"))
            let page = batch.page(FetchRequest<Order>().top(5))
            let count = batch.count(of: FetchRequest<Order>())
            batch.update(FetchRequest<User>().key("bob"), setting: ["Name": "Bob"])
            let answer = try await client.send(batch)
            print(try answer[user].Name, try answer[page].entities.count, try answer[count])
            #expect(answer.failures.isEmpty)
        }
        stub.fallback(answer([#"{"Name":"Ada"}"#, #"{"ID":7}"#]))
        let (ada, order) = try await client.batch { batch in
            (batch.fetch(FetchRequest<User>().key("ada")), batch.create(draft, in: FetchRequest<Order>()))
        }
        print(try ada.get().Name, try order.get().location ?? "")
        stub.fallback(answer([#"{"Name":"Bob"}"#, #"{"value":[{"ID":7}]}"#]))
        let (bob, orders) = try await client.fetch(FetchRequest<User>().key("bob"), FetchRequest<Order>().top(5))
        #expect(bob.Name == "Bob" && orders.count == 1)
    }

    @Test func groupsAndReferences() async throws {
        let client = client
        client.printer = QueryPrinter(version: .v401)
        stub.fallback(
            .json(#"{"responses":[{"id":"1","status":201,"body":{"ID":7}},{"id":"2","status":204},{"id":"3","status":204}]}"#))
        var batch = ODataBatch()
        let order = batch.atomically { group in
            let order = group.create(draft, in: FetchRequest<Order>())
            group.create(line, in: order.reference.navigate(\.Items))  // POST $1/Items
            return order
        }
        batch.create(note, in: FetchRequest<Note>(), binding: [EntityBinding("Order", to: EntityReference(order))])
        let answer = try await client.send(batch)
        print(try answer[order].entity?.ID ?? 0)
        let sent = String(decoding: stub.requests.last?.body ?? Data(), as: UTF8.self)
        #expect(answer.failures.isEmpty && sent.contains(#""url":"$1/Items""#) && sent.contains(##""Order":{"@id":"$1"}"##))
        client.batching = .graph  // JSON, up to 20 requests, no groups
        client.batching = BatchSettings(urls: .absolute, limit: 100)
    }

    @Test func manyReads() async throws {
        let client = client
        stub.fallback(answer([#"{"Name":"Ada"}"#, #"{"Name":"Bob"}"#]))
        let names = ["ada", "bob"]
        var count = 0
        for try await user in client.responses(to: names, { try await client.fetch(FetchRequest<User>().key($0)) }) {
            print(try user.value.Name)
            count += 1
        }
        #expect(count == 2)
        // Either order of the two reads, which are one batch or, on a slow machine, two calls.
        stub.fallback(.json(#"{"Name":"Ada","value":[{"ID":7}]}"#))
        stub.on(.post, "/$batch", answer([#"{"Name":"Ada","value":[{"ID":7}]}"#, #"{"Name":"Ada","value":[{"ID":7}]}"#]))
        client.deferredBatch = DeferredBatch()
        async let ada = client.fetch(FetchRequest<User>().key("ada"))
        async let orders = client.page(FetchRequest<Order>().top(5))
        print(try await ada.Name, try await orders.entities.count)
    }
}
