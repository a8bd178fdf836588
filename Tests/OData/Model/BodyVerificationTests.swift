import Foundation
import OData
import Testing
import WebServiceClient

/// The properties of changes, compared with the types of the model.
@Suite struct BodyVerificationTests {
    private let orders = FetchRequest<DynamicEntity>(from: "Orders")
    private let strict = FetchRequest<DynamicEntity>(from: "Strict")

    /// Returns the differences of a new order with additional properties.
    private func created(
        _ more: DynamicEntity, in set: FetchRequest<DynamicEntity>? = nil, _ version: ODataVersion = .v401
    ) async throws -> [String] {
        var order: DynamicEntity = ["ID": 1, "Number": "N", "CustomerID": 1]
        for property in more.properties { order[property.name] = property.value }
        return try await WrittenModel.faults(version) { [order] in try await $0.create(order, in: set ?? orders) }
    }

    private func updated(_ properties: DynamicEntity, _ set: String = "Orders") async throws -> [String] {
        try await WrittenModel.faults { try await $0.update(FetchRequest<DynamicEntity>(from: set).key(1), setting: properties) }
    }

    @Test func `an unknown name is reported with the nearest one, at every level`() async throws {
        #expect(
            try await created(["Adress": [:], "Address": ["Town": "Bonn"], "Former": [["Zipp": "1"]]]) == [
                "Orders: 'Adress' isn't a property of Sales.Order; the nearest name is 'Address'",
                "Orders/Former: 'Zipp' isn't a property of Sales.Address; the nearest name is 'Zip'",
                "Orders/Address: 'Town' isn't a property of Sales.Address; the properties are 'City', 'Code', 'Zip'",
            ])
        #expect(try await created(["@odata.type": "#Sales.Rush", "Hours": 3]).isEmpty)
        #expect(
            try await created(["Hours": 3]) == [
                "Orders: 'Hours' isn't a property of Sales.Order; the properties are 'Address', 'Agent', 'Audit', 'Customer', 'CustomerID', "
                    + "'Due', 'Former', 'ID' and 10 more"
            ])
        #expect(
            try await created(["@odata.type": "#Sales.Rsh"]) == [
                "Orders: the model has no type 'Sales.Rsh'; the nearest name is 'Sales.Rush'"
            ])
        // A type of a document that wasn't read.
        #expect(try await created(["@odata.type": "#Other.Order", "Anything": 3]).isEmpty)
        #expect(
            try await created(["@odata.type": "#Sales.Line"]).first
                == "Orders: 'Sales.Line' isn't derived from Sales.Order; write an entity or a value of that type")
    }

    @Test func `an open type has any property, and an abstract one no entity`() async throws {
        let things = FetchRequest<DynamicEntity>(from: "Things")
        let box: DynamicEntity = ["@odata.type": "#Sales.Box", "ID": 1, "Anything": true]
        #expect(try await WrittenModel.faults { try await $0.create(box, in: things) }.isEmpty)
        #expect(
            try await WrittenModel.faults { try await $0.create(["ID": 1] as DynamicEntity, in: things) } == [
                "Things: Sales.Thing is abstract, so that it has no entities; state a derived type ('Sales.Box'), as the client's types do"
            ])
    }

    @Test(
        arguments: [
            ("Number", 5, "'Number' is Edm.String, not a number; use a String"),
            ("Number", "123456789", "'Number' has more than 8 characters (MaxLength); write a shorter text"),
            ("Priority", "1", "'Priority' is Edm.Int16, not a text; use a number"),
            ("Priority", 40_000, "'Priority' is Edm.Int16, not a number out of its range; use a number"),
            (
                "CustomerID", .decimal(EdmDecimal(1.5)),
                "'CustomerID' is Edm.Int32, not a number with a fraction or out of its range; use a number"
            ),
            ("Paid", "true", "'Paid' is Edm.Boolean, not a text; use a Bool"),
            ("Due", "27.11.2026", "'Due' is Edm.Date, not a text that isn't a date; use an EdmDate"),
            (
                "Made", "2026-11-27T10:00:00",
                "'Made' is Edm.DateTimeOffset, not a text that isn't a point in time; use a Date or an EdmDateTimeOffset"
            ),
            ("Stamp", "1", "'Stamp' is Edm.Guid, not a text that isn't a Guid; use a UUID"),
            ("State", "Opn", "'Opn' isn't a member of Sales.State in 'State'; the nearest name is 'Open'"),
            ("State", true, "'State' is Sales.State, not a Boolean; use an enumeration with the names of its members"),
            ("Tags", "a", "'Tags' is Collection(Edm.String), not a text; write an array"),
            ("Tags", ["a", 1], "'Tags' is Edm.String, not a number; use a String"),
            ("Address", "Bonn", "'Address' is Sales.Address, not a text; write an object with its properties"),
            ("Number", .null, "'Number' is null, which isn't a value of Edm.String here (Nullable); set a value"),
            ("Tags", .null, "'Tags' is null, which isn't a value of Collection(Edm.String) here (Nullable); write an empty array"),
            ("Tags", [.null], "'Tags' is null, which isn't a value in Collection(Edm.String) here (Nullable); leave the element out"),
            ("Agent", 5, "'Agent' leads to Sales.Customer, not a number; bind an entity, or write one"),
            ("Lines", [5], "'Lines' leads to Sales.Line, not a number; bind an entity, or write one"),
            ("State", "Open,Closed", "'State' is one member of Sales.State, not several; write one member"),
            ("Lines", ["No": 1, "Item": "x"], "'Lines' leads to many entities; write an array of entities, or bind(_:toAll:)"),
        ] as [(String, ODataValue, String)]
    ) func `a value of another type is told`(name: String, value: ODataValue, fault: String) async throws {
        #expect(try await created(DynamicEntity([.init(name, value)])) == ["Orders: " + fault])
    }

    @Test(
        arguments: [
            ("Number", "äöü"), ("Priority", 7), ("CustomerID", .decimal(EdmDecimal(2.0))), ("Due", "2026-11-27"),
            ("Made", "2026-11-27T10:00Z"), ("Stamp", "6f9619ff-8b86-d011-b42d-00c04fc964ff"), ("State", "Open"),
            ("State", "1"), ("State", .null), ("Tags", []), ("Former", [.null]), ("Scan", "YWJj"), ("Address", .null), ("Agent", .null),
        ] as [(String, ODataValue)]
    ) func `a value of the type is accepted`(name: String, value: ODataValue) async throws {
        #expect(try await created(DynamicEntity([.init(name, value)])).isEmpty)
    }

    @Test func `numbers, bytes and shapes keep the bounds of their types`() async throws {
        let document = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="A"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="D" Type="Edm.Double"/>
            <Property Name="F" Type="Edm.Single"/><Property Name="Seal" Type="Edm.Binary" MaxLength="2"/>
            <Property Name="Spot" Type="Edm.GeographyPoint"/><Property Name="Any" Type="Edm.Geometry"/>
            <Property Name="All" Type="Edm.GeographyCollection"/><Property Name="Rights" Type="S.Rights"/></EntityType>
            <EnumType Name="Rights" IsFlags="true"><Member Name="Read" Value="1"/><Member Name="Write" Value="2"/></EnumType>
            <EntityContainer Name="C"><EntitySet Name="As" EntityType="S.A"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        let model = try ServiceModel(xml: Data(document.utf8))
        func faults(_ members: String) async throws -> [String] {
            let entity = try ODataDecoder().decode(DynamicEntity.self, from: Data(#"{"ID":1,\#(members)}"#.utf8))
            return try await WrittenModel.faults(in: model) { try await $0.create(entity, in: FetchRequest<DynamicEntity>(from: "As")) }
        }
        let line = #"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#
        for (members, fault) in [
            (#""D":1e400"#, "'D' is Edm.Double, not a number out of its range; use a number"),
            (#""F":1e39"#, "'F' is Edm.Single, not a number out of its range; use a number"),
            (#""Seal":"AQID""#, "'Seal' has more than 2 bytes (MaxLength); write fewer"),
            (#""Spot":\#(line)"#, "'Spot' is Edm.GeographyPoint, not a LineString"),
            (#""All":\#(line)"#, "'All' is Edm.GeographyCollection, not a LineString"),
        ] {
            let found = try await faults(members)
            #expect(found.count == 1 && found.first?.hasPrefix("As: " + fault) == true, "\(found)")
        }
        for members in [
            #""D":1e308,"F":3.4e38"#, #""D":-1e308,"F":1e-50"#, #""D":"INF","F":"NaN""#, #""D":5,"F":5"#, #""Seal":"AQI""#,
            #""Spot":{"type":"Point","coordinates":[1,2]}"#, #""Any":\#(line)"#, #""All":{"type":"GeometryCollection","geometries":[]}"#,
            #""Rights":"Read,Write""#, #""Spot":null,"Any":null"#,
        ] { #expect(try await faults(members).isEmpty, "\(members)") }
    }

    @Test func `numbers may be texts where the format says so`() async throws {
        let model = try WrittenModel.sap()
        let set = FetchRequest<DynamicEntity>(from: "As")
        let entity: DynamicEntity = ["ID": "1", "Name": "x", "Size": "5"]
        #expect(try await WrittenModel.faults(.v2, in: model) { try await $0.create(entity, in: set) }.isEmpty)
        let wrong: DynamicEntity = ["ID": "1", "Name": "x", "Size": "five"]
        #expect(
            try await WrittenModel.faults(.v2, in: model) { try await $0.create(wrong, in: set) } == [
                "As: 'Size' is Edm.Int64, not a text; use a number"
            ])
    }

    @Test func `a new entity needs the properties that have no default`() async throws {
        let faults = try await WrittenModel.faults { try await $0.create(["State": "Open"] as DynamicEntity, in: orders) }
        let rest = "which can't be null and has no default (Nullable of Sales.Order"
        #expect(
            faults == [
                "Orders: 'Number' is missing, \(rest)/Number); set it", "Orders: 'CustomerID' is missing, \(rest)/CustomerID); set it",
            ])
        // The value of a foreign key comes from the related entity.
        let bound: DynamicEntity = ["Number": "N", "Customer@odata.bind": "https://h.example/svc/Customers(1)"]
        #expect(try await WrittenModel.faults(.v4) { try await $0.create(bound, in: orders) }.isEmpty)
        let line: DynamicEntity = ["No": 1]
        #expect(
            try await created(["Lines": [.object(line)]]) == [
                "Orders/Lines: 'Item' is missing, which can't be null and has no default (Nullable of Sales.Line/Item); set it"
            ])
        // SAP's services have initial values.
        let model = try WrittenModel.sap()
        let set = FetchRequest<DynamicEntity>(from: "As")
        #expect(try await WrittenModel.faults(.v2, in: model) { try await $0.create(["ID": "1"] as DynamicEntity, in: set) }.isEmpty)
        #expect(
            try await created([:], in: strict) == [
                "Strict: the service requires 'State' by Capabilities.InsertRestrictions of Strict (RequiredProperties); set it",
                "Strict: the service requires 'Address/City' by Capabilities.InsertRestrictions of Strict (RequiredProperties); set it",
            ])
        #expect(
            try await updated(["State": "Open"], "Strict") == [
                "Strict(…): the service requires 'Due' by Capabilities.UpdateRestrictions of Strict (RequiredProperties); set it"
            ])
    }

    @Test func `a property that the service sets, or that can't be changed, is refused by its annotation`() async throws {
        #expect(
            try await created(["Total": 5, "Audit": "x", "Made": "2026-11-27T10:00:00Z", "Address": ["Code": "x"]]) == [
                "Orders: the service sets 'Total' itself by Core.Computed of Sales.Order/Total; leave it out",
                "Orders: 'Audit' can only be read by Core.Permissions of Sales.Order/Audit; leave it out",
                "Orders/Address: the service sets 'Code' itself by Core.Computed of Sales.Address/Code; leave it out",
            ])
        #expect(
            try await updated(["Made": "2026-11-27T10:00:00Z", "ID": 2]) == [
                "Orders(…): 'Made' can be set only when the entity is created by Core.Immutable of Sales.Order/Made; leave it out",
                "Orders(…): 'ID' is part of the key of Sales.Order and can't be changed; leave it out, or create another entity",
            ])
        // The key of the path isn't a change, and services ignore what they compute in a whole entity.
        #expect(try await updated(["ID": 1, "State": "Open"]).isEmpty)
        let whole: DynamicEntity = ["ID": 1, "Total": 5, "Number": "N"]
        #expect(try await WrittenModel.faults { try await $0.replace(orders.key(1), with: whole) }.isEmpty)
        #expect(try await WrittenModel.faults { try await $0.upsert(orders.key(1), with: whole) }.isEmpty)
        let excluded = try await created(["State": "Open", "Due": "2026-11-27", "Address": ["City": "Bonn", "Zip": "1"]], in: strict)
        let insert = "Capabilities.InsertRestrictions of Strict (NonInsertableProperties); leave it out"
        #expect(
            excluded == [
                "Strict: the service excludes 'Due' from new entities by \(insert)",
                "Strict/Address: the service excludes 'Address/Zip' from new entities by \(insert)",
            ])
        #expect(
            try await updated(["Due": "2026-11-27", "Number": "M", "Address": ["Zip": "1"]], "Strict") == [
                "Strict(…): the service excludes 'Number' from updates by Capabilities.UpdateRestrictions of Strict "
                    + "(NonUpdatableProperties); leave it out",
                "Strict(…)/Address: the service excludes 'Address/Zip' from updates by Capabilities.UpdateRestrictions of Strict "
                    + "(NonUpdatableProperties); leave it out",
            ])
    }

    @Test(arguments: [("creatable", true), ("updatable", false)]) func `an attribute of SAP's excludes a property`(
        attribute: String, isNew: Bool
    ) async throws {
        let model = try WrittenModel.sap(property: "sap:\(attribute)=\"false\"")
        let set = FetchRequest<DynamicEntity>(from: "As")
        let created = try await WrittenModel.faults(.v2, in: model) { try await $0.create(["Name": "x"] as DynamicEntity, in: set) }
        let updated = try await WrittenModel.faults(.v2, in: model) { try await $0.update(set.key("1"), setting: ["Name": "x"]) }
        #expect(created.count == (isNew ? 1 : 0) && updated.count == (isNew ? 0 : 1))
        #expect((created + updated).allSatisfy { $0.contains("by sap:\(attribute) of S.A/Name") })
    }

    @Test func `relations are bound and written as the service allows`() async throws {
        let line: ODataValue = ["No": 1, "Item": "x"]
        let new: DynamicEntity = ["State": "Open", "Address": ["City": "Bonn"], "Lines": [line]]
        #expect(
            try await created(new, in: strict) == [
                "Strict: the service excludes new entities of 'Lines' inside of new ones by Capabilities.InsertRestrictions of Strict "
                    + "(NonInsertableNavigationProperties); create them in the relation, after the entity"
            ])
        let customer: ODataValue = "https://h.example/svc/Customers(1)"
        #expect(
            try await updated(["Due": "2026-11-27", "Agent@odata.bind": customer], "Strict") == [
                "Strict(…): the service excludes changes of the relation 'Agent' by Capabilities.UpdateRestrictions of Strict; "
                    + "leave the relation as it is"
            ])
        #expect(
            try await created(["Agent@odata.bind": "https://h.example/svc/Orders(1)", "State@odata.bind": customer], .v4) == [
                "Orders: 'Agent' leads to Sales.Customer, and the reference to Sales.Order; refer to an entity of Sales.Customer",
                "Orders: 'State' isn't a navigation property, so that no entity can be bound to it; set it as a value",
            ])
        #expect(
            try await updated(["Customer": .null]) == [
                "Orders(…): 'Customer' can't be without an entity (Nullable of Sales.Order/Customer); bind an entity"
            ])
    }

    private func created(_ more: DynamicEntity, _ version: ODataVersion) async throws -> [String] {
        try await created(more, in: nil, version)
    }
}
