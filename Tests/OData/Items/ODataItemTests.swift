import Foundation
import OData
import Testing
import WebServiceClient

@Suite struct ODataItemTests {
    private typealias User = SampleGraph.User
    private typealias Group = SampleGraph.Group
    private typealias DirectoryObject = SampleGraph.DirectoryObject

    private func decode<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) throws -> Value {
        try ODataDecoder().decode(type, from: Data(text.utf8))
    }

    private func text(_ value: some Encodable, _ version: ODataVersion = .v4) throws -> String {
        String(decoding: try ODataEncoder(PayloadFormat(version: version)).encode(value), as: UTF8.self)
    }

    @Test func `a property is absent, null or a value`() throws {
        let user: User = try decode(#"{"age":36,"displayName":null}"#)
        #expect(user.age == .value(36) && user.displayName == .null && user.employeeId == .absent && user.home.value == nil)
        #expect(!user.manager.isLoaded && !user.memberOf.isLoaded && user.photo.isEmpty)
        #expect(MemoryLayout<User>.stride == 24)
    }

    @Test func `an item keeps the whole payload`() throws {
        let user: User = try decode(
            ##"""
            {"@odata.etag":"W/\"1\"","@odata.id":"users('1')","id":"1","extension_shoe":40,"extension_shoe@odata.type":"#Int64",
            "@Core.Note":"x","memberOf@odata.count":2,"memberOf@odata.navigationLink":"https://h.example/m","quota":"5"}
            """##)
        #expect(user["extension_shoe"] == 40 && user["@Core.Note"] == "x" && user["missing"] == nil)
        #expect(user.undeclared == ["extension_shoe": 40])
        #expect(user.metadata.etag == "W/\"1\"" && user.metadata.id == "users('1')")
        #expect(user.memberOf.count == 2 && user.memberOf.navigationLink == "https://h.example/m")
        #expect(user.quota == .value(5))
        let other = try JSONDecoder().decode(User.self, from: JSONEncoder().encode(user))
        #expect(other.metadata == user.metadata && other.quota == .value(5) && other["extension_shoe"] == 40)
    }

    @Test(arguments: [
        (#"{"age":"old"}"#, "age"), (#"{"age":3000000000}"#, "age"), (#"{"displayName":5}"#, "displayName"), (#"{"id":true}"#, "id"),
        (#"{"home":"Bonn"}"#, "home"), (#"{"home":{"city":["Bonn"]}}"#, "home.city"), (#"{"otherMails":"a"}"#, "otherMails"),
        (#"{"otherMails":["a",null]}"#, "otherMails.Index 1"),
        (#"{"assignedPlans":[{"servicePlanId":"x"}]}"#, "assignedPlans.Index 0.servicePlanId"),
        (#"{"createdDateTime":"yesterday"}"#, "createdDateTime"), (#"{"memberOf":{"id":"1"}}"#, "memberOf"),
        (#"{"manager":[]}"#, "manager"), (#"{"manager":{"results":[]}}"#, "manager"),
        (#"{"manager":{"results":[{"id":"1"}],"__count":"1","__next":"n"}}"#, "manager"), (#"{"home":{"results":[]}}"#, "home"),
        (#"{"assignedPlans":[{"results":[]}]}"#, "assignedPlans.Index 0"),
        (##"{"manager":{"@odata.type":"#microsoft.graph.user","age":"x"}}"##, "manager.age"), (#"{"rights":true}"#, "rights"),
        (#"{"home":{"location":{"type":"Point"}}}"#, "home.location"), (#"{"deletedDateTime":1}"#, "deletedDateTime"),
    ])
    func `a property of another kind than declared is an error with its place`(_ payload: String, _ path: String) throws {
        func place(_ error: (any Error)?) -> String? {
            guard case .typeMismatch(_, let context)? = error as? DecodingError else { return nil }
            return context.codingPath.map(\.stringValue).joined(separator: ".")
        }
        #expect(place(#expect(throws: DecodingError.self) { try decode(payload, as: User.self) }) == path)
        #expect(
            place(#expect(throws: DecodingError.self) { try JSONDecoder().decode(User.self, from: Data(payload.utf8)) }) == path)
        let page = #"{"value":[{},"# + payload + "]}"
        let error = #expect(throws: DecodingError.self) { try decode(page, as: ODataPage<User>.self) }
        #expect(place(error)?.hasSuffix(path) == true)
    }

    @Test func `a derived type's properties are checked by its own declarations`() throws {
        let objects: ODataPage<DirectoryObject> = try decode(
            ##"""
            {"value":[{"@odata.type":"#microsoft.graph.user","age":1},{"@odata.type":"#microsoft.graph.group","age":"x"},
            {"@odata.type":"#microsoft.graph.educationUser","age":3},{"@odata.type":"#other.type","age":"y"},{"age":"z"}]}
            """##)
        #expect(objects.entities.map { $0.as(User.self)?.age } == [.value(1), nil, .value(3), nil, nil])
        #expect(objects.entities.map { $0.as(Group.self) != nil } == [false, true, false, false, false])
        #expect(objects.entities.allSatisfy { $0.as(SampleGraph.Entity.self) != nil && $0.as(SampleGraph.Address.self) == nil })
        #expect(throws: DecodingError.self) { try objects.entities[4].seen(as: User.self) }
        #expect(try objects.entities[2].seen(as: Group.self).displayName == .absent)
        #expect(throws: DecodingError.self) {
            try decode(##"{"value":[{"@odata.type":"#microsoft.graph.educationUser","age":"x"}]}"##, as: ODataPage<DirectoryObject>.self)
        }
    }

    @Test func `an untyped item gets a model after a check of its properties`() throws {
        let user: User = try decode(#"{"drive":{"id":"1","displayName":"A"}}"#)
        let drive = try #require(user.drive.value)
        #expect(drive["id"] == "1" && drive.as(Group.self) == nil)
        #expect(try drive.seen(as: Group.self).displayName == .value("A"))
    }

    @Test func `a cast to a base keeps the type`() throws {
        var home = SampleGraph.PostalAddress()
        home.postalCode = .value("53111")
        var user = User()
        user.home = Presence(home.as(SampleGraph.Address.self))
        #expect(try text(user) == ##"{"home":{"@odata.type":"#microsoft.graph.postalAddress","postalCode":"53111"}}"##)
        #expect(user.home.value?.as(SampleGraph.PostalAddress.self)?.postalCode == .value("53111"))
    }

    @Test func `a written item has its type, and no other control information`() throws {
        let user: User = try decode(
            ##"""
            {"@odata.context":"c","@odata.etag":"e","@odata.type":"#microsoft.graph.user","@odata.id":"i","id":"1","quota":"5",
            "memberOf@odata.navigationLink":"l","shoe":1,"shoe@odata.type":"#Int16","#merge":{},"manager":{"@odata.id":"users('2')"}}
            """##)
        #expect(
            try text(user)
                == ##"{"@odata.type":"#microsoft.graph.user","id":"1","quota":5,"shoe":1,"shoe@odata.type":"#Int16","##
                + ##""manager":{"@odata.id":"users('2')"}}"##
        )
        #expect(try text(user, .v401).contains(##""@type":"#microsoft.graph.user""##))
        #expect(try text(user, .v2).hasPrefix(#"{"__metadata":{"type":"microsoft.graph.user"},"id":"1","quota":"5","shoe":1"#))
        let partial: User = try decode(#"{"memberOf":[{"id":"1"}],"memberOf@odata.nextLink":"n"}"#)
        #expect(throws: EncodingError.self) { try text(partial) }
    }

    @Test func `values are written in the version's spelling`() throws {
        typealias Order = SampleNorthwind.Order
        let order: Order = try decode(
            #"{"OrderDate":"/Date(0)/","ShipTime":"PT1H","Total":"7","Weight":"1.5","Freight":"2.50","OrderID":1}"#)
        #expect(
            try text(order, .v2) == #"{"OrderDate":"/Date(0)/","ShipTime":"PT1H","Total":"7","Weight":"1.5","Freight":"2.50","OrderID":1}"#)
        var changed = order
        changed.orderDate = Presence(EdmDateTimeOffset("1970-01-01T00:00:00Z"))
        #expect(
            try text(changed)
                == #"{"OrderDate":"1970-01-01T00:00:00Z","ShipTime":"01:00:00","Total":7,"Weight":1.5,"Freight":2.50,"OrderID":1}"#)
        #expect(throws: EncodingError.self) { try text(order) }
    }

    @Test func `relations are set for a deep insert`() throws {
        var user = User()
        var manager = User()
        manager.displayName = .value("Bob")
        user.manager = try #require(manager.as(DirectoryObject.self).map { .value($0) })
        user.memberOf = []
        #expect(try text(user) == ##"{"manager":{"@odata.type":"#microsoft.graph.user","displayName":"Bob"},"memberOf":[]}"##)
        user.memberOf = ToMany()
        user.manager = .notLoaded(link: nil)
        #expect(user == User())
    }

    @Test func `a description is short, and masks secrets`() throws {
        let user: User = try decode(
            #"{"displayName":"\#(String(repeating: "x", count: 500))","password":"hush","home":{"city":"Bonn"},"otherMails":["a","b"]}"#)
        let text = "\(user)"
        #expect(text.hasPrefix("microsoft.graph.user(displayName: 'xxx") && text.count < 200)
        #expect(text.contains("otherMails: [2]") && !text.contains("hush") && !text.contains("Bonn"))
    }

    @Test func `items are equal, hashed and copied as values`() throws {
        let user: User = try decode(#"{"age":36}"#)
        var copy = user
        #expect(copy == user && Set([user, copy]).count == 1)
        copy.set(\.age, to: nil)
        #expect(copy.age == .null && user.age == .value(36) && copy != user)
        copy.age = .absent
        #expect(copy == User())
        func deleted<Model: SampleGraph.DirectoryObjectProperties>(_ item: ODataItem<Model>) -> Bool { item.deletedDateTime.isPresent }
        #expect(!deleted(user) && !deleted(Group()))
        #expect(try User(["age": 1]).age == .value(1))
        #expect(throws: DecodingError.self) { try User(["age": "x"]) }
    }

    @Test func `relative links become absolute`() throws {
        let text =
            #"{"@odata.context":"https://h.example/v1.0/$metadata#users/$entity","photo@odata.mediaReadLink":"users('1')/photo","#
            + #""manager":{"memberOf@odata.navigationLink":"users('2')/memberOf"}}"#
        let user = try decode(text, as: User.self)
        #expect(user.photo.url(of: user.photo.readLink)?.absoluteString == "https://h.example/v1.0/users('1')/photo")
        #expect(user.manager.value?.as(User.self) == nil)
    }

    @Test func `deep nesting ends in an error or a value, never in a trap`() async throws {
        let deep = String(repeating: #"{"manager":"#, count: 400) + "{}" + String(repeating: "}", count: 400)
        let user: User = try decode(deep)
        #expect(user.manager.isLoaded)
        #expect(throws: DecodingError.self) {
            try decode(String(repeating: #"{"manager":"#, count: 600) + "{}" + String(repeating: "}", count: 600), as: User.self)
        }
    }
}
