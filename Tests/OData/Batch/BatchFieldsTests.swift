import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// The content of a batch: the fields and URLs of its parts, and their references.
@Suite struct BatchFieldsTests {
    private typealias Person = BatchPerson

    private let people = FetchRequest<Person>()

    @Test func `the batch has the fields of all requests, and each part only its own`() async throws {
        let (service, stub) = (BatchService(people: [1: "Ada"]), StubTransport())
        let client = service.client(stub: stub)
        client.configure { $0.headers["Authorization"] = "Bearer secret" }
        var batch = ODataBatch()
        batch.headers["Isolation"] = "snapshot"
        _ = batch.fetch(people.key(1))
        batch.update(people.key(1), setting: ["Name": "A"], if: .version("\"Ada\""), preferring: .minimal)
        _ = try await client.send(batch)
        let sent = try #require(stub.requests.last)
        try sent.expectURL("https://h.example/svc/$batch")
        let headers = sent.request.headers
        #expect(headers["Authorization"] == "Bearer secret" && headers["Isolation"] == "snapshot" && headers["OData-Version"] == "4.0")
        #expect(headers["Prefer"] == "odata.continue-on-error" && headers["Accept"] == "multipart/mixed")
        let text = String(decoding: sent.body ?? Data(), as: UTF8.self)
        #expect(
            !text.contains("secret") && !text.contains("MaxVersion")
                && text.contains("\r\nGET People(1)?$select=Id,Name HTTP/1.1\r\nAccept: app"))
        #expect(text.contains("\r\nPATCH People(1) HTTP/1.1\r\n") && text.contains("\r\nIf-Match: \"Ada\"\r\n"))
        #expect(text.contains("\r\nPrefer: return=minimal\r\n") && !text.contains("Content-Length") && text.hasSuffix("--\r\n"))
    }

    @Test func `in version 2, each part has the fields of the version`() async throws {
        let (service, stub) = (BatchService(people: [1: "Ada"]), StubTransport())
        var batch = ODataBatch()
        _ = batch.fetch(people.key(1))
        batch.update(people.key(1), setting: ["Name": "A"], if: .none)
        #expect(try await service.client(.v2, stub: stub).send(batch).failures.isEmpty)
        let text = String(decoding: stub.requests.last?.body ?? Data(), as: UTF8.self)
        #expect(text.split(separator: "\r\nDataServiceVersion: 2.0\r\n").count == 3, "\(text)")
        #expect(text.split(separator: "\r\nMaxDataServiceVersion: 2.0\r\n").count == 3)
    }

    @Test(arguments: ODataBatchTests.all) func `each part has the language and the consistency level that the client asks for`(
        version: ODataVersion, settings: BatchSettings
    ) async throws {
        let (service, stub) = (BatchService(people: [1: "Ada"]), StubTransport())
        let client = service.client(version, settings, stub: stub)
        client.configure { $0.headers = ["Accept-Language": "de", "ConsistencyLevel": "eventual", "X-Team": "core"] }
        var batch = ODataBatch()
        _ = batch.fetch(people.key(1))
        batch.update(people.key(1), setting: ["Name": "A"], if: .none)
        #expect(try await client.send(batch).failures.isEmpty)
        let sent = try #require(stub.requests.last)
        let text = String(decoding: sent.body ?? Data(), as: UTF8.self).lowercased()
        #expect(text.split(separator: "accept-language").count == 3 && text.split(separator: "consistencylevel").count == 3, "\(text)")
        #expect(!text.contains("x-team") && sent.request.headers["X-Team"] == "core" && sent.request.headers["Accept-Language"] == "de")
    }

    @Test func `URLs have the form that the service needs`() async throws {
        for (urls, first, second) in [
            (BatchSettings.URLForm.relative, "DELETE People('a%3Ab') HTTP", "PATCH $1/Friends HTTP"),
            (.hostRelative, "DELETE /svc/People('a%3Ab') HTTP/1.1\r\nHost: h.example\r\n", "PATCH $1/Friends HTTP"),
            (.absolute, "DELETE https://h.example/svc/People('a%3Ab') HTTP", "PATCH $1/Friends HTTP"),
        ] {
            let (service, stub) = (BatchService(), StubTransport())
            var batch = ODataBatch()
            let part = batch.delete(EntityRequest<Person>(resource: ResourcePath("People('a:b')")))
            batch.update(
                EntityRequest<Person>(resource: part.reference(as: Person.self).resource.property("Friends")), setting: ["Name": "x"])
            _ = try await service.client(.v4, BatchSettings(urls: urls), stub: stub).send(batch)
            let text = String(decoding: stub.requests.last?.body ?? Data(), as: UTF8.self)
            #expect(text.replacing("%27", with: "'").contains(first) && text.contains(second), "\(text)")
        }
    }

    @Test func `a long query is a GET inside a batch`() async throws {
        let (service, stub) = (BatchService(people: [1: "Ada"]), StubTransport())
        let client = service.client(.v401, stub: stub)
        var batch = ODataBatch()
        let page = batch.page(people.filter { $0.Name == String(repeating: "x", count: 20_000) })
        #expect(try await client.send(batch)[page].entities.count == 1)
        #expect(stub.requests.count == 1)
    }

    @Test func `bindings may refer to earlier requests`() async throws {
        let (service, stub) = (BatchService(), StubTransport())
        var batch = ODataBatch()
        let boss = batch.create(Person(Id: 0, Name: "B"), in: people)
        batch.create(Person(Id: 0, Name: "C"), in: people, binding: [EntityBinding("Boss", to: EntityReference(boss))])
        _ = try await service.client(.v401, stub: stub).send(batch)
        let text = String(decoding: stub.requests.last?.body ?? Data(), as: UTF8.self)
        #expect(text.contains(##""Boss":{"@id":"$1"}"##) && text.contains(#""dependsOn":["1"]"#))
    }
}
