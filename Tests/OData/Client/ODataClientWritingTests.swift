import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct ODataClientWritingTests {
    struct Person: Codable, Sendable, EntityType {
        static let entitySetName = "People"
        var Id: Int64?
        var Name: String
        var Budget: EdmDecimal?
        var Trips: ToMany<Trip> = ToMany()
    }
    struct Trip: Codable, Sendable, Equatable { var Title: String }
    struct Employee: Codable, Sendable { var Name: String, Salary: Int }

    private let stub = StubTransport()
    private let ada = FetchRequest<Person>().key("a/d'a")

    private func client(_ version: ODataVersion = .v4) -> ODataClient {
        let client = ODataClient(serviceRoot: "https://h.example/svc/") { $0.transport = stub }
        client.printer = QueryPrinter(version: version)
        return client
    }

    private func sent(_ method: ServiceRequest.Method, _ url: String, _ body: String? = nil) throws {
        let request = try #require(stub.requests.last)
        try request.expectMethod(method)
        try request.expectURL("https://h.example/svc/" + url)
        #expect(request.body.map { String(decoding: $0, as: UTF8.self) } == body)
    }

    private func header(_ name: HTTPFields.Name) -> String? { stub.requests.last?.request.headers[name] }

    // MARK: Entities

    @Test func `an entity is created with its properties and returned with its metadata`() async throws {
        stub.fallback(
            .json(
                #"{"@odata.etag":"W/\"1\"","Id":5,"Name":"Ada"}"#, status: 201,
                headers: ["Location": "People(5)", "OData-EntityId": "https://h.example/svc/People(5)"]))
        let person = Person(Name: "Ada", Budget: EdmDecimal("1E3"), Trips: [Trip(Title: "Bonn")])
        let result = try await client().create(person, in: FetchRequest<Person>(), preferring: .representation)
        try sent(.post, "People", #"{"Name":"Ada","Budget":1000,"Trips":[{"Title":"Bonn"}]}"#)
        #expect(header(.contentType) == "application/json;odata.metadata=minimal" && header("OData-Version") == "4.0")
        #expect(header("OData-MaxVersion") == "4.0" && header("Prefer") == "return=representation")
        #expect(result.entity?.Id == 5 && result.etag == #"W/"1""# && result.status == 201)
        #expect(result.location?.absoluteString == "https://h.example/svc/People(5)" && result.entityID?.hasSuffix("(5)") == true)
    }

    @Test func `an answer without a body or a location isn't an error`() async throws {
        stub.fallback(.status(204, headers: ["OData-EntityId": "People(6)", "ETag": "\"6\""]))
        let result = try await client().create(Person(Name: "Bob"), in: FetchRequest<Person>(), preferring: .minimal)
        #expect(
            result.entity == nil && result.entityID == "https://h.example/svc/People(6)" && result.etag == "\"6\"" && result.location == nil
        )
        stub.fallback(.json(#"{"Id":7,"Name":"Bob"}"#, status: 201))
        #expect(try await client().create(Person(Name: "Bob"), in: FetchRequest<Person>()).entity?.Id == 7)
    }

    @Test func `existing entities are bound in each version's spelling`() async throws {
        stub.fallback(.status(204))
        let bindings = [
            EntityBinding("Boss", to: EntityReference(ResourcePath(entitySet: "People").key("b b"))),
            EntityBinding("Friends", toAll: [EntityReference(ada), EntityReference(id: "x")]),
        ]
        let (boss, friend) = ("https://h.example/svc/People('b%20b')", "https://h.example/svc/People('a%2Fd''a')")
        let spellings: [(ODataVersion, String)] = [
            (.v4, #""Boss@odata.bind":"\#(boss)","Friends@odata.bind":["\#(friend)","x"]"#),
            (.v401, #""Boss":{"@id":"\#(boss)"},"Friends":[{"@id":"\#(friend)"},{"@id":"x"}]"#),
            (.v2, #""Boss":{"__deferred":{"uri":"\#(boss)"}},"Friends":[{"__deferred":{"uri":"\#(friend)"}},{"__deferred":{"uri":"x"}}]"#),
        ]
        for (version, spelling) in spellings {
            _ = try await client(version).create(Person(Name: "C"), in: FetchRequest<Person>(), binding: bindings)
            try sent(.post, "People", #"{"Name":"C",\#(spelling)}"#.replacing("%27", with: "'"))
        }
        #expect(header("OData-Version") == nil && header("DataServiceVersion") == "2.0" && header(.contentType) == "application/json")
    }

    @Test func `an update carries only changes, with the version that was read`() async throws {
        stub.fallback(.json(#"{"@odata.etag":"W/\"1\"","Id":5,"Name":"Ada","Budget":1.50}"#))
        let client = client()
        var draft = EntityDraft(of: try await client.entity(ada))
        stub.fallback(.status(204, headers: ["ETag": "W/\"2\""]))
        #expect(try await client.update(ada, with: draft).status == nil && stub.requests.count == 1)
        draft.Name = "Eve"
        draft.bind("Boss", to: EntityReference(id: "People('b')"))
        let result = try await client.update(ada, with: draft, preferring: .minimal)
        try sent(.patch, "People('a%2Fd''a')", #"{"Name":"Eve","Boss@odata.bind":"People('b')"}"#)
        #expect(header("If-Match") == #"W/"1""# && header("Prefer") == "return=minimal" && result.etag == #"W/"2""#)
        draft.etag = nil
        _ = try await client.update(ada, with: draft)
        #expect(header("If-Match") == "*")
        let old = self.client(.v2)
        _ = try await old.update(ada, with: draft)
        try sent("MERGE", "People('a%2Fd''a')", #"{"Name":"Eve","Boss":{"__deferred":{"uri":"People('b')"}}}"#)
        #expect(header("If-Match") == nil)
    }

    @Test func `an update of an entity that has changed since is an error with its status`() async throws {
        stub.fallback(.json(#"{"error":{"code":"412","message":"changed"}}"#, status: 412))
        var draft = EntityDraft(of: Person(Name: "A"), etag: "\"1\"")
        draft.Name = "B"
        let error = await #expect(throws: ServiceError.self) { try await client().update(ada, with: draft) }
        #expect(error?.status == 412 && (error?.errorBody as? ODataErrorBody)?.message == "changed")
    }

    @Test func `the condition of an upsert permits an update or a creation only`() async throws {
        stub.fallback(.status(204))
        for (condition, match, none) in [
            (WriteCondition.none, nil, nil), (.absent, nil, "*"), (.exists, "*", nil), (.version("\"1\""), "\"1\"", nil),
        ] as [(WriteCondition, String?, String?)] {
            _ = try await client().upsert(ada, with: Person(Name: "A"), if: condition)
            try sent(.patch, "People('a%2Fd''a')", #"{"Name":"A"}"#)
            #expect(header("If-Match") == match && header("If-None-Match") == none)
        }
        _ = try await client().replace(ada, with: Person(Name: "A"))
        try sent(.put, "People('a%2Fd''a')", #"{"Name":"A"}"#)
        try await client().delete(ada, if: .version("\"1\""))
        try sent(.delete, "People('a%2Fd''a')")
        #expect(header("If-Match") == "\"1\"" && header(.contentType) == nil)
        _ = try await client().update(ada, setting: ["Name": .null])
        try sent(.patch, "People('a%2Fd''a')", #"{"Name":null}"#)
    }

    @Test func `derived values are written with their type`() async throws {
        stub.fallback(.status(204))
        for (version, type) in [
            (ODataVersion.v4, ##""@odata.type":"#HR.Employee""##), (.v401, ##""@type":"#HR.Employee""##),
            (.v2, #""__metadata":{"type":"HR.Employee"}"#),
        ] {
            let client = client(version)
            client.types.register(Person.self, as: "HR.Person")
            client.types.register(Employee.self, as: "HR.Employee", derivedFrom: "HR.Person")
            _ = try await client.create(Employee(Name: "A", Salary: 5), in: FetchRequest<Person>())
            try sent(.post, "People", #"{\#(type),"Name":"A","Salary":5}"#)
            _ = try await client.create(Person(Name: "A"), in: FetchRequest<Person>())
            try sent(.post, "People", #"{"Name":"A"}"#)
        }
    }

    @Test func `numbers are written as strings only with the media type for it`() async throws {
        stub.fallback(.status(204))
        let client = client()
        client.asksForIEEE754Compatible = true
        _ = try await client.create(Person(Id: 5, Name: "A", Budget: 1), in: FetchRequest<Person>())
        try sent(.post, "People", #"{"Id":"5","Name":"A","Budget":"1"}"#)
        #expect(header(.contentType)?.hasSuffix(";IEEE754Compatible=true") == true)
    }

    @Test func `a real server receives the methods, header fields and bodies`() async throws {
        let server = try LoopbackServer { routes in routes.fallback { _ in .status(204).with("ETag", "\"2\"") } }
        let root = server.url.absoluteString + "/svc"
        for (version, method) in [(ODataVersion.v4, "PATCH"), (.v2, "MERGE")] {
            let client = ODataClient(serviceRoot: root)
            client.printer = QueryPrinter(version: version)
            var draft = EntityDraft(of: Person(Name: "A"), etag: "\"1\"")
            draft.Name = "O'Neil & Söhne"
            #expect(try await client.update(ada, with: draft).etag == "\"2\"")
            let request = try #require(server.requests.last)
            #expect(request.method == method && request.target == "/svc/People('a%2Fd''a')")
            #expect(request.fields["If-Match"] == "\"1\"" && request.fields["Content-Type"]?.hasPrefix("application/json") == true)
            #expect(String(decoding: request.body, as: UTF8.self) == #"{"Name":"O'Neil & Söhne"}"#)
            try await client.delete(ada)
            #expect(server.requests.last?.method == "DELETE" && server.requests.last?.body.isEmpty == true)
        }
    }

    // MARK: Properties and references

    @Test func `single properties and raw values are written`() async throws {
        stub.fallback(.status(204))
        try await client().set(\.Name, of: ada, to: "B")
        try sent(.put, "People('a%2Fd''a')/Name", #"{"value":"B"}"#)
        try await client().set(\.Budget, of: ada, to: nil)
        try sent(.delete, "People('a%2Fd''a')/Budget")
        try await client(.v2).set(\.Budget, of: ada, to: nil)
        try sent(.put, "People('a%2Fd''a')/Budget", #"{"Budget":null}"#)
        try await client().setRawValue(at: ada.resource.value(), to: Data("x".utf8), contentType: "image/png", if: .exists)
        try sent(.put, "People('a%2Fd''a')/$value", "x")
        #expect(header(.contentType) == "image/png" && header("If-Match") == "*")
    }

    @Test func `references are added, set and removed, by absolute ids`() async throws {
        stub.fallback(.status(204))
        let (friends, boss) = (ada.resource.property("Friends"), ada.resource.property("Boss"))
        let bob = EntityReference(ResourcePath(entitySet: "People").key("b"))
        let url = "https://h.example/svc/People('b')"
        try await client().addReference(to: bob, in: friends)
        try sent(.post, "People('a%2Fd''a')/Friends/$ref", #"{"@odata.id":"\#(url)"}"#)
        try await client(.v401).setReference(boss, to: bob)
        try sent(.put, "People('a%2Fd''a')/Boss/$ref", #"{"@id":"\#(url)"}"#)
        try await client().removeReference(boss)
        try sent(.delete, "People('a%2Fd''a')/Boss/$ref")
        try await client().removeReference(to: bob, in: friends)
        try sent(.delete, "People('a%2Fd''a')/Friends/$ref?$id=https%3A%2F%2Fh.example%2Fsvc%2FPeople%28%27b%27%29")
        try await client(.v2).addReference(to: bob, in: friends)
        try sent(.post, "People('a%2Fd''a')/$links/Friends", #"{"uri":"\#(url)"}"#)
        try await client(.v2).removeReference(to: bob, in: friends)
        try sent(.delete, "People('a%2Fd''a')/$links/Friends('b')")
        await #expect(throws: ServiceError.self) { try await client(.v2).removeReference(to: EntityReference(id: "x"), in: friends) }
    }

    // MARK: Operations

    @Test func `actions have typed parameters and results, and 204 is nil`() async throws {
        stub.fallback(.json(#"{"@odata.context":"x","value":"1.50"}"#))
        let raise = ada.resource.action("HR.Raise")
        let total: EdmDecimal = try await client().invoke(
            raise, ["amount": EdmDecimal("1E2"), "at": EdmDate("2026-11-21"), "who": [Trip(Title: "x")]], if: .version("\"1\""))
        #expect(total.description == "1.50")
        try sent(.post, "People('a%2Fd''a')/HR.Raise", #"{"amount":100,"at":"2026-11-21","who":[{"Title":"x"}]}"#)
        #expect(header("If-Match") == "\"1\"")
        stub.fallback(.json(#"{"Name":"B"}"#))
        let person: ODataEntity<Person>? = try await client().invoke(raise)
        try sent(.post, "People('a%2Fd''a')/HR.Raise", "{}")
        #expect(person?.Name == "B")
        stub.fallback(.status(204))
        let nobody: Person? = try await client().invoke(ResourcePath(entitySet: "Reset"))
        #expect(nobody == nil)
        try await client().invoke(ResourcePath(entitySet: "Reset"))
        try sent(.post, "Reset", "{}")
        await #expect(throws: ServiceError.self) { try await client().invoke(raise, returning: Int.self) }
    }

    @Test func `functions return values, collections and nothing`() async throws {
        stub.fallback(.json(#"{"value":["a","b"]}"#))
        #expect(try await client().evaluate(ResourcePath(function: "Names", ["count": 2]), as: [String].self) == ["a", "b"])
        try sent(.get, "Names(count=2)")
        stub.fallback(.status(204))
        #expect(try await client().evaluate(ResourcePath(function: "Best"), as: Int?.self) == nil)
        stub.fallback(.json(#"{"d":{"Total":"5"}}"#))
        #expect(try await client(.v2).evaluate(ResourcePath(function: "Total"), as: Int64.self) == 5)
    }

    @Test func `a body that can't be encoded is an error before a request is sent`() async throws {
        let error = await #expect(throws: ServiceError.self) { try await client().create(5, in: FetchRequest<Person>()) }
        #expect(error?.kind == .encoding && error?.cause is ODataWriteError)
        await #expect(throws: ServiceError.self) {
            try await client().create(Person(Name: "A", Budget: EdmDecimal("INF")), in: FetchRequest<Person>())
        }
        #expect(stub.requests.isEmpty)
    }
}
