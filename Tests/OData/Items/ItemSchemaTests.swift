import Foundation
import TestSupport
import Testing

@testable import OData

@Suite struct ItemSchemaTests {
    @Test func `a type has its own properties and those of its bases`() throws {
        let table = try #require(SampleGraph.schema.table(of: "microsoft.graph.user"))
        #expect(table.key == [ItemKeyPart(property: "id")] && table.properties.count == 19)
        #expect(table.properties["id"]?.isNullable == false && table.properties["otherMails"]?.isCollection == true)
        #expect(table.properties["age"]?.kind == .integer(-2_147_483_648...2_147_483_647))
        #expect(table.properties["manager"]?.isRelation == true)
        #expect(table.properties["manager"]?.kind == .structured("microsoft.graph.directoryObject"))
        #expect(table.properties["drive"]?.kind == .any && table.properties["ageGroup"]?.kind == .enumeration)
        #expect(SampleGraph.schema.table(of: "microsoft.graph.ageGroup") == nil && SampleGraph.schema.table(of: "missing") == nil)
        #expect(SampleGraph.schema.table(of: "microsoft.graph.educationUser")?.properties["age"] != nil)
    }

    @Test func `types derive from each other`() {
        let schema = SampleGraph.schema
        #expect(schema.type("microsoft.graph.educationUser", isKindOf: "microsoft.graph.entity"))
        #expect(!schema.type("microsoft.graph.directoryObject", isKindOf: "microsoft.graph.user"))
        #expect(schema.type("unknown", isKindOf: "unknown") && !schema.type("unknown", isKindOf: "microsoft.graph.entity"))
    }

    @Test func `names are decoded, and words recognized`() throws {
        let schema = ItemSchema(
            """
            type N.A%20B : N.Base open
             Call%20Number Edm.String! immutable notcreatable
             x%25y [Edm.String?]! computed readonly other
            type N.Base abstract
             Id Edm.Guid! key
            enum N.E
             a 1
             b
             c -5
            """)
        let table = try #require(schema.table(of: "N.A B"))
        #expect(table.properties["Call Number"]?.access == [.immutable, .notCreatable])
        #expect(table.properties["x%y"]?.access == [.computed, .readOnly])
        #expect(table.properties["x%y"]?.hasNullElements == true && table.properties["x%y"]?.isNullable == false)
        #expect(table.key == [ItemKeyPart(property: "Id")])
        let members = schema.members(of: "N.E")
        #expect(members.list.map(\.name) == ["a", "b", "c"] && members.number(of: "c") == -5 && members.contains("b"))
    }

    @Test func `names that begin with a mark, and those of the table's signs, are read`() throws {
        let schema = ItemSchema(
            """
            type N.\u{301}A : N.\u{300}B
             \u{301}name Edm.String!
             %3E Edm.Int32
             > N.\u{300}B
             to > %3A
             list [\u{301}C?]!
            type N.\u{300}B
             %CC%81x Edm.String key
            complex \u{301}C
            type %3A
            enum N.E
             \u{301}m 1
            """)
        let table = try #require(schema.table(of: "N.\u{301}A"))
        #expect(Set(table.properties.keys) == ["\u{301}name", ">", "to", "list", "\u{301}x"])
        #expect(table.key == [ItemKeyPart(property: "\u{301}x")])
        #expect(table.properties["\u{301}name"]?.isNullable == false && table.properties["to"]?.kind == .structured(":"))
        #expect(table.properties["list"]?.kind == .structured("\u{301}C") && table.properties["list"]?.hasNullElements == true)
        #expect(schema.members(of: "N.E").number(of: "\u{301}m") == 1)
    }

    @Test func `a key has parts of bases and of complex values`() throws {
        let schema = ItemSchema(
            """
            type N.Base abstract
             Id Edm.Int32!
            type N.Doc : N.Base open key Id a%20b
             Size Edm.Int32
             a%20b Edm.String!
            type N.Note : N.Doc
             Text Edm.String
            type N.Cat key Id c%3Dd=Info/Co%3Dde
             Id Edm.Int32!
             Info N.Info!
            complex N.Info
             Co%3Dde Edm.String!
            """)
        #expect(try #require(schema.table(of: "N.Base")).key.isEmpty)
        let table = try #require(schema.table(of: "N.Note"))
        #expect(table.key == [ItemKeyPart(property: "Id"), ItemKeyPart(property: "a b")])
        #expect(table.properties["Id"]?.access == .key && table.properties["a b"]?.access == .key)
        #expect(table.properties["Size"]?.access == [] && schema.table(of: "N.Base")?.properties["Id"]?.access == [])
        let cat = try #require(schema.table(of: "N.Cat"))
        #expect(cat.key.map(\.name) == ["Id", "c=d"] && cat.key.map(\.path) == [["Id"], ["Info", "Co=de"]])
        #expect(cat.properties["Info"]?.access == [])
    }

    @Test(arguments: [
        "", "\n", " ", "type", "type ", " a Edm.String", "type A : ", "type A : A\n x Edm.Int32", "type A : B\ntype B : A",
        "enum E\n x 99999999999999999999",
        "type A\n", "type A\n x", "type A\n x >", "type A\n x []", "type A\n x [", "type A\n x !", "type A\n %zz Edm.String", "derived A",
        "type A key", "type A key = =x x= / x//y", "type A : key x", "type A key key", "type A : B key x\ntype B : A key y",
    ])
    func `malformed lines of a schema are ignored`(_ text: String) {
        let schema = ItemSchema(text)
        for name in ["A", "B", "E", ""] {
            _ = (schema.table(of: name)?.properties.count, schema.members(of: name).list.count, schema.type(name, isKindOf: "C"))
        }
        #expect(!schema.type("A", isKindOf: "C"))
    }

    @Test func `cut and mutated texts never trap`() {
        let whole = Array("type A : B open key x a=y/z\n x [N.C?]! key\n m > [A]\ntype B\n y Edm.Int32\nenum N.C\n a 1\n".utf8)
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<Sweep.rounds(ofAll: 2_000) {
            var bytes = Array(whole.prefix(Int.random(in: 0...whole.count, using: &generator)))
            for _ in 0..<3 where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let schema = ItemSchema(String(decoding: bytes, as: UTF8.self))
            for name in ["A", "B", "N.C"] { _ = (schema.table(of: name)?.key, schema.members(of: name).list.count) }
        }
    }

    @Test func `the properties of the sample models are in their schemas`() {
        func names<Model: ItemModel>(_: Model.Type, _ descriptors: [any ItemDescriptor]) -> Bool {
            descriptors.allSatisfy { Model.schema.table(of: Model.typeName)?.properties[$0.name] != nil }
        }
        let user = SampleGraph.UserModel()
        #expect(names(SampleGraph.UserModel.self, [user.id, user.age, user.home, user.manager, user.memberOf, user.photo, user.drive]))
    }
}
