import Foundation
import OData
import Testing

/// Restrictions of a service in the places where annotations of the Capabilities vocabulary and SAP's attributes can be.
@Suite struct RestrictionsTests {
    private func model(container: String = "", set: String = "", outside: String = "") throws -> ServiceModel {
        let text = """
            <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
            <edmx:Reference Uri="https://h.example/Capabilities.xml"><edmx:Include Namespace="Org.OData.Capabilities.V1" Alias="Capa"/>
            </edmx:Reference><edmx:DataServices><Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <EntityType Name="A"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Tags" Type="Collection(Edm.String)" Nullable="false"/>
            <NavigationProperty Name="Bs" Type="Collection(S.A)"/></EntityType>
            <EntityType Name="D" BaseType="S.A"><Property Name="X" Type="Edm.String"/>
            <NavigationProperty Name="Cs" Type="Collection(S.A)"/></EntityType>
            <EntityType Name="F" BaseType="S.D"/>
            <EntityType Name="E" BaseType="S.A"><Property Name="X" Type="Edm.String"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="As" EntityType="S.A">\(set)</EntitySet><Singleton Name="Me" Type="S.A"/>
            \(container)</EntityContainer>\(outside)</Schema></edmx:DataServices></edmx:Edmx>
            """
        let model = try ServiceModel(xml: Data(text.utf8))
        #expect(model.diagnostics.isEmpty)
        return model
    }

    private func value(_ property: String, _ value: String) -> String { "<PropertyValue Property=\"\(property)\">\(value)</PropertyValue>" }

    private func record(_ term: String, _ values: String...) -> String {
        "<Annotation Term=\"Capa.\(term)\"><Record>\(values.joined())</Record></Annotation>"
    }

    private func problems(_ query: some QueryBuilding, _ resource: ResourcePath, _ model: ServiceModel) -> [String] {
        ODataQuery(resource, options: query.options).verify(against: model).map(\.problem)
    }

    private let request = FetchRequest<DynamicEntity>(from: "As")
    private let set = ResourcePath(entitySet: "As")

    @Test func `the container's defaults count where a set has no own value`() throws {
        let defaults = record(
            "DefaultCapabilities", value("CountRestrictions", "<Record>\(value("Countable", "<Bool>false</Bool>"))</Record>"),
            value("SortRestrictions", "<Record>\(value("Sortable", "<Bool>false</Bool>"))</Record>"),
            value("FilterRestrictions", "<Record>\(value("Filterable", "<Bool>false</Bool>"))</Record>"),
            value("TopSupported", "<Bool>false</Bool>"))
        let own =
            record("SortRestrictions", value("Sortable", "<Bool>true</Bool>"))
            + record("CountRestrictions", value("NonCountableProperties", "<Collection/>")) + "<Annotation Term=\"Capa.TopSupported\"/>"
        let query = request.filter { $0["ID"] == 1 }.order(by: .ascending("ID")).count().top(1)
        let shared = "Capabilities.DefaultCapabilities of C"
        #expect(
            try problems(query, set, model(container: defaults)) == [
                "the service excludes filters by \(shared)", "the service excludes sorting by \(shared)",
                "the service excludes counts by \(shared)", "the service excludes $top by \(shared)",
            ])
        #expect(
            try problems(query, set, model(container: defaults, set: own)) == [
                "the service excludes filters by \(shared)",
                "the service excludes counts by Capabilities.CountRestrictions of As and \(shared)",
            ])
        // The defaults are those of collections.
        #expect(try problems(request.order(by: .ascending("ID")), ResourcePath(singleton: "Me"), model(container: defaults)).isEmpty)
    }

    @Test func `a container excludes selections of all resources`() throws {
        let none = record("SelectSupport", value("Supported", "<Bool>false</Bool>"))
        let problem = "the service excludes a selection of properties by Capabilities.SelectSupport of"
        for resource in [set, ResourcePath(singleton: "Me")] {
            #expect(try problems(request.select("ID"), resource, model(container: none)) == ["\(problem) C"])
        }
        #expect(try problems(request.select("ID"), set, model(container: none, set: record("SelectSupport"))).isEmpty)
        let outside = "<Annotations Target=\"S.C\">\(none)</Annotations>"
        #expect(try problems(request.select("ID"), set, model(outside: outside)) == ["\(problem) C"])
    }

    @Test func `counts of single properties are excluded by their paths`() throws {
        let model = try model(
            set: record(
                "CountRestrictions", value("NonCountableProperties", "<Collection><PropertyPath>Tags</PropertyPath></Collection>"),
                value(
                    "NonCountableNavigationProperties",
                    "<Collection><NavigationPropertyPath>Bs</NavigationPropertyPath></Collection>")))
        let name = "by Capabilities.CountRestrictions of As"
        #expect(problems(request.count(), set, model).isEmpty)
        #expect(problems(request.filter { $0["Tags/$count"] > 1 }, set, model) == ["the service excludes counts of 'Tags' \(name)"])
        #expect(problems(request.filter { $0["Bs/$count"] > 1 }, set, model) == ["the service excludes counts of 'Bs' \(name)"])
        #expect(problems(request.expand("Bs") { $0.count() }, set, model) == ["the service excludes counts \(name)"])
        #expect(problems(request.expandCount("Bs"), set, model) == ["the service excludes counts \(name)"])
        #expect(problems(request, set.key(1).property("Bs").count(), model) == ["the service excludes counts \(name)"])
        #expect(problems(request, set.key(1).property("Tags").count(), model) == ["the service excludes counts of 'Tags' \(name)"])
        // A property of an entity can be counted if the entities of the set can't.
        let other = try self.model(set: record("CountRestrictions", value("Countable", "<Bool>false</Bool>")))
        #expect(problems(request, set.key(1).property("Tags").count(), other).isEmpty)
        #expect(problems(request, set.count(), other) == ["the service excludes counts \(name)"])
    }

    @Test func `paths in annotations may contain casts`() throws {
        let model = try model(
            set: record(
                "FilterRestrictions", value("NonFilterableProperties", "<Collection><PropertyPath>S.D/X</PropertyPath></Collection>")))
        let query = request.filter { $0.cast(to: AnyEdm.self, named: "S.D")["X"] == "x" }
        #expect(problems(query, set, model) == ["the service excludes 'S.D/X' from filters by Capabilities.FilterRestrictions of As"])
        // The property of another derived type isn't excluded.
        #expect(problems(request.filter { $0.cast(to: AnyEdm.self, named: "S.E")["X"] == "x" }, set, model).isEmpty)
    }

    @Test func `an exclusion for a derived type isn't one for all types, but one for all types applies to casts`() throws {
        func model(_ path: String) throws -> ServiceModel {
            try self.model(
                set: record(
                    "FilterRestrictions", value("NonFilterableProperties", "<Collection><PropertyPath>\(path)</PropertyPath></Collection>"),
                    value("RequiredProperties", "<Collection><PropertyPath>ID</PropertyPath></Collection>")))
        }
        let plain = request.filter { $0["Tags/$count"] > 1 && $0["ID"] == 1 }
        let cast = request.filter { $0["S.D/Tags/$count"] > 1 && $0["S.D/ID"] == 1 }
        #expect(try problems(plain, set, model("S.D/Tags")).isEmpty)
        #expect(try problems(cast, set, model("S.E/Tags")).isEmpty)
        for path in ["S.D/Tags", "Tags"] {
            let problem = "the service excludes 'S.D/Tags' from filters by Capabilities.FilterRestrictions of As"
            #expect(try problems(cast, set, model(path)) == [problem])
        }
    }

    @Test(arguments: ["S.D", "S.F"]) func `restrictions of a relation of a derived type count behind a cast to it or below it`(
        cast: String
    ) throws {
        let none = "<Record>\(value("Sortable", "<Bool>false</Bool>"))</Record>"
        let entry =
            "<Record><PropertyValue Property=\"NavigationProperty\" NavigationPropertyPath=\"S.D/Cs\"/>"
            + "\(value("SortRestrictions", none))</Record>"
        let restrictions = record("NavigationRestrictions", value("RestrictedProperties", "<Collection>\(entry)</Collection>"))
        let target = "<Annotation Term=\"Capa.SortRestrictions\">\(none)</Annotation>"
        let cs = set.key(1).cast(to: cast).property("Cs")
        let sorted = request.order(by: .ascending("ID"))
        let problem = "the service excludes sorting by Capabilities"
        #expect(
            try problems(sorted, cs, model(set: restrictions)) == ["\(problem).NavigationRestrictions of As for S.D/Cs"])
        let outside = "<Annotations Target=\"S.C/As/S.D/Cs\">\(target)</Annotations>"
        #expect(try problems(sorted, cs, model(outside: outside)) == ["\(problem).SortRestrictions of As/Cs"])
        // A binding with a cast leads to a set with restrictions.
        let binding = "<NavigationPropertyBinding Path=\"S.D/Cs\" Target=\"Bound\"/>"
        let bound = "<EntitySet Name=\"Bound\" EntityType=\"S.A\">\(target)</EntitySet>"
        #expect(try problems(sorted, cs, model(container: bound, set: binding)) == ["\(problem).SortRestrictions of Bound"])
        // An entry for another type doesn't count.
        let other = restrictions.replacingOccurrences(of: "S.D/Cs", with: "S.E/Cs")
        #expect(try problems(sorted, cs, model(set: other)).isEmpty)
    }

    @Test(arguments: [
        ("pageable", ["$top", "$skip"]), ("topable", ["$top"]), ("countable", ["$count"]),
    ]) func `an attribute of SAP's is reported by its name`(attribute: String, options: [String]) throws {
        let text = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
             xmlns:sap="http://www.sap.com/Protocols/SAPData">
            <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
            <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="A">
            <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
            <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="As" EntityType="S.A" sap:\(attribute)="false"/>
            </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        let faults = request.top(1).skip(1).count().verify(against: try ServiceModel(data: Data(text.utf8)))
        #expect(faults.map(\.offender) == options)
        #expect(faults.allSatisfy { $0.problem.hasSuffix("by sap:\(attribute) of As") })
    }
}
