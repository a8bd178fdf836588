import Foundation
import ODataMetadata
import Testing

@Suite struct LookupsTests {
    private func model() throws -> ServiceModel {
        try ServiceModel(
            xml: document(
                """
                <EntityType Name="Base" OpenType="true"><Key><PropertyRef Name="a/b" Alias="k"/></Key><Property Name="a" Type="S.C"/></EntityType>
                <EntityType Name="Leaf" BaseType="x.Base"><Property Name="m" Type="Edm.String"/>
                <NavigationProperty Name="n" Type="Collection(S.Base)"/>
                <Annotation Term="Org.OData.Core.V1.AlternateKeys"><Collection><Record><PropertyValue Property="Key"><Collection>
                <Record><PropertyValue Property="Alias" String="mm"/><PropertyValue Property="Name" PropertyPath="m"/></Record>
                </Collection></PropertyValue></Record></Collection></Annotation></EntityType>
                <ComplexType Name="C"><Property Name="b" Type="Edm.Int32"/></ComplexType>
                <Function Name="f" IsBound="true"><Parameter Name="it" Type="S.Base"/><ReturnType Type="Edm.String"/></Function>
                <Function Name="f" IsBound="true"><Parameter Name="it" Type="S.Base"/><Parameter Name="x" Type="Edm.Int32"/>
                <ReturnType Type="Edm.String"/></Function>
                <Function Name="f" IsBound="true"><Parameter Name="it" Type="Collection(S.Leaf)"/><ReturnType Type="Edm.String"/></Function>
                <Action Name="go" IsBound="true"><Parameter Name="it" Type="S.Leaf"/><Parameter Name="why" Type="Edm.String"/></Action>
                <EntityContainer Name="K"><EntitySet Name="Leaves" EntityType="S.Leaf"><NavigationPropertyBinding Path="n" Target="S.K/Leaves"/>
                </EntitySet><Singleton Name="Me" Type="S.Leaf"/></EntityContainer>
                <Annotations Target="S.go/why"><Annotation Term="T.all"/></Annotations>
                <Annotations Target="x.go(x.Leaf)/why" Qualifier="q"><Annotation Term="T.one" Bool="false"/></Annotations>
                """, attributes: "Alias=\"x\""))
    }

    @Test func types() throws {
        let model = try model()
        #expect(model.diagnostics.isEmpty, "\(model.diagnostics)")
        let leaf = try #require(model.entityType("x.Leaf"))
        #expect(model.properties(of: leaf).map(\.target) == ["S.Base/a", "S.Leaf/m"])
        #expect(model.key(of: leaf) == [ServiceModel.KeyReference(path: "a/b", alias: "k")])
        #expect(model.alternateKeys(of: leaf) == [[ServiceModel.KeyReference(path: "m", alias: "mm")]])
        #expect(model.isOpen(leaf) && !leaf.isOpen)
        #expect(model.derivedTypes(of: "S.Base").map(\.name) == ["Leaf"])
        #expect(model.property("a", of: "S.Leaf")?.declaringType == "S.Base")
        #expect(model.property("n", of: "S.Leaf") == nil && model.navigationProperty("n", of: "S.Leaf")?.isNullable == false)
        #expect(model.complexType("S.Leaf") == nil && model.type("S.None") == nil)
        #expect(leaf.position == ServiceModel.Position(line: 5, column: 42))
    }

    @Test func resources() throws {
        let model = try model()
        #expect(model.entityType(ofResource: "Leaves")?.name == "Leaf" && model.entityType(ofResource: "Me")?.name == "Leaf")
        #expect(model.bindingTarget(of: "n", in: "Leaves") == "Leaves")
        #expect(model.entitySet("Me") == nil && model.operationImport("Me") == nil)
    }

    @Test func overloads() throws {
        let model = try model()
        let leaf = ServiceModel.TypeReference("S.Leaf")
        #expect(model.operations("x.f").count == 3)
        #expect(model.operations(boundTo: "S.Leaf").map(\.target) == ["S.go(S.Leaf)", "S.f(S.Base)", "S.f(S.Base,Edm.Int32)"])
        #expect(model.operation("S.f", boundTo: leaf, parameters: ["x"])?.target == "S.f(S.Base,Edm.Int32)")
        #expect(model.operation("S.f", boundTo: .init("S.Leaf", isCollection: true))?.target == "S.f(Collection(S.Leaf))")
        #expect(model.operation("S.f", boundTo: leaf, parameters: ["y"]) == nil && model.operation("S.f") == nil)
    }

    @Test func annotations() throws {
        let model = try model()
        let parameter = try #require(model.operations("S.go").first?.callParameters.first)
        #expect(model.annotations(of: parameter).map(\.term).sorted() == ["T.all", "T.one"])
        #expect(model.annotation("T.one", qualifier: "q", of: parameter)?.isTrue == false)
        #expect(model.annotation("T.one", of: parameter) == nil)
    }

    @Test func cyclesInModelsMadeByHand() {
        let types = ["A", "B", "C"].enumerated().map {
            ServiceModel.StructuredType(
                kind: .complex, namespace: "S", name: $1, baseType: "S." + ["B", "C", "A"][$0],
                properties: [.init(name: $1, type: .init("Edm.Int32"))])
        }
        let model = ServiceModel(schemas: [.init(namespace: "S", complexTypes: types)])
        #expect(types.allSatisfy { model.properties(of: $0).count <= 3 })
        #expect(model.derivedTypes(of: "S.A").count <= 2)
    }
}
