import Foundation
import OData
import Testing
import WebServiceClient
import WebServiceTesting

// The code samples of Changes.md and LongRunningRequests.md, letter for letter: a sample that doesn't compile here is wrong there.

private struct Customer: Codable, Sendable {
    let ID: Int
    let Name: String?
}

private struct Sale: Codable, Sendable { let amount: Int }

private struct Report: Codable, Sendable { let total: Int }

private final class Store {
    var cursor: DeltaCursor?
    var names: [Int64: String] = [:]

    func beginSweep() { names = [:] }
    func merge(_ customer: DynamicEntity) {
        if let id = customer["ID"]?.integer { names[id] = customer["Name"]?.string }
    }
    func remove(_ id: String?, _ key: DynamicEntity) {
        if let id = key["ID"]?.integer { names[id] = nil }
    }
    func forget(_ source: String) {}
    func save(_ cursor: DeltaCursor) { self.cursor = cursor }
}

@Suite struct ChangesSampleTests {
    private let stub = StubTransport()

    private var client: ODataClient {
        let client = ODataClient(serviceRoot: "https://h.example/") { $0.transport = stub }
        client.printer = QueryPrinter(version: .v401)
        return client
    }

    @Test func trackingAndSendingChanges() async throws {
        stub["Customers"] = .inTurn(
            .json(#"{"value":[{"ID":1,"Name":"a"},{"ID":2,"Name":"b"}],"@deltaLink":"Customers?$deltatoken=1"}"#),
            .json(#"{"value":[{"ID":2,"@removed":{"reason":"deleted"}}],"@deltaLink":"Customers?$deltatoken=2"}"#),
            .json(#"{"value":[{"ID":1,"Name":"a"}],"@deltaLink":"Customers?$deltatoken=2"}"#), .status(204))
        let (client, store) = (client, Store())
        let request = FetchRequest<Customer>(from: "Customers").selectAll()
        for _ in 0..<2 {
            for try await change in client.changes(of: request, since: store.cursor) {
                switch change {
                case .restarted: store.beginSweep()
                case .changed(let customer): store.merge(customer.properties)
                case .removed(let customer): store.remove(customer.id, customer.key)
                case .linked(let link), .unlinked(let link): store.forget(link.source)
                case .checkpoint(let cursor): store.save(cursor)
                }
            }
        }
        #expect(store.names == [1: "a"])
        var customers = DeltaCollection<Customer>(keys: ["ID"], relations: ["Orders": ["No"]])
        for try await change in client.changes(of: request, since: customers.cursor) { try customers.apply(change) }
        let all = try customers.entities()
        let saved = try JSONEncoder().encode(customers)
        #expect(all.map(\.Name) == ["a"] && !saved.isEmpty)
        var update = DeltaUpdate<Customer>()
        update.upsert(["ID": 5, "Name": "Ada"])
        update.remove(EntityReference(FetchRequest<Customer>(from: "Customers").key(6)))
        let results = try await client.update(request, with: update, continuingOnError: true)
        for case .failed(let failure) in results { print(failure) }
        #expect(results.count == 2)
    }

    @Test func longRunningRequests() async throws {
        stub["Sales"] = .json(#"{"value":[{"amount":3}]}"#)
        stub["Recalculate"] = .json(#"{"total":7}"#)
        let client = client
        let job = try await client.start(FetchRequest<Sale>(from: "Sales"), waiting: .seconds(10))
        let page = try await job.value
        #expect(page.entities.map(\.amount) == [3])
        let recalculation: ODataJob<Report> = try await client.start(
            invoking: ODataQuery(ResourcePath(entitySet: "Recalculate")), ["year": 2026])
        switch try await recalculation.status() {
        case .running(let progress, _): print("\(Int((progress ?? 0) * 100)) %")
        case .finished: #expect(try await recalculation.value.total == 7)
        }
        stub["Sales"] = .status(202, headers: ["Location": "/status/1"])
        let slow = try await client.start(FetchRequest<Sale>(from: "Sales"))
        var saved = Data()
        if let ticket = slow.ticket { saved = try JSONEncoder().encode(ticket) }
        stub["Sales"] = .json(#"{"value":[{"amount":4}]}"#)
        let ticket = try JSONDecoder().decode(ODataJobTicket.self, from: saved)
        let found = try client.job(ticket, returning: ODataPage<Sale>.self)
        #expect(try await found.status() == .finished)
        let rest = try await found.value
        #expect(rest.entities.map(\.amount) == [4])
    }
}
