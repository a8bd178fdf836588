import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Entries of deltas in the spellings of all versions and services.
@Suite struct DeltaEntryTests {
    private let stub = StubTransport()

    private func changes(
        _ body: Data, _ version: ODataVersion = .v4, set: String = "Customers"
    ) async throws -> [ODataChange<DynamicEntity>] {
        let client = stub.client(version, root: "http://host/service/")
        client.foreignLinks = .rebase
        stub[set] = .data(body, type: "application/json")
        var all: [ODataChange<DynamicEntity>] = []
        for try await change in client.changes(of: FetchRequest<DynamicEntity>(from: set)) { all.append(change) }
        return all
    }

    private func removed(_ entry: String, set: String = "Customers") async throws -> RemovedEntity? {
        let text = #"{"@odata.context":"$metadata#\#(set)/$delta","value":[\#(entry)],"@odata.deltaLink":"\#(set)?1"}"#
        for case .removed(let entity) in try await changes(Data(text.utf8), set: set) { return entity }
        return nil
    }

    @Test func `every spelling of a removed entity is read`() async throws {
        let spellings: [(entry: String, id: String?, key: String?, reason: RemovalReason?)] = [
            (#"{"@removed":{"reason":"changed"},"ID":1}"#, nil, "1", .changed),
            (#"{"@odata.removed":{"reason":"deleted"},"@odata.id":"Customers(1)"}"#, "Customers(1)", nil, .deleted),
            (#"{"@removed":{},"@id":"Customers(1)"}"#, "Customers(1)", nil, nil),
            (
                #"{"@odata.context":"$metadata#Customers/$deletedEntity","id":"Customers(1)","reason":"deleted"}"#, "Customers(1)", nil,
                .deleted
            ),
            (
                #"{"@odata.context":"http://host/service/$metadata#Customers/$deletedEntity","id":"6b1f","reason":"deleted"}"#, "6b1f", nil,
                .deleted
            ),
            (
                #"{"@odata.context":"$metadata#Customers/$deletedEntity","@odata.id":"Customers(1)","reason":"changed"}"#, "Customers(1)",
                nil, .changed
            ),
            (#"{"@context":"$metadata#Customers/$deletedEntity","@id":"Customers(1)"}"#, "Customers(1)", nil, nil),
            (#"{"ID":1,"deleted":{"state":"deleted"}}"#, nil, "1", .deleted), (#"{"ID":1,"deleted":{}}"#, nil, "1", .deleted),
            (#"{"ID":1,"ODQ_CHANGEMODE":"D","ODQ_ENTITYCNTR":"-1"}"#, nil, "1", .deleted),
        ]
        for (entry, id, key, reason) in spellings {
            let entity = try await removed(entry)
            #expect(entity?.id == id && entity?.reason == reason, "\(entry)")
            #expect(entity?.key["ID"]?.integer.map { String($0) } == key && entity?.isOfQuery == true, "\(entry)")
        }
        // Entities with properties of such names.
        for entry in [
            #"{"ID":1,"deleted":false}"#, #"{"ID":1,"deleted":{"state":"deleted","by":"x"}}"#, #"{"ID":1,"deleted":null}"#,
            #"{"ID":1,"@removed":null}"#, #"{"ID":1,"@odata.removed":null}"#, #"{"ID":1,"@removed":false}"#,
            #"{"ID":1,"ODQ_CHANGEMODE":"U"}"#, #"{"ID":1,"reason":"deleted","id":"x"}"#,
        ] {
            #expect(try await removed(entry) == nil, "\(entry)")
        }
    }

    @Test(.enabled(if: Payloads.folder != nil, "SHARED_DIRECTORY isn't set: no deltas of real services are read"))
    func `the deltas of the conformance data are read`() async throws {
        let all = try await changes(Payloads.data("v4-delta-4.0.json"))
        var texts: [String] = []
        for change in all {
            switch change {
            case .changed(let entity): texts.append("changed \(entity.entitySet ?? "") \(entity.isOfQuery) \(entity.metadata.id ?? "")")
            case .removed(let entity): texts.append("removed \(entity.id ?? "") \(entity.url?.absoluteString ?? "")")
            case .linked(let link): texts.append("linked \(link.source) \(link.relationship) \(link.target ?? "")")
            case .unlinked(let link): texts.append("unlinked \(link.url(of: link.target)?.absoluteString ?? "")")
            case .restarted, .checkpoint: break
            }
        }
        #expect(
            texts == [
                "changed Customers true Customers('BOTTM')'", "unlinked http://host/service/Orders(10643)",
                "linked Customers('BOTTM') Orders Orders(10645)", "changed Orders false Orders(10643)",
                "removed Customers('ANTON') http://host/service/Customers('ANTON')",
            ])
        let old = try await changes(Payloads.data("v2-deleted-entries.json"), .v2, set: "Rooms")
        let removed = old.compactMap { if case .removed(let room) = $0 { room } else { nil } }
        #expect(removed.map(\.id) == ["http://host:80/service/Rooms('3')", "http://host:80/service/Rooms('4')"])
        #expect(removed[0].when?.string == "/Date(1300561560000)/" && removed[0].isOfQuery)
        var rooms = DeltaCollection<DynamicEntity>(keys: ["Id"])
        for change in old { try rooms.apply(change) }
        #expect(rooms.payloads.map { $0["Name"]?.string } == ["Room 1"])
        for name in ["v4-graph-delta-latest.json", "v4-graph-delta-next-2.json", "v4-graph-delta-next-3.json"] {
            let users = try await changes(Payloads.data(name), set: "users")
            guard case .checkpoint(let cursor)? = users.last else { throw NoCheckpoint() }
            #expect(cursor.isComplete)
        }
    }

    private struct NoCheckpoint: Error {}

    @Test func `changes of relations come with their entity`() async throws {
        let text = #"""
            {"@context":"$metadata#Customers/$delta","value":[{"@id":"Customers(1)","Name":"a","Orders@delta":[
            {"@id":"Orders(7)","Amount":3},{"@id":"Orders(8)","@removed":{"reason":"changed"}}]}],"@deltaLink":"Customers?1"}
            """#
        for case .changed(let entity) in try await changes(Data(text.utf8), .v401) {
            #expect(entity.changedRelations == ["Orders"] && entity.properties.properties.map(\.name) == ["Name"])
            let inner = try #require(try entity.changes(of: "Orders"))
            guard case .changed(let order) = inner[0], case .removed(let other) = inner[1] else { throw NoCheckpoint() }
            #expect(order.metadata.url(of: order.metadata.id)?.absoluteString == "http://host/service/Orders(7)" && !order.isOfQuery)
            #expect(other.id == "Orders(8)" && other.reason == .changed)
            #expect(try entity.changes(of: "Name") == nil)
        }
    }

    @Test(arguments: [
        ("$metadata#Customers/$deletedEntity", "Customers", "$deletedEntity"),
        ("#Customers(Name,Orders(ID))/$delta", "Customers", "$delta"),
        ("#Customers/Ns.Vip/$entity", "Customers", "$entity"), ("#Customers('a/b')/Orders/$link", "Customers('a/b')/Orders", "$link"),
        ("$metadata#Collection(Ns.User)", nil, nil), ("$metadata", nil, nil), ("#", nil, nil), ("#users(id)", "users", nil),
    ]) func `a context names the set and the kind`(text: String, set: String?, kind: String?) {
        let context = DeltaContext(text)
        #expect(context.entitySet == set && context.kind == kind)
    }

    @Test func `a change has the sent properties, and can be decoded`() async throws {
        struct Partial: Decodable, Sendable {
            let ID: Int
            let Name: Presence<String>
            let value: Presence<String>
        }
        let place = DeltaPlace(settings: PayloadSettings())
        let entry = try DeltaEntry(.object(["ID": 1, "value": .null]), at: place)
        guard case .changed(let entity) = entry.change(isWhole: false) as ODataChange<Partial> else { throw NoCheckpoint() }
        let partial = try entity.value()
        #expect(!partial.Name.isPresent && partial.value == .null && partial.value.isPresent)
        guard case .changed(let only) = try DeltaEntry(.object(["value": .null]), at: place).change(isWhole: false) as ODataChange<Partial>
        else { throw NoCheckpoint() }
        #expect(throws: DecodingError.self) { try only.value() }
    }
}
