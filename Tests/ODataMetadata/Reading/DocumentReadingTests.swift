import Foundation
import ODataMetadata
import TestSupport
import Testing

@Suite struct DocumentReadingTests {
    @Test(.enabled(if: MetadataDocuments.folder != nil, "SHARED_DIRECTORY has no metadata documents"))
    func everyDocumentIsRead() throws {
        #expect(MetadataDocuments.names.count >= 28)
        for name in MetadataDocuments.names {
            let model = try MetadataDocuments.model(name)
            #expect(!model.schemas.isEmpty, "\(name)")
            #expect(model.diagnostics.allSatisfy { $0.line > 0 && $0.column > 0 }, "\(name)")
        }
    }

    @Test(.enabled(if: MetadataDocuments.folder != nil, "SHARED_DIRECTORY has no metadata documents"))
    func countsOfALargeDocument() throws {
        let model = try MetadataDocuments.model("graph-v1.0.xml")
        #expect(model.version == .v4)
        #expect(model.schemas.reduce(0) { $0 + $1.entityTypes.count } == 1_182)
        #expect(model.schemas.reduce(0) { $0 + $1.complexTypes.count } == 1_780)
        #expect(model.schemas.reduce(0) { $0 + $1.enumTypes.count } == 861)
        #expect(model.schemas.reduce(0) { $0 + $1.operations.count } == 1_181)
        #expect(model.entitySets.count == 40)
        #expect(model.singletons.count == 30)
        let types = model.schemas.flatMap { $0.entityTypes + $0.complexTypes }
        #expect(types.reduce(0) { $0 + $1.properties.count } == 10_528)
        #expect(types.reduce(0) { $0 + model.properties(of: $1).count } == 15_678)
        #expect(types.reduce(0) { $0 + $1.navigationProperties.count } == 1_432)
        let user = try #require(model.entityType("graph.user"))
        #expect(user.baseType == "microsoft.graph.directoryObject")
        #expect(model.key(of: user) == [ServiceModel.KeyReference(path: "id")])
        #expect(
            Set(model.diagnostics.map(\.kind)) == [
                .emptyEnumeration, .missingKey, .invalidName, .unknownTarget, .nameOfNamespace, .duplicate,
            ])
    }

    @Test(.enabled(if: MetadataDocuments.folder != nil, "SHARED_DIRECTORY has no metadata documents"))
    func pairsGiveEqualModels() throws {
        #expect(MetadataDocuments.pairs.count == 15)
        for name in MetadataDocuments.pairs {
            let xml = try ModelText.lines(of: MetadataDocuments.model(name + ".xml")).compactMap(Self.comparable)
            let json = try ModelText.lines(of: MetadataDocuments.model(name + ".json")).compactMap(Self.comparable)
            #expect(xml == json, "\(name)")
        }
    }

    /// A line without what the two documents of a pair say differently, by their format or by their content.
    private static func comparable(_ line: String) -> String? {
        // Each document links to itself and to the other one.
        if line.contains("@Org.OData.Core.V1.Links =") { return nil }
        // JSON states that a collection contains no null, and XML doesn't.
        let parts = line.split(separator: " ").map { $0.hasPrefix("Collection(") && $0.hasSuffix("?") ? $0.dropLast() : $0 }
        // XML turns line breaks in attributes into blanks.
        let text = parts.joined(separator: " ").split { $0.isWhitespace }.joined(separator: " ")
        // The attributes of V2 are annotations in JSON, if they aren't left out.
        if text.hasPrefix("annotation"), ["schemas.microsoft.com.ado.", "foo.com.annotations"].contains(where: { text.contains("@" + $0) })
        {
            return nil
        }
        return text
    }

    @Test func referencedDocuments() throws {
        let main = Data(
            """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
            <edmx:Reference Uri="b"><edmx:Include Namespace="B" Alias="b"/></edmx:Reference>
            <edmx:Reference Uri="c"><edmx:IncludeAnnotations TermNamespace="T" Qualifier="q"/></edmx:Reference>
            <edmx:Reference Uri="broken"><edmx:Include Namespace="D"/></edmx:Reference>
            <edmx:DataServices><Schema Namespace="A" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <EntityType Name="E" BaseType="b.Base"><Property Name="p" Type="b.Missing"/><Property Name="q" Type="D.Unknown"/></EntityType>
            </Schema></edmx:DataServices></edmx:Edmx>
            """.utf8)
        let other = """
            {"$Version": "4.01", "$Reference": {"main": {"$Include": [{"$Namespace": "A"}]}},
             "B": {"Base": {"$Kind": "EntityType", "$Key": ["id"], "id": {}}}}
            """
        let annotations = """
            {"$Version": "4.01", "C": {"$Annotations": {"A.E": {"@T.x#q": 1, "@T.x": 2, "@U.y#q": 3}}}}
            """
        let documents = ["b": Data(other.utf8), "c": Data(annotations.utf8), "main": main, "broken": Data("<a".utf8)]
        let model = try ServiceModel(data: main, references: documents)
        let type = try #require(model.entityType("A.E"))
        #expect(model.properties(of: type).map(\.name) == ["id", "p", "q"])
        #expect(model.key(of: type).map(\.path) == ["id"])
        #expect(type.properties.map(\.type.name) == ["Edm.Untyped", "D.Unknown"])
        #expect(model.annotations(of: type).map(\.value) == [.int(1)])
        #expect(model.diagnostics.map(\.kind) == [.unreadReference, .unknownType])
        // Without the documents, nothing is known of their types, which isn't a fault.
        #expect(try ServiceModel(data: main).diagnostics.isEmpty)
    }

    @Test func aliasesThatAreDeclaredLate() throws {
        let model = try ServiceModel(
            xml: Data(
                """
                <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
                <Schema Namespace="A" xmlns="http://docs.oasis-open.org/odata/ns/edm"><ComplexType Name="T" BaseType="b.Base"/></Schema>
                <Schema Namespace="B.C" Alias="b" xmlns="http://docs.oasis-open.org/odata/ns/edm"><ComplexType Name="Base"/></Schema>
                </edmx:DataServices></edmx:Edmx>
                """.utf8))
        #expect(model.complexType("A.T")?.baseType == "B.C.Base")
        #expect(model.isType("A.T", derivedFrom: "b.Base"))
        #expect(model.diagnostics.isEmpty)
    }

    @Test func aliasesThatOnlySeemToBeThere() throws {
        let text = String(decoding: document("<ComplexType Name=\"T\" BaseType=\"b.Base\"/><ComplexType Name=\"U\"/>"), as: UTF8.self)
        let model = try ServiceModel(xml: Data(("<!-- <Schema Namespace=\"S\" Alias=\"b\"> -->" + text).utf8))
        #expect(model.diagnostics.map(\.message) == ["the base type 'b.Base' isn't in the model"])
    }

    @Test func aliasesWithTheNameOfANamespace() throws {
        func schema(_ attributes: String, _ child: String) -> String {
            "<Schema \(attributes) xmlns=\"http://docs.oasis-open.org/odata/ns/edm\">\(child)</Schema>\n"
        }
        let first = schema("Namespace=\"A\"", "<ComplexType Name=\"X\"/>")
        // The search for aliases doesn't find the second spelling.
        for attributes in ["Namespace=\"B\" Alias=\"A\"", "Alias = 'A' Namespace='B'"] {
            let second = schema(attributes, "<ComplexType Name=\"T\"><Property Name=\"a\" Type=\"A.X\"/></ComplexType>")
            for schemas in [first + second, second + first] {
                let model = try ServiceModel(
                    xml: Data(
                        """
                        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
                        \(schemas)</edmx:DataServices></edmx:Edmx>
                        """.utf8))
                #expect(model.property("a", of: "B.T")?.type.name == "A.X" && model.type("A.T") == nil)
                #expect(model.diagnostics.map(\.message) == ["the alias 'A' of 'B' is the namespace of another schema"])
                #expect(try ServiceModel(xml: model.xml()) == model)
            }
        }
    }

    @Test func unknownVersions() throws {
        func reading(_ attribute: String) throws -> String {
            let text = String(decoding: document("<ComplexType Name=\"C\"/>"), as: UTF8.self)
            let model = try ServiceModel(xml: Data(text.replacingOccurrences(of: "Version=\"4.0\" ", with: attribute).utf8))
            return model.version.rawValue + model.diagnostics.map { " \($0.kind) \($0.severity)" }.joined()
        }
        #expect(try reading("Version=\"4.01\" ") == "4.01" && reading("Version=\"4.0\" ") == "4.0")
        #expect(try reading("Version=\"4.02\" ") == "4.01 unknownVersion repaired")
        #expect(try reading("Version=\"5.0\" ") == "4.0 unknownVersion repaired")
        #expect(try reading("") == "4.0 missing noted")
    }

    @Test func otherEncodings() throws {
        let text = String(decoding: document("<ComplexType Name=\"Größe\"/>"), as: UTF8.self)
        var wide = Data([0xFF, 0xFE])
        wide += try #require(("<?xml version=\"1.0\" encoding=\"utf-16\"?>" + text).data(using: .utf16LittleEndian))
        for data in [wide, Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8)] {
            #expect(try ServiceModel(data: data).complexType("S.Größe") != nil)
        }
        let latin = try #require(("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n" + text).data(using: .isoLatin1))
        #expect(try ServiceModel(data: latin).complexType("S.Größe")?.position?.line == 5)
        // On Linux, XMLParser traps on values that aren't UTF-8.
        #expect(throws: ServiceModelError.self) { try ServiceModel(data: latin.dropFirst(44)) }
        #expect(throws: ServiceModelError.self) { try ServiceModel(data: Data("<?xml version=\"1.0\" encoding=\"EBCDIC\"?><a/>".utf8)) }
    }

    @Test func declarationsThatArentTrue() throws {
        let text = String(decoding: document("<ComplexType Name=\"Größe\"/>"), as: UTF8.self)
        // .NET names UTF-16 in strings, and they are saved as UTF-8.
        for name in ["utf-16", "UTF-16LE", "Unicode"] {
            let model = try ServiceModel(data: Data(("<?xml version=\"1.0\" encoding=\"\(name)\"?>\n" + text).utf8))
            #expect(model.complexType("S.Größe")?.position?.line == 5)
            #expect(model.diagnostics.map { "\($0.kind) \($0.line)" } == ["invalidValue 1"])
        }
        // Blanks and comments in front of the declaration.
        for start in ["\n ", "<!-- saved -->\n", "\u{FEFF}\n"] {
            let model = try ServiceModel(data: Data((start + "<?xml version=\"1.0\"\nencoding=\"utf-8\"?>\n" + text).utf8))
            #expect(model.complexType("S.Größe")?.position?.line == 7)
            #expect(model.diagnostics.map { "\($0.kind) \($0.line)" } == ["misplacedElement 2"])
        }
        // The specification of OData 3.0 has the first of these in an example.
        for attributes in [
            "version=\"1.0\" encoding=\"UTF-8\" standalone=\"true\"", "version=\"1.0\"\tstandalone=\"true\"", "version='1.1'",
            "encoding='utf-8'",
        ] {
            let model = try ServiceModel(data: Data(("<?xml \(attributes)?>\n" + text).utf8))
            #expect(model.complexType("S.Größe")?.position?.line == 5)
            #expect(model.diagnostics.map { "\($0.kind) \($0.line)" } == ["invalidValue 1"])
        }
        let plain = "<?xml version='1.0' encoding=\"UTF-8\" standalone=\"no\" ?>"
        #expect(try ServiceModel(data: Data((plain + text).utf8)).diagnostics.isEmpty)
        // UTF-16 without a byte order mark.
        for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian] {
            let wide = try #require(("<?xml version=\"1.0\"?>" + text).data(using: encoding))
            #expect(try ServiceModel(data: wide).complexType("S.Größe") != nil)
        }
        #expect(throws: ServiceModelError.self) {
            try ServiceModel(data: Data("<?xml version=\"1.0\" encoding=\"utf-16\"?>".utf8) + Data([0x3C, 0xFF, 0xFE]))
        }
    }
}
