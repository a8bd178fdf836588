import Foundation
import TestSupport
import Testing

@testable import ODataGeneration

struct SchemaPrinterTests {
    private static let document = ShopDocument.document(schemas: [
        "N": """
        <EntityType Name="Base" Abstract="true"><Property Name="Id" Type="Edm.Int32" Nullable="false"/>
        <Property Name="More" Type="Edm.String"/></EntityType>
        <EntityType Name="Doc" BaseType="N.Base" OpenType="true"><Key><PropertyRef Name="Id"/><PropertyRef Name="Part"/></Key>
        <Property Name="Part" Type="Edm.String" Nullable="false"/><Property Name="Title" Type="Edm.String"/></EntityType>
        <EntityType Name="Note" BaseType="N.Doc"/>
        <EntityType Name="Cat"><Key><PropertyRef Name="Id"/><PropertyRef Name="Info/Code" Alias="Code"/></Key>
        <Property Name="Id" Type="Edm.Int32" Nullable="false"/><Property Name="Info" Type="N.Info" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/></EntityType>
        <ComplexType Name="Info"><Property Name="Code" Type="Edm.String" Nullable="false"/></ComplexType>
        """
    ])

    @Test func aTypeHasItsWholeKeyInItsLine() throws {
        let code = try ShopDocument.code(nil, Self.document)
        #expect(code.contains("        type N.Base abstract\n         Id Edm.Int32!\n"))
        #expect(code.contains("        type N.Doc : N.Base open key Id Part\n         Part Edm.String!\n         Title Edm.String\n"))
        #expect(code.contains("        type N.Note : N.Doc\n"))
        #expect(code.contains("        type N.Cat key Id Code=Info/Code\n         Id Edm.Int32!\n"))
        #expect(!code.contains("! key"))
    }

    @Test func partsOfAKeyAreIncludedWhereverTheyAreDeclared() throws {
        let code = try ShopDocument.code(
            #"{"include": [{"type": "N.Doc", "properties": ["Title"]}, {"type": "N.Cat", "properties": ["Name"]}]}"#, Self.document)
        #expect(code.contains("        type N.Base abstract\n         Id Edm.Int32!\n        type"))
        #expect(code.contains("        type N.Doc : N.Base open key Id Part\n         Part Edm.String!\n         Title Edm.String\n"))
        #expect(code.contains(" Info N.Info!\n") && code.contains("        complex N.Info\n         Code Edm.String!\n"))
        #expect(!code.contains(" More Edm.String"))
    }

    @Test func charactersWithAMeaningAreEncoded() throws {
        let code = try ShopDocument.code(
            nil,
            ShopDocument.document(schemas: [
                "N": """
                <EntityType Name="A"><Key><PropertyRef Name="a=b c"/><PropertyRef Name="i/d" Alias="x=y"/></Key>
                <Property Name="a=b c" Type="Edm.String" Nullable="false"/><Property Name="i" Type="N.I" Nullable="false"/></EntityType>
                <ComplexType Name="I"><Property Name="d" Type="Edm.String" Nullable="false"/></ComplexType>
                """
            ]))
        #expect(code.contains("        type N.A key a%3Db%20c x%3Dy=i/d\n         a%3Db%20c Edm.String!\n"))
    }

    @Test func derivedTypesThatArentIncludedAreReadAsTheirBases() throws {
        let code = try ShopDocument.code(#"{"include": ["N.Base"]}"#, Self.document)
        #expect(code.contains("        derived N.Doc : N.Base\n        derived N.Note : N.Doc\n"))
    }
}
