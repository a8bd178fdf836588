import Foundation
import OData
import Testing
import WebServiceClient

/// Changes of resources that a service excludes by annotations and by SAP's attributes.
@Suite struct WriteVerifierTests {
    private func set(_ name: String) -> FetchRequest<DynamicEntity> { FetchRequest(from: name) }

    private func faults<Result>(_ changes: (ODataClient) async throws -> Result) async throws -> [String] {
        try await WrittenModel.faults { try await changes($0) }
    }

    private let customer: DynamicEntity = ["ID": 1, "Name": "Ada"]
    private let order: DynamicEntity = ["ID": 1, "Number": "N-1", "CustomerID": 1]

    @Test func `changes that fit have no differences`() async throws {
        #expect(try await faults { try await $0.create(order, in: set("Orders")) }.isEmpty)
        #expect(try await faults { try await $0.create(customer, in: set("Customers")) }.isEmpty)
        #expect(try await faults { try await $0.update(set("Orders").key(1), setting: ["Due": "2026-11-27", "State": "Open"]) }.isEmpty)
        #expect(try await faults { try await $0.replace(set("Orders").key(1), with: order) }.isEmpty)
        #expect(try await faults { try await $0.upsert(set("Orders").key(1), with: order) }.isEmpty)
        #expect(try await faults { try await $0.delete(set("Orders").key(1)) }.isEmpty)
        #expect(try await faults { try await $0.delete(set("Tagged").key(1), if: .version("\"1\"")) }.isEmpty)
        let orders = ResourcePath(entitySet: "Orders")
        #expect(try await faults { try await $0.create(["No": 1, "Item": "x"] as DynamicEntity, in: lines) }.isEmpty)
        let agent = EntityReference(set("Customers").key(1))
        #expect(try await faults { try await $0.setReference(orders.key(1).property("Agent"), to: agent) }.isEmpty)
        #expect(try await faults { try await $0.removeReference(orders.key(1).property("Agent")) }.isEmpty)
        let photos = ResourcePath(entitySet: "Photos")
        #expect(try await faults { try await $0.setRawValue(at: photos.key(1).value(), to: Data(), contentType: "image/png") }.isEmpty)
        let scan = orders.key(1).property("Scan")
        #expect(try await faults { try await $0.setRawValue(at: scan, to: Data(), contentType: "image/png") }.isEmpty)
    }

    private var lines: FetchRequest<DynamicEntity> {
        FetchRequest(resource: ResourcePath(entitySet: "Orders").key(1).property("Lines"))
    }

    @Test func `a set that excludes changes is named with the annotation`() async throws {
        let elsewhere = "create the entities elsewhere, or by an action of the service"
        let leave = "leave the entities as they are, or look for an action of the service"
        #expect(
            try await faults { try await $0.create(customer, in: set("Fixed")) } == [
                "Fixed: the service excludes creating entities by Capabilities.InsertRestrictions of Fixed; \(elsewhere)"
            ])
        let update = "Fixed(…): the service excludes updates by Capabilities.UpdateRestrictions of Fixed; \(leave)"
        #expect(try await faults { try await $0.update(set("Fixed").key(1), setting: ["Name": "B"]) } == [update])
        #expect(try await faults { try await $0.replace(set("Fixed").key(1), with: customer) } == [update])
        #expect(try await faults { try await $0.upsert(set("Fixed").key(1), with: customer) } == [update])
        #expect(
            try await faults { try await $0.delete(set("Fixed").key(1)) } == [
                "Fixed(…): the service excludes deleting entities by Capabilities.DeleteRestrictions of Fixed; \(leave)"
            ])
        #expect(
            try await faults { try await $0.create(customer, in: set("Read")) } == [
                "Read: the service excludes creating entities by Core.Permissions of Read; \(elsewhere)"
            ])
        let name = ResourcePath(entitySet: "Fixed").key(1).property("Name")
        #expect(
            try await faults { try await $0.setRawValue(at: name.value(), to: Data(), contentType: "text/plain") } == [
                "Fixed(…)/Name/$value: the service excludes updates by Capabilities.UpdateRestrictions of Fixed; \(leave)"
            ])
    }

    @Test func `a relation has the restrictions of the set that it leads to, and those of its path with casts`() async throws {
        func couriers(_ set: String, _ cast: String?) -> FetchRequest<DynamicEntity> {
            var path = ResourcePath(entitySet: set).key(1)
            if let cast { path = path.cast(to: cast) }
            return FetchRequest(resource: path.property("Couriers"))
        }
        let fix = "create the entities elsewhere, or by an action of the service"
        let bound = try await faults { try await $0.create(customer, in: couriers("Orders", "Sales.Rush")) }
        #expect(
            bound == [
                "Orders(…)/Sales.Rush/Couriers: the service excludes creating entities by Capabilities.InsertRestrictions of Fixed; \(fix)"
            ])
        let restricted = try await faults { try await $0.create(customer, in: couriers("Strict", "Sales.Rush")) }
        #expect(
            restricted == [
                "Strict(…)/Sales.Rush/Couriers: the service excludes creating entities by "
                    + "Capabilities.NavigationRestrictions of Strict for Sales.Rush/Couriers; \(fix)"
            ])
        let path = FetchRequest<DynamicEntity>(resource: ResourcePath(entitySet: "Customers").key(1).property("Orders"))
        let deep = try await faults { try await $0.create(order, in: path) }
        #expect(
            deep == [
                "Customers(…)/Orders: the service excludes creating entities over more than 0 navigation properties by "
                    + "Capabilities.InsertRestrictions of Customers (MaxLevels); use a shorter path to the entities"
            ])
    }

    @Test func `methods, upserts, deltas and options are excluded one by one`() async throws {
        let strict = set("Strict")
        let changes: DynamicEntity = ["Due": "2026-11-27"]
        #expect(try await faults { try await $0.update(strict.key(1), setting: changes) }.isEmpty)
        #expect(
            try await faults { try await $0.replace(strict.key(1), with: changes) } == [
                "Strict(…): the service excludes updates by PUT by Capabilities.UpdateRestrictions of Strict (UpdateMethod); "
                    + "send the changes by update(_:with:)"
            ])
        #expect(
            try await faults { try await $0.upsert(strict.key(1), with: changes) } == [
                "Strict(…): the service excludes creating entities by updates by Capabilities.UpdateRestrictions of Strict (Upsertable); "
                    + "create the entity in its collection, or update it if it exists: if: .exists"
            ])
        #expect(try await faults { try await $0.upsert(strict.key(1), with: changes, if: .exists) }.isEmpty)
        var delta = DeltaUpdate<DynamicEntity>()
        delta.upsert(["ID": 1, "Nummer": "x"])
        #expect(
            try await faults { try await $0.update(strict, with: delta) } == [
                "Strict: the service excludes changes of several entities in one request by Capabilities.UpdateRestrictions of Strict "
                    + "(DeltaUpdateSupported); send them in a batch",
                "Strict: 'Nummer' isn't a property of Sales.Order; the nearest name is 'Number'",
            ])
        let new: DynamicEntity = ["ID": 1, "Number": "N", "CustomerID": 1, "State": "Open", "Address": ["City": "Bonn"]]
        #expect(try await faults { try await $0.create(new, in: strict.select("ID")) }.isEmpty)
        #expect(
            try await faults { try await $0.create(new, in: strict.expand("Agent") { $0 }) } == [
                "$expand: the service excludes $expand in changes by Capabilities.InsertRestrictions of Strict (QueryOptions); "
                    + "read the entity afterwards"
            ])
        let cast = FetchRequest<DynamicEntity>(resource: ResourcePath(entitySet: "Strict").cast(to: "Sales.Rush"))
        #expect(
            try await faults { try await $0.create(new, in: cast) } == [
                "Strict/Sales.Rush: the service excludes creating entities behind a cast by Capabilities.InsertRestrictions of Strict "
                    + "(TypecastSegmentSupported); state the type in the entity: @odata.type"
            ])
    }

    @Test func `an entity tag that the service requires is asked for`() async throws {
        let tagged = set("Tagged").key(1)
        let fix = "pass the version that was read, if: .version(etag), or any version, if: .exists"
        let fault = "the service requires an entity tag for deleting entities by Core.OptimisticConcurrency of Tagged; \(fix)"
        #expect(try await faults { try await $0.delete(tagged) } == ["Tagged(…): \(fault)"])
        #expect(try await faults { try await $0.delete(tagged, if: .exists) }.isEmpty)
        // An update has the condition that the entity exists.
        #expect(try await faults { try await $0.update(tagged, setting: ["State": "Open"]) }.isEmpty)
        #expect(try await faults { try await $0.update(tagged, setting: ["State": "Open"], if: .none) }.count == 1)
        #expect(try await faults { try await $0.upsert(tagged, with: order) }.isEmpty)
        let model = try WrittenModel.sap(property: "ConcurrencyMode=\"Fixed\"")
        let entity = FetchRequest<DynamicEntity>(from: "As").key("1")
        #expect(
            try await WrittenModel.faults(.v2, in: model) { try await $0.delete(entity) } == [
                "As(…): the service requires an entity tag for deleting entities by ConcurrencyMode of S.A/Name; \(fix)"
            ])
        #expect(try await WrittenModel.faults(.v2, in: model) { try await $0.delete(entity, if: .version("W/\"1\"")) }.isEmpty)
    }

    @Test func `references are compared with the relation`() async throws {
        let order = ResourcePath(entitySet: "Orders").key(1)
        let person = EntityReference(set("Customers").key(1))
        #expect(
            try await faults { try await $0.addReference(to: person, in: order.property("Agent")) } == [
                "Orders(…)/Agent/$ref: 'Agent' leads to one entity, to which none can be added; use setReference(_:to:if:)"
            ])
        #expect(
            try await faults { try await $0.setReference(order.property("Agent"), to: EntityReference(set("Orders").key(2))) } == [
                "Orders(…)/Agent/$ref: 'Agent' leads to Sales.Customer, and the reference to Sales.Order; "
                    + "refer to an entity of Sales.Customer"
            ])
        #expect(
            try await faults { try await $0.removeReference(order.property("Customer")) } == [
                "Orders(…)/Customer/$ref: 'Customer' can't be without an entity (Nullable of Sales.Order/Customer); "
                    + "set another entity by setReference(_:to:if:)"
            ])
        #expect(
            try await faults { try await $0.addReference(to: person, in: order.property("Agnt")) } == [
                "Orders(…)/Agnt/$ref: 'Agnt' isn't a property of Sales.Order; the nearest name is 'Agent'"
            ])
        let strict = ResourcePath(entitySet: "Strict").key(1).property("Agent")
        #expect(
            try await faults { try await $0.setReference(strict, to: person) } == [
                "Strict(…)/Agent/$ref: the service excludes changes of the relation 'Agent' by Capabilities.UpdateRestrictions of Strict; "
                    + "leave the relation as it is"
            ])
        #expect(
            try await faults { try await $0.removeReference(strict) } == [
                "Strict(…)/Agent/$ref: the service excludes removing references of 'Agent' by Capabilities.DeleteRestrictions of Strict; "
                    + "delete or update the related entity"
            ])
    }

    @Test func `a resource of another kind is told`() async throws {
        let orders = ResourcePath(entitySet: "Orders")
        #expect(
            try await faults { try await $0.create(order, in: FetchRequest<DynamicEntity>(resource: orders.key(1))) } == [
                "Orders(…): Sales.Order isn't a collection, so that no entity can be created in it; create the entity in the collection, "
                    + "without a key"
            ])
        #expect(
            try await faults { try await $0.delete(EntityRequest<DynamicEntity>(resource: orders)) } == [
                "Orders: Collection(Sales.Order) is a collection; choose one of its members by key"
            ])
        #expect(
            try await faults { try await $0.setRawValue(at: orders.key(1).value(), to: Data(), contentType: "image/png") } == [
                "Orders(…)/$value: Sales.Order has no media (HasStream); write a property, or a stream property"
            ])
        #expect(
            try await faults { try await $0.create(order, in: set("Ordrs")) } == [
                "Ordrs: the service has no entity set, singleton or operation import 'Ordrs'; the nearest name is 'Orders'"
            ])
    }

    @Test(arguments: ["creatable", "updatable", "deletable"]) func `an attribute of SAP's excludes changes of a set`(
        attribute: String
    ) async throws {
        let model = try WrittenModel.sap("sap:\(attribute)=\"false\"")
        let set = FetchRequest<DynamicEntity>(from: "As")
        let related = FetchRequest<DynamicEntity>(resource: ResourcePath(entitySet: "As").key("1").property("Bs"))
        func faults<Result>(_ changes: (ODataClient) async throws -> Result) async throws -> Int {
            let faults = try await WrittenModel.faults(.v2, in: model, changes)
            #expect(faults.allSatisfy { $0.contains("by sap:\(attribute) of As") })
            return faults.count
        }
        let entity: DynamicEntity = ["ID": "1", "Name": "x"]
        #expect(try await faults { try await $0.create(entity, in: set) } == (attribute == "creatable" ? 1 : 0))
        #expect(try await faults { try await $0.create(entity, in: related) } == (attribute == "creatable" ? 1 : 0))
        #expect(try await faults { try await $0.update(set.key("1"), setting: ["Name": "y"]) } == (attribute == "updatable" ? 1 : 0))
        #expect(try await faults { try await $0.delete(set.key("1")) } == (attribute == "deletable" ? 1 : 0))
        let links = try WrittenModel.sap(association: "sap:\(attribute)=\"false\"")
        let path = ResourcePath(entitySet: "As").key("1").property("Bs")
        let added = try await WrittenModel.faults(.v2, in: links) { try await $0.addReference(to: EntityReference(set.key("2")), in: path) }
        #expect(added.count == (attribute == "creatable" ? 1 : 0))
    }
}
