import Foundation
import ODataMetadata
import Testing

/// Common violations of CSDL: each defect is reported with its line, and the rest of the document is read.
@Suite struct DefectsTests {
    private func faults(_ children: String, version: String = "4.0", attributes: String = "") throws -> (ServiceModel, [String]) {
        let model = try ServiceModel(xml: document(children, version: version, attributes: attributes))
        return (model, model.diagnostics.map { "\($0.kind) \($0.line)" })
    }

    @Test func unknownTypes() throws {
        let (model, faults) = try faults(
            """
            <ComplexType Name="C">
            <Property Name="a" Type="X.Y"/>
            <Property Name="b"/>
            <Property Name="c" Type="String"/>
            <NavigationProperty Name="d" Type="Edm.String"/>
            </ComplexType>
            """)
        #expect(faults == ["unknownType 5", "missing 6", "unknownType 7", "unknownType 8"])
        #expect(model.complexType("S.C")?.properties.map(\.type.name) == ["Edm.Untyped", "Edm.Untyped", "Edm.String"])
        #expect(model.navigationProperty("d", of: "S.C")?.targetType == "Edm.Untyped")
    }

    @Test func spellingsOfTypes() throws {
        let (model, faults) = try faults(
            """
            <TypeDefinition Name="A" UnderlyingType="Edm.Decimal"/><TypeDefinition Name="B" UnderlyingType="S.A"/>
            <TypeDefinition Name="C" UnderlyingType="S.C"/>
            <ComplexType Name="T"><Property Name="a" Type="Edm.string"/><Property Name="b" Type="Collection(int32)"/>
            <Property Name="c" Type="S.B"/><Property Name="d" Type=" Collection( Edm.Guid ) "/></ComplexType>
            <Action Name="do"/><EntityContainer Name="K"><ActionImport Name="do" Action="do"/></EntityContainer>
            <Annotation Term="T.x" Bool="True"/>
            """)
        // A chain of type definitions has the type at its end.
        #expect(faults == ["invalidValue 4", "unknownType 5", "unknownType 6", "unknownType 6", "unknownResource 8"])
        #expect(model.schemas.first?.typeDefinitions.map(\.underlyingType.name) == ["Edm.Decimal", "Edm.Decimal", "Edm.Untyped"])
        #expect(
            model.complexType("S.T")?.properties.map(\.type.description) == [
                "Edm.String", "Collection(Edm.Int32)", "S.B", "Collection(Edm.Guid)",
            ])
        #expect(model.operationImports.map(\.operation) == ["S.do"])
        #expect(model.schemas.first?.annotations.first?.value == .bool(true))
    }

    @Test func elementsOfOtherNamespaces() throws {
        // They have names of CSDL, but aren't part of it.
        let model = try ServiceModel(
            xml: document(
                """
                <EntityType Name="E"><Key><PropertyRef Name="id"/><x:PropertyRef Name="no"/></Key><x:Annotation Term="T.x"/>
                <Property Name="id" Type="Edm.Int32" Nullable="false"><x:Documentation><x:Summary>no</x:Summary></x:Documentation></Property>
                <x:Property Name="q" Type="Edm.Int32"/></EntityType><EnumType Name="N"><x:Member Name="no"/><Member Name="m"/></EnumType>
                <Action Name="do"><x:Parameter Name="no"/></Action>
                <EntityContainer Name="K"><EntitySet Name="Es" EntityType="S.E"><x:NavigationPropertyBinding Path="a" Target="b"/></EntitySet>
                </EntityContainer>
                """, attributes: "xmlns:x=\"urn:x\""))
        let type = try #require(model.entityType("S.E"))
        #expect(type.key.map(\.path) == ["id"] && type.properties.map(\.name) == ["id"] && type.annotations.isEmpty)
        #expect(type.extensions.elements.map(\.name) == ["Annotation", "Property"])
        #expect(type.properties.first?.annotations.isEmpty == true)
        #expect(model.enumType("S.N")?.members.map(\.name) == ["m"])
        #expect(model.operations("S.do").first?.parameters.isEmpty == true)
        #expect(model.entitySet("Es")?.extensions.elements.map(\.name) == ["NavigationPropertyBinding"])
        #expect(model.diagnostics.map { "\($0.kind) \($0.line)" } == ["misplacedElement 4"])
    }

    @Test func anAliasNamedEdm() throws {
        let model = try ServiceModel(
            xml: document("<ComplexType Name=\"T\"><Property Name=\"p\" Type=\"Edm.Int32\"/></ComplexType>", attributes: "Alias=\"Edm\""))
        #expect(model.complexType("S.T")?.properties.first?.type.name == "Edm.Int32")
        #expect(model.diagnostics.map { "\($0.kind) \($0.line)" } == ["invalidName 3"])
    }

    @Test func basesAndCycles() throws {
        let (model, faults) = try faults(
            """
            <ComplexType Name="A" BaseType="S.B"><Property Name="a" Type="Edm.String"/></ComplexType>
            <ComplexType Name="B" BaseType="S.C"><Property Name="b" Type="Edm.String"/></ComplexType>
            <ComplexType Name="C" BaseType="S.A"/>
            <ComplexType Name="D" BaseType="S.D"/>
            <ComplexType Name="E" BaseType="S.Missing"/>
            <EntityType Name="F" BaseType="S.A" Abstract="true"/>
            """)
        #expect(faults == ["inheritanceCycle 6", "inheritanceCycle 7", "unknownBase 8", "unknownBase 9"])
        let type = try #require(model.complexType("S.A"))
        #expect(model.properties(of: type).map(\.name) == ["b", "a"])
        #expect(model.derivedTypes(of: "S.C").map(\.name) == ["B", "A"])
    }

    @Test func duplicates() throws {
        let (model, faults) = try faults(
            """
            <EntityType Name="A"><Key><PropertyRef Name="x"/></Key>
            <Property Name="x" Type="Edm.Int32" Nullable="false"/>
            <Property Name="x" Type="Edm.String"/>
            <Key><PropertyRef Name="y"/></Key>
            </EntityType>
            <ComplexType Name="A"/>
            <EnumType Name="E"><Member Name="m"/>
            <Member Name="m"/>
            </EnumType>
            """)
        #expect(faults == ["duplicate 6", "duplicate 7", "duplicate 9", "duplicate 11"])
        #expect(model.property("x", of: "S.A")?.type.name == "Edm.Int32")
        #expect(model.structuredType("S.A")?.kind == .entity)
    }

    @Test func duplicatesInKeysAndParameters() throws {
        let (model, faults) = try faults(
            """
            <EntityType Name="A"><Key><PropertyRef Name="x"/><PropertyRef Name="x" Alias="y"/></Key>
            <Property Name="x" Type="Edm.Int32" Nullable="false"/>
            <NavigationProperty Name="n" Type="S.A"><ReferentialConstraint Property="x" ReferencedProperty="x"/>
            <ReferentialConstraint Property="x" ReferencedProperty="y"/></NavigationProperty></EntityType>
            <Function Name="f"><Parameter Name="p" Type="Edm.Int32"/>
            <Parameter Name="p" Type="Edm.String"/><ReturnType Type="Edm.Int32"/></Function>
            """)
        #expect(faults == ["duplicate 4", "duplicate 6", "duplicate 9"])
        #expect(model.navigationProperty("n", of: "S.A")?.referentialConstraints.map(\.referencedProperty) == ["x"])
        #expect(model.entityType("S.A")?.key.map(\.name) == ["x"])
        #expect(model.operations("S.f").map(\.target) == ["S.f(Edm.Int32)"])
        #expect(try ServiceModel(json: model.json()) == model.jsonForm)
    }

    @Test func schemasOfOneNamespace() throws {
        let model = try ServiceModel(
            xml: Data(
                """
                <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
                <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"><ComplexType Name="A"/></Schema>
                <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"><ComplexType Name="B"/></Schema>
                </edmx:DataServices></edmx:Edmx>
                """.utf8))
        #expect(model.schemas.count == 1)
        #expect(model.schemas.first?.complexTypes.map(\.name) == ["A", "B"])
        #expect(model.diagnostics.map { "\($0.kind) \($0.line)" } == ["duplicateSchema 3"])
    }

    @Test func invalidPaths() throws {
        let (model, faults) = try faults(
            """
            <EntityType Name="A"><Key><PropertyRef Name="id"/><PropertyRef Name="gone"/></Key>
            <Property Name="id" Type="Edm.Int32"/>
            <NavigationProperty Name="b" Type="S.A" Partner="missing"/>
            </EntityType>
            <EntityContainer Name="K" Extends="S.Missing">
            <EntitySet Name="As" EntityType="S.A"><NavigationPropertyBinding Path="b" Target="K"/>
            <NavigationPropertyBinding Path="c" Target="As"/>
            <NavigationPropertyBinding Path="b" Target="S.K/As"/></EntitySet>
            <EntitySet Name="Bs" EntityType="S.B"/>
            <FunctionImport Name="f" Function="S.f" EntitySet="None"/>
            </EntityContainer>
            <Annotations Target="S.A/zzz"><Annotation Term="T.x"/></Annotations>
            <Annotations Target="S.f(S.A,)"><Annotation Term="T.x"/></Annotations>
            """)
        #expect(
            faults == [
                "unknownKeyProperty 4", "unknownPartner 6", "unknownResource 8", "unknownBinding 9", "unknownBinding 10", "unknownType 12",
                "unknownResource 13", "unknownResource 13", "unknownTarget 15", "unknownTarget 16",
            ])
        #expect(model.bindingTarget(of: "b", in: "As") == "As")
        #expect(model.entitySet("Bs")?.entityType == "Edm.Untyped")
    }

    @Test func namesFacetsAndUnknownParts() throws {
        let (model, faults) = try faults(
            """
            <ComplexType Name="Call Number" Colour="red" p:x="1" xmlns:p="urn:p">
            <Property Name="a" Type="Edm.String" MaxLength="-1" Precision="x" Nullable="maybe"/>
            <Shape><Corner n="1"/>text</Shape>
            <Property Type="Edm.String"/>
            </ComplexType>
            <EnumType Name="E" UnderlyingType="Edm.String"/>
            <EnumType Name="F"><Member Name="m" Value="9223372036854775808"/></EnumType>
            <Property Name="lost" Type="Edm.String"/>
            """)
        #expect(
            faults == [
                "invalidName 4", "unknownElement 4", "invalidValue 5", "invalidValue 5", "invalidValue 5", "unknownElement 6", "missing 7",
                "emptyEnumeration 9", "invalidValue 9", "invalidValue 10", "misplacedElement 11",
            ])
        let type = try #require(model.complexType("S.Call Number"))
        #expect(type.extensions["Colour"] == "red" && type.extensions["x", in: "urn:p"] == "1")
        #expect(type.extensions.elements.map(\.name) == ["Shape", "Property"])
        #expect(type.properties.first?.type == ServiceModel.TypeReference("Edm.String"))
        #expect(model.enumType("S.F")?.members.first?.value == 0)
    }

    @Test func unpublishedNamespaces() throws {
        let text = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
            <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
            <Schema Namespace="NAV" xmlns="http://schemas.microsoft.com/ado/2008/01/edm">
            <EntityType Name="_A.b" m:HasStream="true"><Key><PropertyRef Name="_id"/></Key><Property Name="_id" zz:q="1"/></EntityType>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
        let model = try ServiceModel(data: Data(text.utf8))
        #expect(model.version == .v2)
        #expect(model.diagnostics.map { "\($0.kind) \($0.line)" } == ["invalidName 4", "undeclaredPrefix 4", "missing 4"])
        let type = try #require(model.entityType("NAV._A.b"))
        #expect(type.hasStream && type.properties.first?.type.name == "Edm.String")
        #expect(type.properties.first?.extensions["q", in: "zz"] == "1")
    }

    @Test func refusedDocuments() {
        func kind(_ text: String, _ limits: ServiceModel.Limits = .standard) -> String {
            do {
                _ = try ServiceModel(data: Data(text.utf8), limits: limits)
                return "read"
            } catch let error as ServiceModelError {
                return "\(error.kind) \(error.line)"
            } catch {
                return "\(error)"
            }
        }
        let start = "<edmx:Edmx Version=\"4.0\" xmlns:edmx=\"http://docs.oasis-open.org/odata/ns/edmx\">\n"
        #expect(kind("") == "malformed 0" || kind("").hasPrefix("malformed"))
        #expect(kind("hello").hasPrefix("malformed"))
        #expect(kind("<html>\n<p/></html>") == "noSchema 1")
        #expect(kind(start + "</edmx:Edmx>") == "noSchema 1")
        #expect(kind(start + "<edmx:DataServices>\n").hasPrefix("malformed"))
        #expect(kind(start + "<a></b></edmx:Edmx>") == "malformed 2")
        #expect(kind("<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY b \"c\">]>\n<a>&b;</a>") == "documentType 2")
        #expect(kind("\n<!doctype HTML><html></html>") == "noSchema 2")
        #expect(kind("{\"$Version\": \"4.01\"}") == "noSchema 1")
        // Other JSON has objects, too, but none that is a schema.
        #expect(kind("{\"error\": {\"code\": \"401\", \"message\": \"no\", \"details\": []}}") == "noSchema 1")
        #expect(kind("{\"S\": {\"C\": {\"$Kind\": \"ComplexType\"}}}") == "read")
        #expect(kind("[1]") == "noSchema 1")
        #expect(kind("{\n\"a\": {\"b\": }}") == "malformed 2")
        #expect(kind("{\"S\": {}} x") == "malformed 1")
        #expect(kind("{\"S\": " + String(repeating: "[", count: 300)) == "tooDeep 1")
        #expect(kind(start + String(repeating: "<a>", count: 300)) == "tooDeep 2")
        #expect(kind("{\"S\": {}}", ServiceModel.Limits(size: 5)) == "tooLarge 0")
    }

    @Test(arguments: [
        ("<a b=\"1\" b=\"2\"/>", "an element has an attribute twice"), ("<a>&nbsp;</a>", "it uses an entity that isn't declared"),
        ("<a></b>", "an end tag is that of another element"), ("hello", "it is empty or begins with other text"),
        ("<a b=\"&\"/>", "a name is missing, or a '&' isn't written as '&amp;'"),
        ("<a b=c/>", "an attribute's value has no quotation mark"),
    ])
    func faultsOfXMLAreNamed(children: String, fault: String) {
        let data = children == "hello" ? Data(children.utf8) : document(children)
        let error = #expect(throws: ServiceModelError.self) { try ServiceModel(xml: data) }
        #expect(error?.message.contains("(\(fault))") == true && error?.line ?? 0 > 0, "\(String(describing: error))")
    }

    @Test func faultsOfOneElementHaveAnOrder() throws {
        let attributes = ["Zeta", "Alpha", "Mid", "Beta"].map { "\($0)=\"1\"" }.joined(separator: " ")
        let text = "<ComplexType Name=\"C\" \(attributes)/><Annotation Term=\"T.t\" \(attributes)/>"
        for _ in 0..<20 {
            let notes = try ServiceModel(xml: document(text)).diagnostics.map(\.message).compactMap { $0.split(separator: "'").last }
            #expect(notes == ["Alpha", "Beta", "Mid", "Zeta", "Alpha", "Beta", "Mid", "Zeta"])
        }
    }

    @Test func manyFaultsOfOneKind() throws {
        let (model, faults) = try faults(
            """
            <EntityType Name="A"><Key><PropertyRef Name="x"/><PropertyRef Name="id"/><PropertyRef Name="x"/></Key>
            <Property Name="id" Type="Edm.Int32"/><Property Name="id" Type="Edm.Byte"/><Property Name="p" Type="Edm.Byte"/>
            <NavigationProperty Name="a" Type="S.A" Partner="no"/><NavigationProperty Name="b" Type="S.A" Partner="a"/>
            <NavigationProperty Name="p" Type="S.A" Partner="a"/><NavigationProperty Name="c" Type="S.A" Partner="nothing"/>
            </EntityType>
            <Annotation Term="T.t"><Record><PropertyValue Property="p" Int="1"/><PropertyValue Property="p" Int="2"/></Record></Annotation>
            """)
        #expect(
            faults == [
                "duplicate 4", "unknownKeyProperty 4", "duplicate 5", "unknownPartner 6", "duplicate 7", "unknownPartner 7",
                "duplicate 9",
            ])
        let type = try #require(model.entityType("S.A"))
        #expect(type.key.map(\.path) == ["id"] && type.properties.map(\.name) == ["id", "p"])
        #expect(type.navigationProperties.map(\.name) == ["a", "b", "c"])
        #expect(type.navigationProperties.map(\.partner) == [nil, "a", nil])
        #expect(model.schemas.first?.annotations.first?.value?["p"] == .int(1))
    }

    @Test func targetsOfAnnotations() throws {
        func target(_ path: String) -> String { "<Annotations Target=\"\(path)\"><Annotation Term=\"T.x\"/></Annotations>" }
        let right = [
            "S.E/m", "S.E", "S.f(Edm.Int32)/p", "S.f(Edm.Byte)/q", "S.f/p", "S.f/q", "S.f(Edm.Int32)/$ReturnType", "S.f", "S.K/As/id",
            "S.K/One", "S.K/do", "S.K", "S", "Other.X/y", "S.D", "S.T", "S.A/id@T.x", "S.A/id/@T.x", "S.A@T.x#q", "S.K/As@T.x",
        ]
        let wrong = [
            "S.E/n", "S.E/m/m", "S.f(Edm.Int32)/q", "S.f(Edm.String)", "S.f/r", "S.K/do/x", "S.K/No", "S.K/As/no", "S/x", "S.D/x", "S.No",
            "x", "S.A/no@T.x",
        ]
        let (_, faults) = try faults(
            """
            <EnumType Name="E"><Member Name="m"/></EnumType><TypeDefinition Name="D" UnderlyingType="Edm.Int32"/><Term Name="T" Type="S.D"/>
            <EntityType Name="A"><Key><PropertyRef Name="id"/></Key><Property Name="id" Type="Edm.Int32"/></EntityType>
            <Function Name="f"><Parameter Name="p" Type="Edm.Int32"/><ReturnType Type="S.A"/></Function>
            <Function Name="f"><Parameter Name="q" Type="Edm.Byte"/><ReturnType Type="S.A"/></Function><Action Name="do"/>
            <EntityContainer Name="K"><EntitySet Name="As" EntityType="S.A"/><Singleton Name="One" Type="S.A"/>
            <ActionImport Name="do" Action="S.do"/></EntityContainer>
            \(right.map(target).joined())
            \(wrong.map(target).joined(separator: "\n"))
            """)
        #expect(faults == wrong.indices.map { "unknownTarget \(11 + $0)" })
    }

    @Test func namesThatAreTooLong() throws {
        let long = String(repeating: "n", count: 3_000)
        let (model, faults) = try faults(
            """
            <ComplexType Name="\(long)"/>
            <ComplexType Name="C"><Property Name="\(long)" Type="Edm.Int32"/><Property Name="p" Type="Edm.Int32"/></ComplexType>
            """)
        #expect(faults == ["invalidName 4", "invalidName 5"])
        #expect(model.schemas.first?.complexTypes.map(\.name) == ["C"] && model.complexType("S.C")?.properties.map(\.name) == ["p"])
        // Content that the model has no place for is kept separately.
        #expect(model.schemas.first?.extensions.elements.map(\.name) == ["ComplexType"])
        #expect(model.complexType("S.C")?.extensions.elements.map(\.name) == ["Property"])
        let text = String(decoding: document("<ComplexType Name=\"C\"/>"), as: UTF8.self)
            .replacingOccurrences(of: "Namespace=\"S\"", with: "Namespace=\"\(long)\"")
        let other = try ServiceModel(xml: Data(text.utf8))
        #expect(other.complexType("C") != nil && other.diagnostics.map(\.kind) == [.invalidName])
        let json = """
            {"$Version": "4.01", "\(long)": {}, "S": {"\(long)": {"$Kind": "ComplexType"},
             "C": {"$Kind": "ComplexType", "\(long)": {}, "p": {}}},
             "$Reference": {"u": {"$Include": [{"$Namespace": "\(long)", "$Alias": "x"}]}}}
            """
        let third = try ServiceModel(json: Data(json.utf8))
        #expect(third.complexType("S.C")?.properties.map(\.name) == ["p"])
        #expect(third.diagnostics.map(\.kind) == Array(repeating: .invalidName, count: 4))
    }

    @Test func containersWithTheNameOfAType() throws {
        let (model, faults) = try faults(
            """
            <EntityType Name="K"><Key><PropertyRef Name="id"/></Key><Property Name="id" Type="Edm.Int32" Nullable="false"/></EntityType>
            <EntityContainer Name="K"><EntitySet Name="Ks" EntityType="S.K"/></EntityContainer>
            <Annotations Target="S.K/Ks"><Annotation Term="T.a"/></Annotations>
            <Annotations Target="S.K/id"><Annotation Term="T.b"/></Annotations>
            <Annotations Target="S.K/no"><Annotation Term="T.c"/></Annotations>
            """)
        #expect(faults == ["duplicate 5", "unknownTarget 8"])
        #expect(model.entitySets.map(\.name) == ["Ks"] && model.entityType("S.K") != nil)
        #expect(try ServiceModel(xml: model.xml()) == model)
        // An object of JSON has one member of the name.
        let json = try ServiceModel(json: model.json())
        #expect(json == model.jsonForm && json.container == nil && json.entityType("S.K") != nil)
        #expect(json.diagnostics.filter { $0.severity == .repaired && $0.kind != .unknownTarget }.isEmpty)
    }

    @Test func valuesOfEnumerations() throws {
        let (model, faults) = try faults(
            """
            <EnumType Name="A" UnderlyingType="Edm.SByte"><Member Name="a" Value="-128"/>
            <Member Name="b" Value="128"/></EnumType>
            <EnumType Name="B" UnderlyingType="Edm.UInt32"><Member Name="a" Value="4294967295"/></EnumType>
            <EnumType Name="C" UnderlyingType="Edm.UInt16"><Member Name="a" Value="65535"/></EnumType>
            <EnumType Name="D" UnderlyingType="Edm.Int64"><Member Name="a" Value="9223372036854775807"/>
            <Member Name="b"/></EnumType>
            """)
        #expect(faults == ["invalidValue 5", "invalidValue 6", "invalidValue 7", "missing 9"])
        #expect(model.schemas.first?.enumTypes.map(\.underlyingType) == ["Edm.SByte", "Edm.Int64", "Edm.Int32", "Edm.Int64"])
        #expect(model.enumType("S.A")?.members.map(\.value) == [-128, 128])
        #expect(model.diagnostics.first?.description == "5:29: S.A/b: 128 isn't a value of Edm.SByte; it is kept.")
    }

    @Test func partsWithoutAPlaceInTheModel() throws {
        let (model, faults) = try faults(
            """
            <EntityType Name="A"><Key><PropertyRef Name="id" p:x="1" xmlns:p="urn:p"/></Key>
            <Property Name="id" Type="Edm.Int32" Nullable="false"/>
            <NavigationProperty Name="n" Type="S.A"><OnDelete Action="None" Why="x"/></NavigationProperty></EntityType>
            <EntityType><Property Name="a" Type="Edm.Int32"/></EntityType>
            <Annotations Target="S.A" When="now"><Annotation Term="T.a"/></Annotations>
            <Annotations><Annotation Term="T.a"/></Annotations>
            """)
        #expect(faults == ["unknownElement 4", "unknownElement 6", "missing 7", "unknownElement 8", "missing 9"])
        #expect(model.schemas.first?.extensions.elements.map(\.name) == ["EntityType", "Annotations"])
        #expect(model.diagnostics.last?.message == "Annotations has no Target")
        #expect(try ServiceModel(xml: model.xml()) == model)
    }

    @Test func spellingsOfValues() throws {
        let (model, faults) = try faults(
            """
            <ComplexType Name="C"><Property Name="a" Type="Edm.String" MaxLength="4294967295"/>
            <Annotation Term="T.a" EnumMember="N.E/A,N.E/B"/>
            <Annotation Term="@N.b" Bool="true"/></ComplexType>
            """, attributes: "Alias=\"N\"")
        #expect(faults == ["invalidValue 6"])
        let type = try #require(model.complexType("S.C"))
        #expect(type.properties.first?.type.maxLength == .fixed(4_294_967_295))
        #expect(type.annotations.map(\.term) == ["T.a", "S.b"])
        #expect(type.annotations.first?.value == .enumMembers(["S.E/A", "S.E/B"]) && type.annotations.first?.value?.text == "A,B")
    }
}
