import Foundation
import ODataMetadata
import Testing

/// Documents of V1 to V3 with what V4 writes in another way, and files of the Entity Framework.
@Suite struct OlderDocumentsTests {
    private func model(
        _ schemas: String, version: String = "2.0", references: String = "", _ given: [String: Data] = [:]
    ) throws -> ServiceModel {
        let text = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">\(references)
            <edmx:DataServices m:DataServiceVersion="\(version)"
              xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
            \(schemas)
            </edmx:DataServices></edmx:Edmx>
            """
        return try ServiceModel(data: Data(text.utf8), references: given)
    }

    private func schema(_ namespace: String, _ children: String, edm: String = "2008/09") -> String {
        "<Schema Namespace=\"\(namespace)\" xmlns=\"http://schemas.microsoft.com/ado/\(edm)/edm\">\(children)</Schema>"
    }

    private let pair = """
        <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Qs" Relationship="PQ" FromRole="P" ToRole="Q"/></EntityType>
        <EntityType Name="Q"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="P" Relationship="S.PQ" FromRole="Q" ToRole="P"/></EntityType>
        <Association Name="PQ"><End Type="S.P" Multiplicity="1"/><End Type="S.Q" Multiplicity="*"/></Association>
        """

    @Test func rolesAndNamespacesThatArentStated() throws {
        let model = try model(
            schema(
                "S",
                pair + """
                    <EntityContainer Name="K"><EntitySet Name="Ps" EntityType="S.P"/><EntitySet Name="Qs" EntityType="S.Q"/>
                    <AssociationSet Name="PQs" Association="PQ"><End EntitySet="Qs"/><End EntitySet="Ps"/></AssociationSet>
                    </EntityContainer>
                    """))
        #expect(model.diagnostics.isEmpty)
        let relation = try #require(model.navigationProperty("Qs", of: "S.P"))
        #expect(relation.targetType == "S.Q" && relation.isCollection && relation.partner == "P")
        #expect(model.bindingTarget(of: "Qs", in: "Ps") == "Qs" && model.bindingTarget(of: "P", in: "Qs") == "Ps")
    }

    @Test func attributesOfAssociations() throws {
        let sap = "http://www.sap.com/Protocols/SAPData"
        let types = pair.replacingOccurrences(
            of: "<Association Name=\"PQ\">",
            with: "<Association Name=\"PQ\" s:content-version=\"1\"><Documentation><Summary>Ps and Qs</Summary></Documentation>"
        ).replacingOccurrences(of: "<NavigationProperty Name=\"P\"", with: "<NavigationProperty s:content-version=\"2\" Name=\"P\"")
        let model = try model(
            schema(
                "S",
                types + """
                    <EntityContainer Name="K"><EntitySet Name="Ps" EntityType="S.P"/><EntitySet Name="Qs" EntityType="S.Q"/>
                    <AssociationSet Name="PQs" Association="S.PQ" s:creatable="false"><End EntitySet="Qs"/><End EntitySet="Ps"/>
                    </AssociationSet></EntityContainer>
                    """
            ).replacingOccurrences(of: "<Schema ", with: "<Schema xmlns:s=\"\(sap)\" "))
        #expect(model.diagnostics.isEmpty)
        let relation = try #require(model.navigationProperty("Qs", of: "S.P"))
        #expect(relation.extensions["content-version", in: sap] == "1" && model.summary(of: relation) == "Ps and Qs")
        // The navigation property's own attribute counts.
        #expect(model.navigationProperty("P", of: "S.Q")?.extensions["content-version", in: sap] == "2")
        #expect(model.entitySets.map { $0.bindings.map { $0.extensions["creatable", in: sap] } } == [["false"], ["false"]])
        #expect(try ServiceModel(xml: model.xml()).with(version: .v2) == model)
        let json = try ServiceModel(json: model.json())
        #expect(json == model.jsonForm && json.entitySets.allSatisfy { $0.bindings.allSatisfy(\.extensions.isEmpty) })
    }

    @Test func associationsThatConstrainAPropertyTwice() throws {
        let constraint = """
            <ReferentialConstraint><Principal Role="P"><PropertyRef Name="ID"/><PropertyRef Name="ID"/></Principal>
            <Dependent Role="Q"><PropertyRef Name="ID"/><PropertyRef Name="ID"/></Dependent></ReferentialConstraint></Association>
            """
        let model = try model(schema("S", pair.replacing("</Association>", with: constraint)))
        #expect(model.navigationProperty("P", of: "S.Q")?.referentialConstraints.map(\.property) == ["ID"])
        #expect(model.diagnostics.map(\.message) == ["there are two constraints of one property"])
    }

    @Test func functionsOfTheEntityFramework() throws {
        let model = try model(
            schema(
                "S",
                """
                <Function Name="f" ReturnType="Edm.String"><DefiningExpression>SELECT 1</DefiningExpression></Function>
                <Function Name="g"><ReturnType><CollectionType><RowType><Property Name="a" Type="Edm.Int32"/></RowType></CollectionType>
                </ReturnType></Function>
                """, edm: "2009/11"), version: "3.0")
        #expect(
            model.diagnostics.map(\.message) == ["DefiningExpression has no meaning in OData", "RowType isn't a type of OData"])
        #expect(model.operations("S.g").first?.returnType?.type.description == "Collection(Edm.Untyped)")
    }

    @Test func containersThatExtendOthers() throws {
        let older = try model(
            schema(
                "S",
                pair + """
                    <EntityContainer Name="Base"><EntitySet Name="Ps" EntityType="S.P"/></EntityContainer>
                    <EntityContainer Name="K" Extends="Base"><EntitySet Name="Qs" EntityType="S.Q"/></EntityContainer>
                    """))
        #expect(older.diagnostics.isEmpty)
        #expect(older.container?.name == "K" && older.entitySets.map(\.name) == ["Qs", "Ps"])
        // The sets of the extended container are targets, and of several containers the service's is the one that extends.
        let newer = try ServiceModel(
            xml: document(
                """
                <EntityType Name="A"><Key><PropertyRef Name="id"/></Key><Property Name="id" Type="Edm.Int32" Nullable="false"/>
                <NavigationProperty Name="n" Type="S.A"/></EntityType>
                <EntityContainer Name="Base"><EntitySet Name="As" EntityType="S.A"/></EntityContainer>
                <EntityContainer Name="K" Extends="S.Base"><Singleton Name="Me" Type="S.A">
                <NavigationPropertyBinding Path="n" Target="As"/></Singleton></EntityContainer>
                """))
        #expect(newer.diagnostics.isEmpty)
        #expect(newer.container?.name == "K" && newer.bindingTarget(of: "n", in: "Me") == "As")
        #expect(try ServiceModel(xml: newer.xml()) == newer && ServiceModel(json: newer.json()).container?.name == "K")
    }

    @Test func rolesThatFitSeveralSets() throws {
        let types = """
            <EntityType Name="Base"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <NavigationProperty Name="next" Relationship="S.AB" FromRole="A" ToRole="B"/></EntityType>
            <EntityType Name="Derived" BaseType="S.Base"/>
            <Association Name="AB"><End Role="A" Type="S.Base" Multiplicity="1"/><End Role="B" Type="S.Derived" Multiplicity="*"/>
            </Association><EntityContainer Name="K"><EntitySet Name="Bases" EntityType="S.Base"/>
            <EntitySet Name="Deriveds" EntityType="S.Derived"/>
            """
        // The set of derived entities fits both roles, the other set only one.
        for ends in [["Deriveds", "Bases"], ["Bases", "Deriveds"]] {
            let set = ends.map { "<End EntitySet=\"\($0)\"/>" }.joined()
            let model = try model(
                schema("S", types + "<AssociationSet Name=\"s\" Association=\"S.AB\">\(set)</AssociationSet></EntityContainer>"))
            #expect(model.diagnostics.isEmpty)
            #expect(model.bindingTarget(of: "next", in: "Bases") == "Deriveds")
        }
        let end = "<End EntitySet=\"Bases\"/>"
        let wrong = try model(
            schema("S", types + "<AssociationSet Name=\"s\" Association=\"S.AB\">\(end + end)</AssociationSet></EntityContainer>"))
        #expect(wrong.diagnostics.map(\.kind) == [.unknownBinding] && wrong.bindingTarget(of: "next", in: "Bases") == nil)
    }

    @Test func associationsOfManyEnds() throws {
        let end = (0..<10_000).map { "<End Role=\"r\($0)\" Type=\"S.P\" Multiplicity=\"1\"/>" }.joined()
        let set = """
            <AssociationSet Name="s" Association="S.Many"><End EntitySet="Ps"/><End EntitySet="Ps"/></AssociationSet>
            """
        let model = try model(
            schema(
                "S",
                pair
                    + "<Association Name=\"Many\">\(end)</Association>"
                    + "<EntityContainer Name=\"K\"><EntitySet Name=\"Ps\" EntityType=\"S.P\"/>"
                    + String(repeating: set, count: 10_000) + "</EntityContainer>"))
        #expect(model.diagnostics.first?.kind == .unknownBinding)
        #expect(model.entitySets.map(\.name) == ["Ps"])
    }

    @Test func containersWithTheNameOfTheirBase() throws {
        let model = try model(
            schema(
                "A",
                pair.replacing("S.", with: "A.") + """
                    <EntityContainer Name="Container"><EntitySet Name="Ps" EntityType="A.P"/></EntityContainer>
                    """)
                + schema(
                    "B",
                    """
                    <EntityContainer Name="Container" Extends="Container"><EntitySet Name="Qs" EntityType="A.Q"/></EntityContainer>
                    """))
        #expect(model.diagnostics.isEmpty)
        #expect(model.container?.qualifiedName == "B.Container" && model.entitySets.map(\.name) == ["Qs", "Ps"])
    }

    @Test func containersThatExtendThemselves() throws {
        let alone = try model(schema("S", "<EntityContainer Name=\"C\" Extends=\"C\"/>"))
        #expect(alone.diagnostics.map(\.kind) == [.unknownResource] && alone.container?.extends == nil)
        // No container of the name is meant more than another.
        let many = try model((0..<20_000).map { schema("N\($0)", "<EntityContainer Name=\"C\" Extends=\"C\"/>") }.joined())
        #expect(many.schemas.count == 20_000 && many.schemas.allSatisfy { $0.containers.first?.extends == nil })
        // A target is in no container of a cycle.
        let cycle = try model(
            schema(
                "S",
                """
                <EntityContainer Name="C" Extends="S.D"><FunctionImport Name="f" ReturnType="Edm.Int32" EntitySet="x"/></EntityContainer>
                <EntityContainer Name="D" Extends="S.C"/>
                """))
        #expect(cycle.diagnostics.contains { $0.message == "the entity set 'x' isn't in the model" })
    }

    @Test func typesInChildren() throws {
        let model = try model(
            schema(
                "S",
                """
                <ComplexType Name="T"/><EntityContainer Name="K"><FunctionImport Name="f" IsSideEffecting="false">
                <Parameter Name="a"><TypeRef Type="Edm.String" MaxLength="5" Nullable="true"/></Parameter>
                <Parameter Name="b"><CollectionType ElementType="S.T"/></Parameter>
                <ReturnType><CollectionType><TypeRef Type="Edm.Int32"/></CollectionType></ReturnType></FunctionImport></EntityContainer>
                """, edm: "2009/11"), version: "3.0")
        #expect(model.diagnostics.isEmpty)
        let operation = try #require(model.operations("S.f").first)
        #expect(operation.kind == .function && operation.parameters.map(\.type.description) == ["Edm.String", "Collection(S.T)"])
        #expect(operation.parameters[0].type.maxLength == .fixed(5) && operation.parameters[0].type.isNullable)
        #expect(operation.returnType?.type.description == "Collection(Edm.Int32)")
    }

    @Test func typesInOlderSpellings() throws {
        let model = try model(
            schema(
                "S",
                """
                <ComplexType Name="C"><Property Name="a" Type="Edm.String" CollectionKind="Bag"/>
                <Property Name="b" Type="Edm.String" CollectionKind="List"/><Property Name="c" Type="Edm.String" CollectionKind="None"/>
                </ComplexType><EnumType Name="E" UnderlyingType="Int64"><Member Name="m"/></EnumType>
                <EnumType Name="F" UnderlyingType="Edm.int64"><Member Name="m"/></EnumType>
                """, edm: "2009/11"), version: "3.0")
        #expect(model.diagnostics.map(\.assumption) == ["it is 'Edm.Int64'", "it is 'Edm.Int64'"])
        #expect(
            model.diagnostics.map(\.message) == ["the type 'Int64' has no namespace", "the type 'Edm.int64' isn't in the model"])
        #expect(model.enumType("S.F")?.underlyingType == "Edm.Int64")
        #expect(model.complexType("S.C")?.properties.map(\.type.isCollection) == [true, true, false])
        #expect(model.enumType("S.E")?.underlyingType == "Edm.Int64")
        #expect(try ServiceModel(xml: model.xml()).with(version: .v3) == model)
    }

    @Test func outputParameters() throws {
        let model = try model(
            schema(
                "S",
                """
                <EntityContainer Name="K"><FunctionImport Name="f" ReturnType="Edm.Int32"><Parameter Name="a" Type="Edm.Int32" Mode="In"/>
                <Parameter Name="b" Type="Edm.Int32" Mode="Out"/><Parameter Name="c" Type="Edm.Int32" Mode="InOut"/></FunctionImport>
                </EntityContainer>
                """))
        let operation = try #require(model.operations("S.f").first)
        #expect(operation.callParameters.map(\.name) == ["a", "c"] && operation.parameters.map(\.name) == ["a", "b", "c"])
        #expect(model.operation("S.f", parameters: ["a", "c"]) == operation)
    }

    @Test func setsOfResultsAtTheReturnType() throws {
        let model = try model(
            schema(
                "S",
                pair + """
                    <EntityContainer Name="K"><EntitySet Name="Ps" EntityType="S.P"/><FunctionImport Name="f" IsSideEffecting="false">
                    <ReturnType Type="Collection(S.P)" EntitySet="Ps"/></FunctionImport></EntityContainer>
                    """, edm: "2009/11"), version: "3.0")
        #expect(model.container?.operationImports.map(\.entitySet) == ["Ps"])
    }

    @Test func parametersOfImportsAsTargets() throws {
        let target = """
            <Annotations Target="S.K/f/%" xmlns="http://docs.oasis-open.org/odata/ns/edm"><Annotation Term="T.x"/></Annotations>
            """
        let model = try model(
            schema(
                "S",
                """
                <EntityContainer Name="K"><FunctionImport Name="f" ReturnType="Edm.Int32"><Parameter Name="a" Type="Edm.String"/>
                </FunctionImport></EntityContainer>
                """ + target.replacingOccurrences(of: "%", with: "a") + target.replacingOccurrences(of: "%", with: "b")))
        #expect(model.diagnostics.map(\.message) == ["the target 'S.K/f/b' of annotations isn't in the model"])
    }

    @Test func referencesOfV3() throws {
        let main = schema(
            "S",
            """
            <Using Namespace="Ext" Alias="e"/><EntityType Name="E" BaseType="e.Base"><Property Name="a" Type="Ext.Address"/></EntityType>
            """, edm: "2009/11")
        let reference = "<edmx:Reference Url=\"ext.xml\"/>"
        // The reference lists no namespaces: it includes the whole document, and unknown types are expected to be there.
        let alone = try model(main, version: "3.0", references: reference)
        #expect(alone.diagnostics.isEmpty && alone.version == .v3)
        let type = try #require(alone.entityType("S.E"))
        #expect(type.baseType == "Ext.Base" && type.properties.first?.type.name == "Ext.Address")
        #expect(alone.references.map { $0.includes.map(\.namespace) } == [["Ext"]])
        let other = document("<ComplexType Name=\"Address\"/>").replacing("Namespace=\"S\"", with: "Namespace=\"Ext\"")
        let both = try model(main, version: "3.0", references: reference, ["ext.xml": other])
        #expect(both.complexType("Ext.Address") != nil)
        #expect(both.diagnostics.filter { $0.severity == .repaired }.map(\.kind) == [.unknownBase])
        // The attribute can have the prefix of the element, and annotations have separate references.
        let more = """
            <edmx:Reference edmx:Url="a.xml"/><edmx:AnnotationsReference Url="b.xml"><edmx:Include TermNamespace="T" Qualifier="Phone"/>
            </edmx:AnnotationsReference>
            """
        let third = try model(main, version: "3.0", references: more)
        #expect(third.diagnostics.isEmpty && third.references.map(\.uri) == ["a.xml", "b.xml"])
        #expect(third.references.last?.includedAnnotations == [.init(termNamespace: "T", qualifier: "Phone")])
        // Without a reference the types are missing.
        let lone = try model(main, version: "3.0").diagnostics.filter { $0.severity == .repaired }
        #expect(lone.map(\.kind) == [.unknownBase, .unknownType])
    }

    @Test func conceptualModelsOfTheEntityFramework() throws {
        let text = """
            <edmx:Edmx Version="3.0" xmlns:edmx="http://schemas.microsoft.com/ado/2009/11/edmx"><edmx:Runtime>
            <edmx:StorageModels><Schema Namespace="Store" xmlns="http://schemas.microsoft.com/ado/2009/11/edm/ssdl">
            <EntityType Name="Row"/></Schema></edmx:StorageModels>
            <edmx:ConceptualModels>\(schema("S", "<ComplexType Name=\"T\"/>", edm: "2009/11"))</edmx:ConceptualModels>
            <edmx:Mappings/></edmx:Runtime><Designer xmlns="http://schemas.microsoft.com/ado/2009/11/edmx"/></edmx:Edmx>
            """
        let model = try ServiceModel(data: Data(text.utf8))
        #expect(model.version == .v3 && model.schemas.map(\.namespace) == ["S"] && model.complexType("S.T") != nil)
        #expect(model.diagnostics.isEmpty)
    }

    @Test func versionsByNamespace() throws {
        let text = String(decoding: document("<ComplexType Name=\"T\"/>", version: "1.0"), as: UTF8.self)
        #expect(try ServiceModel(xml: Data(text.utf8)).version == .v4)
        #expect(try model(schema("S", "<ComplexType Name=\"T\"/>", edm: "2006/04"), version: "1.0").version == .v2)
    }
}

extension Data {
    fileprivate func replacing(_ text: String, with other: String) -> Data {
        Data(String(decoding: self, as: UTF8.self).replacingOccurrences(of: text, with: other).utf8)
    }
}
