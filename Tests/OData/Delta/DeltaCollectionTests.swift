import Foundation
import Testing
import WebServiceClient

@testable import OData

/// Changes applied to a copy in memory.
@Suite struct DeltaCollectionTests {
    private let place = DeltaPlace(settings: PayloadSettings(), pageSet: "Customers")

    private func change<Entity>(_ json: String, isWhole: Bool = false) throws -> ODataChange<Entity> {
        try DeltaEntry(ODataValue(json: Data(json.utf8)), at: place).change(isWhole: isWhole)
    }

    private func cursor(isComplete: Bool = true) -> DeltaCursor {
        DeltaCursor(
            link: "https://h.example/?t=s3cret", origin: "https://h.example", fingerprint: "f", isComplete: isComplete,
            isInFullRead: !isComplete, issuedAt: Date(timeIntervalSince1970: 0))
    }

    private func text(_ collection: DeltaCollection<DynamicEntity>) throws -> [String] {
        try collection.payloads.map { String(decoding: try ODataEncoder().encode($0), as: UTF8.self) }
    }

    private func applied(_ keys: [String], _ entries: [String]) throws -> DeltaCollection<DynamicEntity> {
        var collection = DeltaCollection<DynamicEntity>(keys: keys)
        for entry in entries { try collection.apply(change(entry)) }
        return collection
    }

    @Test func `changes are merged by property, and the last one counts`() throws {
        let collection = try applied(
            ["ID"],
            [
                #"{"ID":1,"Name":"a","Age":3}"#, #"{"ID":2,"Name":"b"}"#, #"{"ID":1,"Age":null}"#, #"{"ID":3,"@removed":{}}"#,
                #"{"ID":2,"@removed":{}}"#, #"{"ID":2,"Name":"c"}"#, #"{"Name":"d","ID":1}"#,
            ])
        #expect(try text(collection) == [#"{"ID":1,"Name":"d","Age":null}"#, #"{"ID":2,"Name":"c"}"#])
    }

    @Test func `entities are found by key, by id, and by the key in an id`() throws {
        let removals = [
            #"{"@odata.context":"$metadata#Customers/$deletedEntity","id":"Customers('O''Neil')"}"#, #"{"ID":"O'Neil","@removed":{}}"#,
            #"{"@odata.context":"$metadata#Customers/$deletedEntity","id":"https://h/svc/Customers(ID='O''Neil')"}"#,
            #"{"@odata.context":"$metadata#Customers/$deletedEntity","id":"O'Neil"}"#, #"{"@id":"Customers('O%27%27Neil')","@removed":{}}"#,
            #"{"@id":"Customers('O''Neil')/Ns.Vip","@removed":{}}"#,
        ]
        for removal in removals {
            #expect(try applied(["ID"], [#"{"ID":"O'Neil"}"#, removal]).count == 0, "\(removal)")
        }
        let pairs = [
            (#"{"ID":5}"#, "Items(5L)"), (#"{"ID":5}"#, "Items(5)"), (#"{"ID":"5"}"#, "Items/5"),
            (#"{"ID":"6B1F0C3A-3A0B-4E5C-9D6A-7B8C9D0E1F2A"}"#, "Items(guid'6b1f0c3a-3a0b-4e5c-9d6a-7b8c9d0e1f2a')"),
            (#"{"ID":"6B1F0C3A-3A0B-4E5C-9D6A-7B8C9D0E1F2A"}"#, "6b1f0c3a-3a0b-4e5c-9d6a-7b8c9d0e1f2a"),
            (#"{"ID":"x","@odata.id":"opaque/1/2?a"}"#, "opaque/1/2?a"), (#"{"ID":"a/b"}"#, "Items('a/b')"),
            (#"{"ID":"a(b)"}"#, "Items('a(b)')"),
        ]
        for (entity, id) in pairs {
            let removal = #"{"@odata.context":"$metadata#Customers/$deletedEntity","id":"\#(id)"}"#
            #expect(try applied(["ID"], [entity, removal]).count == 0, "\(id)")
        }
        let several = [
            #"{"A":1,"B":"x"}"#, #"{"A":1,"B":"y"}"#, #"{"@odata.context":"$metadata#Customers/$deletedEntity","id":"Items(B='x',A=1)"}"#,
        ]
        #expect(try text(applied(["A", "B"], several)) == [#"{"A":1,"B":"y"}"#])
        let byID = [#"{"@odata.id":"https://h/Items(1)","N":1}"#, #"{"@odata.id":"Items(2)"}"#, #"{"@id":"Items(1)","@removed":{}}"#]
        #expect(try applied([], byID).count == 1)
    }

    @Test func `ids without the key don't match any entity`() throws {
        for id in [
            "Items(", "Items()", "Items('x", "", "/", "Items(A=1,B=2)", "Items(B=1)", "%", "Items(%zz)", "Items(1,2)", "((((", "Items(1",
        ] {
            let removal = #"{"@odata.context":"$metadata#Customers/$deletedEntity","id":"\#(id)"}"#
            #expect(try applied(["ID"], [#"{"ID":1}"#, removal]).count == 1, "\(id)")
        }
        #expect(throws: DeltaError.unidentified(keys: ["ID"])) { try applied(["ID"], [#"{"Name":"a"}"#]) }
        #expect(throws: DeltaError.unidentified(keys: [])) { try applied([], [#"{"ID":1}"#]) }
        #expect(throws: DeltaError.unidentified(keys: ["ID"])) { try applied(["ID"], [#"{"ID":null,"@removed":{}}"#]) }
    }

    @Test func `a combining character after a quote or a slash is part of the key`() {
        #expect(EntityKeys(names: ["A"]).text(ofID: "Customers('%CC%81x')") == "\u{301}x")
        #expect(EntityKeys(names: ["A"]).text(ofID: "https://h/\u{301}x") == "\u{301}x")
        #expect(EntityKeys(names: ["B", "A"]).text(ofID: "O(A=1,B='\u{301}''')") == "3:\u{301}'1:1")
    }

    @Test func `after a restart, entities that weren't sent again are removed at the complete checkpoint`() throws {
        var collection = try applied(["ID"], [#"{"ID":1,"Old":1}"#, #"{"ID":2}"#])
        try collection.apply(.checkpoint(cursor()))
        try collection.apply(.restarted(nil))
        try collection.apply(change(#"{"ID":1,"Name":"a"}"#, isWhole: true))
        try collection.apply(.checkpoint(cursor(isComplete: false)))
        #expect(collection.count == 2)
        // A program that is restarted in the middle continues the sweep.
        var kept = try JSONDecoder().decode(DeltaCollection<DynamicEntity>.self, from: JSONEncoder().encode(collection))
        try kept.apply(change(#"{"ID":3}"#, isWhole: true))
        try kept.apply(change(#"{"ID":1,"Age":5}"#, isWhole: true))
        try kept.apply(.checkpoint(cursor()))
        #expect(try text(kept) == [#"{"ID":1,"Name":"a","Age":5}"#, #"{"ID":3}"#])
        #expect(kept.cursor == cursor() && kept.cursor?.isComplete == true)
    }

    @Test func `changes of relations are applied to the related entities`() throws {
        let collection = try applied(
            ["ID"],
            [
                #"{"ID":1,"Orders":[{"ID":7,"A":1,"B":2},{"ID":8}],"Orders@odata.nextLink":"x","Boss":{"@id":"B(1)","N":"a","M":1}}"#,
                #"{"ID":1,"Orders@delta":[{"ID":7,"A":3},{"ID":9,"Parts@delta":[{"ID":1}]},{"@id":"Orders(8)","@removed":{"reason":"changed"}}]}"#,
                #"{"ID":1,"Boss":{"@id":"B(1)","N":"b"}}"#,
            ])
        #expect(
            try text(collection) == [
                #"{"ID":1,"Orders":[{"ID":7,"A":3,"B":2},{"ID":9,"Parts":[{"ID":1}]}],"Orders@odata.nextLink":"x","#
                    + #""Boss":{"@id":"B(1)","N":"b","M":1}}"#
            ])
        #expect(
            try text(applied(["ID"], [#"{"ID":1,"Boss":{"N":1}}"#, #"{"ID":1,"Boss":{"@removed":{}}}"#])) == [#"{"ID":1,"Boss":null}"#])
        let whole = try applied(["ID"], [#"{"ID":1,"T":[1],"T@odata.nextLink":"x"}"#, #"{"ID":1,"T":[2]}"#])
        #expect(try text(whole) == [#"{"ID":1,"T":[2]}"#])
        var unchanged = try applied(["ID"], [#"{"ID":1,"Orders":[{"ID":7}]}"#])
        for entry in [
            #"{"ID":1,"Orders@delta":[{"ID":8}],"Orders@nextLink":"x"}"#, #"{"ID":1,"Orders@delta":5}"#, #"{"ID":1,"Orders@delta":[5]}"#,
            #"{"ID":1,"Orders@delta":[{"X":1}]}"#,
            #"{"ID":1,"Orders@delta":[{"@context":"$metadata#O/$link","source":"a","relationship":"b"}]}"#,
        ] {
            #expect(throws: (any Error).self, "\(entry)") { try unchanged.apply(change(entry)) }
            #expect(try text(unchanged) == [#"{"ID":1,"Orders":[{"ID":7}]}"#])
        }
        // Related entities that have keys.
        var other = DeltaCollection<DynamicEntity>(keys: ["ID"], relations: ["Lines": ["No", "Order"]])
        try other.apply(change(#"{"ID":1,"Lines@delta":[{"No":1,"Order":2},{"No":2,"Order":1}]}"#))
        try other.apply(change(#"{"ID":1,"Lines@delta":[{"@id":"Lines(Order=2,No=1)","@removed":{}}]}"#))
        #expect(try text(other) == [#"{"ID":1,"Lines":[{"No":2,"Order":1}]}"#])
    }

    @Test func `changes of a to-one relation are applied to its entity`() throws {
        let start = #"{"ID":1,"Boss":{"ID":5,"N":"a","M":1,"Boss":{"ID":6,"N":"c"}}}"#
        func after(_ changes: String...) throws -> [String] { try text(applied(["ID"], [start] + changes)) }
        // Without a key the changes are of the same entity, and so are those with its key.
        for change in [#"{"N":"b"}"#, #"{"ID":5,"N":"b"}"#] {
            #expect(
                try after(#"{"ID":1,"Boss@delta":\#(change)}"#)
                    == [#"{"ID":1,"Boss":{"ID":5,"N":"b","M":1,"Boss":{"ID":6,"N":"c"}}}"#])
        }
        #expect(
            try after(#"{"ID":1,"Boss@odata.delta":{"Boss@delta":{"N":"d"}}}"#)
                == [#"{"ID":1,"Boss":{"ID":5,"N":"a","M":1,"Boss":{"ID":6,"N":"d"}}}"#])
        // Another entity takes the place of the old one.
        #expect(try after(#"{"ID":1,"Boss@delta":{"ID":7,"N":"b"}}"#) == [#"{"ID":1,"Boss":{"ID":7,"N":"b"}}"#])
        for nothing in ["null", #"{"@removed":{"reason":"changed"}}"#, #"{"@context":"$metadata#P/$deletedEntity","id":"P(5)"}"#] {
            #expect(try after(#"{"ID":1,"Boss@delta":\#(nothing)}"#) == [#"{"ID":1,"Boss":null}"#])
        }
        #expect(try after(#"{"ID":1,"Boss@delta":null}"#, #"{"ID":1,"Boss@delta":{"N":"x"}}"#) == [#"{"ID":1,"Boss":{"N":"x"}}"#])
        let link = #"{"ID":1,"Boss@delta":{"@context":"$metadata#P/$link","source":"a","relationship":"b"}}"#
        for wrong in [link, #"{"ID":1,"Boss@delta":"x"}"#] {
            var unchanged = try applied(["ID"], [start])
            #expect(throws: DecodingError.self) { try unchanged.apply(change(wrong)) }
            #expect(try text(unchanged) == [start])
        }
        var nested = #"{"ID":1}"#
        for _ in 0..<200 { nested = #"{"ID":1,"Boss@delta":\#(nested)}"# }
        #expect(throws: DecodingError.self) { try applied(["ID"], [nested]) }
    }

    @Test func `the merge of deeply nested changes is bounded`() throws {
        var (entity, delta) = (#"{"ID":1}"#, #"{"ID":1}"#)
        for _ in 0..<200 {
            entity = #"{"ID":1,"@id":"A(1)","Boss":\#(entity)}"#
            delta = #"{"ID":1,"@id":"A(1)","Boss":\#(delta)}"#
        }
        #expect(try applied(["ID"], [entity, delta]).count == 1)
        var nested = #"{"ID":1}"#
        for _ in 0..<200 { nested = #"{"ID":1,"Boss@delta":[\#(nested)]}"# }
        #expect(throws: DecodingError.self) { try applied(["ID"], [nested]) }
    }

    @Test func `links are added to and removed from loaded relations`() throws {
        var collection = try applied(["ID"], [#"{"ID":1,"Orders":[{"ID":7}],"Boss":null}"#])
        func link(_ kind: String, _ relation: String, _ target: String?, source: String = "Customers(1)") throws -> ODataChange<
            DynamicEntity
        > {
            let end = target.map { #","target":"\#($0)""# } ?? ""
            return try change(
                #"{"@odata.context":"$metadata#Customers/\#(kind)","source":"\#(source)","relationship":"\#(relation)"\#(end)}"#)
        }
        for _ in 0..<2 { #expect(try collection.apply(link("$link", "Orders", "Orders(8)"))) }
        #expect(try collection.apply(link("$deletedLink", "Orders", "Orders(7)")) && collection.apply(link("$link", "Boss", "B(1)")))
        #expect(try text(collection) == [#"{"ID":1,"Orders":[{"@odata.id":"Orders(8)"}],"Boss":{"@odata.id":"B(1)"}}"#])
        // 4.01 omits the target of a to-one relation.
        #expect(try collection.apply(link("$deletedLink", "Boss", nil)) && collection.payloads[0]["Boss"] == .null)
        #expect(
            try !collection.apply(link("$link", "Unknown", "X(1)")) && !collection.apply(link("$link", "Orders", "O(1)", source: "C(9)")))
        #expect(try !collection.apply(change(#"{"@odata.context":"$metadata#Orders/$entity","ID":5}"#)) && collection.count == 1)
        #expect(
            try !collection.apply(change(#"{"@odata.context":"$metadata#Orders/$deletedEntity","id":"Orders(1)"}"#))
                && collection.count == 1)
    }

    @Test func `links of another set change nothing`() throws {
        let entity = #"{"ID":1,"Notes":[{"ID":7}],"Boss":{"ID":2}}"#
        for kind in ["$link", "$deletedLink"] {
            for (context, source, isOfQuery) in [
                ("#Orders/\(kind)", "Orders(1)", false), ("$metadata#Orders/\(kind)", "1", false), ("#\(kind)", "Orders(1)", false),
                ("#\(kind)", "https://h/svc/Orders(ID=1)/Ns.Rush?a", false), ("#Customers/\(kind)", "Customers(1)", true),
                ("#Customers/\(kind)", "Customers/1", true), ("#\(kind)", "Customers(1)/Ns.Vip", true), ("#\(kind)", "1", true),
                ("#\(kind)", "(1)", true),
            ] {
                let number = kind == "$link" ? 5 : 7
                let change: ODataChange<DynamicEntity> = try change(
                    #"{"@odata.context":"\#(context)","source":"\#(source)","relationship":"Notes","target":"Notes(\#(number))"}"#)
                switch change {
                case .linked(let link), .unlinked(let link): #expect(link.isOfQuery == isOfQuery, "\(context) \(source)")
                default: Issue.record("\(change)")
                }
                var collection = try applied(["ID"], [entity])
                #expect(try collection.apply(change) == isOfQuery, "\(context) \(source)")
                #expect(try (text(collection) == [entity]) != isOfQuery, "\(context) \(source)")
            }
        }
        // The last name of a path is the entity set of the id.
        let nested = DeltaPlace(settings: PayloadSettings(), pageSet: "Customers(1)/Orders")
        let link = ODataValue.object(["@context": "#$link", "source": "Customers(1)/Orders(2)", "relationship": "Notes"])
        guard case .linked(let changed) = try DeltaEntry(link, at: nested).kind else { throw NoLink() }
        #expect(changed.isOfQuery && changed.entitySet == nil)
    }

    private struct NoLink: Error {}

    @Test func `a partial entity of a to-one relation is merged by its key`() throws {
        func merged(_ relations: [String: [String]], _ old: String, _ new: String) throws -> String {
            var collection = DeltaCollection<DynamicEntity>(keys: ["ID"], relations: relations)
            try collection.apply(change(#"{"ID":1,"Boss":\#(old)}"#))
            try collection.apply(change(#"{"ID":1,"Boss":\#(new)}"#))
            return String(decoding: try ODataEncoder().encode(collection.payloads[0]["Boss"]?.object ?? DynamicEntity()), as: UTF8.self)
        }
        let relations = ["Boss": ["No", "Site"]]
        for (relations, old, new, result) in [
            (relations, #"{"No":1,"Site":"a","N":"x","M":1}"#, #"{"No":1,"Site":"a","N":"y"}"#, #"{"No":1,"Site":"a","N":"y","M":1}"#),
            (relations, #"{"No":1,"Site":"a","N":"x"}"#, #"{"No":1,"Site":"b"}"#, #"{"No":1,"Site":"b"}"#),
            (relations, #"{"No":1,"Site":"a","N":"x"}"#, #"{"No":1}"#, #"{"No":1}"#),
            ([:], #"{"ID":2,"N":"x","M":1}"#, #"{"ID":2,"N":"y"}"#, #"{"ID":2,"N":"y","M":1}"#),
            ([:], #"{"ID":2,"N":"x"}"#, #"{"@id":"https://h/svc/B(2)","M":1}"#, #"{"ID":2,"N":"x","@id":"https://h/svc/B(2)","M":1}"#),
            ([:], #"{"ID":2,"N":"x"}"#, #"{"ID":3}"#, #"{"ID":3}"#), ([:], #"{"N":"x"}"#, #"{"M":1}"#, #"{"M":1}"#),
            ([:], #"{"@id":"A(2)","N":"x"}"#, #"{"@id":"B(2)"}"#, #"{"@id":"B(2)"}"#),
        ] as [([String: [String]], String, String, String)] {
            #expect(try merged(relations, old, new) == result, "\(old) \(new)")
        }
    }

    @Test func `typed values are decoded from merged properties`() throws {
        struct Person: Decodable, Sendable, Equatable {
            let ID: Int
            let Name: String
            let Age: Int?
        }
        var people = DeltaCollection<Person>(keys: ["ID"])
        try people.apply(change(#"{"ID":1,"Name":"a"}"#))
        try people.apply(change(#"{"ID":1,"Age":5}"#))
        #expect(try people.entities() == [Person(ID: 1, Name: "a", Age: 5)])
        #expect(try people.entity(id: "People(1)")?.Age == 5 && people.entity(id: "People(2)") == nil)
        try people.apply(change(#"{"ID":2,"Age":5}"#))
        #expect(throws: DecodingError.self) { try people.entities() }
    }
}
