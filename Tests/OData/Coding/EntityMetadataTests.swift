import Foundation
import Testing

@testable import OData

@Suite struct EntityMetadataTests {
    private struct Product: Codable, Sendable, Equatable { let Name: String }

    private func entity(_ json: String) throws -> ODataEntity<Product> {
        try ODataDecoder().decode(ODataEntity<Product>.self, from: Data(json.utf8))
    }

    @Test func `control information is read with and without its prefix`() throws {
        let old = try entity(
            #"""
            {"@odata.context":"c","@odata.type":"#Sales.Product","@odata.id":"i","@odata.etag":"W/\"1\"","@odata.readLink":"r","@odata.editLink":"e",
            "@odata.mediaReadLink":"m","@odata.mediaContentType":"image/png","Name@odata.type":"#String","Name":"a","Price@Core.Unit":"EUR",
            "Orders@odata.navigationLink":"n","Orders@odata.associationLink":"a","@Core.Messages#x":["hi"],"#Sales.Buy":{"title":"Buy","target":"t"},
            "#Sales.Top(count)":{},"Size":5,"@odata.future":1}
            """#)
        let new = try entity(
            #"""
            {"@context":"c","@type":"#Sales.Product","@id":"i","@etag":"W/\"1\"","@readLink":"r","@editLink":"e","@mediaReadLink":"m",
            "@mediaContentType":"image/png","Name@type":"String","Name":"a","Price@Core.Unit":"EUR","Orders@navigationLink":"n",
            "Orders@associationLink":"a","@Core.Messages#x":["hi"],"#Sales.Buy":{"title":"Buy","target":"t"},"#Sales.Top(count)":{},"Size":5,"@future":1}
            """#)
        for entity in [old, new] {
            let metadata = entity.metadata
            #expect(metadata.context == "c" && metadata.typeName == "Sales.Product" && metadata.id == "i" && metadata.etag == #"W/"1""#)
            #expect(
                metadata.readLink == "r" && metadata.editLink == "e" && metadata.media == EdmStream(readLink: "m", contentType: "image/png")
            )
            #expect(metadata.propertyTypes == ["Name": "String"] && metadata.propertyAnnotations["Price"]?["Core.Unit"] == "EUR")
            #expect(metadata.navigationLinks == ["Orders": "n"] && metadata.associationLinks == ["Orders": "a"])
            #expect(metadata.annotations["Core.Messages#x"] == ["hi"] && metadata.others.properties.count == 1)
            #expect(metadata.operations == [.init(name: "Sales.Buy", title: "Buy", target: "t"), .init(name: "Sales.Top(count)")])
            #expect(entity.undeclared == ["Size": 5] && entity.Name == "a")
        }
    }

    @Test func `V2's __metadata is read as control information`() throws {
        let metadata = try entity(
            #"""
            {"d":{"__metadata":{"uri":"u","type":"Sales.Product","etag":"W/\"1\"","content_type":"image/png","media_src":"m","edit_media":"e","x":1},
            "Name":"a","Orders":{"__deferred":{"uri":"o"}}}}
            """#
        ).metadata
        #expect(metadata.id == "u" && metadata.editLink == "u" && metadata.typeName == "Sales.Product" && metadata.etag == #"W/"1""#)
        #expect(metadata.media == EdmStream(readLink: "m", editLink: "e", contentType: "image/png"))
        #expect(metadata.navigationLinks == ["Orders": "o"] && metadata.others["x"] == 1)
    }

    @Test func `undeclared properties keep their order and are written back`() throws {
        let json = #"{"Name":"a","Zeta":null,"Alpha":[1.50],"Mid":{"x":1}}"#
        let entity = try entity(json)
        #expect(entity.undeclared.properties.map(\.name) == ["Zeta", "Alpha", "Mid"])
        #expect(try ODataEncoder().encode(entity) == Data(json.utf8))
    }

    @Test(.enabled(if: Payloads.folder != nil, "SHARED_DIRECTORY names no folder with payloads"))
    func `full metadata of a real service are read`() throws {
        let metadata = try Payloads.entity("v4-full-metadata-entity.json", of: EntityMetadata.self)
        #expect(metadata.operations.first?.name.hasSuffix(".AddAccessRight") == true && metadata.operations.count >= 1)
        #expect(metadata.propertyTypes["UserAccess"]?.hasSuffix(".AccessLevel") == true && metadata.navigationLinks["Details"] != nil)
        let stream = try Payloads.entity("v4-stream-entity.json", of: EntityMetadata.self)
        #expect(stream.media?.contentType == "image/jpeg" && stream.media?.etag == #"W/"08D6394B7BA10B11""#)
    }
}
