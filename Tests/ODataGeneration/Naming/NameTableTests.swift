import Foundation
import ODataMetadata
import TestSupport
import Testing

@testable import ODataGeneration

struct NameTableTests {
    private static let container =
        #"<EntityContainer Name="C"><EntitySet Name="Users" EntityType="N.User"/><EntitySet Name="Orders" EntityType="N.User"/></EntityContainer>"#
    private static let user = """
        <EntityType Name="User"><Key><PropertyRef Name="Id"/></Key><Property Name="Id" Type="Edm.Int32" Nullable="false"/>
        <Property Name="n" Type="Edm.String"/><Property Name="m" Type="Edm.Boolean"/></EntityType>
        <EntityType Name="Guest" BaseType="N.User"><Property Name="g" Type="Edm.String"/></EntityType>
        <EnumType Name="State"><Member Name="on" Value="1"/><Member Name="off" Value="0"/></EnumType>
        <Function Name="Find"><Parameter Name="x" Type="Edm.String"/><ReturnType Type="Edm.String"/></Function>
        <Action Name="Ban" IsBound="true"><Parameter Name="it" Type="N.User"/></Action>
        """
    private static let document = ShopDocument.document(schemas: [
        "N": user + container, "N.Sub": #"<ComplexType Name="a"><Property Name="x" Type="Edm.String"/></ComplexType>"#,
        "N.Other": #"<ComplexType Name="b"><Property Name="x" Type="Edm.String"/></ComplexType>"#,
    ])

    @Test func aNamespaceCanHaveTheNameOfATypeOfSwift() throws {
        let code = try ShopDocument.code(
            nil,
            ShopDocument.document(schemas: [
                "N": Self.user, "N.String": #"<ComplexType Name="a"><Property Name="x" Type="Edm.String"/></ComplexType>"#,
            ]))
        #expect(code.contains("    enum String {}"))
        #expect(code.contains("var n: OData.ItemField<Swift.String>") && !code.contains("<String>") && !code.contains(": String {"))
        #expect(code.contains("var m: OData.ItemField<Bool>"))
    }

    @Test func aTypeCanHaveTheNameOfAProtocolThatProjectionsUse() throws {
        let code = try ShopDocument.code(
            #"{"projections": {"Card": {"of": "N.User", "properties": ["Id"]}}}"#,
            ShopDocument.document(schemas: ["N": Self.user + #"<ComplexType Name="CodingKey"/>"#]))
        #expect(code.contains("private enum CodingKeys: String, Swift.CodingKey {"))
    }

    @Test func theNamespaceOfATypeWithADotIsThatOfItsSchema() throws {
        let document = ShopDocument.document(schemas: ["N": #"<ComplexType Name="a.b"/>"#, "N.a": #"<ComplexType Name="c"/>"#])
        let model = try ServiceModel(data: document)
        let names = NameTable(model, service: "Shop", overrides: [:], projections: [])
        #expect(names.path(of: "N.a.b") == "Shop.A_b")
        #expect(names.path(of: "N.a.c") == "Shop.A.C")
    }

    @Test(arguments: ["class", "default", "protocol", "init", "self", "Self", "Type", "Protocol", "Any"])
    func aServiceCantHaveTheNameOfAReservedWord(_ name: String) {
        #expect(ShopDocument.faults(#"{"service": "\#(name)"}"#).contains { $0.contains("'\(name)'") && $0.contains("error: ") })
    }

    @Test(arguments: [
        "OData", "Swift", "String", "CodingKey", "SchemaModel", "SchemaTag", "schema", "Model", "Tag", "Configuration", "EndpointDefaults",
    ])
    func aServiceCantHaveANameThatTheCodeUses(_ name: String) {
        let faults = ShopDocument.faults(#"{"service": "\#(name)"}"#)
        #expect(faults.count == 1 && faults[0].hasPrefix("shop.odata.json:1:13: error: the service can't be called '\(name)', as a"))
    }

    @Test(arguments: ["self", "Self", "type", "protocol", "any", "string", "model"])
    func aServiceCantGetSuchANameFromItsFile(_ stem: String) {
        #expect(throws: GenerationError.self) {
            try CodeGenerator(.init(document: ShopDocument.document(), named: stem + ".csdl.xml", stem: stem))
        }
    }

    @Test(arguments: ["Type", "Self", "Protocol", "SchemaModel", "SchemaTag", "schema", "OData", "Shop", "Sub", "Swift", "Any"])
    func aProjectionCantHaveANameThatTheCodeUses(_ name: String) {
        let faults = ShopDocument.faults(
            "{\n\"projections\": {\"\(name)\": {\"of\": \"N.User\", \"properties\": [\"Id\"]}}}", Self.document)
        #expect(faults.count == 1, "\(faults)")
        #expect(faults.allSatisfy { $0.hasPrefix("shop.odata.json:2:17: error: a projection can't be called '\(name)'") }, "\(faults)")
    }

    @Test(arguments: [
        ("N.User", "OData"), ("N.User", "Shop"), ("N.User", "Sub"), ("N.User", "Schema"), ("N.State", "Schema"), ("N.User/n", "record"),
        ("N.User/n", "odataValue"), ("N.State/on", "some"), ("N.C/Users", "fetch"), ("N.Sub", "OData"), ("N.Sub", "SchemaModel"),
        ("N.Sub", "Shop"), ("N.Ban", "fetch"), ("N.Ban", "orders"), ("N.Guest/g", "id"),
    ])
    func aNameOfTheConfigurationCantBeOneThatTheCodeUses(_ wire: String, _ name: String) {
        let faults = ShopDocument.faults("{\n\"names\": {\"\(wire)\": \"\(name)\"}}", Self.document)
        #expect(faults.count == 1, "\(faults)")
        #expect(faults.allSatisfy { $0.hasPrefix("shop.odata.json:2:11: error: 'names' can't give \(wire) this name") }, "\(faults)")
    }

    @Test(arguments: [
        (#""N.User": "A", "N.Guest": "A""#, "the name 'Shop.A' is that of N.Guest and N.User"),
        (#""N.User": "A", "N.Guest": "AModel""#, "the name 'Shop.AModel' is that of N.Guest and N.User"),
        (#""N.User/n": "a", "N.User/m": "a""#, "the name 'a' is that of N.User/m and N.User/n"),
        (#""N.State/on": "a", "N.State/off": "a""#, "the name 'a' is that of N.State/off and N.State/on"),
        (#""N.C/Users": "a", "N.C/Orders": "a""#, "the name 'ShopClient.a' is that of N.C/Orders and N.C/Users"),
        (#""N.Sub": "A", "N.Other": "A""#, "the name 'Shop.A' is that of N.Other and N.Sub"),
        (#""N.User": "Card""#, "the name 'Shop.Card' is that of N.User and the projection 'Card'"),
        (#""N.User/n": "a", "N.Guest/g": "a""#, "'names' can't give N.Guest/g this name"),
    ])
    func twoNamesOfTheConfigurationCantBeEqual(_ names: String, _ fault: String) {
        let faults = ShopDocument.faults(
            #"{"projections": {"Card": {"of": "N.User", "properties": ["Id"]}}, "names": {\#(names)}}"#, Self.document)
        #expect(faults.count == 1 && faults.allSatisfy { $0.contains(fault) }, "\(faults)")
    }

    @Test func aProjectionAndATypeWithTheSameNameGetDifferentNames() throws {
        let configuration = #"{"projections": {"User": {"of": "N.User", "properties": ["Id"]}}}"#
        let generator = try ShopDocument.generator(configuration, Self.document)
        #expect(generator.warnings.contains { $0.message.hasPrefix("'N.User' is 'User_User' in Swift") })
        #expect(try ShopDocument.code(configuration, Self.document).contains("    struct User: Codable"))
    }

    @Test func inheritedPropertiesKeepTheirNames() throws {
        let model = try ServiceModel(
            data: ShopDocument.document(schemas: [
                "N": """
                <ComplexType Name="C" BaseType="N.B"><Property Name="Record" Type="Edm.String"/>
                <Property Name="x" Type="Edm.String"/></ComplexType>
                <ComplexType Name="B" BaseType="N.A"><Property Name="X" Type="Edm.String"/></ComplexType>
                <ComplexType Name="A"><Property Name="y" Type="Edm.String"/></ComplexType>
                <ComplexType Name="D" BaseType="N.A"><Property Name="x" Type="Edm.String"/><Property Name="Y" Type="Edm.String"/></ComplexType>
                """
            ]))
        let names = NameTable(model, service: "Shop", overrides: [:], projections: [])
        #expect(names.member("X", of: "N.C") == "x" && names.member("y", of: "N.C") == "y")
        #expect(names.member("x", of: "N.C") == "x_" && names.member("Record", of: "N.C") == "record_")
        // Members of a sibling type aren't inherited.
        #expect(names.member("x", of: "N.D") == "x" && names.member("Y", of: "N.D") == "y_")
    }

    /// Quadratic work would take minutes here.
    @Test func aLongChainOfBasesDoesntOverflowTheStack() throws {
        let count = Sweep.rounds(ofAll: 4_000)
        let types = (0..<count).map {
            "<ComplexType Name=\"T\($0)\"" + ($0 > 0 ? " BaseType=\"N.T\($0 - 1)\"" : "")
                + "><Property Name=\"p\($0)\" Type=\"Edm.String\"/></ComplexType>"
        }
        let model = try ServiceModel(data: ShopDocument.document(schemas: ["N": types.joined()]))
        let names = NameTable(model, service: "Shop", overrides: [:], projections: [])
        #expect(names.member("p0", of: "N.T\(count - 1)") == "p0")
        var configuration = GenerationConfiguration()
        configuration.include = [.types(.init("N.T0"))]
        let one = TypeSelection(model, configuration, tree: names.tree)
        #expect(SchemaPrinter(SwiftTypes(model: model, selection: one, names: names)).lines().count == count + 1)
        configuration.include = [.types(.init("*", derived: .all))]
        let all = TypeSelection(model, configuration, tree: names.tree)
        #expect(SwiftTypes(model: model, selection: all, names: names).typesWithProtocol().count == count - 1)
    }

    @Test func aTreeIsWalkedFromBasesToDerivedTypes() throws {
        let model = try ServiceModel(
            data: ShopDocument.document(schemas: [
                "N": """
                <ComplexType Name="C" BaseType="N.B"/><ComplexType Name="B" BaseType="N.A"/><ComplexType Name="D" BaseType="N.A"/>
                <ComplexType Name="A"/><ComplexType Name="X" BaseType="N.Y"/><ComplexType Name="Y" BaseType="N.X"/>
                """
            ]))
        var steps: [String] = []
        DerivationTree(model).walk(enter: { steps.append($0.name) }, leave: { steps.append("/" + $0.name) })
        #expect(steps.prefix(8) == ["A", "B", "C", "/C", "/B", "D", "/D", "/A"])
        #expect(steps.count == 12, "each type of a cycle is visited once")
    }
}
