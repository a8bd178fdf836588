import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Entities that were read without a Swift type and are written as new ones.
@Suite struct WrittenControlTests {
    private let stub = StubTransport()
    private let set = FetchRequest<DynamicEntity>(from: "E")

    private func read(_ json: String) throws -> DynamicEntity {
        try ODataDecoder().decode(DynamicEntity.self, from: Data(json.utf8))
    }

    private func body(_ json: String, _ version: ODataVersion = .v4) async throws -> String? {
        _ = try await stub.client(version).create(try read(json), in: set)
        return stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `computed control information isn't sent, types are`() async throws {
        let read =
            ##"{"@odata.context":"c","@odata.type":"#Ns.B","@odata.etag":"e","@odata.id":"E(1)","@odata.editLink":"E(1)","Id":1,"##
            + ##""Size@odata.type":"#Ns.Size","Size":"L","Photo@odata.mediaReadLink":"p","Trips@odata.navigationLink":"t","##
            + ##""#Ns.Do":{"target":"x"},"@Core.Note":"n","Id@Core.Note":"m","Home":{"@odata.etag":"f","City":"Bonn"}}"##
        #expect(
            try await body(read)
                == ##"{"@odata.type":"#Ns.B","Id":1,"Size@odata.type":"#Ns.Size","Size":"L","@Core.Note":"n","Id@Core.Note":"m","##
                + ##""Home":{"City":"Bonn"}}"##)
        #expect(try await body(##"{"@context":"c","@type":"#Ns.B","@etag":"e","Id":1}"##, .v401) == ##"{"@type":"#Ns.B","Id":1}"##)
        #expect(
            try await body(#"{"__metadata":{"type":"Ns.B","uri":"u","etag":"e"},"Id":1}"#, .v2) == #"{"__metadata":{"type":"Ns.B"},"Id":1}"#
        )
        #expect(try await body(#"{"__metadata":{"uri":"u"},"Id":1}"#, .v2) == #"{"Id":1}"#)
    }

    @Test func `related entities are new ones, and references stay references`() async throws {
        let read =
            #"{"Id":1,"Trips@odata.count":2,"Trips":[{"@odata.id":"T(1)","@odata.etag":"e","Id":2},{"@odata.id":"T(2)"}],"#
            + #""Boss@odata.bind":"P(1)","Home":{"@id":"H(1)","@Core.Note":"n"}}"#
        #expect(
            try await body(read)
                == #"{"Id":1,"Trips":[{"Id":2},{"@odata.id":"T(2)"}],"Boss@odata.bind":"P(1)","Home":{"@id":"H(1)","@Core.Note":"n"}}"#)
        #expect(try await body(#"{"Id":1,"Boss":{"__metadata":{"uri":"u"}}}"#, .v2) == #"{"Id":1,"Boss":{"__metadata":{"uri":"u"}}}"#)
    }

    @Test func `an entity without control information is sent unchanged`() async throws {
        let plain = #"{"Id":1,"Note":"a@b","odata":{"x":[{"y":null}]},"@odata.unknown":1}"#
        #expect(try await body(plain) == plain)
        let request = set.key(1)
        _ = try await stub.client().replace(request, with: try read(#"{"@odata.etag":"e","Id":1}"#))
        #expect(stub.requests.last?.body == Data(#"{"Id":1}"#.utf8))
    }

    @Test func `a draft sends the type from the payload, and no unchanged control information`() throws {
        var draft = EntityDraft(of: try read(##"{"@odata.context":"c","@odata.type":"#Ns.B","@odata.etag":"e","Id":1,"Name":"a"}"##))
        #expect(try draft.changes() == [:])
        draft.value["Name"] = "b"
        #expect(try draft.changes() == ["@odata.type": "#Ns.B", "Name": "b"])
    }
}
