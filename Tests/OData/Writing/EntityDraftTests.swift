import Foundation
import Testing

@testable import OData

@Suite struct EntityDraftTests {
    struct Address: Codable, Sendable, Equatable { var City: String, Street: String? }
    struct Person: Codable, Sendable {
        var Name: String
        var Age: Int?
        var Nick: Presence<String>
        var Address: Address?
        var Tags: [String]
        var Place: EdmSpatial?
        var Friend: ToOne<Person>
        var Trips: ToMany<Address>
    }

    private func person(_ rest: String) throws -> Person {
        try ODataDecoder().decode(Person.self, from: Data((#"{"Name":"Ada","Tags":["a"]"# + rest + "}").utf8))
    }

    private func changes(_ rest: String, _ version: ODataVersion = .v4, _ change: (inout EntityDraft<Person>) -> Void) throws -> String {
        var draft = EntityDraft(of: try person(rest))
        change(&draft)
        let format = PayloadFormat(version: version)
        return String(decoding: try ODataEncoder(format).encode(draft.changes(format)), as: UTF8.self)
    }

    @Test func `only what changed is written`() throws {
        #expect(try changes(#","Age":36"#) { _ in } == "{}")
        #expect(try changes(#","Age":36"#) { $0.Age = 37 } == #"{"Age":37}"#)
        #expect(try changes(#","Age":36"#) { $0.Age = 36 } == "{}")
        #expect(try changes("") { $0.Tags.append("b") } == #"{"Tags":["a","b"]}"#)
        #expect(try changes("") { $0.Nick = .value("A") } == #"{"Nick":"A"}"#)
    }

    @Test func `what was never read is never written, and what becomes nil is null`() throws {
        #expect(try changes("") { $0.Name = "B" } == #"{"Name":"B"}"#)
        #expect(try changes(#","Age":36"#) { $0.Age = nil } == #"{"Age":null}"#)
        #expect(try changes(#","Nick":"A""#) { $0.Nick = .null } == #"{"Nick":null}"#)
        #expect(try changes(#","Nick":"A""#) { $0.Nick = .absent } == "{}")
    }

    @Test func `of complex values only the changed properties are written, in version 2 all`() throws {
        let address = #","Address":{"City":"Bonn","Street":"A"}"#
        #expect(try changes(address) { $0.Address?.City = "Köln" } == #"{"Address":{"City":"Köln"}}"#)
        #expect(try changes(address, .v2) { $0.Address?.City = "Köln" } == #"{"Address":{"City":"Köln","Street":"A"}}"#)
        #expect(try changes(address) { $0.Address = nil } == #"{"Address":null}"#)
        #expect(try changes("") { $0.Address = Address(City: "Bonn", Street: nil) } == #"{"Address":{"City":"Bonn","Street":null}}"#)
    }

    @Test func `geographic values are changed as a whole`() throws {
        let place = #","Place":{"type":"Point","coordinates":[1.5,2.5]}"#
        #expect(
            try changes(place) { $0.Place = .point(longitude: 1.5, latitude: 3.5) }
                == #"{"Place":{"type":"Point","coordinates":[1.5,3.5]}}"#)
        #expect(try changes(place) { $0.Place = .point(longitude: 1.5, latitude: 2.5) } == "{}")
    }

    @Test func `relations are never cut or written by the way`() throws {
        for rest in [
            "", #","Friend":null,"Trips":[]"#, #","Friend":{"Name":"B","Tags":[]},"Trips":[{"City":"Bonn"}],"Trips@odata.nextLink":"x""#,
        ] {
            #expect(try changes(rest) { $0.Name = "C" } == #"{"Name":"C"}"#)
            let error = #expect(throws: ODataWriteError.self) {
                try changes(rest) { draft in draft.Friend = .value(draft.original) }
            }
            #expect(error == .relationChanged("Friend") && error?.description.contains("bind") == true)
        }
    }

    @Test func `an entity without a Swift type is compared property by property as well`() throws {
        var draft = EntityDraft(of: ["Name": "Ada", "Age": 36, "Address": ["City": "Bonn", "Street": "A"]] as DynamicEntity)
        #expect(try draft.changes() == [:])
        draft.value["Age"] = 37
        draft.value["Nick"] = .null
        #expect(try draft.changes() == ["Age": 37, "Nick": .null])
        var open = EntityDraft(of: ODataEntity(Address(City: "Bonn", Street: nil), undeclared: ["Zip": "1", "Floor": 2]))
        open.undeclared["Zip"] = "2"
        #expect(try open.changes() == ["Zip": "2"])
    }

    @Test func `the entity tag is kept from what was read`() throws {
        let entity = try ODataDecoder().decode(
            ODataEntity<Person>.self, from: Data(#"{"@odata.etag":"W/\"1\"","Name":"Ada","Tags":[]}"#.utf8))
        #expect(EntityDraft(of: entity).etag == #"W/"1""#)
    }
}
