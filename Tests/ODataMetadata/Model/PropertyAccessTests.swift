import Foundation
import ODataMetadata
import Testing

/// The annotations and attributes that keep clients from setting a property.
@Suite struct PropertyAccessTests {
    private func limit(_ attributes: String, _ annotation: String = "") throws -> (ServiceModel.AccessLimit.Kind, String)? {
        let namespaces =
            "xmlns:sap=\"http://www.sap.com/Protocols/SAPData\" xmlns:a=\"http://schemas.microsoft.com/ado/2009/02/edm/annotation\""
        let text = "<EntityType Name=\"A\"><Property Name=\"P\" Type=\"Edm.Int32\" \(attributes)>\(annotation)</Property></EntityType>"
        let model = try ServiceModel(xml: document(text, attributes: namespaces))
        let property = try #require(model.property("P", of: "S.A"))
        return model.accessLimit(of: property).map { ($0.kind, $0.source) }
    }

    private func tag(_ term: String, _ value: String = "") -> String { "<Annotation Term=\"Org.OData.Core.V1.\(term)\" \(value)/>" }

    @Test func `annotations and attributes say when a property can be set`() throws {
        func expect(_ found: (ServiceModel.AccessLimit.Kind, String)?, _ kind: ServiceModel.AccessLimit.Kind, _ source: String) {
            #expect(found?.0 == kind && found?.1 == source + " of S.A/P")
        }
        #expect(try limit("") == nil)
        #expect(try limit("sap:creatable=\"true\"", tag("Computed", "Bool=\"false\"")) == nil)
        try expect(limit("", tag("Computed")), .computed, "Core.Computed")
        try expect(limit("a:StoreGeneratedPattern=\"Identity\""), .computed, "StoreGeneratedPattern")
        try expect(limit("", tag("Permissions", "EnumMember=\"Org.OData.Core.V1.Permission/Read\"")), .readOnly, "Core.Permissions")
        #expect(try limit("", tag("Permissions", "EnumMember=\"Org.OData.Core.V1.Permission/ReadWrite\"")) == nil)
        try expect(limit("sap:creatable=\"false\" sap:updatable=\"false\""), .readOnly, "sap:creatable and sap:updatable")
        try expect(limit("sap:updatable=\"false\""), .immutable, "sap:updatable")
        try expect(limit("", tag("Immutable")), .immutable, "Core.Immutable")
        try expect(limit("sap:creatable=\"false\""), .notCreatable, "sap:creatable")
    }
}
