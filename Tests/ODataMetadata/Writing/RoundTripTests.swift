import Foundation
import ODataMetadata
import TestSupport
import Testing

/// Models that are written and read again.
@Suite struct RoundTripTests {
    @Test(.enabled(if: MetadataDocuments.folder != nil, "SHARED_DIRECTORY has no metadata documents"))
    func documents() throws {
        let all = MetadataDocuments.names + MetadataDocuments.pairs.flatMap { [$0 + ".xml", $0 + ".json"] }
        for name in all where Sweep.isFull || !name.hasPrefix("graph") {
            let model = try MetadataDocuments.model(name)
            let again = try ServiceModel(xml: model.xml())
            #expect(again.with(version: model.version) == model, "\(name)")
            #expect(again.xml() == model.xml(), "\(name)")
            let json = model.json()
            let other = try ServiceModel(json: json)
            #expect(other == model.jsonForm, "\(name)")
            #expect(other.json() == json, "\(name)")
        }
    }

    @Test func randomModels() throws {
        for seed in 0..<Sweep.rounds(ofAll: 160) {
            var random = RandomModel(seed: seed)
            let model = random.model()
            let xml = try ServiceModel(xml: model.xml())
            #expect(xml == model, "seed \(seed)")
            #expect(xml.diagnostics.filter { $0.severity == .repaired }.isEmpty, "seed \(seed): \(xml.diagnostics)")
            let json = try ServiceModel(json: model.json())
            #expect(json == model.jsonForm, "seed \(seed)")
            #expect(json.jsonForm == json && json.json() == model.json(), "seed \(seed)")
        }
    }

    @Test func textsInAnnotatedTexts() throws {
        let text = """
            <Annotation Term="N.T"><String>x
              y <Annotation Term="N.U"><Collection><String>line1
               line2</String><String>  </String><Record><PropertyValue Property="p"><String>a
            b<Annotation Term="N.V" String="c&#10;  d"/></String></PropertyValue></Record></Collection></Annotation></String></Annotation>
            <Annotation Term="N.W" Qualifier="q" String="last"/>
            """
        let model = try ServiceModel(xml: document(text))
        guard case .annotated(.string("x\n  y "), let inner)? = model.schemas.first?.annotations.first?.value else {
            Issue.record("\(model.schemas)")
            return
        }
        #expect(inner.first?.value?.elements?.prefix(2) == [.string("line1\n   line2"), .string("  ")])
        let written = model.xml()
        #expect(try ServiceModel(xml: written) == model)
        // What isn't within a text keeps its lines.
        #expect(String(decoding: written, as: UTF8.self).contains("\n      <Annotation Term=\"N.W\" Qualifier=\"q\" String=\"last\" />\n"))
    }

    @Test func elementsWithTextAndChildren() throws {
        let text = "<x:a xmlns:x=\"urn:x\">one <x:b>two<x:c p=\"1\"> three\n four</x:c></x:b></x:a>"
        let model = try ServiceModel(xml: document(text))
        let element = try #require(model.schemas.first?.extensions.elements.first)
        #expect(element.text == "one" && element.children.first?.children.first?.text == "three\n four")
        #expect(try ServiceModel(xml: model.xml()) == model)
    }

    @Test func namesThatJSONCantHold() throws {
        let text = """
            <EntityType Name="A"><Key><PropertyRef Name="id"/></Key><Property Name="id" Type="Edm.Int32" Nullable="false"/>
            <Property Name="$x" Type="Edm.String"/><Property Name="a@b" Type="Edm.String"/></EntityType><ComplexType Name="@C"/>
            <EntityType Name="B"><Key><PropertyRef Name="id"/><PropertyRef Name="a@b"/></Key>
            <Property Name="id" Type="Edm.Int32" Nullable="false"/><Property Name="a@b" Type="Edm.Int32" Nullable="false"/>
            <NavigationProperty Name="n" Type="S.B"><ReferentialConstraint Property="a@b" ReferencedProperty="id"/>
            <ReferentialConstraint Property="id" ReferencedProperty="id"/></NavigationProperty></EntityType>
            <EnumType Name="E"><Member Name="$m"/><Member Name="n"/></EnumType><Action Name="As"/>
            <EntityContainer Name="K"><EntitySet Name="As" EntityType="S.A"/><ActionImport Name="As" Action="S.As"/></EntityContainer>
            """
        let model = try ServiceModel(xml: document(text))
        let notes = model.diagnostics.filter { $0.kind == .duplicate }.map(\.message)
        #expect(notes == ["the import has the name of an entity set or singleton"])
        #expect(try ServiceModel(xml: model.xml()) == model)
        let json = try ServiceModel(json: model.json())
        #expect(json == model.jsonForm && json.diagnostics.isEmpty)
        #expect(json.entityType("S.A")?.properties.map(\.name) == ["id"] && json.enumType("S.E")?.members.map(\.name) == ["n"])
        #expect(json.entityType("S.B")?.key.map(\.path) == ["id"])
        #expect(json.navigationProperty("n", of: "S.B")?.referentialConstraints.map(\.property) == ["id"])
        #expect(json.entitySets.map(\.name) == ["As"] && json.operationImports.isEmpty && !json.operations("S.As").isEmpty)
    }

    @Test func containersOfDocumentsThatArentGiven() throws {
        let text = """
            {"$Version": "4.01", "$EntityContainer": "Ext.C", "$Reference": {"u": {"$Include": [{"$Namespace": "Ext"}]}},
             "S": {"T": {"$Kind": "ComplexType"}, "K": {"$Kind": "EntityContainer"}}}
            """
        let model = try ServiceModel(json: Data(text.utf8))
        let again = try ServiceModel(json: model.json())
        #expect(model.containerName == "Ext.C" && again.containerName == "Ext.C" && again == model.jsonForm)
    }

    @Test func attributesOfOtherNamespaces() throws {
        let text = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx" xmlns:sap="http://www.sap.com/Protocols/SAPData">
            <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
            <Schema Namespace="S" xml:lang="en" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
            <EntityType Name="A" sap:label="An &lt;A&gt;"><Key><PropertyRef Name="id"/></Key>
            <Property Name="id" Type="Edm.Int32" Nullable="false" ConcurrencyMode="Fixed"><Documentation><Summary>The id.</Summary></Documentation>
            </Property></EntityType>
            <atom:link rel="self" href="x" xmlns:atom="http://www.w3.org/2005/Atom">a &amp; b</atom:link>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
        let model = try ServiceModel(data: Data(text.utf8))
        let type = try #require(model.entityType("S.A"))
        #expect(model.summary(of: type) == "An <A>")
        #expect(type.properties.first.flatMap { model.summary(of: $0) } == "The id.")
        let again = try ServiceModel(data: model.xml())
        #expect(again.with(version: .v2) == model && again.version == .v4)
        #expect(again.schemas.first?.extensions.elements.first?.text == "a & b")
        let json = try #require(String(data: model.json(), encoding: .utf8))
        #expect(json.contains("\"@www.sap.com.Protocols.SAPData.label\": \"An <A>\""))
        #expect(json.contains("\"$ConcurrencyMode\": \"Fixed\""))
    }
}
