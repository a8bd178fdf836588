import Foundation
import Testing

@testable import OData

@Suite struct RelationTests {
    struct Person: Codable, Sendable {
        let Name: String
        var Nick: Presence<String>
        var Friend: ToOne<Person>
        var Trips: ToMany<Trip>
        var Photo: Presence<Int>
    }
    struct Trip: Codable, Sendable, Equatable { let Id: Int }
    struct Employee: Decodable, Sendable { let Id: String, Portrait: EdmStream, Room: ToOne<Trip> }

    private func person(_ rest: String) throws -> Person {
        try ODataDecoder().decode(Person.self, from: Data((#"{"Name":"Ada""# + rest + "}").utf8))
    }

    @Test func `absent, null and value are three states`() throws {
        #expect(try person("").Nick == .absent)
        #expect(try person(#","Nick":null"#).Nick == .null)
        #expect(try person(#","Nick":"A""#).Nick == .value("A"))
        // The same with Foundation's decoder.
        let plain = try JSONDecoder().decode(Person.self, from: Data(#"{"Name":"Ada","Nick":null,"Trips":[{"Id":1}],"Friend":null}"#.utf8))
        #expect(plain.Nick == .null && plain.Photo == .absent && plain.Trips.elements == [Trip(Id: 1)])
        #expect(try JSONDecoder().decode(Person.self, from: Data(#"{"Name":"Ada"}"#.utf8)).Trips.isLoaded == false)
    }

    @Test func `null is written, absent and not loaded values aren't`() throws {
        for encode in [{ try ODataEncoder().encode($0) }, { try JSONEncoder().encode($0) }] as [(Person) throws -> Data] {
            #expect(try encode(person("")) == Data(#"{"Name":"Ada"}"#.utf8))
        }
        let all = #","Nick":null,"Friend":null,"Trips":[{"Id":1}],"Photo":5"#
        #expect(try ODataEncoder().encode(person(all)) == Data((#"{"Name":"Ada""# + all + "}").utf8))
    }

    @Test func `a relation that isn't loaded isn't null`() throws {
        let unloaded = try person(#","Friend@odata.navigationLink":"People('ada')/Friend""#)
        #expect(unloaded.Friend.link == "People('ada')/Friend" && !unloaded.Friend.isLoaded && unloaded.Trips.isLoaded == false)
        guard case .null = try person(#","Friend":null"#).Friend else { return #expect(Bool(false)) }
        #expect(try person(#","Friend":{"Name":"Bob"}"#).Friend.value?.Name == "Bob")
        #expect(try person(#","Friend":{"__deferred":{"uri":"x"}}"#).Friend.link == "x")
    }

    @Test func `an expanded collection has its own count and next link, in every version's shape`() throws {
        let shapes = [
            #","Trips":[{"Id":1}],"Trips@odata.count":3,"Trips@odata.nextLink":"n""#,
            #","Trips@count":3,"Trips@nextLink":"n","Trips":[{"Id":1}]"#,
            #","Trips":{"__count":"3","results":[{"Id":1}],"__next":"n"}"#,
        ]
        for shape in shapes {
            let trips = try person(shape).Trips
            #expect(trips.elements == [Trip(Id: 1)] && trips.count == 3 && trips.nextLink == "n" && !trips.isComplete)
        }
        #expect(try person(#","Trips":{"results":[]}"#).Trips.isComplete)
        #expect(try person(#","Trips":{"__deferred":{"uri":"x"}}"#).Trips.navigationLink == "x")
        #expect(try person(#","Trips@odata.count":3"#).Trips.count == 3)
    }

    @Test(arguments: [
        #"{"results":[]}"#, #"{"results":[{"Id":1}]}"#, #"{"__count":"1","results":[{"Id":1}],"__next":"n"}"#, "[]", #"[{"Id":1}]"#,
    ])
    func `a collection in place of one entity is an error, also for a type whose properties are all optional`(list: String) throws {
        struct Loose: Decodable, Sendable { let Id: Int?, Inner: Inner? }
        struct Inner: Decodable, Sendable { let Id: Int? }
        struct Relations: Decodable { let Id: Int, One: ToOne<Loose> }
        struct Optionals: Decodable { let Id: Int, One: Loose? }
        struct Entities: Decodable { let Id: Int, One: ODataEntity<Loose>? }
        struct Nested: Decodable { let Id: Int, One: Outer }
        struct Outer: Decodable { let Other: Int?, Inner: Inner? }
        func expectFault<Value: Decodable & Sendable>(_ type: Value.Type, _ one: String, at path: [String] = ["One"]) {
            let entity = #"{"Id":1,"One":\#(one)}"#
            for (text, outer) in [(entity, []), (#"{"d":\#(entity)}"#, ["d"]), (#"{"value":[\#(entity)]}"#, ["value", "Index 0"])] {
                let data = Data(text.utf8)
                let error = #expect(throws: DecodingError.self, "\(type): \(text)") {
                    if outer.first == "value" {
                        _ = try ODataDecoder().decode(ODataPage<Value>.self, from: data)
                    } else {
                        _ = try ODataDecoder().decode(Value.self, from: data)
                    }
                }
                guard case .typeMismatch(_, let context)? = error else {
                    #expect(Bool(false), "\(type): \(text): \(String(describing: error))")
                    continue
                }
                #expect(context.codingPath.map(\.stringValue) == outer + path)
                #expect(!list.hasPrefix("{") || context.debugDescription.contains("as an array or as ToMany"))
            }
        }
        expectFault(Relations.self, list)
        expectFault(Optionals.self, list)
        expectFault(Entities.self, list)
        expectFault(Nested.self, #"{"Inner":\#(list)}"#, at: ["One", "Inner"])
    }

    @Test func `a payload of version 4 has no envelopes, so an object may have only a property results`() throws {
        struct Holder: Decodable { let Id: Int, Stats: Stats }
        struct Stats: Decodable { let total: Int? }
        let object = #""Id":1,"Stats":{"results":[1,2]}}"#
        let context = #"{"@odata.context":"https://a.test/$metadata#Holders/$entity","#
        #expect(try ODataDecoder().decode(Holder.self, from: Data((context + object).utf8)).Stats.total == nil)
        #expect(throws: DecodingError.self) { try ODataDecoder().decode(Holder.self, from: Data(("{" + object).utf8)) }
    }

    @Test func `a type with a property results reads version 2's envelope itself`() throws {
        struct Envelope: Decodable, Sendable, Equatable { let results: [Trip], __count: String? }
        struct Holder: Decodable { let Name: String, Trips: Envelope, Other: DynamicEntity, Texts: [String: [Int]] }
        let text = #"{"Name":"a","Trips":{"results":[{"Id":1}],"__count":"5"},"Other":{"results":[1]},"Texts":{"results":[2]}}"#
        for json in [text, #"{"d":\#(text)}"#] {
            let holder = try ODataDecoder().decode(Holder.self, from: Data(json.utf8))
            #expect(holder.Trips == Envelope(results: [Trip(Id: 1)], __count: "5"))
            #expect(holder.Other == ["results": [1]] && holder.Texts == ["results": [2]])
        }
    }

    @Test func `a first page isn't written as the whole relation`() throws {
        let first = try person(#","Trips":[],"Trips@odata.nextLink":"n""#)
        #expect(throws: EncodingError.self) { try ODataEncoder().encode(first) }
    }

    @Test func `streams are read from the links of their property`() throws {
        let four =
            #"{"Id":"1","Portrait@odata.mediaReadLink":"r","Portrait@odata.mediaEditLink":"e","Portrait@odata.mediaContentType":"image/png","Portrait@odata.mediaEtag":"W/\"1\""}"#
        let stream = try ODataDecoder().decode(Employee.self, from: Data(four.utf8)).Portrait
        #expect(stream == EdmStream(readLink: "r", editLink: "e", contentType: "image/png", etag: "W/\"1\""))
        let three =
            #"{"Id":"1","Portrait":{"__mediaresource":{"media_src":"r","edit_media":"e","content_type":"image/png","media_etag":"W/\"1\""}}}"#
        #expect(try ODataDecoder().decode(Employee.self, from: Data(three.utf8)).Portrait == stream)
        #expect(try ODataDecoder().decode(Employee.self, from: Data(#"{"Id":"1"}"#.utf8)).Portrait.isEmpty)
        #expect(try JSONDecoder().decode(Employee.self, from: Data(#"{"Id":"1"}"#.utf8)).Portrait.isEmpty)
    }

    @Test func `queries access the values inside of relations and presences`() throws {
        let request = FetchRequest<Person>(from: "People")
            .filter { $0.Nick == "A" && $0.Friend.Name == "Bob" && $0.Photo > 3 && $0.Trips.any { $0.Id == 1 } && $0.Friend.Nick != nil }
            .expand(\.Trips) { $0.top(3) }.expand(\.Friend) { $0.select(\.Name) }
        let text = try request.selectAll().relativeURL().removingPercentEncoding
        #expect(
            text
                == "People?$filter=Nick eq 'A' and Friend/Name eq 'Bob' and Photo gt 3 and Trips/any(x1:x1/Id eq 1) and Friend/Nick ne null"
                + "&$expand=Trips($select=Id;$top=3),Friend($select=Name)")
        #expect(try request.relativeURL().contains("$select=Name,Nick,"))
    }

    @Test(.enabled(if: Payloads.folder != nil, "SHARED_DIRECTORY names no folder with payloads"))
    func `the next links of expanded relations of real services are read`() throws {
        struct Account: Decodable, Sendable { let name: String, Account_Tasks: ToMany<DynamicEntity> }
        let full = try #require(try Payloads.page("v4-inner-next-link.json", of: Account.self).entities.first)
        #expect(full.Account_Tasks.elements?.isEmpty == false && full.Account_Tasks.nextLink?.hasSuffix("Account_Tasks") == true)
        let empty = try #require(try Payloads.page("v4-inner-next-link-empty.json", of: Account.self).entities.first)
        #expect(empty.Account_Tasks.elements?.isEmpty == true && empty.Account_Tasks.nextLink != nil && !empty.Account_Tasks.isComplete)
        struct Building: Decodable { let Name: String, nb_Rooms: ToMany<DynamicEntity>, Image: Presence<String> }
        let building = try Payloads.entity("v2-inline-next-link-and-count.json", of: Building.self)
        #expect(building.nb_Rooms.count == 1 && building.nb_Rooms.nextLink == "nextLink" && building.Image == .null)
        struct Worker: Decodable { let ne_Room: ToOne<DynamicEntity>, ne_Team: ToOne<DynamicEntity>, EntryDate: EdmDateTimeOffset }
        let worker = try Payloads.entity("v2-inline-null.json", of: Worker.self)
        #expect(worker.ne_Room.isLoaded && worker.ne_Room.value == nil && worker.ne_Team.link?.hasSuffix("/ne_Team") == true)
        #expect(worker.EntryDate.description == "1999-01-01T00:00:00")
    }
}
