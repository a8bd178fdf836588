import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct ODataBatchTests {
    private typealias Person = BatchPerson

    private let people = FetchRequest<Person>()
    static let all: [(ODataVersion, BatchSettings)] = [
        (.v2, BatchSettings()), (.v4, BatchSettings()), (.v401, BatchSettings()), (.v401, BatchSettings(format: .multipart)),
        (.v4, BatchSettings(format: .json)),
    ]

    private func cause(_ result: Result<some Any, ServiceError>) -> ODataBatchError? {
        if case .failure(let error) = result { error.cause as? ODataBatchError } else { nil }
    }

    private func status(_ result: Result<some Any, ServiceError>) -> Int? {
        if case .failure(let error) = result { error.status } else { nil }
    }

    // MARK: Results

    @Test(arguments: all) func `each request has its own value or its own error, in its own type`(
        version: ODataVersion, settings: BatchSettings
    ) async throws {
        let service = BatchService(.init(seed: 7), people: [1: "Ada", 2: "Bob"])
        var batch = ODataBatch()
        let ada = batch.fetch(people.key(1))
        let missing = batch.fetch(people.key(9))
        let page = batch.page(people)
        let count = batch.count(of: people)
        let maybe = batch.fetchIfPresent(people.key(8))
        let created = batch.create(Person(Id: 0, Name: "Cy"), in: people)
        let changed = batch.update(people.key(2), setting: ["Name": "Ben"], if: .none)
        let deleted = batch.delete(people.key(1))
        let answer = try await service.client(version, settings).send(batch)
        #expect(try answer[ada] == Person(Id: 1, Name: "Ada"))
        #expect(status(answer.result(of: missing)) == 404)
        #expect((answer.failures.first?.errorBody as? ODataErrorBody)?.message == "no such person")
        #expect(answer.failures.count == 1 && answer.failures[0].call.route == "People(…)")
        #expect(try answer[page].entities.count == 2 && answer[count] == 2 && answer[maybe] == nil)
        let result = try answer[created]
        #expect(result.status == 201 && result.entity?.Id == 100 && result.location?.absoluteString == "https://h.example/svc/People(100)")
        #expect(try answer[changed].status == 204)
        try answer[deleted]
        #expect(service.content.people == [2: "Ben", 100: "Cy"] && service.count == 1)
    }

    @Test(arguments: all) func `a group is performed as a whole, and its requests refer to each other`(
        version: ODataVersion, settings: BatchSettings
    ) async throws {
        let service = BatchService(.init(seed: 3), people: [1: "Ada"])
        let client = service.client(version, settings)
        var batch = ODataBatch()
        let ada = batch.fetch(people.key(1))
        let (person, friend) = batch.atomically { group in
            let person = group.create(Person(Id: 0, Name: "Cy"), in: people)
            let friends = FetchRequest<BatchFriend>(resource: person.reference.resource.property("Friends"))
            return (person, group.create(BatchFriend(Name: "Di"), in: friends))
        }
        let answer = try await client.send(batch)
        #expect(try answer[ada].Name == "Ada" && answer[person].entity?.Id == 100 && answer[friend].entity?.Name == "Di")
        #expect(service.content.friends == [100: ["Di"]])
        // One that fails undoes all, and the others don't count as done.
        for (position, options) in [(0, BatchService.Options()), (1, .init(nestsFailures: true)), (1, .init(namesParts: false))] {
            var options = options
            options.failing = [position + 1]
            service.options.withLock { [options] in $0 = options }
            let before = service.content
            var answer = try await client.send(batch)
            #expect(try answer[ada].Name == "Ada" && service.content.people == before.people)
            let causes = [cause(answer.result(of: person)), cause(answer.result(of: friend))]
            #expect(throws: ServiceError.self) { try answer[person] }
            #expect(throws: ServiceError.self) { try answer[friend] }
            let failed = causes.compactMap { if case .groupFailed(let error)? = $0 { error.status } else { nil } }
            #expect(failed.allSatisfy { $0 == 500 } && !failed.isEmpty)
            // Each has the service's error, also if the service doesn't identify the request that failed.
            #expect(answer.failures.map { ($0.errorBody as? ODataErrorBody)?.code } == ["E500", "E500"])
            // Version 2 can't ask for it.
            guard version > .v2 else { continue }
            answer = try await client.send(batch, afterError: .stop)
            #expect(answer.failures.count == 2)
        }
    }

    @Test func `in version 2, a change outside of a group is a change set of its own`() async throws {
        for nests in [false, true] {
            for names in [false, true] {
                let stub = StubTransport()
                let service = BatchService(.init(namesParts: names, nestsFailures: nests), people: [1: "Ada", 2: "Bob"])
                let client = service.client(.v2, stub: stub)
                var batch = ODataBatch()
                let bad = batch.create(Person(Id: 0, Name: "bad"), in: people)
                let ada = batch.fetch(people.key(1))
                let created = batch.create(Person(Id: 0, Name: "Cy"), in: people)
                let (changed, missing) = batch.atomically { group in
                    (group.update(people.key(2), setting: ["Name": "Ben"], if: .none), group.delete(people.key(9)))
                }
                let deleted = batch.delete(people.key(1))
                let answer = try await client.send(batch)
                // Each has its own failure, and no other.
                #expect(status(answer.result(of: bad)) == 400 && cause(answer.result(of: bad)) == nil)
                #expect(try answer[ada].Name == "Ada" && answer[created].entity?.Name == "Cy")
                #expect(throws: ServiceError.self) { try answer[changed] }
                #expect(throws: ServiceError.self) { try answer[missing] }
                try answer[deleted]
                #expect(service.content.people == [2: "Bob", 100: "Cy"])
                let text = String(decoding: stub.requests.last?.body ?? Data(), as: UTF8.self)
                #expect(text.components(separatedBy: "Content-Type: multipart/mixed").count == 5)
                #expect(text.components(separatedBy: "Content-Type: application/http").count == 7)
            }
        }
        // Version 4 has changes outside of change sets.
        let stub = StubTransport()
        var batch = ODataBatch()
        batch.delete(people.key(1))
        #expect(try await BatchService(people: [1: "Ada"]).client(stub: stub).send(batch).failures.isEmpty)
        let text = String(decoding: stub.requests.last?.body ?? Data(), as: UTF8.self)
        #expect(!text.contains("changeset"))
    }

    @Test(arguments: all) func `the answer to a batch may have the status 202`(version: ODataVersion, settings: BatchSettings) async throws
    {
        // Services of versions 2 and 3 send it to each batch.
        let service = BatchService(.init(status: 202), people: [1: "Ada"])
        var batch = ODataBatch()
        let ada = batch.fetch(people.key(1))
        let created = batch.atomically { $0.create(Person(Id: 0, Name: "B"), in: people) }
        let answer = try await service.client(version, settings).send(batch)
        #expect(try answer[ada].Name == "Ada" && answer[created].status == 201)
    }

    @Test func `in version 2, references to another change set are refused before the batch is sent`() async throws {
        let (service, stub) = (BatchService(), StubTransport())
        let client = service.client(.v2, stub: stub)
        func message(_ add: (inout ODataBatch) -> Void) async -> String {
            var batch = ODataBatch()
            _ = batch.fetch(people.key(1))
            add(&batch)
            do {
                _ = try await client.send(batch)
                return "sent"
            } catch {
                return (error as? ServiceError).map { $0.kind == .batch && $0.stage == .binding ? $0.message : "\($0)" } ?? "\(error)"
            }
        }
        let friends = { (part: BatchPart<WriteResult<Person>>) in
            FetchRequest<BatchFriend>(resource: part.reference.resource.property("Friends"))
        }
        // From one change to another, from another group, from a read to a change, and from a read to another.
        let texts = [
            await message { batch in
                let person = batch.create(Person(Id: 0, Name: "A"), in: people)
                batch.create(BatchFriend(Name: "f"), in: friends(person))
            },
            await message { batch in
                let person = batch.atomically { $0.create(Person(Id: 0, Name: "A"), in: people) }
                batch.atomically { _ = $0.create(BatchFriend(Name: "f"), in: friends(person)) }
            },
            await message { batch in
                let person = batch.create(Person(Id: 0, Name: "A"), in: people)
                _ = batch.page(friends(person))
            },
            await message { batch in
                let person = batch.fetch(people.key(2))
                _ = batch.page(FetchRequest<BatchFriend>(resource: person.reference(as: Person.self).resource.property("Friends")))
            },
        ]
        for (number, text) in texts.enumerated() {
            #expect(text.contains("refers to request 2") && text.contains("send this one after the batch"), "\(text)")
            // A group has no reads.
            #expect(text.contains("add both to one group") == (number < 2), "\(text)")
        }
        #expect(stub.requests.isEmpty && service.count == 0)
        // Within a group they are sent, and an order alone isn't a reference.
        let allowed = await message { batch in
            batch.atomically { group in
                let person = group.create(Person(Id: 0, Name: "A"), in: people)
                group.create(BatchFriend(Name: "f"), in: friends(person))
            }
        }
        #expect(allowed == "sent" && service.count == 1)
        var ordered = ODataBatch()
        let first = ordered.create(Person(Id: 0, Name: "A"), in: people)
        let second = ordered.create(Person(Id: 0, Name: "B"), in: people)
        ordered.run(second, after: first)
        #expect(try await client.send(ordered)[second].status == 201)
    }

    @Test(arguments: all.dropFirst()) func `after an error the service continues or stops, in both formats`(
        version: ODataVersion, settings: BatchSettings
    ) async throws {
        let service = BatchService(people: [1: "Ada"])
        var batch = ODataBatch()
        let missing = batch.fetch(people.key(9))
        let ada = batch.fetch(people.key(1))
        var answer = try await service.client(version, settings).send(batch)
        #expect(status(answer.result(of: missing)) == 404)
        #expect(try answer[ada].Name == "Ada")
        answer = try await service.client(version, settings).send(batch, afterError: .stop)
        #expect(status(answer.result(of: missing)) == 404)
        guard case .notProcessed? = cause(answer.result(of: ada)) else { throw TestingFailure("\(answer.result(of: ada))") }
    }

    @Test func `the policy is stated in every version that has the preference`() async throws {
        for (version, format, proceed, stop) in [
            (ODataVersion.v4, BatchSettings.Format.multipart, "odata.continue-on-error", nil),
            (.v4, .json, "odata.continue-on-error", "odata.continue-on-error=false"),
            (.v401, .multipart, "continue-on-error", "continue-on-error=false"),
            (.v401, .json, "continue-on-error", "continue-on-error=false"),
        ] as [(ODataVersion, BatchSettings.Format, String, String?)] {
            let (service, stub) = (BatchService(.init(stopsByDefault: true), people: [1: "Ada"]), StubTransport())
            let client = service.client(version, BatchSettings(format: format), stub: stub)
            var batch = ODataBatch()
            _ = batch.fetch(people.key(9))
            let ada = batch.fetch(people.key(1))
            #expect(try await client.send(batch)[ada].Name == "Ada")
            #expect(stub.requests.last?.request.headers["Prefer"] == proceed)
            #expect(try await client.send(batch, afterError: .stop).failures.count == 2)
            #expect(stub.requests.last?.request.headers["Prefer"] == stop)
        }
        let (service, stub) = (BatchService(people: [1: "Ada"]), StubTransport())
        let client = service.client(.v2, stub: stub)
        var batch = ODataBatch()
        _ = batch.fetch(people.key(1))
        #expect(try await client.send(batch).failures.isEmpty && stub.requests.last?.request.headers["Prefer"] == nil)
        await #expect(throws: ServiceError.self) { try await client.send(batch, afterError: .stop) }
        #expect(service.count == 1)
    }

    @Test(arguments: all.dropFirst()) func `a stop applies to the batches that follow`(
        version: ODataVersion, settings: BatchSettings
    ) async throws {
        var settings = settings
        settings.limit = 2
        for (failing, sent) in [(2, 2), (3, 2), (0, 1), (9, 3)] {
            let service = BatchService(people: [1: "Ada"])
            var batch = ODataBatch()
            // The service's positions begin in each batch.
            let parts = (0..<6).map { batch.create(Person(Id: 0, Name: $0 == failing ? "bad" : "p"), in: people) }
            let client = service.client(version, settings)
            let answer = try await client.send(batch, afterError: .stop)
            #expect(service.count == sent && service.content.people.count == 1 + min(failing, 6))
            for (index, part) in parts.enumerated() {
                switch answer.result(of: part) {
                case .success: #expect(index < failing)
                case .failure(let error) where index == failing: #expect(error.status == 400)
                case .failure(let error):
                    guard case .notProcessed? = error.cause as? ODataBatchError else { throw TestingFailure("\(index): \(error)") }
                }
            }
            #expect(try await client.send(batch).failures.count == (failing < 6 ? 1 : 0) && service.count == sent + 3)
        }
    }

    @Test func `the status of the whole answer may be that of the first error`() async throws {
        let service = BatchService(.init(failedStatus: 400), people: [1: "Ada"])
        var batch = ODataBatch()
        let ada = batch.fetch(people.key(1))
        let missing = batch.fetch(people.key(9))
        let answer = try await service.client().send(batch)
        #expect(try answer[ada].Name == "Ada")
        #expect(status(answer.result(of: missing)) == 404)
    }

    @Test func `requests that depend on a failed one aren't tried, in JSON`() async throws {
        let service = BatchService(people: [1: "Ada"])
        var batch = ODataBatch()
        let bad = batch.create(Person(Id: 0, Name: "bad"), in: people)
        let friend = batch.create(
            BatchFriend(Name: "Di"), in: FetchRequest<BatchFriend>(resource: bad.reference.resource.property("Friends")))
        let deleted = batch.delete(people.key(1))
        batch.run(deleted, after: bad)
        let answer = try await service.client(.v401).send(batch)
        #expect(status(answer.result(of: bad)) == 400 && service.content.people == [1: "Ada"])
        #expect(answer.failures.map(\.call.route) == ["People", "$…/Friends", "People(…)"])
        for result in [cause(answer.result(of: friend)), cause(answer.result(of: deleted))] {
            guard case .dependencyFailed? = result else { throw TestingFailure("\(String(describing: result))") }
        }
    }

    @Test func `closures, several reads at once, and calls of a subclass`() async throws {
        let service = BatchService(people: [1: "Ada", 2: "Bob"])
        let client = service.client()
        let (ada, missing) = try await client.batch { batch in (batch.fetch(people.key(1)), batch.fetch(people.key(9))) }
        #expect(try ada.get().Name == "Ada")
        #expect(status(missing) == 404)
        let (bob, all, first) = try await client.fetch(people.key(2), people, people.key(1))
        #expect(bob.Name == "Bob" && all.count == 2 && first.Name == "Ada" && service.count == 2)
        var batch = ODataBatch()
        let raw = batch.add { _ in try await client.http.get("/People/$count").value(String.self) }
        #expect(try await client.send(batch)[raw] == "2")
    }

    @Test func `an unchanged draft isn't sent, and a handle is valid for its own batch only`() async throws {
        let service = BatchService(people: [1: "Ada"])
        let client = service.client()
        var batch = ODataBatch()
        let unchanged = batch.update(people.key(1), with: EntityDraft(of: Person(Id: 1, Name: "Ada")))
        var answer = try await client.send(batch)
        #expect(try answer[unchanged].status == nil)
        #expect(service.count == 0)
        answer = try await client.send(ODataBatch())
        guard case .foreignPart? = cause(answer.result(of: unchanged)) else { throw TestingFailure("no error") }
        // Its reference too.
        var other = ODataBatch()
        other.delete(unchanged.reference(as: Person.self))
        await #expect(throws: ServiceError.self) { try await client.send(other) }
        await #expect(throws: ServiceError.self) { try await client.delete(unchanged.reference(as: Person.self)) }
        #expect(service.count == 0)
    }

    @Test func `an unchanged part counts as successful for the parts after it`() async throws {
        let service = BatchService(people: [1: "Ada", 2: "Bob"])
        var batch = ODataBatch()
        let unchanged = batch.update(people.key(1), with: EntityDraft(of: Person(Id: 1, Name: "Ada")))
        let deleted = batch.delete(people.key(2))
        batch.run(deleted, after: unchanged)
        let answer = try await service.client(.v401).send(batch)
        try answer[deleted]
        #expect(service.content.people == [1: "Ada"])
    }

    @Test func `a batch that the service continues asynchronously has no results`() async throws {
        let stub = StubTransport()
        let client = stub.client()
        let accepted = "--b\r\n\r\nHTTP/1.1 202 Accepted\r\nLocation: https://h.example/monitor\r\nRetry-After: 3\r\n\r\n\r\n"
        let person = "--b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"Id\":1,\"Name\":\"Ada\"}\r\n"
        var batch = ODataBatch()
        let started = batch.add { client in try await client.http.post("/Start").send() }
        let ada = batch.fetch(people.key(1))
        stub.fallback(.data(Data((accepted + "--b--").utf8), type: "multipart/mixed; boundary=b"))
        var answer = try await client.send(batch)
        #expect(answer.failures.count == 2)
        for error in answer.failures {
            guard case .accepted(let monitor, let wait)? = error.cause as? ODataStatusError else { throw TestingFailure("\(error)") }
            #expect(monitor?.absoluteString == "https://h.example/monitor" && wait == .seconds(3))
        }
        // Followed by another response, it is that of the first request.
        stub.fallback(.data(Data((accepted + person + "--b--").utf8), type: "multipart/mixed; boundary=b"))
        answer = try await client.send(batch)
        #expect(try answer[ada].Name == "Ada")
        if case .failure(let error) = answer.result(of: started) { throw TestingFailure("\(error)") }
    }
}
