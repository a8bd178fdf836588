import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Batches that are refused before they are sent, and batches that are sent as several.
@Suite struct BatchLimitsTests {
    private typealias Person = BatchPerson

    private let people = FetchRequest<Person>()

    @Test func `requests that can't be part of a batch are refused before it is sent`() async throws {
        let (service, stub) = (BatchService(), StubTransport())
        let client = service.client(stub: stub)
        var batches: [ODataBatch] = []
        func add(_ build: (inout ODataBatch) -> Void) {
            var batch = ODataBatch()
            batch.create(Person(Id: 0, Name: "A"), in: people)
            build(&batch)
            batches.append(batch)
        }
        add { _ = $0.fetch(people.key(1).header("Authorization", "x")) }
        add { _ = $0.fetch(people.key(1).header("Range", "bytes=0-1")) }
        add { batch in batch.atomically { _ = $0.fetch(people.key(1)) } }
        add { _ = $0.fetch(EntityRequest<Person>(resource: ResourcePath(entitySet: "no name"))) }
        add { _ = $0.add { client in try await client.http.request(outside: URL(fileURLWithPath: "/")).send() } }
        add { batch in
            var other = ODataBatch()
            batch.run(batch.delete(people.key(1)), after: other.delete(people.key(2)))
        }
        add { batch in
            var other = ODataBatch()
            batch.run(other.delete(people.key(1)), after: batch.delete(people.key(2)))
        }
        add { batch in
            let first = batch.delete(people.key(1))
            batch.run(first, after: batch.delete(people.key(2)))
        }
        for batch in batches { await #expect(throws: ServiceError.self) { try await client.send(batch) } }
        client.printer = QueryPrinter(version: .v2)
        client.batching.format = .json
        await #expect(throws: ServiceError.self) { try await client.send(ODataBatch()) }
        #expect(stub.requests.isEmpty)
    }

    @Test func `a call of another client is refused and not sent`() async throws {
        let (service, stub, otherStub) = (BatchService(people: [1: "Ada"]), StubTransport(), StubTransport())
        let client = service.client(stub: stub)
        let other = otherStub.client()
        let people = people
        let calls: [@Sendable (ODataClient) async throws -> Void] = [
            { _ in try await other.delete(people.key(1)) },
            { client in
                try await other.delete(people.key(1))
                try await client.delete(people.key(1))
            },
        ]
        for call in calls {
            var batch = ODataBatch()
            batch.delete(people.key(1))
            _ = batch.atomically { $0.add(call) }
            let error = await #expect(throws: ServiceError.self) { try await client.send(batch) }
            #expect(error?.cause is InvalidRequest && error?.stage == .binding)
        }
        #expect(stub.requests.isEmpty && otherStub.requests.isEmpty)
        // After its own call, which has a response then, a part's other calls are sent.
        var batch = ODataBatch()
        let part = batch.add { client in
            let ada = try await client.fetch(people.key(1))
            try await other.delete(people.key(2))
            return ada.Name
        }
        #expect(try await client.send(batch)[part] == "Ada")
        #expect(otherStub.requests.count == 1 && stub.requests.count == 1)
    }

    @Test(arguments: [BatchSettings.sharePoint, .graph, .businessCentral])
    func `groups are refused if the service doesn't perform them atomically`(settings: BatchSettings) async throws {
        let (service, stub) = (BatchService(people: [1: "Ada"]), StubTransport())
        let client = service.client(.v4, settings, stub: stub)
        var batch = ODataBatch()
        batch.atomically { group in ["x", "y"].forEach { group.create(Person(Id: 0, Name: $0), in: people) } }
        await #expect(throws: ServiceError.self) { try await client.send(batch) }
        #expect(stub.requests.isEmpty)
        batch = ODataBatch()
        let single = batch.atomically { $0.create(Person(Id: 0, Name: "x"), in: people) }
        #expect(try await client.send(batch)[single].status == 201)
        #expect(try await client.send(ODataBatch()).failures.isEmpty)
    }

    @Test func `a long batch is split in order, but never within a group or before a reference`() async throws {
        let (service, stub) = (BatchService(people: [1: "Ada"]), StubTransport())
        let client = service.client(.v401, BatchSettings(limit: 3), stub: stub)
        var batch = ODataBatch()
        let reads = (0..<2).map { _ in batch.fetch(people.key(1)) }
        let group = batch.atomically { group in (0..<3).map { group.create(Person(Id: 0, Name: "\($0)"), in: people) } }
        let single = batch.create(Person(Id: 0, Name: "x"), in: people)
        let middle = batch.fetch(people.key(1))
        let friend = batch.create(
            BatchFriend(Name: "f"), in: FetchRequest<BatchFriend>(resource: single.reference.resource.property("Friends")))
        let last = batch.fetch(people.key(1))
        let answer = try await client.send(batch)
        #expect(answer.failures.isEmpty && service.count == 4)
        #expect(try reads.allSatisfy { try answer[$0].Name == "Ada" } && group.allSatisfy { try answer[$0].status == 201 })
        #expect(try answer[friend].status == 201 && answer[middle].Id == 1 && answer[last].Id == 1)
        let sizes = stub.requests.map { String(decoding: $0.body ?? Data(), as: UTF8.self).split(separator: #""method""#).count - 1 }
        #expect(sizes == [2, 3, 3, 1])
        client.batching.limit = 2
        await #expect(throws: ServiceError.self) { try await client.send(batch) }
        #expect(service.count == 4)
    }

    @Test func `the presets are the documented limits`() {
        #expect(BatchSettings.graph == BatchSettings(format: .json, limit: 20, groupsAreAtomic: false))
        #expect(BatchSettings.dataverse == BatchSettings(format: .multipart, limit: 1_000))
        #expect(BatchSettings.sharePoint.urls == .absolute && BatchSettings.businessCentral.limit == 100)
    }
}
