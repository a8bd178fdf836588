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

    @Test func `only changes are written`() throws {
        #expect(try changes(#","Age":36"#) { _ in } == "{}")
        #expect(try changes(#","Age":36"#) { $0.Age = 37 } == #"{"Age":37}"#)
        #expect(try changes(#","Age":36"#) { $0.Age = 36 } == "{}")
        #expect(try changes("") { $0.Tags.append("b") } == #"{"Tags":["a","b"]}"#)
        #expect(try changes("") { $0.Nick = .value("A") } == #"{"Nick":"A"}"#)
    }

    @Test func `properties that were never read aren't written, and a new nil is null`() throws {
        #expect(try changes("") { $0.Name = "B" } == #"{"Name":"B"}"#)
        #expect(try changes(#","Age":36"#) { $0.Age = nil } == #"{"Age":null}"#)
        #expect(try changes(#","Nick":"A""#) { $0.Nick = .null } == #"{"Nick":null}"#)
        #expect(try changes(#","Nick":"A""#) { $0.Nick = .absent } == "{}")
    }

    @Test func `only the changed properties of complex values are written, in version 2 all`() throws {
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

    @Test func `relations are neither removed nor written implicitly`() throws {
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

    @Test func `an entity without a Swift type is compared by property as well`() throws {
        var draft = EntityDraft(of: ["Name": "Ada", "Age": 36, "Address": ["City": "Bonn", "Street": "A"]] as DynamicEntity)
        #expect(try draft.changes() == [:])
        draft.value["Age"] = 37
        draft.value["Nick"] = .null
        #expect(try draft.changes() == ["Age": 37, "Nick": .null])
        var open = EntityDraft(of: ODataEntity(Address(City: "Bonn", Street: nil), undeclared: ["Zip": "1", "Floor": 2]))
        open.undeclared["Zip"] = "2"
        #expect(try open.changes() == ["Zip": "2"])
    }

    @Test func `the entity tag of the read entity is kept`() throws {
        let entity = try ODataDecoder().decode(
            ODataEntity<Person>.self, from: Data(#"{"@odata.etag":"W/\"1\"","Name":"Ada","Tags":[]}"#.utf8))
        #expect(EntityDraft(of: entity).etag == #"W/"1""#)
    }

    // MARK: What is no more, and what only looks the same

    @Test func `a removed member becomes null`() throws {
        enum Contact: Codable, Sendable { case mail(String), phone(Int) }
        struct Box: Codable, Sendable {
            var Labels: [String: String]
            var Contact: Contact
        }
        let box = Box(Labels: ["a": "1", "b": "2"], Contact: .mail("x"))
        func changes(_ version: ODataVersion, _ change: (inout EntityDraft<Box>) -> Void) throws -> DynamicEntity {
            var draft = EntityDraft(of: box)
            change(&draft)
            return try draft.changes(PayloadFormat(version: version))
        }
        #expect(try changes(.v4) { _ in } == [:])
        #expect(try changes(.v4) { $0.Labels = ["b": "2"] } == ["Labels": ["a": .null]])
        #expect(try changes(.v2) { $0.Labels = ["b": "2"] } == ["Labels": ["b": "2"]])
        #expect(try changes(.v4) { $0.Contact = .phone(5) } == ["Contact": ["phone": ["_0": 5], "mail": .null]])
        var draft = EntityDraft(of: ["Zip": "1", "@odata.etag": "e", "Floor": ["No": 1, "Door@odata.type": "x"]] as DynamicEntity)
        draft.value = ["Floor": ["No": 1]]
        #expect(try draft.changes() == ["Zip": .null])
        draft.value["Floor"] = ["Room": 2]
        #expect(try draft.changes() == ["Floor": ["Room": 2, "No": .null], "Zip": .null])
        var place = EntityDraft(of: ["At": ["type": "Point", "coordinates": [1, 2], "crs": "x"]] as DynamicEntity)
        place.value["At"] = ["type": "Point", "coordinates": [1, 3]]
        #expect(try place.changes() == ["At": ["type": "Point", "coordinates": [1, 3]]])
        var open = EntityDraft(of: ODataEntity(Address(City: "Bonn", Street: nil), undeclared: ["Zip": "1", "Floor": 2]))
        open.undeclared["Zip"] = nil
        #expect(try open.changes() == ["Zip": .null])
    }

    @Test func `a custom encoding that omits nil is recognized`() throws {
        struct Own: Encodable, Sendable {
            var Name: String?
            enum Key: CodingKey { case Name }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                if let Name { try container.encode(Name, forKey: .Name) }
            }
        }
        var draft = EntityDraft(of: Own(Name: "a"))
        draft.Name = nil
        #expect(try draft.changes() == ["Name": .null])
    }

    @Test func `another Unicode form of a text is a change`() throws {
        var draft = EntityDraft(of: Address(City: "Vale\u{301}ry", Street: nil))
        draft.City = "Val\u{E9}ry"
        #expect(draft.original.City == draft.City)
        let city = try #require(try draft.changes()["City"]?.string)
        #expect(Array(city.unicodeScalars) == Array("Val\u{E9}ry".unicodeScalars))
        var open = EntityDraft(of: ODataEntity(draft.original, undeclared: ["Names": ["e\u{301}"], "Same": ["x": "\u{E9}"]]))
        open.undeclared["Names"] = ["\u{E9}"]
        open.undeclared["Same"] = ["x": "\u{E9}"]
        #expect(try open.changes().properties.map(\.name) == ["Names"])
    }

    // MARK: Types

    struct Home: Codable, Sendable {
        var Town: String
    }
    struct Flat: Codable, Sendable {
        var Town: String
        var Floor: Int
    }
    struct Owner: Encodable, Sendable {
        var Name: String
        var Home: Polymorphic<any Encodable & Sendable>
        var Pets: [Flat]
    }

    private var types: TypeRegistry {
        var types = TypeRegistry()
        types.register(Home.self, as: "HR.Home")
        types.register(Flat.self, as: "HR.Flat", derivedFrom: "HR.Home")
        return types
    }

    @Test func `changes of a derived type contain the type, and no changes contain nothing`() throws {
        var draft = EntityDraft(of: Flat(Town: "Bonn", Floor: 1))
        #expect(try draft.changes(types: types) == [:])
        draft.Floor = 2
        #expect(try draft.changes(types: types) == ["@odata.type": "#HR.Flat", "Floor": 2])
        #expect(try draft.changes(PayloadFormat(version: .v401), types: types) == ["@type": "#HR.Flat", "Floor": 2])
        #expect(try draft.changes(PayloadFormat(version: .v2), types: types) == ["__metadata": ["type": "HR.Flat"], "Floor": 2])
        #expect(try draft.changes() == ["Floor": 2])
    }

    @Test func `complex values and elements contain their derived types`() throws {
        var draft = EntityDraft(of: Owner(Name: "A", Home: Polymorphic(Flat(Town: "Bonn", Floor: 1)), Pets: []))
        draft.Home = Polymorphic(Flat(Town: "Bonn", Floor: 2))
        draft.value.Pets = [Flat(Town: "Ulm", Floor: 3)]
        #expect(
            try draft.changes(types: types) == [
                "Home": ["@odata.type": "#HR.Flat", "Floor": 2], "Pets": [["@odata.type": "#HR.Flat", "Town": "Ulm", "Floor": 3]],
            ])
        draft = EntityDraft(of: Owner(Name: "A", Home: Polymorphic(Flat(Town: "Bonn", Floor: 1)), Pets: []))
        draft.Home = Polymorphic(Home(Town: "Bonn"), typeName: "HR.House")
        // A value of another type is written as a whole, without nulls for properties that this type doesn't have.
        #expect(try draft.changes(types: types) == ["Home": ["@odata.type": "#HR.House", "Town": "Bonn"]])
    }

    @Test func `the type name of the payload is written, since the Swift type may be of the base type`() throws {
        let json = Data(##"{"@odata.type":"#HR.Flat","Town":"Bonn","Floor":1}"##.utf8)
        var draft = EntityDraft(of: try ODataDecoder().decode(ODataEntity<Home>.self, from: json))
        #expect(try draft.changes() == [:])
        draft.undeclared["Floor"] = 2
        #expect(try draft.changes() == ["@odata.type": "#HR.Flat", "Floor": 2])
    }
}
