import Foundation
import ODataMetadata
import Testing

// The code samples of ReadingMetadata.md, letter for letter: a sample that doesn't compile here is wrong there.

@Suite struct DocumentationSampleTests {
    private let metadata = document(
        """
        <EntityType Name="Order"><Key><PropertyRef Name="id"/></Key><Property Name="id" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityContainer Name="K"><EntitySet Name="Orders" EntityType="S.Order"/></EntityContainer>
        """)
    private let common = document("<ComplexType Name=\"C\"/>")

    @Test func reading() throws {
        let model = try ServiceModel(data: metadata)
        for diagnostic in model.diagnostics where diagnostic.severity == .repaired {
            print(diagnostic)  // 12:5: Sales.Order/Total: the type 'Sales.Money' isn't in the model; …
        }
        if let order = model.entityType(ofResource: "Orders") {
            for property in model.properties(of: order) {  // with those of base types
                print(property.name, property.type, property.type.isNullable)
            }
            for action in model.operations(boundTo: order.qualifiedName) {
                print(action.name, action.callParameters.map(\.name))
            }
        }
        #expect(model.diagnostics.isEmpty)
    }

    @Test func references() throws {
        let model = try ServiceModel(data: metadata, references: ["https://example.com/common.xml": common])
        if let set = model.entitySet("Orders"), let rules = model.annotation("Org.OData.Capabilities.V1.InsertRestrictions", of: set) {
            print(rules.value?["Insertable"]?.boolValue ?? true)
        }
        #expect(model.includedSchemas.isEmpty)
    }
}
