import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct WriteOperationTests {
    struct Person: Codable, Sendable, EntityType {
        static let entitySetName = "People"
        var Name: String
    }

    private let stub = StubTransport()
    private let ada = FetchRequest<Person>().key(5)
    private let alias = FetchRequest<Person>().key(byAlias: "a/b")

    private func client(_ version: ODataVersion = .v4) -> ODataClient {
        stub.fallback(.status(204))
        let client = ODataClient(serviceRoot: "https://h.example/svc/") { $0.transport = stub }
        client.printer = QueryPrinter(version: version)
        return client
    }

    private func sent(_ url: String) throws { try #require(stub.requests.last).expectURL("https://h.example/svc/" + url) }

    private func header(_ name: HTTPFields.Name) -> String? { stub.requests.last?.request.headers[name] }

    private var draft: EntityDraft<Person> {
        var draft = EntityDraft(of: Person(Name: "A"))
        draft.Name = "B"
        return draft
    }

    // MARK: Conditions

    @Test(arguments: ODataVersion.allCases)
    func `changes of an entity have the same default condition, in version 2 none`(version: ODataVersion) async throws {
        let client = client(version)
        let usual = version == .v2 ? nil : "*"
        _ = try await client.update(ada, with: draft)
        #expect(header("If-Match") == usual)
        _ = try await client.update(ada, setting: ["Name": "B"])
        #expect(header("If-Match") == usual)
        _ = try await client.replace(ada, with: Person(Name: "B"))
        #expect(header("If-Match") == usual)
        _ = try await client.replace(ada, with: Person(Name: "B"), if: .exists)
        #expect(header("If-Match") == "*")
    }

    @Test func `a change without a condition has none, also for a draft with a version`() async throws {
        var versioned = draft
        versioned.etag = "\"1\""
        _ = try await client().update(ada, with: versioned)
        #expect(header("If-Match") == "\"1\"")
        _ = try await client().update(ada, with: versioned, if: .none)
        #expect(header("If-Match") == nil)
    }

    // MARK: Preferences

    @Test func `the client's preferences are sent with those of the operation`() async throws {
        let client = client()
        client.configure { $0.headers["Prefer"] = "odata.include-annotations=\"*\"" }
        _ = try await client.create(Person(Name: "A"), in: FetchRequest<Person>(), preferring: .minimal)
        #expect(header("Prefer") == "return=minimal, odata.include-annotations=\"*\"")
        _ = try await client.create(Person(Name: "A"), in: FetchRequest<Person>())
        #expect(header("Prefer") == "odata.include-annotations=\"*\"")
    }

    // MARK: Options

    @Test func `a write sends the request's selection, expansions and index`() async throws {
        let people = FetchRequest<Person>()
        _ = try await client().create(Person(Name: "A"), in: people)
        try sent("People")
        let shaped = people.select(\.Name).expand("Trips").option("x", "y")
        _ = try await client(.v401).create(Person(Name: "A"), in: shaped)
        try sent("People?$select=Name&$expand=Trips&x=y")
        // Services before 4.01 don't support this.
        _ = try await client(.v4).create(Person(Name: "A"), in: shaped)
        try sent("People?x=y")
        var last = people.schemaVersion("2")
        last.options.index = -1
        _ = try await client(.v401).create(Person(Name: "A"), in: last)
        try sent("People?$index=-1&$schemaversion=2")
        _ = try await client(.v401).update(ada.select(\.Name), with: draft)
        try sent("People(5)?$select=Name")
        _ = try await client(.v401).update(ada.select(\.Name), setting: ["Name": "B"])
        try sent("People(5)?$select=Name")
        _ = try await client(.v401).upsert(alias.expand("Trips"), with: Person(Name: "A"))
        try sent("People(@key)?$expand=Trips&@key='a%2Fb'")
        _ = try await client(.v2).replace(ada.expand("Trips"), with: Person(Name: "A"))
        try sent("People(5)")
    }

    @Test(arguments: [
        (ODataVersion.v4, #"{"Name":"B","Friends@odata.bind":["https://h.example/svc/People(5)","x"]}"#),
        (.v401, #"{"Name":"B","Friends@delta":[{"@id":"https://h.example/svc/People(5)"},{"@id":"x"}]}"#),
    ])
    func `bindings of a collection add up, and an update adds to the relation`(version: ODataVersion, body: String) async throws {
        var draft = draft
        draft.bind("Friends", toAll: [EntityReference(ada)])
        draft.bind("Friends", toAll: [EntityReference(id: "x")])
        let client = client(version)
        // A reference is always the entity's own URL, even if it is long.
        client.longQueries = .post(beyond: 10)
        _ = try await client.update(ada, with: draft)
        try #require(stub.requests.last).expectBody(json: body)
    }

    @Test func `an option for reading is an error that names it`() async throws {
        let people = FetchRequest<Person>()
        let client = client()
        for (request, name) in [
            (people.filter { $0.Name == "A" }, "$filter"), (people.top(1), "$top"), (people.count(), "$count"),
            (people.search("a"), "$search"),
            (people.order(by: .ascending(\.Name)), "$orderby"),
        ] {
            let error = await #expect(throws: ServiceError.self) { try await client.create(Person(Name: "A"), in: request) }
            #expect(error?.kind == .query && error?.message.contains(name) == true)
            await #expect(throws: ServiceError.self) { try await client.delete(request.key(5)) }
        }
        var inserted = ada
        inserted.options.index = 1
        await #expect(throws: ServiceError.self) { try await client.update(inserted, setting: ["Name": "B"]) }
        #expect(stub.requests.isEmpty)
    }

    @Test func `a change without an answer sends no options for the answer`() async throws {
        let client = client(.v401)
        for (request, name) in [(ada.select(\.Name), "$select"), (ada.expand("Trips"), "$expand")] {
            let query = ODataQuery(request.resource, options: request.options)
            let bob = EntityReference(id: "b")
            let changes: [@Sendable () async throws -> Void] = [
                { try await client.delete(request) },
                { try await client.set(\.Name, of: request, to: "B") },
                { try await client.addReference(to: bob, in: query) },
                { try await client.setReference(query, to: bob) },
                { try await client.removeReference(query) },
                { try await client.removeReference(to: bob, in: query) },
                { try await client.setRawValue(at: query, to: Data(), contentType: "text/plain") },
            ]
            for change in changes {
                let error = await #expect(throws: ServiceError.self) { try await change() }
                #expect(error?.kind == .query && error?.message.contains(name) == true)
            }
        }
        #expect(stub.requests.isEmpty)
        // The automatic selection applies only to reading.
        try await client.delete(ada)
        try sent("People(5)")
    }

    // MARK: Aliases of paths

    @Test func `operations and references send the values of the query's aliases`() async throws {
        let friends = ODataQuery(alias.resource.property("Friends"), options: alias.options)
        let bob = EntityReference(id: "b")
        try await client().addReference(to: bob, in: friends)
        try sent("People(@key)/Friends/$ref?@key='a%2Fb'")
        try await client().setReference(friends, to: bob)
        try sent("People(@key)/Friends/$ref?@key='a%2Fb'")
        try await client().removeReference(friends)
        try sent("People(@key)/Friends/$ref?@key='a%2Fb'")
        try await client().removeReference(to: bob, in: friends)
        try sent("People(@key)/Friends/$ref?@key='a%2Fb'&$id=b")
        let media = ODataQuery(alias.resource.value(), options: alias.options)
        try await client().setRawValue(at: media, to: Data([1]), contentType: "image/png")
        try sent("People(@key)/$value?@key='a%2Fb'")
        #expect(stub.requests.last?.body == Data([1]) && header("Content-Type") == "image/png")
        try await client().invoke(ODataQuery(alias.resource.action("HR.Raise")).alias("key", "x"))
        try sent("People(@key)/HR.Raise?@key='x'")
        let name: String? = try await client().evaluate(ODataQuery(alias.resource.function("HR.Best")).alias("key", "x").option("a", "b"))
        #expect(name == nil)
        try sent("People(@key)/HR.Best()?@key='x'&a=b")
    }

    @Test func `an alias without a value is an error`() async throws {
        let client = client()
        let error = await #expect(throws: ServiceError.self) { try await client.invoke(alias.resource.action("HR.Raise")) }
        #expect(error?.message.contains("@key") == true && stub.requests.isEmpty)
        await #expect(throws: ServiceError.self) {
            let _: String? = try await client.evaluate(ResourcePath(function: "F", ["a": QueryTerm<AnyEdm>.alias("p")]))
        }
        await #expect(throws: ServiceError.self) {
            try await client.create(
                Person(Name: "A"), in: FetchRequest<Person>(),
                binding: [
                    EntityBinding("Boss", to: EntityReference(alias.resource))
                ])
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func `structured arguments are in the query`() async throws {
        let function = ResourcePath(
            function: "Nearest",
            ["among": ["HAM", "L&J"], "count": 3, "like": QueryTerm<AnyEdm>(.object([.init("Name", "x".queryExpression)]))])
        let _: [String]? = try await client().evaluate(ODataQuery(function).alias("arg", 1))
        try sent("Nearest(among=@arg2,count=3,like=@arg3)?@arg=1&@arg2=%5B%22HAM%22,%22L%26J%22%5D&@arg3=%7B%22Name%22:%22x%22%7D")
        let request = FetchRequest<DynamicEntity>(resource: function).top(1)
        #expect(try request.relativeURL().contains("Nearest(among=@arg,count=3,like=@arg2)?$top=1&@arg="))
    }

    @Test func `the alias of an argument differs from the query's other aliases`() throws {
        let sum = QueryExpression.binary(.add, .path(QueryPath("@arg3")), .path(QueryPath("A")))
        let function = ResourcePath(function: "Nearest", ["among": ["HAM"], "to": QueryTerm<AnyEdm>(sum)])
        var request = FetchRequest<DynamicEntity>(resource: function).filter(raw: "Name eq @arg")
        request = request.expand("Trips") { $0.filter(.property("Of") == QueryTerm<AnyEdm>.alias("arg2")) }
        let text = try request.relativeURL()
        #expect(text.contains("Nearest(among=@arg4,to=@arg5)?") && text.contains("&@arg4=%5B%22HAM%22%5D&@arg5="), "\(text)")
        // A string isn't an alias.
        let other = FetchRequest<DynamicEntity>(resource: ResourcePath(function: "Nearest", ["among": ["HAM"]])).filter(raw: "A eq '@arg'")
        #expect(try other.relativeURL().contains("Nearest(among=@arg)"))
    }

    @Test func `a long function call is posted like other queries`() async throws {
        let client = client()
        client.longQueries = .post(beyond: 100)
        let long = String(repeating: "x", count: 100)
        let _: String? = try await client.evaluate(ODataQuery(ResourcePath(function: "Best", ["of": [long]])))
        try sent("Best(of=@arg)/$query")
        let body = try #require(stub.requests.last?.body)
        #expect(stub.requests.last?.request.method == .post && String(decoding: body, as: UTF8.self).contains(long))
    }

    // MARK: Relations

    @Test func `an update can remove a relation`() async throws {
        for (version, body) in [
            (ODataVersion.v4, #"{"Boss@odata.bind":null}"#), (.v401, #"{"Boss":null}"#), (.v2, #"{"Boss":null}"#),
        ] {
            var draft = EntityDraft(of: Person(Name: "A"))
            draft.unbind("Boss")
            _ = try await client(version).update(ada, with: draft)
            #expect(stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) } == body)
        }
    }

    @Test(arguments: ODataVersion.allCases)
    func `a relation is written once, and its last binding applies`(version: ODataVersion) async throws {
        let client = client(version)
        let binding = EntityBinding("Boss", to: EntityReference(id: "b"))
        let url: String
        switch version {
        case .v2: url = #"{"Boss":{"__deferred":{"uri":"b"}}}"#
        case .v4: url = #"{"Boss@odata.bind":"b"}"#
        case .v401: url = #"{"Boss":{"@id":"b"}}"#
        }
        // The last binding applies, and a binding takes precedence over null.
        for (entity, bindings) in [
            (DynamicEntity(), [EntityBinding("Boss", to: EntityReference(id: "a")), EntityBinding(clearing: "Boss"), binding]),
            (["Boss": .null], [binding]),
        ] {
            _ = try await client.create(entity, in: FetchRequest<DynamicEntity>(from: "People"), binding: bindings)
            #expect(stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) } == url)
        }
        var draft = EntityDraft(of: Person(Name: "A"))
        draft.undeclared["Boss"] = .null
        draft.bind("Boss", to: EntityReference(id: "b"))
        _ = try await client.update(ada, with: draft)
        #expect(stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) } == url)
        // The same applies to to-many relations. In 4.01, an update contains either their delta or their whole.
        var many = EntityDraft(of: Person(Name: "A"))
        many.undeclared["Friends"] = .null
        many.bind("Friends", toAll: [EntityReference(id: "b")])
        _ = try await client.update(ada, with: many)
        #expect(stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) }?.contains("null") == false)
        many.undeclared["Friends"] = .array([["Name": "C"]])
        if version == .v401 {
            let both = await #expect(throws: ServiceError.self) { try await client.update(ada, with: many) }
            #expect(both?.cause as? ODataWriteError == .boundAndInline("Friends"))
        }
        // A binding doesn't replace a new entity.
        let count = stub.requests.count
        draft.undeclared["Boss"] = ["Name": "C"]
        let error = await #expect(throws: ServiceError.self) { try await client.update(ada, with: draft) }
        #expect(error?.cause as? ODataWriteError == .boundAndInline("Boss"))
        await #expect(throws: ServiceError.self) {
            try await client.create(
                DynamicEntity([.init("Boss", ["Name": "C"])]), in: FetchRequest<DynamicEntity>(from: "People"), binding: [binding])
        }
        #expect(stub.requests.count == count)
    }

    @Test func `an update contains the derived type of its entity`() async throws {
        let client = client()
        client.types.register(Person.self, as: "HR.Person", derivedFrom: "HR.Being")
        _ = try await client.update(ada, with: draft)
        #expect(stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) } == ##"{"@odata.type":"#HR.Person","Name":"B"}"##)
        var bound = EntityDraft(of: Person(Name: "A"))
        bound.unbind("Boss")
        _ = try await client.update(ada, with: bound)
        #expect(
            stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) }
                == ##"{"@odata.type":"#HR.Person","Boss@odata.bind":null}"##)
    }

    @Test func `if the type can't be probed, a replacement contains the current values`() async throws {
        let client = client()
        stub.fallback(.json(#"{"ID":1,"State":"open"}"#))
        let orders = FetchRequest<UndeclaredPropertiesTests.Order>(from: "Orders").key(1).withMetadata()
        var order = try await client.fetch(orders)
        order.value.State = .closed
        stub.fallback(.status(204))
        _ = try await client.replace(orders, with: order)
        #expect(stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) } == #"{"ID":1,"State":"closed"}"#)
    }
}
