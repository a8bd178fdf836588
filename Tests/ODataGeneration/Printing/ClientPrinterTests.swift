import Foundation
import ODataMetadata
import TestSupport
import Testing

@testable import ODataGeneration

struct ClientPrinterTests {
    private static func document(_ operations: String) -> Data {
        ShopDocument.document(schemas: [
            "N": """
            <TypeDefinition Name="Email" UnderlyingType="Edm.String"/><TypeDefinition Name="Phone" UnderlyingType="Edm.String"/>
            <EntityType Name="User"><Key><PropertyRef Name="Id"/></Key><Property Name="Id" Type="Edm.Int32" Nullable="false"/></EntityType>
            \(operations)
            <EntityContainer Name="C"><FunctionImport Name="find" Function="N.find"/></EntityContainer>
            """
        ])
    }

    private static func function(_ type: String, bound: String = "") -> String {
        let binding = bound.isEmpty ? "" : "<Parameter Name=\"it\" Type=\"\(bound)\"/>"
        return "<Function Name=\"find\"\(bound.isEmpty ? "" : " IsBound=\"true\"")>\(binding)<Parameter Name=\"x\" Type=\"\(type)\"/>"
            + "<ReturnType Type=\"Edm.Int32\"/></Function>"
    }

    @Test func ambiguousOverloadsAreNamedByTheirTypes() throws {
        let document = Self.document(
            Self.function("N.Email") + Self.function("N.Phone") + Self.function("Edm.Int32") + Self.function("Collection(N.Email)")
                + Self.function("Collection(N.Phone)"))
        let code = try ShopDocument.code(nil, document)
        for head in [
            "func find_Email(x: String?)", "func find_Phone(x: String?)", "func find(x: Int32?)",
            "func find_CollectionOfEmail(x: [String])", "func find_CollectionOfPhone(x: [String])",
        ] {
            #expect(code.contains(head), "\(head)")
        }
        #expect(code.components(separatedBy: "func find").count == 6)
        let warnings = try ShopDocument.generator(nil, document).warnings.map(\.message)
        #expect(warnings.count == 4 && warnings.contains { $0.hasPrefix("'N.C/find' is 'find_Phone' in Swift") })
    }

    @Test func overloadsThatAreBoundToPrimitiveTypesAreNamedByThese() throws {
        let code = try ShopDocument.code(
            nil, Self.document(Self.function("Edm.Int32", bound: "Edm.String") + Self.function("Edm.Int32", bound: "Collection(Edm.Guid)")))
        #expect(code.contains("func find_String_Int32(on: OData.ResourcePath, x: Int32?)"))
        #expect(code.contains("func find_CollectionOfGuid_Int32(on: OData.ResourcePath, x: Int32?)"))
    }

    @Test func typesWithTheSameNameGetAHash() throws {
        let document = ShopDocument.document(schemas: [
            "N": """
            \(Self.function("A.T"))\(Self.function("B.T"))
            <EntityContainer Name="C"><FunctionImport Name="find" Function="N.find"/></EntityContainer>
            """,
            "A": #"<TypeDefinition Name="T" UnderlyingType="Edm.String"/>"#,
            "B": #"<TypeDefinition Name="T" UnderlyingType="Edm.String"/>"#,
        ])
        let code = try ShopDocument.code(nil, document)
        #expect(code.components(separatedBy: "func find_T_").count == 3)
    }

    @Test func noOverloadVanishesSilently() throws {
        let document = Self.document(Self.function("N.Email") + Self.function("N.Email"))
        let code = try ShopDocument.code(nil, document)
        #expect(code.components(separatedBy: "func find(").count == 2)
        let generator = try ShopDocument.generator(nil, document)
        #expect(
            generator.warnings.contains { $0.message.contains("'N.find(N.Email)' more than once") } || !generator.model.diagnostics.isEmpty)
    }

    @Test func aNameOfTheConfigurationIsForAllOverloads() throws {
        let document = Self.document(Self.function("Edm.Int32") + Self.function("Edm.String"))
        let code = try ShopDocument.code(#"{"names": {"N.C/find": "seek"}}"#, document)
        #expect(code.contains("func seek(x: Int32?)") && code.contains("func seek(x: String?)"))
        let faults = ShopDocument.faults(#"{"names": {"N.C/find": "fetch"}}"#, document)
        #expect(faults.count == 1 && faults.allSatisfy { $0.contains("'names' can't give N.C/find this name") }, "\(faults)")
    }
}
