import Foundation
import OData
import WebServiceTesting

/// A model of sets that exclude changes in many ways, and clients of its service.
enum WrittenModel {
    static func read() throws -> ServiceModel { try ServiceModel(xml: Data(document.utf8)) }

    /// Returns the differences between the changes of a closure and the model, and fails if anything is sent.
    static func faults<Result>(
        _ version: ODataVersion = .v401, in model: ServiceModel? = nil, _ changes: (ODataClient) async throws -> Result
    ) async throws -> [String] {
        let stub = StubTransport()
        let faults = try await stub.client(version).verify(against: model ?? read(), changes)
        guard stub.requests.isEmpty else { return ["a request was sent"] }
        return faults.map(\.description)
    }

    private static func value(_ name: String, _ text: String) -> String { "<PropertyValue Property=\"\(name)\" \(text)/>" }

    private static func list(_ name: String, _ paths: String...) -> String {
        let paths = paths.map { "<PropertyPath>\($0)</PropertyPath>" }.joined()
        return "<PropertyValue Property=\"\(name)\"><Collection>\(paths)</Collection></PropertyValue>"
    }

    private static func record(_ term: String, _ values: String...) -> String {
        "<Annotation Term=\"Capa.\(term)\"><Record>\(values.joined())</Record></Annotation>"
    }

    static let document = """
        <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
        <edmx:Reference Uri="https://h.example/Capabilities.xml"><edmx:Include Namespace="Org.OData.Capabilities.V1" Alias="Capa"/>
        </edmx:Reference><edmx:Reference Uri="https://h.example/Core.xml"><edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/>
        </edmx:Reference><edmx:DataServices><Schema Namespace="Sales" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Number" Type="Edm.String" Nullable="false" MaxLength="8"/>
        <Property Name="Total" Type="Edm.Decimal" Scale="2"><Annotation Term="Core.Computed"/></Property>
        <Property Name="Made" Type="Edm.DateTimeOffset"><Annotation Term="Core.Immutable"/></Property>
        <Property Name="Audit" Type="Edm.String"><Annotation Term="Core.Permissions" EnumMember="Core.Permission/Read"/></Property>
        <Property Name="Priority" Type="Edm.Int16" Nullable="false" DefaultValue="1"/>
        <Property Name="Stamp" Type="Edm.Guid" Nullable="false"><Annotation Term="Core.ComputedDefaultValue"/></Property>
        <Property Name="CustomerID" Type="Edm.Int32" Nullable="false"/><Property Name="State" Type="Sales.State"/>
        <Property Name="Due" Type="Edm.Date"/><Property Name="Paid" Type="Edm.Boolean" Nullable="false" DefaultValue="false"/>
        <Property Name="Tags" Type="Collection(Edm.String)" Nullable="false"/><Property Name="Scan" Type="Edm.Stream"/>
        <Property Name="Address" Type="Sales.Address"/><Property Name="Former" Type="Collection(Sales.Address)"/>
        <NavigationProperty Name="Lines" Type="Collection(Sales.Line)" ContainsTarget="true"/>
        <NavigationProperty Name="Customer" Type="Sales.Customer" Nullable="false">
        <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty>
        <NavigationProperty Name="Agent" Type="Sales.Customer"/></EntityType>
        <EntityType Name="Rush" BaseType="Sales.Order"><Property Name="Hours" Type="Edm.Byte"/>
        <NavigationProperty Name="Couriers" Type="Collection(Sales.Customer)"/></EntityType>
        <EntityType Name="Line"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Item" Type="Edm.String" Nullable="false"/></EntityType>
        <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" Nullable="false"/>
        <NavigationProperty Name="Orders" Type="Collection(Sales.Order)"/></EntityType>
        <EntityType Name="Photo" HasStream="true"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Title" Type="Edm.String"/></EntityType>
        <EntityType Name="Thing" Abstract="true" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityType Name="Box" BaseType="Sales.Thing"/>
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.String"/>
        <Property Name="Code" Type="Edm.String"><Annotation Term="Core.Computed"/></Property></ComplexType>
        <EnumType Name="State"><Member Name="Open"/><Member Name="Closed"/></EnumType>
        <Action Name="Cancel" IsBound="true"><Parameter Name="it" Type="Sales.Order"/>
        <Parameter Name="reason" Type="Edm.String" Nullable="false"/><Parameter Name="days" Type="Edm.Int32"/>
        <Parameter Name="notify" Type="Edm.Boolean" Nullable="false"><Annotation Term="Core.OptionalParameter"/></Parameter>
        <Parameter Name="to" Type="Sales.Address"/></Action>
        <Action Name="Stop" IsBound="true"><Parameter Name="it" Type="Sales.Order"/>
        <Annotation Term="Core.OperationAvailable" Bool="false"/></Action>
        <Action Name="Reset"><Parameter Name="all" Type="Edm.Boolean" Nullable="false"/></Action>
        <Function Name="Near"><Parameter Name="city" Type="Edm.String"/><ReturnType Type="Collection(Sales.Order)"/></Function>
        <EntityContainer Name="C">
        <EntitySet Name="Orders" EntityType="Sales.Order"><NavigationPropertyBinding Path="Customer" Target="Customers"/>
        <NavigationPropertyBinding Path="Agent" Target="Customers"/>
        <NavigationPropertyBinding Path="Sales.Rush/Couriers" Target="Fixed"/></EntitySet>
        <EntitySet Name="Customers" EntityType="Sales.Customer"><NavigationPropertyBinding Path="Orders" Target="Orders"/>
        \(record("InsertRestrictions", value("MaxLevels", "Int=\"0\"")))</EntitySet>
        <EntitySet Name="Photos" EntityType="Sales.Photo"/><EntitySet Name="Things" EntityType="Sales.Thing"/>
        <EntitySet Name="Fixed" EntityType="Sales.Customer">
        \(record("InsertRestrictions", value("Insertable", "Bool=\"false\"")))
        \(record("UpdateRestrictions", value("Updatable", "Bool=\"false\"")))
        \(record("DeleteRestrictions", value("Deletable", "Bool=\"false\"")))</EntitySet>
        <EntitySet Name="Read" EntityType="Sales.Customer"><Annotation Term="Core.Permissions" EnumMember="Core.Permission/Read"/></EntitySet>
        <EntitySet Name="Tagged" EntityType="Sales.Order"><Annotation Term="Core.OptimisticConcurrency"><Collection/></Annotation></EntitySet>
        <EntitySet Name="Strict" EntityType="Sales.Order">
        \(record("InsertRestrictions", list("NonInsertableProperties", "Due", "Address/Zip", "Sales.Rush/Hours"),
            list("NonInsertableNavigationProperties", "Lines"), list("RequiredProperties", "State", "Address/City"),
            value("TypecastSegmentSupported", "Bool=\"false\""),
            "<PropertyValue Property=\"QueryOptions\"><Record>\(value("SelectSupported", "Bool=\"true\""))</Record></PropertyValue>"))
        \(record("UpdateRestrictions", list("NonUpdatableProperties", "Number", "Address/Zip"),
            list("NonUpdatableNavigationProperties", "Agent"), list("RequiredProperties", "Due"),
            value("Upsertable", "Bool=\"false\""), value("DeltaUpdateSupported", "Bool=\"false\""),
            "<PropertyValue Property=\"UpdateMethod\"><EnumMember>Capa.HttpMethod/PATCH</EnumMember></PropertyValue>"))
        \(record("DeleteRestrictions", list("NonDeletableNavigationProperties", "Agent"),
            value("FilterSegmentSupported", "Bool=\"false\"")))
        \(record("NavigationRestrictions", "<PropertyValue Property=\"RestrictedProperties\"><Collection><Record>"
            + value("NavigationProperty", "NavigationPropertyPath=\"Sales.Rush/Couriers\"")
            + "<PropertyValue Property=\"InsertRestrictions\"><Record>\(value("Insertable", "Bool=\"false\""))</Record></PropertyValue>"
            + "</Record></Collection></PropertyValue>"))</EntitySet>
        <Singleton Name="Me" Type="Sales.Customer"/><ActionImport Name="Reset" Action="Sales.Reset"/>
        <FunctionImport Name="Near" Function="Sales.Near" EntitySet="Orders"/>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    /// A document of version 2 with SAP's attributes.
    static func sap(_ set: String = "", property: String = "", association: String = "") throws -> ServiceModel {
        let text = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
             xmlns:sap="http://www.sap.com/Protocols/SAPData" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
            <edmx:DataServices m:DataServiceVersion="2.0">
            <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="A">
            <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.String" Nullable="false" sap:label="Number"/>
            <Property Name="Name" Type="Edm.String" Nullable="false" sap:label="Name" \(property)/>
            <Property Name="Size" Type="Edm.Int64" Nullable="true"/>
            <NavigationProperty Name="Bs" Relationship="S.AB" FromRole="A" ToRole="B"/></EntityType>
            <Association Name="AB"><End Type="S.A" Multiplicity="1" Role="A"/><End Type="S.A" Multiplicity="*" Role="B"/></Association>
            <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="As" EntityType="S.A" \(set)/>
            <AssociationSet Name="ABs" Association="S.AB" \(association)><End EntitySet="As" Role="A"/><End EntitySet="As" Role="B"/>
            </AssociationSet><FunctionImport Name="Find" m:HttpMethod="GET" ReturnType="S.A" EntitySet="As">
            <Parameter Name="name" Type="Edm.String" Mode="In"/></FunctionImport>
            <FunctionImport Name="Do" m:HttpMethod="POST"><Parameter Name="count" Type="Edm.Int32" Mode="In" Nullable="false"/>
            </FunctionImport></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        return try ServiceModel(xml: Data(text.utf8))
    }
}
