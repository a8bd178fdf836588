import Foundation
import TestSupport
import Testing
import WebServiceClient

@testable import OData

/// Relations that a payload doesn't contain, with and without control information of them or of others.
@Suite struct AbsentRelationTests {
    struct Item: Codable, Sendable, Equatable { var Id: Int }
    struct Owner: Codable, Sendable, Equatable {
        var Name: Presence<String>
        var Boss: ToOne<Item>
        var Items: ToMany<Item>
        var Photo: EdmStream
        var Nick: Presence<String>
    }

    /// Decodes an owner from the text of a page, from a whole payload and as a part of another type, and checks that all give the same.
    private func owner(_ members: String) throws -> Owner {
        let page = try ODataDecoder().decode(ODataPage<Owner>.self, from: Data("{\"value\":[{\(members)}]}".utf8))
        let owner = try #require(page.entities.first)
        #expect(try ODataDecoder().decode(Owner.self, from: Data("{\(members)}".utf8)) == owner)
        let pageOfAll = try ODataDecoder().decode(ODataPage<ODataEntity<Owner>>.self, from: Data("{\"value\":[{\(members)}]}".utf8))
        #expect(pageOfAll.entities.first?.value == owner)
        return owner
    }

    private static let nothing = Owner(Name: .absent, Boss: .notLoaded(link: nil), Items: ToMany(), Photo: EdmStream(), Nick: .absent)

    @Test(arguments: ["", #","x":1,"y@odata.type":"T","@odata.id":"i""#, (0..<80).map { ",\"p\($0)\":0" }.joined()])
    func `annotations of other properties don't apply to a relation`(others: String) throws {
        var expected = Self.nothing
        expected.Name = .value("a")
        #expect(try owner(#""Name":"a","@odata.etag":"e""# + others) == expected)
        // Names that only begin like a relation's, and annotations of its annotations.
        let names = [#""Boss2@odata.navigationLink":"l""#, #""Item@odata.count":3"#, #""Photos@odata.mediaReadLink":"l""#]
        #expect(try owner(#""Name":"a","# + names.joined(separator: ",") + others) == expected)
    }

    @Test(arguments: ["", #","x":1,"y@odata.type":"T""#, (0..<80).map { ",\"p\($0)\":0" }.joined()])
    func `control information without its relation is read`(others: String) throws {
        let boss = try owner(#""Boss@odata.navigationLink":"b""# + others)
        #expect(boss.Boss == .notLoaded(link: "b") && !boss.Items.isLoaded && boss.Photo.isEmpty)
        let items = try owner(#""Items@odata.count":7,"Items@nextLink":"n""# + others).Items
        #expect(items.count == 7 && items.nextLink == "n" && !items.isLoaded)
        #expect(try owner(#""Photo@odata.mediaEditLink":"e""# + others).Photo.editLink == "e")
        #expect(try owner(#""It\u0065ms@odata.navigationLink":"n""# + others).Items.navigationLink == "n")
        #expect(try owner(#""Boss":{"__deferred":{"uri":"d"}}"# + others).Boss.link == "d")
        #expect(try owner(#""Nick":null,"Boss":null"# + others).Boss == .null)
    }

    @Test func `with other decoders, relations are absent`() throws {
        #expect(try JSONDecoder().decode(Owner.self, from: Data(#"{"Boss@odata.navigationLink":"b"}"#.utf8)) == Self.nothing)
        #expect(try JSONReader().decode(Owner.self, from: Data(#"{"Boss@odata.navigationLink":"b"}"#.utf8)) == Self.nothing)
    }

    /// Many properties, most of them absent, in any order.
    @Test func `random payloads are decoded as by Foundation's decoder`() throws {
        var numbers = SeededGenerator(seed: 7)
        func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &numbers) }
        for _ in 0..<Sweep.rounds(ofAll: 400) {
            let count = random(3) == 0 ? 90 : random(30)
            var names = (0..<count).map { "n\($0 * (1 + random(3)))" }
            names += (0..<random(6)).map { _ in String(repeating: "x", count: random(12)) + "n\(random(99))" }
            let unique = Array(Set(names)).sorted().shuffled(using: &numbers)
            let members = unique.map { "\"\($0)\":\(random(4) == 0 ? "null" : random(2) == 0 ? "{\"n1\":1}" : "{}")" }
            let objects = [members, ["\"n1\":{}"], members.reversed()].map { "{" + $0.joined(separator: ",") + "}" }
            let text = Data("{\"value\":[\(objects.joined(separator: ","))]}".utf8)
            let page = try ODataDecoder().decode(ODataPage<Sparse>.self, from: text)
            struct Envelope: Decodable { let value: [Sparse] }
            #expect(try page.entities == JSONDecoder().decode(Envelope.self, from: text).value)
        }
    }

    /// Asks for a hundred names, twice each.
    private struct Sparse: Decodable, Sendable, Equatable {
        var found: [String] = []

        struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(_ text: String) { stringValue = text }
            init?(stringValue: String) { self.init(stringValue) }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            for number in 0..<100 {
                for name in ["n\(number)", "xn\(number)"] where container.contains(Key(name)) {
                    let isNull = try container.decodeNil(forKey: Key(name))
                    let inner = isNull ? nil : try container.decode([String: Int].self, forKey: Key(name))
                    found.append("\(name) \(isNull) \(inner?["n1"] ?? 0)")
                }
            }
        }
    }
}
