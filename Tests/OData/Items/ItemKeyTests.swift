import Foundation
import Testing

@testable import OData

struct ItemKeyTests {
    private enum Archive {
        static let schema = ItemSchema(
            """
            type N.Base abstract
             Id Edm.Int32!
            type N.Doc : N.Base key Id Part
             Part Edm.String!
            type N.Note : N.Doc
             Text Edm.String
            type N.Cat key Id Code=Info/Code
             Id Edm.Int32!
             Info N.Info!
            type N.Pet key Tag=Info/Code
             Info N.Info!
            type N.Cut key Id Gone
             Id Edm.Int32!
            type N.Deep key Info/Inner/Code
             Info N.Info
            complex N.Info
             Code Edm.String!
             Codes [Edm.String]!
             Inner N.Info
            type N.List key Info/Codes
             Info N.Info!
            """)

        struct BaseModel: ItemModel {
            static var typeName: String { "N.Base" }
            static var schema: ItemSchema { Archive.schema }
        }
        struct DocModel: ItemModel {
            static var typeName: String { "N.Doc" }
            static var schema: ItemSchema { Archive.schema }
        }
        struct CatModel: ItemModel {
            static var typeName: String { "N.Cat" }
            static var schema: ItemSchema { Archive.schema }
        }
        struct PetModel: ItemModel {
            static var typeName: String { "N.Pet" }
            static var schema: ItemSchema { Archive.schema }
        }
        struct CutModel: ItemModel {
            static var typeName: String { "N.Cut" }
            static var schema: ItemSchema { Archive.schema }
        }
        struct DeepModel: ItemModel {
            static var typeName: String { "N.Deep" }
            static var schema: ItemSchema { Archive.schema }
        }
        struct ListModel: ItemModel {
            static var typeName: String { "N.List" }
            static var schema: ItemSchema { Archive.schema }
        }
    }

    private func path<Model: ItemModel>(_ model: Model.Type, _ json: String) throws -> String? {
        let item = try ODataDecoder().decode(ODataItem<Model>.self, from: Data(json.utf8))
        return try ODataItem.key(of: item).map {
            try FetchRequest<ODataItem<Model>>(from: "Set").key($0).relativeURL(using: QueryPrinter())
        }
    }

    @Test func `a key has the parts that a base declares`() throws {
        #expect(try path(Archive.DocModel.self, #"{"Id":3,"Part":"a"}"#) == "Set(Id=3,Part='a')")
        #expect(try path(Archive.DocModel.self, #"{"Part":"a"}"#) == nil)
        #expect(try path(Archive.DocModel.self, ##"{"@odata.type":"#N.Note","Id":3,"Part":"a"}"##) == "Set(Id=3,Part='a')")
        // The base has no key, but the type that the item names does.
        #expect(try path(Archive.BaseModel.self, #"{"Id":3}"#) == nil)
        #expect(try path(Archive.BaseModel.self, ##"{"@odata.type":"#N.Doc","Id":3,"Part":"a"}"##) == "Set(Id=3,Part='a')")
    }

    @Test func `a key has parts inside complex values`() throws {
        #expect(try path(Archive.CatModel.self, #"{"Id":1,"Info":{"Code":"x"}}"#) == "Set(Id=1,Code='x')")
        #expect(try path(Archive.CatModel.self, #"{"Id":1}"#) == nil && path(Archive.CatModel.self, #"{"Id":1,"Info":null}"#) == nil)
        #expect(try path(Archive.CatModel.self, #"{"Id":1,"Info":{}}"#) == nil)
        #expect(try path(Archive.PetModel.self, #"{"Info":{"Code":"x"}}"#) == "Set('x')")
        #expect(try path(Archive.DeepModel.self, #"{"Info":{"Inner":{"Code":"x"}}}"#) == "Set('x')")
    }

    @Test func `a key isn't complete without a property that the schema lacks`() throws {
        #expect(try path(Archive.CutModel.self, #"{"Id":1,"Gone":2}"#) == nil)
        #expect(try path(Archive.ListModel.self, #"{"Info":{"Codes":["a"]}}"#) == nil)
    }

    @Test func `a base's property is part of the key only in types that declare it so`() {
        #expect(Archive.schema.table(of: "N.Base")?.properties["Id"]?.access.contains(.key) == false)
        #expect(Archive.schema.table(of: "N.Doc")?.properties["Id"]?.refusal(in: .update) == "it is part of the key")
    }
}
