import Foundation
import ODataGeneration
import ODataMetadata
import TestSupport

/// A small service, with what makes names and types hard.
enum ShopDocument {
    /// The elements of the schema, one per line, so that tests can change their order.
    static let elements = [
        """
        <EntityType Name="item" Abstract="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="created" Type="Edm.DateTimeOffset"><Annotation Term="Core.Computed"/></Property></EntityType>
        """,
        """
        <EntityType Name="order" BaseType="Shop.item" OpenType="true">
        <Property Name="default" Type="Edm.String"><Annotation Term="Core.Description" String="The &lt;usual&gt; way."/></Property>
        <Property Name="hashValue" Type="Shop.Code" Nullable="false"/>
        <Property Name="Place" Type="Shop.address"/>
        <Property Name="notes" Type="Collection(Edm.String)" Nullable="false"/>
        <Property Name="request-id" Type="Edm.Guid"><Annotation Term="Core.Revisions"><Collection><Record>
        <PropertyValue Property="Kind" EnumMember="Core.RevisionKind/Deprecated"/>
        <PropertyValue Property="Description" String="Use ID."/></Record></Collection></Annotation></Property>
        <Property Name="state" Type="Shop.state"/>
        <Property Name="scan" Type="Edm.Stream"/>
        <NavigationProperty Name="Lines" Type="Collection(Shop.line)" ContainsTarget="true"/>
        <NavigationProperty Name="customer" Type="Shop.customer"/></EntityType>
        """,
        """
        <EntityType Name="line"><Key><PropertyRef Name="No"/><PropertyRef Name="art"/></Key>
        <Property Name="art" Type="Edm.String" Nullable="false"/><Property Name="No" Type="Edm.Int32" Nullable="false"/></EntityType>
        """,
        """
        <EntityType Name="customer"><Key><PropertyRef Name="id"/></Key><Property Name="id" Type="Edm.String" Nullable="false"/>
        <Property Name="home" Type="Shop.address"/><NavigationProperty Name="orders" Type="Collection(Shop.order)"/></EntityType>
        """,
        """
        <EntityType Name="giftOrder" BaseType="Shop.order"><Property Name="wish" Type="Edm.String"/></EntityType>
        """,
        """
        <ComplexType Name="address"><Property Name="City" Type="Edm.String"/><Property Name="land" Type="Edm.String"/></ComplexType>
        """,
        """
        <EnumType Name="state"><Member Name="none" Value="0"/><Member Name="Open" Value="1"/><Member Name="private" Value="2"/></EnumType>
        """,
        """
        <EnumType Name="rights" IsFlags="true"><Member Name="read" Value="1"/><Member Name="write" Value="2"/></EnumType>
        """,
        """
        <TypeDefinition Name="Code" UnderlyingType="Edm.String"/>
        """,
        """
        <Action Name="cancel" IsBound="true"><Parameter Name="it" Type="Shop.order"/><Parameter Name="Reason" Type="Edm.String"/>
        <Parameter Name="on" Type="Edm.Date" Nullable="false"/></Action>
        """,
        """
        <Function Name="newest" IsBound="true"><Parameter Name="all" Type="Collection(Shop.order)"/>
        <Parameter Name="count" Type="Edm.Int32" Nullable="false"><Annotation Term="Core.OptionalParameter"/></Parameter>
        <ReturnType Type="Collection(Shop.order)"/></Function>
        """,
        """
        <Function Name="total"><Parameter Name="year" Type="Edm.Int16" Nullable="false"/><ReturnType Type="Edm.Decimal" Nullable="false"/></Function>
        """,
        """
        <EntityContainer Name="All"><EntitySet Name="orders" EntityType="Shop.order"/><EntitySet Name="types" EntityType="Shop.customer"/>
        <Singleton Name="me" Type="Shop.customer"/><FunctionImport Name="total" Function="Shop.total"/></EntityContainer>
        """,
    ]

    /// A document with the elements.
    static func document(_ elements: [String] = elements) -> Data {
        Data(
            """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
            <edmx:Reference Uri="https://example.com/core"><edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/></edmx:Reference>
            <edmx:DataServices><Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            \(elements.joined(separator: "\n"))
            </Schema></edmx:DataServices></edmx:Edmx>
            """.utf8)
    }

    /// A document with several schemas, or one other than that of the shop: the elements by namespace.
    static func document(schemas: KeyValuePairs<String, String>) -> Data {
        let schemas = schemas.map {
            "<Schema Namespace=\"\($0.key)\" xmlns=\"http://docs.oasis-open.org/odata/ns/edm\">\($0.value)</Schema>"
        }
        return Data(
            """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            \(schemas.joined(separator: "\n"))
            </edmx:DataServices></edmx:Edmx>
            """.utf8)
    }

    /// A generator for a document and a configuration.
    static func generator(_ configuration: String? = nil, _ document: Data = document()) throws -> CodeGenerator {
        try CodeGenerator(
            .init(
                document: document, named: "shop.csdl.xml", configuration: configuration.map { Data($0.utf8) }, named: "shop.odata.json",
                stem: "shop"))
    }

    /// The code without its heading, which has the hash of the document.
    static func code(_ configuration: String? = nil, _ document: Data = document()) throws -> String {
        let text = try generator(configuration, document).files().map(\.text).joined()
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("// Generated") && !$0.hasPrefix("// Content") }.joined(separator: "\n")
    }

    /// The faults of a configuration.
    static func faults(_ configuration: String, _ document: Data = document()) -> [String] {
        do {
            _ = try generator(configuration, document)
            return []
        } catch {
            return (error as? GenerationError)?.diagnostics.map(\.description) ?? ["\(error)"]
        }
    }
}

/// The metadata document of Graph in the folder that `SHARED_DIRECTORY` names.
enum GraphDocument {
    static let data: Data? = ProcessInfo.processInfo.environment["SHARED_DIRECTORY"]
        .flatMap { try? Data(contentsOf: URL(fileURLWithPath: $0 + "/conformance/csdl/graph-v1.0.xml")) }

    /// The model, read once.
    static let model = data.flatMap { try? ServiceModel(data: $0) }
}
