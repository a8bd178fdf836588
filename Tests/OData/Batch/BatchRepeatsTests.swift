import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Reads of a batch that the service refuses for the moment are sent again, changes aren't.
@Suite struct BatchRepeatsTests {
    private typealias Person = BatchPerson

    private let people = FetchRequest<Person>()
    private static let forms: [(ODataVersion, BatchSettings)] = [(.v4, BatchSettings()), (.v401, BatchSettings()), (.v2, BatchSettings())]

    /// A service that refuses requests by their position in the first batches.
    private final class Throttle: Sendable {
        let service: BatchService
        private let refusals: Locked<[Set<Int>]>

        init(_ service: BatchService, _ refusals: [Set<Int>]) {
            self.service = service
            self.refusals = Locked(refusals)
        }

        /// An answer with the next refusals.
        var answer: StubAnswer {
            .answering { request in
                let failing = self.refusals.withLock { $0.isEmpty ? [] : $0.removeFirst() }
                self.service.options.withLock { $0.failing = failing }
                return self.service.answer
            }
        }
    }

    private func client(_ answer: StubAnswer, _ version: ODataVersion, _ settings: BatchSettings, attempts: Int = 3) -> ODataClient {
        let stub = StubTransport()
        let client = stub.client(version)
        stub.fallback(answer)
        client.batching = settings
        client.configure { $0.retry = RetryPolicy(attempts: attempts, backoff: Backoff(base: .zero, cap: .zero, jitter: .none)) }
        return client
    }

    @Test(arguments: forms)
    func `refused reads are sent again, and changes keep their error`(form: (ODataVersion, BatchSettings)) async throws {
        let service = BatchService(people: [1: "Ada", 2: "Bob"])
        let throttle = Throttle(service, [[0, 1, 2], [1]])
        let client = client(throttle.answer, form.0, form.1)
        var batch = ODataBatch()
        let first = batch.fetch(people.key(1))
        let second = batch.fetch(people.key(2))
        let created = batch.create(Person(Id: 0, Name: "New"), in: people)
        let third = batch.fetch(people.key(1))
        let answer = try await client.send(batch)
        #expect(try answer[first].Name == "Ada" && answer[second].Name == "Bob" && answer[third].Name == "Ada")
        guard case .failure(let error) = answer.result(of: created) else { throw TestingFailure("a refused change succeeded") }
        #expect(error.status == 500 && service.count == 3 && service.content.people.count == 2)
    }

    @Test func `nothing is sent again without attempts, with stop, and in groups`() async throws {
        let service = BatchService(people: [1: "Ada"])
        var batch = ODataBatch()
        let read = batch.fetch(people.key(1))
        _ = batch.atomically { $0.create(Person(Id: 0, Name: "x"), in: people) }
        for (attempts, policy) in [(1, BatchErrorPolicy.proceed), (3, .stop)] {
            let client = client(Throttle(service, [[0]]).answer, .v4, BatchSettings(), attempts: attempts)
            let before = service.count
            guard case .failure(let error) = try await client.send(batch, afterError: policy).result(of: read) else {
                throw TestingFailure("a refused read succeeded")
            }
            #expect(error.status == 500 && service.count == before + 1)
        }
        let grouped = client(Throttle(service, [[1]]).answer, .v4, BatchSettings())
        let before = service.count
        #expect(try await grouped.send(batch).failures.count == 1)
        #expect(service.count == before + 1)
    }

    @Test func `if the repeated batch fails as a whole, the earlier errors remain`() async throws {
        let service = BatchService(people: [1: "Ada", 2: "Bob"])
        let throttle = Throttle(service, [[0]])
        let client = client(.inTurn(throttle.answer, .status(413)), .v4, BatchSettings())
        var batch = ODataBatch()
        let read = batch.fetch(people.key(1))
        let other = batch.fetch(people.key(2))
        let answer = try await client.send(batch)
        guard case .failure(let error) = answer.result(of: read) else { throw TestingFailure("a refused read succeeded") }
        #expect(error.status == 500)
        #expect(try answer[other].Name == "Bob")
    }

    @Test func `if the answer to repeated reads is uncertain, the earlier errors remain`() async throws {
        let service = BatchService(.init(namesParts: false), people: [1: "Ada", 2: "Bob"])
        let throttle = Throttle(service, [[0, 1]])
        let part = "--b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"Id\":2,\"Name\":\"Bob\"}\r\n--b--"
        let answers = StubAnswer.inTurn(throttle.answer, .data(Data(part.utf8), type: "multipart/mixed; boundary=b"))
        let client = client(answers, .v4, BatchSettings(), attempts: 2)
        var batch = ODataBatch()
        _ = batch.fetch(people.key(1))
        _ = batch.fetch(people.key(2))
        #expect(try await client.send(batch).failures.map(\.status) == [500, 500])
    }

    @Test func `the wait is the longest that a response asks for, within the policy's bounds`() {
        var policy = RetryPolicy(attempts: 3, backoff: Backoff(base: .zero, cap: .zero, jitter: .none))
        policy.longestWait = .seconds(60)
        func reply(_ status: Int, _ wait: String?) -> BatchReply {
            BatchReply(id: nil, status: status, headers: wait.map { ["Retry-After": $0] } ?? [:])
        }
        let now = Date(timeIntervalSince1970: 0)
        var repeats = BatchRepeats(policy)
        let replies = [1: reply(429, "7"), 2: reply(503, nil), 3: reply(404, "1"), 4: reply(200, nil), 5: reply(429, "61")]
        let first = repeats.next(replies, now: now)
        #expect(first?.numbers == [1, 2] && first?.wait == .seconds(7))
        let second = repeats.next([2: reply(503, "Thu, 01 Jan 1970 00:00:09 GMT")], now: now)
        #expect(second?.numbers == [2] && second?.wait == .seconds(9))
        let third = repeats.next([2: reply(503, nil)], now: now)
        #expect(third == nil)
        policy.longestTotal = .seconds(10)
        var bounded = BatchRepeats(policy)
        let some = bounded.next([1: reply(429, "8"), 2: reply(429, "11")], now: now)
        #expect(some?.numbers == [1])
        let none = bounded.next([1: reply(429, "3")], now: now)
        #expect(none == nil)
    }

    @Test func `requests one by one and as a batch lead to the same state and the same results`() async throws {
        var random = SeededGenerator(seed: 11)
        let people = people
        for _ in 0..<Sweep.rounds(ofAll: 200) {
            let (version, settings) = Self.forms.randomElement(using: &random) ?? (.v4, BatchSettings())
            let (single, together) = (BatchService(people: [1: "Ada", 2: "Bob"]), BatchService(people: [1: "Ada", 2: "Bob"]))
            let calls: [@Sendable (ODataClient) async throws -> String] = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                let (kind, id) = (Int.random(in: 0..<4, using: &random), Int.random(in: 1...4, using: &random))
                return { client in
                    switch kind {
                    case 0: return try await client.fetch(people.key(id)).Name
                    case 1: return "\(try await client.create(Person(Id: 0, Name: "P\(id)"), in: people).status ?? 0)"
                    case 2: return "\(try await client.update(people.key(id), setting: ["Name": .string("U\(id)")], if: .none).status ?? 0)"
                    default:
                        try await client.delete(people.key(id))
                        return "deleted"
                    }
                }
            }
            func text(_ result: Result<String, ServiceError>) -> String {
                switch result {
                case .success(let text): text
                case .failure(let error): "\(error.status ?? 0)"
                }
            }
            var batch = ODataBatch()
            let parts = calls.map { batch.add($0) }
            let answer = try await client(together.answer, version, settings).send(batch)
            let alone = client(single.singleAnswer, version, settings)
            for (part, call) in zip(parts, calls) {
                let result: Result<String, ServiceError>
                do {
                    result = .success(try await call(alone))
                } catch let error as ServiceError {
                    result = .failure(error)
                }
                #expect(text(answer.result(of: part)) == text(result))
            }
            #expect(together.content == single.content)
        }
    }
}
