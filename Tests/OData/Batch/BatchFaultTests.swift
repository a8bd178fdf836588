import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Batches whose answers are cut, wrong or missing: nothing is reported as done that isn't known to be.
@Suite struct BatchFaultTests {
    private typealias Person = BatchPerson

    private let people = FetchRequest<Person>()

    private func client(_ service: BatchService, isJSON: Bool) -> ODataClient {
        let stub = StubTransport()
        let client = stub.client(isJSON ? .v401 : .v4)
        stub.fallback(service.answer)
        return client
    }

    private struct Parts {
        var batch = ODataBatch()
        let read: BatchPart<Person>
        let group: [BatchPart<WriteResult<Person>>]
        let last: BatchPart<WriteResult<Person>>

        init(_ people: FetchRequest<Person>) {
            read = batch.fetch(people.key(1))
            group = batch.atomically { group in ["x", "y"].map { group.create(Person(Id: 0, Name: $0), in: people) } }
            last = batch.create(Person(Id: 0, Name: "z"), in: people)
        }
    }

    private func length(_ isJSON: Bool) async throws -> Int {
        let size = Locked(0)
        let service = BatchService(people: [1: "Ada"])
        service.options.withLock {
            $0.fault = { data in
                size.withLock { $0 = data.count }; return data
            }
        }
        _ = try await client(service, isJSON: isJSON).send(Parts(people).batch)
        return size.withLock { $0 }
    }

    @Test(arguments: [false, true]) func `an answer cut at any byte has right results and errors, and no others`(isJSON: Bool) async throws
    {
        let length = try await length(isJSON)
        for cut in stride(from: 0, to: length - 2, by: Sweep.isFull ? 1 : 11) {
            let service = BatchService(.init(fault: { $0.prefix(cut) }), people: [1: "Ada"])
            let parts = Parts(people)
            let answer = try await client(service, isJSON: isJSON).send(parts.batch)
            // Unknown outcomes are reported as unknown, although everything was performed.
            #expect(service.content.people.count == 4)
            #expect(!answer.failures.isEmpty, "cut at \(cut)")
            for error in answer.failures {
                guard let cause = error.cause as? ODataBatchError else { throw TestingFailure("\(error)") }
                switch cause {
                case .unanswered, .malformed: break
                default: Issue.record("cut at \(cut): \(cause)")
                }
            }
            if case .success(let ada) = answer.result(of: parts.read) { #expect(ada.Name == "Ada") }
            let done = parts.group.map { part in if case .success = answer.result(of: part) { true } else { false } }
            #expect(done[0] == done[1], "cut at \(cut)")
        }
    }

    @Test(arguments: [false, true]) func `a change set that fails at any position changes nothing`(isJSON: Bool) async throws {
        for nests in [false, true] {
            for position in 0..<5 {
                let service = BatchService(.init(seed: UInt64(position), failing: [position], nestsFailures: nests), people: [1: "Ada"])
                var batch = ODataBatch()
                let parts = batch.atomically { group in (0..<5).map { group.create(Person(Id: 0, Name: "\($0)"), in: people) } }
                let answer = try await client(service, isJSON: isJSON).send(batch)
                #expect(service.content.people == [1: "Ada"] && answer.failures.count == 5)
                let own = parts.map { part in if case .failure(let error) = answer.result(of: part) { error.status } else { 0 } }
                #expect(own.filter { $0 == 500 }.count == 1 && own[position] == 500)
            }
        }
    }

    @Test func `JSON responses come in any order`() async throws {
        for seed in 0..<UInt64(Sweep.rounds(ofAll: 40)) {
            let service = BatchService(.init(seed: seed), people: [1: "Ada"])
            var batch = ODataBatch()
            let parts = (0..<12).map { batch.create(Person(Id: 0, Name: "\($0)"), in: people) }
            let answer = try await client(service, isJSON: true).send(batch)
            #expect(try parts.enumerated().allSatisfy { try answer[$0.element].entity?.Name == "\($0.offset)" })
        }
    }

    @Test func `a batch that is refused as a whole is one error, and is sent once`() async throws {
        for status in [413, 500, 503, 429] {
            let stub = StubTransport()
            let client = stub.client()
            client.configure { $0.retry = RetryPolicy(backoff: Backoff(base: .zero), unsafeMethods: .always) }
            stub.fallback(.json(#"{"error":{"code":"x","message":"too much"}}"#, status: status))
            do {
                _ = try await client.send(Parts(people).batch)
                Issue.record("no error")
            } catch let error as ServiceError {
                #expect(error.status == status && (error.errorBody as? ODataErrorBody)?.message == "too much")
            }
            // Changes aren't made twice, whatever the client's policy.
            #expect(stub.requests.count == 1)
        }
    }

    @Test func `a service that refuses the format leads to the setting`() async throws {
        let formats = [(ODataVersion.v2, ""), (.v4, "batching.format to .json"), (.v401, "batching.format to .multipart")]
        for (version, hint) in formats {
            for status in [406, 415] {
                let stub = StubTransport()
                let client = stub.client(version)
                stub.fallback(.json(#"{"error":{"code":null,"message":"not supported"}}"#, status: status))
                let error = await #expect(throws: ServiceError.self) { _ = try await client.send(Parts(people).batch) }
                #expect(error?.status == status && error?.message.contains("not supported") == true)
                #expect(error?.message.contains(hint.isEmpty ? "batching.format" : hint) == !hint.isEmpty, "\(error?.message ?? "")")
            }
        }
    }

    @Test func `an error in place of the answer is the error of the batch, also with a success status`() async throws {
        let stub = StubTransport()
        for body in [#"{"error":{"code":"x","message":"too much"}}"#, #"{"responses":[],"error":{"code":"x","message":"too much"}}"#] {
            for version in [ODataVersion.v2, .v4, .v401] {
                let client = stub.client(version)
                stub.fallback(.json(body))
                let error = await #expect(throws: ServiceError.self) { _ = try await client.send(Parts(people).batch) }
                #expect(error?.kind == .refused && error?.status == 200 && (error?.errorBody as? ODataErrorBody)?.code == "x")
                #expect(error?.message.contains("too much") == true)
            }
        }
        // An error after responses takes back only those that are missing.
        let client = stub.client(.v401)
        let response = #"{"id":"1","status":200,"body":{"Id":1,"Name":"Ada"}}"#
        stub.fallback(.json(#"{"responses":[\#(response)],"error":{"code":"x","message":"too much"}}"#))
        var batch = ODataBatch()
        let (one, two) = (batch.fetch(people.key(1)), batch.fetch(people.key(2)))
        let answer = try await client.send(batch)
        guard case .failure(let missing) = answer.result(of: two), case .unanswered(let reason)? = missing.cause as? ODataBatchError
        else { throw TestingFailure("a response that didn't come") }
        #expect(try answer[one].Id == 1 && reason.contains("too much"))
    }

    @Test func `a batch that only reads is sent again by the client's policy`() async throws {
        let stub = StubTransport()
        let client = stub.client()
        let service = BatchService(people: [1: "Ada"])
        client.configure { $0.retry = RetryPolicy(backoff: Backoff(base: .zero)) }
        stub.fallback(.inTurn(.status(503), service.answer))
        var batch = ODataBatch()
        let ada = batch.fetch(people.key(1))
        #expect(try await client.send(batch)[ada].Name == "Ada")
        #expect(stub.requests.count == 2)
    }

    @Test func `after a batch that fails as a whole, the others aren't sent`() async throws {
        let stub = StubTransport()
        let client = stub.client(.v401)
        client.batching.limit = 1
        let service = BatchService(people: [1: "Ada"])
        stub.fallback(.inTurn(service.answer, .status(500), service.answer))
        var batch = ODataBatch()
        let parts = (0..<3).map { _ in batch.delete(people.key(1)) }
        let answer = try await client.send(batch)
        try answer[parts[0]]
        #expect(answer.failures.count == 2 && answer.failures[0].status == 500 && stub.requests.count == 2)
        guard case .notProcessed? = answer.failures[1].cause as? ODataBatchError else { throw TestingFailure("\(answer.failures[1])") }
    }

    @Test func `an answer of another media type is an error that names it`() async throws {
        let stub = StubTransport()
        let client = stub.client()
        for answer in [StubAnswer.text("hello"), .json(#"{"value":[]}"#), .status(200), .data(Data(), type: "multipart/mixed")] {
            stub.fallback(answer)
            let batch = Parts(people).batch
            do {
                #expect(try await client.send(batch).failures.count == 4)
            } catch let error as ServiceError {
                #expect(error.kind == .format, "\(error)")
            }
        }
        stub.fallback(.status(202, headers: ["Location": "https://h.example/monitor"]))
        await #expect(throws: ServiceError.self) { try await client.send(Parts(people).batch) }
    }

    @Test func `an answer that continues at a link is read to its end`() async throws {
        let stub = StubTransport()
        let client = stub.client(.v401)
        func page(_ id: Int, _ link: String) -> StubAnswer {
            .json(#"{"responses":[{"id":"\#(id)","status":200,"body":{"Id":\#(id),"Name":"n"}}]\#(link)}"#)
        }
        stub.fallback(.inTurn(page(2, #","@nextLink":"more"# + "\""), page(1, "")))
        var batch = ODataBatch()
        let parts = [batch.fetch(people.key(1)), batch.fetch(people.key(2))]
        let answer = try await client.send(batch)
        #expect(try answer[parts[0]].Id == 1 && answer[parts[1]].Id == 2)
        #expect(stub.requests.map(\.request.url.absoluteString) == ["https://h.example/svc/$batch", "https://h.example/svc/more"])
        // A link to another origin isn't followed, and one without responses ends.
        for link in ["https://evil.example/", "more"] {
            stub.fallback(.inTurn(page(2, #","@nextLink":"\#(link)""#), .json(#"{"responses":[],"@nextLink":"more"}"#)))
            #expect(try await client.send(batch).failures.count == 1)
        }
    }

    @Test func `an answer that continues at links ends with its last request`() async throws {
        let stub = StubTransport()
        let client = stub.client(.v401)
        func page(_ ids: [Int], _ link: String) -> StubAnswer {
            let responses = ids.map { #"{"id":"\#($0)","status":201,"body":{"Id":\#($0),"Name":"n"}}"# }.joined(separator: ",")
            return .json(#"{"responses":[\#(responses)]\#(link)}"#)
        }
        let more = #","@nextLink":"more""#
        let batch = Parts(people).batch
        // One member of a group on each page, which gives no result before the last.
        stub.fallback(.inTurn(page([1], more), page([2], more), page([3], more), page([4], "")))
        #expect(try await client.send(batch).failures.isEmpty)
        // Pages that repeat responses, or have those of no request, end.
        for ids in [[1], [9], []] {
            let before = stub.requests.count
            stub.fallback(page(ids, more))
            #expect(try await client.send(batch).failures.count >= 3)
            #expect(stub.requests.count <= before + 3)
        }
    }

    @Test(arguments: [false, true]) func `an answer with an error in its trailer isn't complete`(isJSON: Bool) async throws {
        let service = BatchService(
            .init(fault: { data in isJSON ? Data(#"{"responses":[{"id":"1","status":200,"body":{"Id":1,"Name":"Ada"}}]}"#.utf8) : data }),
            people: [1: "Ada"])
        let client = client(service, isJSON: isJSON).takingBackItsAnswers()
        var batch = ODataBatch()
        let ada = batch.fetch(people.key(1))
        #expect(try await client.send(batch)[ada].Name == "Ada")
        service.options.withLock { $0.fault = { _ in Data((isJSON ? #"{"responses":[]}"# : "--b--\r\n").utf8) } }
        guard case .unanswered(let reason)? = try await client.send(batch).failures.first?.cause as? ODataBatchError else {
            throw TestingFailure("an answer that was taken back is complete")
        }
        #expect(reason.contains("late"))
    }

    @Test func `a CSRF token belongs to the batch`() async throws {
        let stub = StubTransport()
        let client = stub.client(.v2)
        let service = BatchService(people: [1: "Ada"])
        client.configure {
            $0.interceptors = [CSRFProtection(fetchingFrom: URL(string: "https://h.example/svc/") ?? URL(fileURLWithPath: "/"))]
        }
        stub.on(.get, "/svc/", .status(200, headers: ["X-CSRF-Token": "t0k3n"]))
        stub.fallback(service.answer)
        var batch = ODataBatch()
        batch.delete(people.key(1))
        let answer = try await client.send(batch)
        let sent = try #require(stub.requests.last)
        #expect(answer.failures.isEmpty && sent.request.headers["X-CSRF-Token"] == "t0k3n")
        #expect(!String(decoding: sent.body ?? Data(), as: UTF8.self).contains("t0k3n"))
    }

    @Test func `a batch works over a connection, and an answer that is cut off has no false results`() async throws {
        let service = BatchService(people: [1: "Ada"])
        let breaks = Locked(false)
        let server = try LoopbackServer { routes in
            routes.fallback { request in
                let type = request.fields.values(of: "Content-Type").first ?? ""
                let answer = try? service.execute(Data(request.body), type: type, preference: "continue-on-error")
                guard let (status, answerType, body) = answer else { return .status(400) }
                let response = LoopbackResponse.data(body, type: answerType, status: status)
                return breaks.withLock { $0 } ? response.failing(.cut(afterBytes: body.count / 2)) : response
            }
        }
        defer { server.stop() }
        let client = ODataClient(serviceRoot: try server.url("/svc/").absoluteString)
        let parts = Parts(people)
        #expect(try await client.send(parts.batch).failures.isEmpty)
        breaks.withLock { $0 = true }
        let answer = try await client.send(parts.batch)
        #expect(!answer.failures.isEmpty && service.content.people.count == 7)
    }
}
