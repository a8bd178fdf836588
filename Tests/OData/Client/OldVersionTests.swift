import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// What versions 2 and 3 need beyond the format of their payloads.
@Suite struct OldVersionTests {
    struct Item: Codable, Sendable, EntityType {
        static let entitySetName = "Items"
        var Id: Int
        var Name: String?
        var Owner: ToOne<DynamicEntity> = .null
    }

    private let stub = StubTransport()
    private let item = FetchRequest<Item>().key(1)

    private var last: ServiceRequest? { stub.requests.last?.request }

    @Test(arguments: [ODataVersion.v2, .v4])
    func `methods are tunneled through POST, except inside a batch`(version: ODataVersion) async throws {
        let client = stub.client(version)
        client.tunnelsMethods = true
        try await client.update(item, setting: ["Name": "a"])
        #expect(last?.method == .post && last?.headers["X-HTTP-Method"] == (version == .v2 ? "MERGE" : "PATCH"))
        #expect(stub.requests.last?.body == Data(#"{"Name":"a"}"#.utf8))
        try await client.delete(item)
        #expect(last?.method == .post && last?.headers["X-HTTP-Method"] == "DELETE" && stub.requests.last?.body?.isEmpty != false)
        try await client.setContent(of: StreamReference(mediaOf: item), to: RequestBody(Data([1])), contentType: "image/png")
        #expect(last?.method == .post && last?.headers["X-HTTP-Method"] == "PUT")
        stub.fallback(.json(#"{"Id":1}"#, status: 201))
        try await client.create(["Name": "b"] as DynamicEntity, in: FetchRequest<DynamicEntity>(from: "Items"))
        #expect(last?.method == .post && last?.headers["X-HTTP-Method"] == nil)
        stub.fallback(.json(#"{"Id":1}"#))
        _ = try await client.fetch(FetchRequest<DynamicEntity>(from: "Items").key(1))
        #expect(last?.method == .get && last?.headers["X-HTTP-Method"] == nil)
        let service = BatchService(people: [1: "Ada"])
        stub.fallback(service.answer)
        var batch = ODataBatch()
        let part = batch.update(FetchRequest<BatchPerson>().key(1), setting: ["Name": "Eva"], if: .none)
        #expect(try await client.send(batch)[part].status == 204)
        #expect(service.content.people == [1: "Eva"])
    }

    @Test func `links have no selection`() async throws {
        let client = stub.client(.v2)
        struct Link: Codable, Sendable { var uri: String }
        stub.fallback(.json(#"{"d":{"uri":"https://h.example/svc/Owners(1)"}}"#))
        for path in ["Items(1)/$links/Owner", "Items(1)/$links/Parts(2)"] {
            #expect(try await client.fetch(EntityRequest<Link>(at: path)).uri == "https://h.example/svc/Owners(1)")
            #expect(last?.url.absoluteString == "https://h.example/svc/" + path)
        }
    }

    @Test func `an entity with a version is changed only in this version`() async throws {
        let client = stub.client(.v2)
        for (tag, field) in [(#","etag":"W/\"1\"""#, "W/\"1\""), ("", nil)] as [(String, String?)] {
            stub.fallback(.json(#"{"d":{"__metadata":{"uri":"Items(1)"\#(tag)},"Id":1,"Name":"a"}}"#))
            var draft = EntityDraft(of: try await client.entity(item))
            draft.Name = "b"
            stub.fallback(.status(204))
            try await client.update(item, with: draft)
            #expect(last?.method == "MERGE" && last?.headers["If-Match"] == field)
        }
    }

    @Test func `an entity in version 3's light form is read with its links`() async throws {
        let client = stub.client(.v2)
        stub.fallback(
            .json(
                #"""
                {"odata.metadata":"https://h.example/svc/$metadata#Items/@Element","odata.type":"N.Item","odata.id":"Items(1)",
                "odata.etag":"W/\"1\"","odata.editLink":"Items(1)","odata.mediaReadLink":"Items(1)/$value","odata.mediaETag":"\"m\"",
                "Owner@odata.navigationLinkUrl":"Items(1)/Owner","Owner@odata.associationLinkUrl":"Items(1)/$links/Owner","Id":1,"Name":"a"}
                """#))
        let entity = try await client.entity(item)
        #expect(entity.value.Name == "a" && entity.metadata.etag == "W/\"1\"" && entity.metadata.typeName == "N.Item")
        #expect(entity.metadata.navigationLinks == ["Owner": "Items(1)/Owner"])
        #expect(entity.metadata.associationLinks == ["Owner": "Items(1)/$links/Owner"])
        #expect(entity.value.Owner == .notLoaded(link: "https://h.example/svc/Items(1)/Owner"))
        let reference = StreamReference(mediaOf: entity.metadata)
        #expect(reference.etag == "\"m\"")
        stub.fallback(.data(Data([1]), type: "image/png"))
        let content = try await client.content(of: reference)
        #expect(content.data == Data([1]))
    }
}
