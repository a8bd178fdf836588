import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Changes that a client compares with a model before it sends them.
@Suite struct WriteVerificationTests {
    struct Order: Codable, Sendable, EntityType {
        static let entitySetName = "Orders"
        var ID: Int
        var Number: String
        var State: String?
    }

    private let stub = StubTransport()
    private let wrong: DynamicEntity = ["ID": 1, "Number": "N", "CustomerID": 1, "Stat": "Open"]
    private let orders = FetchRequest<DynamicEntity>(from: "Orders")
    private let order = ResourcePath(entitySet: "Orders").key(1)

    private func client(_ version: ODataVersion = .v4, ignoring ignored: Set<ModelFault.Kind> = []) throws -> ODataClient {
        let client = stub.client(version)
        client.writeVerification = WriteVerification(against: try WrittenModel.read(), ignoring: ignored)
        return client
    }

    private func faults(_ body: () async throws -> some Any) async -> [String]? {
        do {
            _ = try await body()
            return nil
        } catch {
            guard let error = error as? ServiceError, error.kind == .model, error.stage == .binding else { return ["\(error)"] }
            return (error.cause as? ModelFaults)?.faults.map(\.description)
        }
    }

    @Test func `a change that doesn't fit isn't sent`() async throws {
        let client = try client()
        let fault = "'Stat' isn't a property of Sales.Order; the nearest name is 'State'"
        #expect(await faults { try await client.create(wrong, in: orders) } == ["Orders: \(fault)"])
        #expect(await faults { try await client.update(orders.key(1), setting: ["Stat": "Open"]) } == ["Orders(…): \(fault)"])
        #expect(await faults { try await client.start(creating: wrong, in: orders) } == ["Orders: \(fault)"])
        var draft = EntityDraft(of: Order(ID: 1, Number: "A", State: nil))
        draft.State = "Opn"
        #expect(
            await faults { try await client.update(FetchRequest<Order>().key(1), with: draft) } == [
                "Orders(…): 'Opn' isn't a member of Sales.State in 'State'; the nearest name is 'Open'"
            ])
        do {
            try await client.create(wrong, in: orders)
        } catch let error as ServiceError {
            #expect(error.message == "The change of Orders doesn't fit the service's model:\n  - Orders: \(fault)")
        }
        #expect(stub.requests.isEmpty)
        draft.State = "Open"
        try await client.update(FetchRequest<Order>().key(1), with: draft)
        #expect(stub.requests.count == 1)
    }

    @Test func `kinds of differences can be ignored, and the comparison can be switched off`() async throws {
        let client = try client(ignoring: [.restriction])
        let fixed = FetchRequest<DynamicEntity>(from: "Fixed")
        try await client.delete(fixed.key(1))
        #expect(await faults { try await client.create(["Nme": "x"] as DynamicEntity, in: fixed) }?.count == 2)
        client.writeVerification = nil
        try await client.create(wrong, in: orders)
        #expect(stub.requests.count == 2)
        #expect(client.writeVerification == nil)
    }

    @Test func `a property is compared by its path`() async throws {
        let client = try client()
        struct Row: Codable, Sendable, EntityType {
            static let entitySetName = "Orders"
            var Number: String?
            var Total: Double?
            var Tags: [String]
            var Address: [String: String]
        }
        let row = FetchRequest<Row>().key(1)
        #expect(
            await faults { try await client.set(\.Number, of: row, to: nil) } == [
                "Orders(…): 'Number' is null, which isn't a value of Edm.String here (Nullable); set a value"
            ])
        #expect(
            await faults { try await client.set(\.Total, of: row, to: 5) } == [
                "Orders(…): the service sets 'Total' itself by Core.Computed of Sales.Order/Total; leave it out"
            ])
        #expect(await faults { try await client.set(\.Tags, of: row, to: ["a"]) } == nil)
        #expect(await faults { try await client.set(\.Address, of: row, to: ["City": "Bonn"]) } == nil)
        #expect(
            await faults { try await client.set(\.Address, of: row, to: ["Town": "Bonn"]) } == [
                "Orders(…)/Address: 'Town' isn't a property of Sales.Address; the properties are 'City', 'Code', 'Zip'"
            ])
    }

    @Test func `nothing of a batch is sent if a change in it doesn't fit`() async throws {
        let client = try client()
        var batch = ODataBatch()
        _ = batch.fetch(orders.key(1))
        batch.create(wrong, in: orders)
        let first = batch.atomically { group in
            group.delete(FetchRequest<DynamicEntity>(from: "Fixed").key(1))
            return group.create(["ID": 1, "Number": "N", "CustomerID": 1] as DynamicEntity, in: orders)
        }
        // The entity that an earlier part creates isn't known.
        let related = first.reference.resource.property("Lines")
        batch.create(["Anything": 1] as DynamicEntity, in: FetchRequest<DynamicEntity>(resource: related))
        let sent = batch
        #expect(await faults { try await client.send(sent) }?.count == 1)
        #expect(stub.requests.isEmpty)
        let all = try await stub.client().verify(against: WrittenModel.read()) { try await $0.send(sent) }
        #expect(all.map(\.kind) == [.unknownProperty, .restriction])
    }

    @Test func `the properties of a media entity are compared before its bytes are sent`() async throws {
        let client = try client()
        let photos = FetchRequest<DynamicEntity>(from: "Photos")
        #expect(
            await faults {
                try await client.createMedia(RequestBody(Data([1])), contentType: "image/png", in: photos, setting: ["Titel": "Harbour"])
            } == ["Photos/…: 'Titel' isn't a property of Sales.Photo; the nearest name is 'Title'"])
        #expect(stub.requests.isEmpty)
    }

    @Test func `a change at a link is compared with the resource that the link leads to`() async throws {
        let client = try client()
        let links = #""@odata.id":"Orders(1)","@odata.editLink":"Orders(1)""#
        let json = #"{"@odata.context":"https://h.example/svc/$metadata#Orders/$entity",\#(links),"ID":1,"Number":"A"}"#
        let read = try ODataDecoder().decode(ODataEntity<Order>.self, from: Data(json.utf8))
        var draft = EntityDraft(of: read)
        draft.State = "Opn"
        #expect(
            await faults { try await client.update(at: read.metadata, with: draft) } == [
                "entity: 'Opn' isn't a member of Sales.State in 'State'; the nearest name is 'Open'"
            ])
        draft.State = "Open"
        #expect(await faults { try await client.update(at: read.metadata, with: draft) } == nil)
    }

    @Test func `the arguments of an action are compared with its parameters`() async throws {
        let client = try client()
        func call(_ arguments: KeyValuePairs<String, any Encodable & Sendable>, _ name: String = "Sales.Cancel") async -> [String]? {
            await faults { try await client.invoke(order.action(name), arguments) }
        }
        #expect(await call(["reason": "late", "days": 3, "notify": true, "to": ["City": "Bonn"]]) == nil)
        #expect(await call(["reason": "late"]) == nil)
        #expect(
            await call(["reson": "late", "days": "3", "to": ["Town": "Bonn"]]) == [
                "Orders(…)/Sales.Cancel: 'reson' isn't a parameter of Sales.Cancel; the nearest name is 'reason'",
                "Orders(…)/Sales.Cancel: 'days' is Edm.Int32, not a text; use a number",
                "Orders(…)/Sales.Cancel: the parameter 'reason' of Sales.Cancel is missing; pass it; it is Edm.String",
                "Orders(…)/Sales.Cancel/to: 'Town' isn't a property of Sales.Address; the properties are 'City', 'Code', 'Zip'",
            ])
        #expect(
            await call([:], "Sales.Cancl") == [
                "Orders(…)/Sales.Cancl: the model has no operation 'Sales.Cancl'; the nearest name is 'Sales.Cancel'"
            ])
        #expect(
            await call([:], "Sales.Stop") == [
                "Orders(…)/Sales.Stop: the service excludes calls of 'Sales.Stop' by Core.OperationAvailable of Sales.Stop(Sales.Order); "
                    + "leave the call out"
            ])
        #expect(
            await faults { try await client.invoke(ResourcePath(entitySet: "Reset")) } == [
                "Reset: the parameter 'all' of Sales.Reset is missing; pass it; it is Edm.Boolean"
            ])
        #expect(await faults { try await client.invoke(ResourcePath(entitySet: "Reset"), ["all": true]) } == nil)
        #expect(
            await faults { try await client.invoke(ResourcePath(entitySet: "Near"), ["city": "Bonn"]) } == [
                "Near: 'Sales.Near' is a function, which isn't called by POST; use evaluate(_:as:) with its parameters in the path"
            ])
    }

    @Test func `the operations of version 2 are compared by their path`() async throws {
        let model = try WrittenModel.sap()
        func call(
            _ name: String, _ arguments: KeyValuePairs<String, any Encodable & Sendable>
        ) async throws -> [String] {
            try await WrittenModel.faults(.v2, in: model) { try await $0.invoke(ResourcePath(entitySet: name), arguments) }
        }
        #expect(try await call("Do", ["count": 5]).isEmpty)
        #expect(
            try await call("Do", ["cont": 5]) == [
                "Do(…): 'Do' has no overload with the parameters (cont); the parameters are (count)"
            ])
        #expect(
            try await call("Find", ["name": "x"]) == [
                "Find(…): 'S.Find' is a function, which isn't called by POST; use evaluate(_:as:) with its parameters in the path"
            ])
    }

    @Test func `a closure that only reads is refused, and one that changes nothing has no differences`() async throws {
        let client = stub.client()
        let model = try WrittenModel.read()
        let error = try await #require(throws: ServiceError.self) { try await client.verify(against: model) { try await $0.fetch(orders) } }
        #expect(error.kind == .model && error.message.contains("verify a query with its own verify(against:)"))
        let draft = EntityDraft(of: Order(ID: 1, Number: "A", State: nil))
        #expect(try await client.verify(against: model) { try await $0.update(FetchRequest<Order>().key(1), with: draft) }.isEmpty)
        #expect(stub.requests.isEmpty)
    }
}
