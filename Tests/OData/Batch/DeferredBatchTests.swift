import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct DeferredBatchTests {
    private typealias Person = BatchPerson

    private let people = FetchRequest<Person>()
    private let stub = StubTransport()

    private func client(_ service: BatchService, limit: Int) -> ODataClient {
        let client = stub.client()
        stub.fallback(service.answer)
        // A full batch is sent at once, so the test waits for no time.
        client.deferredBatch = DeferredBatch(window: .seconds(3_600), limit: limit)
        return client
    }

    @Test func `concurrent reads are one batch, each with its own result`() async throws {
        let service = BatchService(people: [1: "Ada", 2: "Bob"])
        let client = client(service, limit: 4)
        let (ada, bob, page, missing) = try await watched {
            async let ada = client.fetch(people.key(1))
            async let bob = client.entity(people.key(2))
            async let page = client.page(people)
            async let missing = client.fetchIfPresent(people.key(9))
            return try await (ada, bob, page, missing)
        }
        #expect(ada.Name == "Ada" && bob.Name == "Bob" && page.entities.count == 2 && missing == nil)
        #expect(service.count == 1 && stub.requests.count == 1)
    }

    @Test func `no batch has more reads than the limit`() async throws {
        let service = BatchService(people: [1: "Ada"])
        let client = client(service, limit: 4)
        let people = people
        let names = try await watched {
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<200 { group.addTask { try await client.fetch(people.key(1)).Name } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(names.count == 200 && service.count == 50)
    }

    @Test func `changes, and reads that can't be in a batch, are sent separately`() async throws {
        let service = BatchService(people: [1: "Ada"])
        let client = client(service, limit: 3)
        stub.on(.get, "/svc/People(1)", .json(#"{"Id":1,"Name":"alone"}"#))
        stub.on(.delete, "/svc/People(1)", .status(204))
        try await client.delete(people.key(1))
        let names = try await watched {
            async let ranged = client.fetch(people.key(1).header("Range", "bytes=0-1"))
            async let first = client.fetch(people.key(1))
            async let second = client.fetch(people.key(1))
            return try await [ranged.Name, first.Name, second.Name]
        }
        #expect(names == ["alone", "Ada", "Ada"] && service.count == 1)
    }

    @Test func `a read that the service refuses for the moment is sent again separately`() async throws {
        let service = BatchService(BatchService.Options(failing: [0]), people: [1: "Ada"])
        let client = client(service, limit: 2)
        client.configure { $0.retry = RetryPolicy(attempts: 2, backoff: Backoff(base: .zero, cap: .zero, jitter: .none)) }
        stub.on(.get, "/svc/People(1)", .json(#"{"Id":1,"Name":"alone"}"#))
        let names = try await watched {
            async let first = client.fetch(people.key(1))
            async let second = client.fetch(people.key(1))
            return try await [first.Name, second.Name]
        }
        #expect(names.sorted() == ["Ada", "alone"] && service.count == 1 && stub.requests.count == 2)
    }

    @Test func `a cancelled read doesn't affect the others`() async throws {
        let service = BatchService(people: [1: "Ada"])
        let client = client(service, limit: 3)
        let cancelled = Task { try await client.fetch(people.key(1)) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let ada = try await watched {
            async let one = client.fetch(people.key(1))
            async let two = client.fetch(people.key(1))
            async let three = client.fetch(people.key(1))
            return try await [one, two, three]
        }
        #expect(ada.allSatisfy { $0.Name == "Ada" } && service.count == 1)
    }

    @Test func `the failure of the batch is the failure of each read`() async throws {
        let client = client(BatchService(), limit: 2)
        stub.fallback(.status(500))
        let errors = try await watched {
            await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        do {
                            _ = try await client.fetch(people.key(1))
                            return nil
                        } catch {
                            return (error as? ServiceError)?.status
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(errors == [500, 500] && stub.requests.count == 1)
    }

    @Test func `waiting reads are sent when deferring ends`() async throws {
        let service = BatchService(people: [1: "Ada"])
        let client = client(service, limit: 100)
        stub.on(.get, "/svc/People(1)", .json(#"{"Id":1,"Name":"alone"}"#))
        let read = Task { try await client.fetch(people.key(1)) }
        let name = try await watched {
            while true {
                client.deferredBatch = nil
                client.deferredBatch = DeferredBatch(window: .seconds(3_600))
                await Task.yield()
                if stub.requests.count > 0 { return try await read.value.Name }
            }
        }
        #expect(name == "alone")
    }
}
