import Foundation
import Testing

@testable import OData

/// Optional streams and relations: their control information is read, but never written.
@Suite struct OptionalRelationTests {
    struct Trip: Codable, Sendable, Equatable { let Id: Int }
    struct Photo: Codable, Sendable, Equatable { let Image: EdmStream }
    struct Person: Codable, Sendable, Equatable {
        var Name: String
        var Photo: EdmStream?
        var Boss: ToOne<Trip>?
        var Trips: ToMany<Trip>?
    }

    private func person(_ rest: String) throws -> Person {
        try ODataDecoder().decode(Person.self, from: Data((#"{"Name":"Ada""# + rest + "}").utf8))
    }

    private func written(_ person: Person) throws -> [String] {
        try [ODataEncoder().encode(person), JSONEncoder().encode(person)].map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `links of an absent property are read`() throws {
        #expect(try person(#","Photo@odata.mediaReadLink":"p""#).Photo == EdmStream(readLink: "p"))
        #expect(try person(#","Photo":{"__mediaresource":{"media_src":"p"}}"#).Photo == EdmStream(readLink: "p"))
        #expect(try person(#","Boss@odata.navigationLink":"b""#).Boss?.link == "b")
        #expect(try person(#","Boss":{"__deferred":{"uri":"b"}}"#).Boss?.link == "b")
        #expect(try person(#","Trips@odata.navigationLink":"t""#).Trips?.navigationLink == "t")
        #expect(try person(#","Trips@odata.nextLink":"n""#).Trips?.nextLink == "n")
        #expect(try person(#","Trips@count":3"#).Trips?.count == 3)
        // The same in a page, which is decoded from text.
        let page = try ODataDecoder().decode(
            ODataPage<Person>.self, from: Data(#"{"value":[{"Name":"A","Photo@odata.mediaReadLink":"p","Trips@count":3}]}"#.utf8))
        #expect(page.entities.first?.Photo?.readLink == "p" && page.entities.first?.Trips?.count == 3)
    }

    @Test func `absent relations, and null streams and collections, are nil`() throws {
        let nothing = Person(Name: "Ada")
        #expect(try person("") == nothing)
        #expect(try JSONDecoder().decode(Person.self, from: Data(#"{"Name":"Ada"}"#.utf8)) == nothing)
        #expect(try JSONDecoder().decode(Person.self, from: Data(#"{"Name":"Ada","Photo":null,"Trips":null}"#.utf8)) == nothing)
        #expect(try person(#","Photo":null,"Trips":null"#) == nothing)
        #expect(try person(#","Boss":null"#).Boss == .null)
        #expect(try person(#","Boss":{"Id":1},"Trips":[{"Id":2}]"#).Trips?.elements == [Trip(Id: 2)])
    }

    @Test func `loaded relations are written, links aren't`() throws {
        let links = try person(#","Photo@odata.mediaReadLink":"p","Boss@odata.navigationLink":"b","Trips@odata.navigationLink":"t""#)
        #expect(try written(links) == Array(repeating: #"{"Name":"Ada"}"#, count: 2))
        #expect(try written(Person(Name: "Ada")) == Array(repeating: #"{"Name":"Ada"}"#, count: 2))
        let loaded = Person(Name: "Ada", Boss: .value(Trip(Id: 1)), Trips: [Trip(Id: 2)])
        #expect(try written(loaded)[0] == #"{"Name":"Ada","Boss":{"Id":1},"Trips":[{"Id":2}]}"#)
        #expect(try written(Person(Name: "Ada", Boss: .null))[0] == #"{"Name":"Ada","Boss":null}"#)
    }

    @Test func `a stream that isn't optional isn't written either`() throws {
        let photo = try ODataDecoder().decode(Photo.self, from: Data(#"{"Image@odata.mediaReadLink":"p"}"#.utf8))
        #expect(photo.Image.readLink == "p")
        #expect(try [ODataEncoder().encode(photo), JSONEncoder().encode(photo)] == Array(repeating: Data("{}".utf8), count: 2))
        #expect(try ODataEncoder().encode([EdmStream(readLink: "p")]) == Data("[null]".utf8))
    }

    @Test func `a draft changes no relations or streams`() throws {
        let links = try person(#","Photo@odata.mediaReadLink":"p","Boss@odata.navigationLink":"b","Trips@odata.navigationLink":"t""#)
        var draft = EntityDraft(of: links)
        draft.Name = "Eve"
        #expect(try draft.changes() == ["Name": "Eve"])
        draft.Photo = nil
        #expect(try draft.changes() == ["Name": "Eve"])
        draft.Trips = []
        #expect(throws: ODataWriteError.self) { try draft.changes() }
        for relation in [ToOne<Trip>?.none, .null, .value(Trip(Id: 1))] {
            var draft = EntityDraft(of: links)
            draft.Boss = relation
            #expect(throws: ODataWriteError.self, "\(String(describing: relation))") { try draft.changes() }
        }
    }
}
