import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct EntityReferenceTests {
    private let stub = StubTransport()

    private func client(_ version: ODataVersion = .v4) -> ODataClient { stub.client(version, root: "https://h.example/svc?sap-client=100") }

    private var body: String? { stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) } }

    @Test func `a reference names its entity, without the query of the service's root`() async throws {
        let people = FetchRequest<DynamicEntity>(from: "People")
        let bob = EntityReference(people.key("b"))
        var draft = EntityDraft(of: DynamicEntity())
        draft.bind("Boss", to: bob)
        _ = try await client().update(people.key("a"), with: draft)
        #expect(body == #"{"Boss@odata.bind":"https://h.example/svc/People('b')"}"#)
        try #require(stub.requests.last).expectURL("https://h.example/svc/People('a')?sap-client=100")
        let friends = people.key("a").resource.property("Friends")
        try await client().addReference(to: bob, in: friends)
        #expect(body == #"{"@odata.id":"https://h.example/svc/People('b')"}"#)
        try await client(.v2).addReference(to: bob, in: friends)
        #expect(body == #"{"uri":"https://h.example/svc/People('b')"}"#)
        try await client().removeReference(to: bob, in: friends)
        try #require(stub.requests.last).expectURL(
            "https://h.example/svc/People('a')/Friends/$ref?sap-client=100&$id=https%3A%2F%2Fh.example%2Fsvc%2FPeople%28%27b%27%29")
        // The values of a path's aliases belong to the URL.
        try await client().addReference(to: EntityReference(people.key(byAlias: "a/b")), in: friends)
        #expect(body == #"{"@odata.id":"https://h.example/svc/People(@key)?@key='a%2Fb'"}"#)
    }
}
