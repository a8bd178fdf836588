import Foundation
import OData
import Testing
import WebServiceClient
import WebServiceTesting

@Suite struct ItemWritesTests {
    private typealias User = SampleGraph.User

    private let stub = StubTransport()

    private func client(_ version: ODataVersion = .v4) -> SampleGraphClient {
        stub.fallback(.status(204))
        let client = SampleGraphClient(serviceRoot: "https://h.example/") { $0.transport = stub }
        client.printer = QueryPrinter(version: version)
        return client
    }

    private func decoded<Item: Decodable>(_: Item.Type, _ text: String) throws -> Item {
        try ODataDecoder().decode(Item.self, from: Data(text.utf8))
    }

    private func user(_ text: String) throws -> User { try ODataDecoder().decode(User.self, from: Data(text.utf8)) }

    private var body: String? { stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) } }

    private func refusal(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            guard case .notSettable(let name, _)? = (error as? ServiceError)?.cause as? ODataWriteError else { return "\(error)" }
            return name
        }
    }

    @Test func `a property that can't be set is refused by name before the service does`() async throws {
        let client = client()
        let original = try user(#"{"id":"1","createdDateTime":"2026-11-21T07:59:59Z","employeeId":"E","age":1}"#)
        var draft = EntityDraft(of: original)
        draft.employeeId = .value("F")
        #expect(await refusal { try await client.update(client.users.key("1"), with: draft) } == "employeeId")
        draft = EntityDraft(of: original)
        draft.id = .value("2")
        #expect(await refusal { try await client.update(client.users.key("1"), with: draft) } == "id")
        draft = EntityDraft(of: original)
        var home = SampleGraph.Address()
        home.street = .null
        draft.home = .value(home)
        #expect(await refusal { try await client.update(client.users.key("1"), with: draft) } == "street")
        #expect(await refusal { try await client.create(original, in: client.users) } == "createdDateTime")
        #expect(stub.requests.isEmpty)
        try await client.create(original.writable(in: .creation), in: client.users)
        #expect(body == #"{"id":"1","employeeId":"E","age":1}"#)
        #expect(original.writable(in: .update) == (try user(#"{"age":1}"#)))
        client.checksItems = false
        draft = EntityDraft(of: original)
        draft.createdDateTime = .null
        try await client.update(client.users.key("1"), with: draft)
        #expect(body == #"{"createdDateTime":null}"#)
    }

    @Test func `a writable copy has no nested properties that can't be set`() async throws {
        let original = try decoded(
            Shed.self,
            """
            {"@odata.etag":"e","id":"1","made":"x","name":null,"spot":{"@odata.type":"#N.Spot","@odata.id":"s","row":1,"code":"a"},\
            "spots":[{"row":2,"code":"b"},null,{"row":3}],"owner":{"id":"2","made":"y","spot":{"row":4,"code":"c"}},\
            "other":{"code":"d"}}
            """)
        let copy = original.writable(in: .creation)
        #expect(
            copy.record
                == (try decoded(
                    Shed.self,
                    """
                    {"id":"1","spot":{"@odata.type":"#N.Spot","code":"a"},"spots":[{"code":"b"},null,{}],\
                    "owner":{"id":"2","spot":{"code":"c"}},"other":{"code":"d"}}
                    """)).record)
        let client = client()
        let sheds = FetchRequest<Shed>(from: "sheds")
        #expect(await refusal { try await client.create(original, in: sheds) } == "made")
        #expect(stub.requests.isEmpty)
        try await client.create(copy, in: sheds)
        #expect(stub.requests.count == 1)
        #expect(original.writable(in: .update)["spots"]?.array?.count == 3 && original.writable(in: .update)["id"] == nil)
    }

    @Test func `unchanged elements are sent without computed properties`() async throws {
        let client = client()
        let original = try decoded(Shed.self, #"{"id":"1","spots":[{"row":1,"code":"a","tag":"t"},{"row":2,"code":"b"}]}"#)
        let shed = FetchRequest<Shed>(from: "sheds").key("1")
        var draft = EntityDraft(of: original)
        let added = try Spot(["code": .string("c"), "tag": .string("u")])
        draft.spots = .value((original.spots.value ?? []) + [added])
        try await client.update(shed, with: draft)
        // What can be set only once would be lost if it weren't sent.
        #expect(body == #"{"spots":[{"code":"a","tag":"t"},{"code":"b"},{"code":"c","tag":"u"}]}"#)
        draft = EntityDraft(of: original)
        var changed = original.spots.value ?? []
        changed.removeFirst()
        changed[0]["code"] = .string("z")
        draft.spots = .value(changed)
        try await client.update(shed, with: draft)
        #expect(body == #"{"spots":[{"code":"z"}]}"#)
        changed[0]["row"] = .integer(9)
        draft.spots = .value(changed)
        #expect(await refusal { try await client.update(shed, with: draft) } == "row")
        client.checksItems = false
        try await client.update(shed, with: draft)
        #expect(body == #"{"spots":[{"row":9,"code":"z"}]}"#)
    }

    @Test func `a model states which properties can be set`() {
        #expect(User.canSet(\.age, in: .update) && User.canSet(\.employeeId, in: .creation) && !User.canSet(\.employeeId, in: .update))
        #expect(!User.canSet(\.createdDateTime, in: .creation) && !User.canSet(\.id, in: .update))
        #expect(!User.canSet(\.securityIdentifier, in: .update))
        #expect(User.isNullable(\.age) && !User.isNullable(\.id))
    }

    @Test func `an unchanged draft sends nothing, and a changed one its entity tag and type`() async throws {
        let client = client()
        let original = try user(##"{"@odata.etag":"\"1\"","@odata.type":"#microsoft.graph.user","age":1,"score":1.50,"otherMails":["a"]}"##)
        var draft = EntityDraft(of: original)
        #expect(draft.etag == "\"1\"")
        #expect(try await client.update(client.users.key("1"), with: draft).status == nil)
        draft.score = Presence(EdmDecimal("2.5"))
        draft.otherMails = .value(["a", "b"])
        draft.age = .absent
        draft.value["shoe"] = 41
        try await client.update(client.users.key("1"), with: draft)
        #expect(body == ##"{"@odata.type":"#microsoft.graph.user","score":2.5,"otherMails":["a","b"],"shoe":41}"##)
        #expect(stub.requests.last?.request.headers["If-Match"] == "\"1\"")
    }

    @Test func `a relation is bound, not changed as a value`() async throws {
        let client = client()
        var draft = EntityDraft(of: try user(#"{"id":"1","manager":{"id":"2"}}"#))
        draft.manager = .null
        await #expect(throws: ServiceError.self) { try await client.update(client.users.key("1"), with: draft) }
        draft = EntityDraft(of: try user(#"{"id":"1","manager":{"id":"2"}}"#))
        draft.unbind(\.manager)
        draft.bind(\.memberOf, toAll: [EntityReference(SampleGraph.Group.key("a/b"), in: client.groups)])
        try await client.update(client.users.key("1"), with: draft)
        #expect(body == #"{"manager@odata.bind":null,"memberOf@odata.bind":["https://h.example/groups('a%2Fb')"]}"#)
    }

    @Test func `an item of a derived type names its type in a collection of the base`() async throws {
        let client = client()
        var group = SampleGraph.Group()
        group.description = .value("x")
        try await client.create(group, in: client.directoryObjects)
        #expect(body == ##"{"@odata.type":"#microsoft.graph.group","description":"x"}"##)
        try await client.create(group, in: client.groups)
        #expect(body == #"{"description":"x"}"#)
        try await client.set(\.age, of: client.users.key("1"), to: .value(5))
        try #require(stub.requests.last).expectURL("https://h.example/users('1')/age")
    }

    @Test func `keys are made from values or from an item`() throws {
        typealias Detail = SampleNorthwind.Order_Detail
        let printer = QueryPrinter()
        let details = FetchRequest<Detail>(from: "Order_Details")
        #expect(try details.key(Detail.key(orderID: 1, productID: 7)).relativeURL(using: printer) == "Order_Details(OrderID=1,ProductID=7)")
        let detail = try ODataDecoder().decode(Detail.self, from: Data(#"{"OrderID":1,"ProductID":7}"#.utf8))
        #expect(Detail.key(of: detail) == Detail.key(orderID: 1, productID: 7) && Detail.key(of: Detail()) == nil)
        #expect(ItemKey<SampleGraph.UserModel>(alternate: ["mail": "a"]).parts.first?.name == "mail")
        #expect(try User.key(of: user(#"{"id":"7"}"#)) == User.key("7"))
    }

    @Test func `a key path without a name is an error when the query is printed`() throws {
        func problem(_ request: FetchRequest<User>) -> String? {
            do {
                _ = try request.relativeURL(using: QueryPrinter())
                return nil
            } catch {
                return error.description
            }
        }
        let users = FetchRequest<User>(from: "users")
        #expect(problem(users.select(\.initials))?.contains("it is computed from 'displayName'") == true)
        #expect(problem(users.select(\.record))?.contains("isn't a property") == true)
        #expect(problem(users.select(\.displayName.value, \.shoe)) == nil)
        let shoes = users.select(\.displayName.value, \.shoe)
        #expect(try shoes.relativeURL(using: QueryPrinter()) == "users?$select=displayName,extension_shoe")
        #expect(users.selectionNote == nil)
    }

    @Test func `a lenient client reads values that break the metadata`() async throws {
        let client = client()
        stub.fallback(.json(#"{"value":[{"id":"1","age":"old"}]}"#))
        await #expect(throws: ServiceError.self) { try await client.fetch(client.users) }
        client.checksItems = false
        let users = try await client.fetch(client.users)
        #expect(users.first?.age == .absent && users.first?["age"] == "old" && !client.checksItems)
        stub.fallback(.json(#"{"value":[{"results":[]}]}"#))
        #expect(try await client.fetch(client.users).count == 1)
        client.checksItems = true
        await #expect(throws: ServiceError.self) { try await client.fetch(client.users) }
    }

    @Test func `a projection reads the same entities`() async throws {
        struct UserCard: Codable, Sendable, Equatable {
            let id: String
            let displayName: String?
        }
        let client = client()
        stub.fallback(.json(#"{"value":[{"id":"1","displayName":"Ada"}]}"#))
        #expect(try await client.fetch(FetchRequest<UserCard>(from: "users")) == [UserCard(id: "1", displayName: "Ada")])
        try #require(stub.requests.last).expectURL("https://h.example/users?$select=id,displayName")
        #expect(try await client.fetch(client.users).first?.displayName == .value("Ada"))
        try #require(stub.requests.last).expectURL("https://h.example/users")
        let object = try await client.fetch(FetchRequest<Polymorphic<SampleGraph.DirectoryObject>>(from: "users")).first
        #expect(object?.value.id == .value("1"))
        let whole = try await client.fetch(client.users.withMetadata()).first
        #expect(whole?.value.id == .value("1") && whole?.undeclared == [:])
    }
}

/// A model with complex values that have properties of each access.
private let shedSchema = ItemSchema(
    """
    type N.Shed
     id Edm.String! key
     made Edm.String computed
     name Edm.String!
     spot N.Spot
     spots [N.Spot?]!
     owner > N.Shed
    complex N.Spot
     code Edm.String
     row Edm.Int32 computed
     tag Edm.String immutable
    """)

private struct ShedModel: ItemModel {
    init() {}
    static var typeName: String { "N.Shed" }
    static var schema: ItemSchema { shedSchema }
    var spots: ItemField<[Spot]> { .init("spots") }
}

private struct SpotModel: ItemModel {
    init() {}
    static var typeName: String { "N.Spot" }
    static var schema: ItemSchema { shedSchema }
}

private typealias Shed = ODataItem<ShedModel>
private typealias Spot = ODataItem<SpotModel>

extension SampleGraph.UserModel {
    fileprivate var shoe: ItemField<Int32> { .init("extension_shoe") }
}

extension ODataItem where Model == SampleGraph.UserModel {
    fileprivate var initials: String? { self.displayName.value.map { String($0.prefix(1)) } }
}
