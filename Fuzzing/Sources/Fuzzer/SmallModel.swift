import Foundation
import ODataMetadata

/// The model of a small service, so that the parser can distinguish functions from keys and types from properties.
enum SmallModel {
    static let model: ServiceModel? = try? ServiceModel(xml: Data(document.utf8))

    private static let document = """
        <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Ns" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Person"><Key><PropertyRef Name="Name"/></Key>
        <Property Name="Name" Type="Edm.String" Nullable="false"/><Property Name="Age" Type="Edm.Int32"/>
        <Property Name="Emails" Type="Collection(Edm.String)"/><Property Name="Address" Type="Ns.Place"/>
        <Property Name="Homes" Type="Collection(Ns.Place)"/><Property Name="Photo" Type="Edm.Stream"/>
        <NavigationProperty Name="Trips" Type="Collection(Ns.Person)"/><NavigationProperty Name="Friend" Type="Ns.Person"/></EntityType>
        <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/></ComplexType>
        <Action Name="Reset"/><Action Name="Share" IsBound="true"><Parameter Name="it" Type="Ns.Person"/></Action>
        <Function Name="Near" IsBound="true"><Parameter Name="it" Type="Ns.Person"/>
        <ReturnType Type="Collection(Ns.Person)"/></Function>
        <Function Name="Best"><ReturnType Type="Ns.Person"/></Function><Function Name="Sum"><ReturnType Type="Edm.Int32"/></Function>
        <EntityContainer Name="Container"><EntitySet Name="People" EntityType="Ns.Person"/><Singleton Name="Me" Type="Ns.Person"/>
        <ActionImport Name="Reset" Action="Ns.Reset"/><FunctionImport Name="Best" Function="Ns.Best"/>
        <FunctionImport Name="Sum" Function="Ns.Sum"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
}
