import Foundation
import OData
import TestSupport
import Testing

/// A model with what requests can miss: types, keys, operations, and annotations of the Capabilities vocabulary.
enum VerifiedModel {
    static func read() throws -> ServiceModel { try ServiceModel(xml: Data(document.utf8)) }

    static let document = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
        <edmx:Reference Uri="https://h.example/Capabilities.xml"><edmx:Include Namespace="Org.OData.Capabilities.V1" Alias="Capabilities"/>
        </edmx:Reference><edmx:DataServices>
        <Schema Namespace="Sales" Alias="self" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Guid" Nullable="false"/><Property Name="Name" Type="Edm.String" Nullable="false"/>
        <Property Name="Age" Type="Edm.Int32"/><Property Name="Born" Type="Edm.Date"/><Property Name="Seen" Type="Edm.DateTimeOffset"/>
        <Property Name="Gender" Type="self.Gender"/><Property Name="Address" Type="self.Address"/>
        <Property Name="Emails" Type="Collection(Edm.String)" Nullable="false"/><Property Name="Salary" Type="Edm.Decimal"/>
        <Property Name="Extra" Type="self.Open"/><Property Name="Photo" Type="Edm.Stream"/><Property Name="Secret" Type="Edm.String"/>
        <NavigationProperty Name="Orders" Type="Collection(self.Order)"/><NavigationProperty Name="Boss" Type="self.Person"/>
        <Annotation Term="Org.OData.Core.V1.AlternateKeys"><Collection><Record><PropertyValue Property="Key"><Collection><Record>
        <PropertyValue Property="Name" PropertyPath="Name"/><PropertyValue Property="Alias" String="Name"/></Record></Collection>
        </PropertyValue></Record></Collection></Annotation></EntityType>
        <EntityType Name="Employee" BaseType="self.Person"><Property Name="Number" Type="Edm.Int64"/></EntityType>
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/><PropertyRef Name="Line"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Line" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Total" Type="Edm.Decimal"/><NavigationProperty Name="Person" Type="self.Person" Nullable="false"/></EntityType>
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.String"/></ComplexType>
        <ComplexType Name="Open" OpenType="true"/>
        <EnumType Name="Gender"><Member Name="Female"/><Member Name="Male"/><Member Name="Unknown"/></EnumType>
        <Function Name="Late" IsBound="true"><Parameter Name="it" Type="Collection(self.Order)"/><Parameter Name="days" Type="Edm.Int32"/>
        <ReturnType Type="Collection(self.Order)"/></Function>
        <Action Name="Cancel" IsBound="true"><Parameter Name="it" Type="self.Order"/></Action>
        <Function Name="Near"><Parameter Name="city" Type="Edm.String"/><ReturnType Type="Collection(self.Person)"/></Function>
        <EntityContainer Name="Container">
        <EntitySet Name="People" EntityType="self.Person"><NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
        <EntitySet Name="Orders" EntityType="self.Order"/><Singleton Name="Me" Type="self.Person"/>
        <EntitySet Name="Guarded" EntityType="self.Person">
        <Annotation Term="Capabilities.FilterRestrictions"><Record><PropertyValue Property="RequiresFilter" Bool="true"/>
        <PropertyValue Property="RequiredProperties"><Collection><PropertyPath>Name</PropertyPath></Collection></PropertyValue>
        <PropertyValue Property="NonFilterableProperties"><Collection><PropertyPath>Secret</PropertyPath>
        <PropertyPath>Address/Zip</PropertyPath></Collection></PropertyValue></Record></Annotation>
        <Annotation Term="Capabilities.SortRestrictions"><Record><PropertyValue Property="NonSortableProperties"><Collection>
        <PropertyPath>Secret</PropertyPath></Collection></PropertyValue><PropertyValue Property="AscendingOnlyProperties"><Collection>
        <PropertyPath>Age</PropertyPath></Collection></PropertyValue></Record></Annotation>
        <Annotation Term="Capabilities.ExpandRestrictions"><Record><PropertyValue Property="NonExpandableProperties"><Collection>
        <NavigationPropertyPath>Boss</NavigationPropertyPath></Collection></PropertyValue><PropertyValue Property="MaxLevels" Int="1"/>
        </Record></Annotation>
        <Annotation Term="Capabilities.SearchRestrictions"><Record><PropertyValue Property="UnsupportedExpressions">
        <EnumMember>Capabilities.SearchExpressions/NOT Capabilities.SearchExpressions/phrase</EnumMember></PropertyValue></Record></Annotation>
        <Annotation Term="Capabilities.CountRestrictions"><Record><PropertyValue Property="Countable" Bool="false"/></Record></Annotation>
        <Annotation Term="Capabilities.TopSupported" Bool="false"/><Annotation Term="Capabilities.SkipSupported" Bool="false"/>
        <Annotation Term="Capabilities.IndexableByKey" Bool="false"/>
        <Annotation Term="Capabilities.NavigationRestrictions"><Record><PropertyValue Property="RestrictedProperties"><Collection><Record>
        <PropertyValue Property="NavigationProperty" NavigationPropertyPath="Orders"/>
        <PropertyValue Property="FilterRestrictions"><Record><PropertyValue Property="Filterable" Bool="false"/></Record></PropertyValue>
        </Record></Collection></PropertyValue></Record></Annotation></EntitySet>
        <FunctionImport Name="Near" Function="self.Near" EntitySet="People"/>
        <Annotation Term="Capabilities.KeyAsSegmentSupported" Bool="false"/>
        <Annotation Term="Capabilities.FilterFunctions"><Collection><String>contains</String><String>startswith</String>
        <String>year</String></Collection></Annotation>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
}

@Suite struct RequestVerificationTests {
    private let people = FetchRequest<DynamicEntity>(from: "People")

    private func kinds<Entity>(_ request: FetchRequest<Entity>) throws -> [ModelFault.Kind] {
        request.verify(against: try VerifiedModel.read()).map(\.kind)
    }

    @Test func `a request that fits has no faults`() throws {
        let model = try VerifiedModel.read()
        let filters: [(QueryTerm<DynamicEntity>) -> QueryTerm<Bool>] = [
            { $0["Name"].hasPrefix("A") && $0["Age"] > 3 }, { $0["Address/City"] == "Bonn" }, { $0["Born"].year > 1_990 },
            { $0["Gender"] == EdmValue.enumeration(type: "Sales.Gender", member: "Male") }, { $0["Extra/Anything"] == 5 },
            { $0["ID"] != UUID() && $0["Orders/$count"] > 1 },
            { $0.cast(to: AnyEdm.self, named: "Sales.Employee")["Number"] == 5 },
        ]
        var request = people.expand("Orders") { $0.filter { $0["Total"] > 5 }.select("ID").expand("Person") { $0.select("Name") } }
        for filter in filters { request = request.filter(filter) }
        request = request.select("Name", "Address/City", "*").order(by: .descending("Age")).search("x").count().top(3).skip(1)
        #expect(request.verify(against: model).isEmpty, "\(request.verify(against: model))")
        #expect(try request.verified(against: model) == request)
        let paths = [
            ResourcePath(entitySet: "People").key(UUID()), ResourcePath(entitySet: "People").key(["Name": "ada"]),
            ResourcePath(entitySet: "People").key(UUID()).property("Orders").key(["ID": 1, "Line": 2]).property("Person"),
            ResourcePath(entitySet: "Orders").function("Sales.Late", ["days": 3]).count(), ResourcePath(singleton: "Me").property("Boss"),
            ResourcePath(entitySet: "Orders").key(["ID": 1, "Line": 2]).action("Sales.Cancel"),
            ResourcePath(function: "Near", ["city": "Bonn"]),
            ResourcePath("People('ada')/Orders"), ResourcePath("Near(city='a/b')"), ResourcePath("People/ada/Orders"),
            ResourcePath(entitySet: "People").cast(to: "self.Employee"), ResourcePath("$metadata"), ResourcePath.all(),
        ]
        for path in paths {
            let faults = ODataQuery(path).verify(against: model)
            #expect(faults.isEmpty, "\(path): \(faults)")
        }
    }

    @Test func `an unknown name is reported with the nearest one`() throws {
        let model = try VerifiedModel.read()
        func first(_ query: some QueryBuilding, _ resource: ResourcePath = ResourcePath(entitySet: "People")) -> ModelFault? {
            ODataQuery(resource, options: query.options).verify(against: model).first
        }
        let filter = try #require(first(people.filter { $0["Adress/City"] == "Bonn" }))
        #expect(filter.kind == .unknownProperty && filter.place == "$filter" && filter.offender == "Adress")
        #expect(filter.description == "$filter: 'Adress' isn't a property of Sales.Person; the nearest name is 'Address'")
        #expect(first(people.filter { $0["Address/Town"] == "Bonn" })?.offender == "Town")
        #expect(first(people.select("Nam"))?.place == "$select")
        #expect(first(people.order(by: .ascending("Agee")))?.fix == "the nearest name is 'Age'")
        #expect(first(people.expand("Order") { $0 })?.place == "$expand=Order")
        let nested = first(people.expand("Orders") { $0.filter { $0["Totl"] > 1 } })
        #expect(nested?.place == "$expand=Orders($filter)" && nested?.fix == "the nearest name is 'Total'")
        #expect(first(people, ResourcePath(entitySet: "Peeple"))?.description.contains("the nearest name is 'People'") == true)
        #expect(first(people, ResourcePath("Peeple"))?.kind == .unknownResource)
        #expect(first(people, ResourcePath(entitySet: "People").key(UUID()).property("Bos"))?.fix == "the nearest name is 'Boss'")
        #expect(first(people, ResourcePath(entitySet: "People").cast(to: "Sales.Employe"))?.kind == .unknownType)
        #expect(first(people, ResourcePath(entitySet: "People").cast(to: "Sales.Order"))?.kind == .misplaced)
        let action = first(people, ResourcePath(entitySet: "Orders").key(["ID": 1, "Line": 1]).action("Sales.Cancl"))
        #expect(action?.kind == .unknownOperation && action?.fix == "the nearest name is 'Sales.Cancel'")
        #expect(first(people, ResourcePath(entitySet: "Orders").action("Sales.Cancel"))?.problem.contains("isn't bound to") == true)
        #expect(first(people, ResourcePath(entitySet: "Orders").function("Sales.Late", ["dayz": 3]))?.fix == "the parameters are (days)")
        #expect(first(people, ResourcePath(function: "Near", ["city": 3]))?.kind == .wrongType)
    }

    @Test func `names within lambdas, functions, aliases and transformations are verified`() throws {
        #expect(try kinds(people.filter { $0["Orders"].any { $0["Nope"] == 1 } }) == [.unknownProperty])
        #expect(try kinds(people.filter { $0["Name"].any { $0["Nope"] == 1 } }) == [.misplaced])
        #expect(try kinds(people.filter { $0["Orders/Total"] == 1 }) == [.misplaced])
        #expect(try kinds(people.filter { $0["Name/First"] == 1 }) == [.misplaced])
        #expect(try kinds(people.filter { $0["Nme"].contains("x") }) == [.unknownProperty])
        #expect(try kinds(people.expand("Address") { $0 }) == [.misplaced])
        #expect(
            try kinds(people.compute("Twice") { $0["Agee"].divided(exactlyBy: 2) }.order(by: .ascending("Twice"))) == [.unknownProperty])
        var grouped = people
        grouped.options.apply = [
            .filter(.path(QueryPath("Nope"))), .groupBy([.property(QueryPath("Nome"))], [.aggregate([.count(as: "N")])]),
        ]
        // What follows has another shape.
        grouped = grouped.order(by: .descending("N"))
        #expect(try kinds(grouped) == [.unknownProperty, .unknownProperty])
    }

    @Test func `literals must have the type of the other operand`() throws {
        let wrong: [(FetchRequest<DynamicEntity>, String)] = [
            (people.filter { $0["ID"] == "ada" }, "'ID' is Edm.Guid, not a string; use a UUID"),
            (people.filter { $0["Name"] == 5 }, "'Name' is Edm.String, not a number; use a String"),
            (people.filter { $0["Age"] == "5" }, "'Age' is Edm.Int32, not a string; use a number"),
            (people.filter { $0["Born"] == Date(timeIntervalSince1970: 0) }, "'Born' is Edm.Date, not a point in time; use an EdmDate"),
            (people.filter { $0["Seen"] == true }, "not a Boolean; use a Date or an EdmDateTimeOffset"),
            (people.filter { $0["Gender"] == "Male" }, "aren't strings in version 4.0"),
            (people.filter { $0["Gender"] == 1 }, "whose literals are members"),
            (people.filter { $0["Address"] == "x" }, "has no literals"), (people.filter { $0["Emails"] == "x" }, "use any or all"),
            (people.filter { $0["Age"].contains("x") }, "isn't an argument of 'contains'"),
            (people.filter { $0["Name"] == $0["Age"] }, "can't be compared with 'Age', which is Edm.Int32"),
        ]
        let model = try VerifiedModel.read()
        for (request, text) in wrong {
            let faults = request.verify(against: model)
            #expect(faults.count == 1 && faults.first?.kind == .wrongType, "\(text): \(faults)")
            #expect(faults.first?.description.contains(text) == true, "\(text): \(faults)")
        }
        let member = people.filter { $0["Gender"] == EdmValue.enumeration(type: "Sales.Gender", member: "Femal") }
        #expect(member.verify(against: model).map(\.fix) == ["the nearest name is 'Female'"])
        #expect(try kinds(people.filter { $0["Gender"] == EdmValue.enumeration(type: "Sales.Sex", member: "Male") }) == [.wrongType])
        // The error omits literal values, since they may be personal.
        #expect(!people.filter { $0["Age"] == "hunter2" }.verify(against: model).description.contains("hunter2"))
    }

    @Test func `a key must be one of the type's keys`() throws {
        let model = try VerifiedModel.read()
        func faults(_ path: ResourcePath) -> [ModelFault] { ODataQuery(path).verify(against: model) }
        #expect(faults(ResourcePath(entitySet: "Orders").key(5)).map(\.fix) == ["the keys are: ID, Line"])
        #expect(faults(ResourcePath(entitySet: "Orders").key(["ID": 5])).map(\.kind) == [.key])
        #expect(faults(ResourcePath(entitySet: "People").key(["Nam": "a"])).map(\.fix) == ["the keys are: ID; Name"])
        #expect(faults(ResourcePath(entitySet: "People").key("ada")).map(\.kind) == [.wrongType])
        #expect(faults(ResourcePath(entitySet: "Orders").key(["ID": 5, "Line": "x"])).map(\.offender) == ["'Line'"])
        #expect(faults(ResourcePath(singleton: "Me").key(UUID())).map(\.kind) == [.misplaced])
        #expect(faults(ResourcePath(entitySet: "People").keySegment(UUID())).map(\.kind) == [.restriction])
        #expect(faults(ResourcePath(entitySet: "People").property("Orders")).map(\.kind) == [.misplaced])
    }

    @Test func `restrictions by annotations are reported with the annotations' names`() throws {
        let model = try VerifiedModel.read()
        let guarded = FetchRequest<DynamicEntity>(from: "Guarded").filter { $0["Name"] == "x" }
        func offenders(_ request: FetchRequest<DynamicEntity>) -> [String] {
            request.verify(against: model).filter { $0.kind == .restriction }.map(\.offender)
        }
        #expect(offenders(guarded).isEmpty)
        #expect(offenders(FetchRequest(from: "Guarded")) == ["$filter"])
        #expect(offenders(FetchRequest(from: "Guarded").filter { $0["Age"] == 3 }) == ["Name"])
        #expect(offenders(guarded.filter { $0["Secret"] == "x" || $0["Address/Zip"] == "1" }) == ["Secret", "Address/Zip"])
        #expect(offenders(guarded.order(by: .ascending("Secret"), .descending("Age"), .ascending("Age"))) == ["Secret", "Age"])
        #expect(offenders(guarded.expand("Boss") { $0 }) == ["Boss"])
        #expect(offenders(guarded.expand("Orders") { $0.filter { $0["Total"] > 1 } }) == ["$filter"])
        #expect(offenders(guarded.expand("Orders") { $0.expand("Person") { $0 } }) == ["$expand"])
        #expect(offenders(guarded.search(.words("a") && !.phrase("b c"))) == ["NOT", "phrase"])
        #expect(offenders(guarded.count().top(3).skip(2)) == ["$count", "$top", "$skip"])
        #expect(offenders(guarded.filter { $0["Name"].lowercased() == "x" }) == ["tolower"])
        #expect(ODataQuery(ResourcePath(entitySet: "Guarded").key(UUID())).verify(against: model).map(\.kind) == [.restriction])
        let fault = try #require(guarded.count().verify(against: model).first)
        #expect(fault.problem == "the service excludes counts by Capabilities.CountRestrictions of Guarded")
        #expect(throws: ModelFaults.self) { try guarded.count().verified(against: model) }
        #expect(throws: Never.self) { try guarded.count().verified(against: model, ignoring: [.restriction]) }
    }

    private typealias Filter = (QueryTerm<DynamicEntity>) -> QueryTerm<Bool>

    /// Returns whether each filter of the set fits a model.
    private func fit(_ filters: [Filter], _ model: ServiceModel) -> [Bool] {
        filters.map { filter in
            let faults = FetchRequest<DynamicEntity>(from: "As").filter(filter).verify(against: model)
            #expect(faults.allSatisfy { $0.kind == .restriction && $0.offender == "P" } && faults.count <= 1, "\(faults)")
            return faults.isEmpty
        }
    }

    private static var forms: [Filter] {
        [
            { $0["P"] == "a" },  // 0
            { $0["P"] == "a" && ($0["Q"] == "b" || $0["Q"] == "c") },
            { $0["P"] == "a" || $0["P"] == "b" },  // 2
            { $0["P"].isIn(["a", "b"]) && $0["Q"] != "c" },
            { $0["P"] > "a" },  // 4
            { $0["P"] >= "a" && $0["Q"] == "c" && $0["P"] < "b" },
            { $0["P"] >= "a" && $0["P"] < "b" || $0["P"] == "c" },  // 6
            { $0["P"] != "a" && $0["P"] != "b" },
            { $0["P"].hasPrefix("a") || $0["P"].contains("b") || $0["P"].hasSuffix("c") },  // 8
            { $0["P"].hasPrefix("a") || $0["P"] <= "b" },
            // No form has these.
            { $0["P"] == "a" || $0["Q"] == "b" }, { !($0["P"] == "a") }, { $0["P"].lowercased() == "a" }, { $0["P"] == $0["Q"] },  // 10
            { $0["P"] >= "a" && $0["P"] > "b" }, { $0["P"].hasPrefix("a") && $0["P"].hasSuffix("c") }, { $0["P"] == "a" && $0["P"] == "b" },
        ]
    }

    /// The filters that a form has, by their positions.
    private static let allowed: [(form: String, filters: Set<Int>)] = [
        ("SingleValue", [0, 1]), ("MultiValue", [0, 1, 2, 3]), ("SingleRange", [0, 1, 4, 5]),
        ("MultiRange", [0, 1, 2, 3, 4, 5, 6, 7]), ("SearchExpression", [8]),
        ("MultiRangeOrSearchExpression", [0, 1, 2, 3, 4, 5, 6, 8, 9]), ("eq", Set(0..<17)),
    ]

    @Test(arguments: allowed) func `conditions on a property have the form that the service accepts`(
        form: String, filters: Set<Int>
    ) throws {
        let document = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="A"><Key><PropertyRef Name="P"/></Key>
            <Property Name="P" Type="Edm.String" Nullable="false"/><Property Name="Q" Type="Edm.String"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="As" EntityType="S.A">
            <Annotation Term="Org.OData.Capabilities.V1.FilterRestrictions"><Record><PropertyValue Property="FilterExpressionRestrictions">
            <Collection><Record><PropertyValue Property="Property" PropertyPath="P"/>
            <PropertyValue Property="AllowedExpressions" String="\(form)"/></Record></Collection></PropertyValue></Record></Annotation>
            </EntitySet></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        let model = try ServiceModel(xml: Data(document.utf8))
        #expect(fit(Self.forms, model) == Self.forms.indices.map { filters.contains($0) }, "\(form)")
        // Raw text and long chains.
        let raw = FetchRequest<DynamicEntity>(from: "As").filter(expression: .binary(.or, .raw("P eq 1"), .path(QueryPath("P"))))
        #expect(raw.verify(against: model).isEmpty)
        var chain = QueryExpression.binary(.equal, .path(QueryPath("P")), .literal(.string("a")))
        for _ in 0..<20_000 { chain = .binary(.or, chain, .binary(.equal, .path(QueryPath("P")), .literal(.string("b")))) }
        let isLong = ["SingleValue", "SingleRange", "SearchExpression"].contains(form)
        #expect(FetchRequest<DynamicEntity>(from: "As").filter(expression: chain).verify(against: model).isEmpty != isLong)
        guard form == "SingleValue" else { return }
        let fault = FetchRequest<DynamicEntity>(from: "As").filter { $0["P"] > "a" }.verify(against: model).first
        #expect(
            fault?.problem
                == "the service excludes conditions on 'P' other than one eq by Capabilities.FilterRestrictions of As (SingleValue)")
    }

    @Test(arguments: [("single-value", 0), ("multi-value", 1), ("interval", 2), ("other", 6)]) func `SAP's restrictions are such forms`(
        text: String, number: Int
    ) throws {
        let document = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
             xmlns:sap="http://www.sap.com/Protocols/SAPData">
            <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
            <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="A"><Key><PropertyRef Name="P"/></Key>
            <Property Name="P" Type="Edm.String" Nullable="false" sap:filter-restriction="\(text)"/><Property Name="Q" Type="Edm.String"/>
            </EntityType><EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="As" EntityType="S.A"/>
            </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        let model = try ServiceModel(xml: Data(document.utf8))
        #expect(fit(Self.forms, model) == Self.forms.indices.map { Self.allowed[number].filters.contains($0) }, "\(text)")
    }

    @Test func `restrictions by SAP's attributes are reported`() throws {
        let document = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
             xmlns:sap="http://www.sap.com/Protocols/SAPData">
            <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
            <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="A"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="X" Type="Edm.String" sap:filterable="false"/>
            <Property Name="Y" Type="Edm.String" sap:sortable="false"/><Property Name="T" Type="Edm.DateTime"/></EntityType>
            <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
            <EntitySet Name="As" EntityType="S.A" sap:pageable="false" sap:countable="false"/>
            <EntitySet Name="Bs" EntityType="S.A" sap:requires-filter="true" sap:addressable="false" sap:searchable="false"/>
            </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        let model = try ServiceModel(xml: Data(document.utf8))
        let request = FetchRequest<DynamicEntity>(from: "As").filter { $0["X"] == "x" }.order(by: .ascending("Y")).top(1).count()
        #expect(request.verify(against: model).map(\.offender) == ["X", "Y", "$count", "$top"])
        let other = FetchRequest<DynamicEntity>(from: "Bs").search("x")
        #expect(other.verify(against: model).map(\.offender) == ["Bs", "$filter", "$search"])
        #expect(FetchRequest<DynamicEntity>(from: "C.As").filter { $0["T"] > Date() }.verify(against: model).isEmpty)
        #expect(QueryPrinter().adopting(model) == QueryPrinter(version: .v2))
    }

    @Test func `the default selection of a type is verified`() throws {
        struct Wrong: Decodable, Sendable { let Name: String; let Agee: Int? }
        #expect(try kinds(FetchRequest<Wrong>(from: "People")) == [.unknownProperty])
        #expect(try kinds(FetchRequest<Wrong>(from: "People").selectAll()).isEmpty)
    }

    @Test func `counts and streams can be expanded`() throws {
        #expect(try kinds(people.expandCount("Orders").expand("Photo") { $0 }).isEmpty)
        #expect(try kinds(people.expandCount("Name")) == [.misplaced])
        #expect(try kinds(people.expand("*") { $0 }).isEmpty)
    }

    @Test func `the verification of random requests ends`() throws {
        let model = try VerifiedModel.read()
        var generator = QueryGenerator(seed: 47)
        var found: Set<ModelFault.Kind> = []
        for _ in 0..<Sweep.rounds(ofAll: 1_200) {
            var query = generator.query()
            found.formUnion(query.verify(against: model).map(\.kind))
            // The same options for entities that the model has.
            query.resource = ResourcePath(entitySet: "Guarded")
            found.formUnion(query.verify(against: model).map(\.kind))
        }
        #expect(found.isSuperset(of: [.unknownProperty, .unknownResource, .restriction]), "\(found)")
    }

    @Test func `errors list all faults`() throws {
        let request = people.filter { $0["A"] == 1 }.order(by: .ascending("B"))
        let error = #expect(throws: ModelFaults.self) { try request.verified(against: VerifiedModel.read()) }
        #expect(error?.faults.count == 2)
        #expect(error?.description.contains("The request of People doesn't fit the service's model:\n  - $filter: 'A'") == true)
    }

    @Test func `the verification of deep requests ends`() throws {
        var expression = QueryExpression.path(QueryPath("Nope"))
        for _ in 0..<250 { expression = .unary(.not, expression) }
        #expect(try kinds(people.filter(expression: expression)).contains(.undetermined))
        var chain = QueryExpression.binary(.equal, .path(QueryPath("Age")), .literal(.integer(1)))
        for _ in 0..<20_000 { chain = .binary(.or, chain, .binary(.equal, .path(QueryPath("Age")), .literal(.integer(1)))) }
        #expect(try kinds(people.filter(expression: chain)).isEmpty)
        var nested = NestedQuery<DynamicEntity>()
        for _ in 0..<200 {
            let inner = nested
            nested = NestedQuery<DynamicEntity>().expand("Boss") { _ in inner }
        }
        var options = QueryOptions()
        options.expansions = nested.options.expansions
        #expect(ODataQuery(ResourcePath(entitySet: "People"), options: options).verify(against: try VerifiedModel.read()).count <= 1)
    }
}
