import Foundation
import OData
import Testing
import WebServiceClient
import WebServiceTesting

// The code samples of ReadingAndWriting.md, letter for letter: a sample that doesn't compile here is wrong there.

private enum CustomerState: String, Sendable { case active = "Active" }

private protocol Staff: Sendable { var Name: String { get } }

private struct Agent: Codable, Staff { let ID: Int, Name: String }
private struct Chief: Codable, Staff { let ID: Int, Name: String, Bonus: Int }
private struct Order: Codable, Sendable { let ID: Int }

private struct Customer: Codable, Sendable, EntityType {
    static let entitySetName = "Customers"
    let ID: Int64  // from a number or a text, whatever the service sends
    var Name: String
    var Credit: EdmDecimal  // with all of its digits
    var Since: EdmDateTimeOffset  // with twelve digits of a second, and the offset
    var Phone: Presence<String>  // absent, null or a value
    var State: OpenEnumeration<CustomerState>  // a member that came later is kept by its name
    var Agent: ToOne<Agent>  // not loaded, null or an entity
    var Orders: ToMany<Order>  // not loaded, or a first page that knows whether there are more
}

@Suite struct ReadingAndWritingSampleTests {
    private let stub = StubTransport()

    private var client: ODataClient { ODataClient(serviceRoot: "https://h.example/") { $0.transport = stub } }

    @Test func entitiesAndTheirChanges() async throws {
        stub.fallback(
            .json(
                #"""
                {"@odata.etag":"W/\"1\"","ID":"5","Name":"Eve","Credit":1.50,"Since":"2026-11-21T07:59:59.123456789012+01:00","Phone":"1",
                "State":"Closed","Orders":[{"ID":1}],"ZipCode":"53111"}
                """#))
        let customer = try await client.entity(FetchRequest<Customer>().key(5))
        try #require(stub.requests.last).expectURL("https://h.example/Customers(5)")
        #expect(customer.undeclared["ZipCode"]?.string == "53111" && customer.State == .unknown("Closed"))
        let newer = try await client.entity(FetchRequest<Customer>().key(5), unlessVersion: customer.metadata.etag)  // nil: unchanged
        #expect(newer?.ID == 5)
        var orders: [Int] = []
        for try await order in client.entities(of: customer.Orders) { orders.append(order.ID) }
        #expect(orders == [1])
        let paging = client
        paging.maxPageSize = 500
        paging.prefetchesPages = true
        paging.streamsPages = false
        stub.fallback(.status(204))
        var draft = EntityDraft(of: customer)
        draft.Name = "Ada"
        draft.Phone = .null
        draft.bind("Agent", to: EntityReference(FetchRequest<Agent>(from: "Agents").key(7)))
        let result = try await client.update(FetchRequest<Customer>().key(5), with: draft)
        #expect(result.status == 204)
        #expect(
            stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) }
                == #"{"Name":"Ada","Phone":null,"Agent@odata.bind":"https://h.example/Agents(7)"}"#)
        let created = try await client.create(Agent(ID: 8, Name: "Bob"), in: FetchRequest<Agent>(from: "Agents"))
        #expect(created.entity == nil)
        try await client.delete(FetchRequest<Agent>(from: "Agents").key(8), if: .exists)
        stub.fallback(.json(#"{"value":12.5}"#))
        let total: EdmDecimal = try await client.invoke(ResourcePath(entitySet: "Recount"), ["year": 2026])
        #expect(total == EdmDecimal("12.5"))
    }

    @Test func changesThatMayBeRepeated() async throws {
        let client = client
        client.configure { $0.retry = .standard }
        client.sendsRepeatableRequests = true
        stub.fallback(.status(204, headers: ["Repeatability-Result": "accepted"]))
        try await client.delete(FetchRequest<Agent>(from: "Agents").key(8))
        #expect(stub.requests.last?.request.headers["Repeatability-Request-ID"] != nil)
    }

    @Test func typesByName() async throws {
        stub.fallback(.json(##"{"value":[{"@odata.type":"#Sales.Chief","ID":1,"Name":"A","Bonus":2},{"ID":2,"Name":"B"}]}"##))
        let client = client
        client.types.register(Agent.self, as: "Sales.Agent")
        client.types.register(Chief.self, as: "Sales.Chief", derivedFrom: "Sales.Agent")
        var names: [String] = []
        for try await agent in client.entities(matching: FetchRequest<Polymorphic<any Staff>>(from: "Agents")) {
            names.append(agent.value.Name)
        }
        #expect(names == ["A", "B"])
    }
}
