import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import OData
@testable import WebServiceClient

/// Changes that the service recognizes when they come again (OASIS Repeatable Requests 1.0).
@Suite struct RepeatableRequestsTests {
    private typealias Person = BatchPerson

    private let people = FetchRequest<Person>()
    private let stub = StubTransport()
    private let accepted: HTTPFields = ["Repeatability-Result": "accepted"]

    /// Returns a client that repeats calls, and whose clock advances by a second with each reading.
    private func client(_ version: ODataVersion = .v4, repeatable: Bool = true) -> ODataClient {
        let seconds = Locked(784_111_777.0)
        let clock = CallClock(
            now: { .now },
            date: {
                seconds.withLock { seconds in
                    defer { seconds += 1 }
                    return Date(timeIntervalSince1970: seconds)
                }
            },
            schedule: { _, action in
                action()
                return {}
            })
        return CallClock.$current.withValue(clock) {
            let client = stub.client(version)
            client.configure { $0.retry = RetryPolicy(attempts: 4, backoff: Backoff(base: .zero)) }
            client.sendsRepeatableRequests = repeatable
            return client
        }
    }

    private func values(_ name: HTTPFields.Name) -> [String?] { stub.requests.map { $0.request.headers[name] } }

    private let lost = StubAnswer.failure(TransportError(.connectionLost, "gone"))

    @Test func `all attempts of a change have one identifier and the time of the first`() async throws {
        let client = client()
        let created = StubAnswer.json(#"{"Id":1,"Name":"Ada"}"#, status: 201, headers: accepted)
        stub.fallback(.inTurn(lost, .status(503), .status(425), .status(425), created))
        #expect(try await client.create(Person(Id: 1, Name: "Ada"), in: people).entity?.Name == "Ada")
        #expect(stub.requests.count == 5)
        let ids = values("Repeatability-Request-ID")
        let id = try #require(ids[0])
        #expect(Set(ids).count == 1 && UUID(uuidString: id) != nil)
        let times = Set(values("Repeatability-First-Sent"))
        #expect(times.count == 1 && times.allSatisfy { $0?.hasPrefix("Sun, 06 Nov 1994 08:49:") == true })
        // Another call is another request.
        stub.fallback(.status(204, headers: accepted))
        try await client.delete(people.key(1))
        try await client.invoke(ResourcePath(entitySet: "Reset"))
        #expect(Set(values("Repeatability-Request-ID")).count == 3 && !values("Repeatability-First-Sent").contains(nil))
    }

    @Test func `reads have no identifier, and changes only where the program says so`() async throws {
        let client = client()
        stub.fallback(.json(#"{"Id":1,"Name":"Ada"}"#))
        _ = try await client.fetch(people.key(1))
        let plain = self.client(repeatable: false)
        stub.fallback(.inTurn(.status(204), lost))
        try await plain.delete(people.key(1))
        await #expect(throws: ServiceError.self) { try await plain.create(Person(Id: 1, Name: "Ada"), in: people) }
        #expect(values("Repeatability-Request-ID") == [nil, nil, nil] && values("Repeatability-First-Sent") == [nil, nil, nil])
    }

    @Test func `a request's own identifier stays, and makes it repeatable`() async throws {
        let client = client(repeatable: false)
        stub.fallback(.inTurn(lost, .status(204, headers: accepted)))
        let request = people.header("Repeatability-Request-ID", "mine").header("Repeatability-First-Sent", "Sun, 06 Nov 1994 08:49:37 GMT")
        try await client.create(Person(Id: 1, Name: "Ada"), in: request)
        #expect(values("Repeatability-Request-ID") == ["mine", "mine"])
        #expect(Set(values("Repeatability-First-Sent")) == ["Sun, 06 Nov 1994 08:49:37 GMT"])
    }

    @Test func `a rejection is an error that says what is known`() async throws {
        let rejected: HTTPFields = ["Repeatability-Result": "rejected"]
        let client = client()
        client.configure { $0.retry = .never }
        for (status, expected) in [
            (412, ODataRepeatabilityError.forgotten), (425, .inProgress), (501, .unsupported), (400, .refused(status: 400)),
            (204, .performed(status: 204)),
        ] {
            stub.fallback(.status(status, headers: rejected))
            let error = await #expect(throws: ServiceError.self) { try await client.delete(people.key(1)) }
            #expect(error?.cause as? ODataRepeatabilityError == expected && error?.kind == .repeatability && error?.status == status)
            #expect(error?.message.contains("\(status)") == true)
        }
        // The service's own explanation stays.
        stub.fallback(.json(#"{"error":{"code":"x","message":"too old"}}"#, status: 412, headers: rejected))
        let error = await #expect(throws: ServiceError.self) { try await client.delete(people.key(1)) }
        #expect(error?.message.contains("too old") == true && (error?.errorBody as? ODataErrorBody)?.message == "too old")
        #expect(error?.request?.idempotencyKey == stub.requests.last?.request.headers["Repeatability-Request-ID"])
        // The failure of the change's own condition isn't a rejection.
        stub.fallback(.status(412, headers: accepted))
        let condition = await #expect(throws: ServiceError.self) { try await client.delete(people.key(1), if: .version("\"1\"")) }
        #expect(condition?.status == 412 && condition?.cause as? ODataRepeatabilityError == nil)
        // Asynchronous requests, too.
        stub.fallback(.status(501, headers: rejected))
        let job = await #expect(throws: ServiceError.self) { _ = try await client.start(deleting: people.key(1)) }
        #expect(job?.cause as? ODataRepeatabilityError == .unsupported)
    }

    @Test func `a service that says nothing is reported once`() async throws {
        let client = client()
        let events = Locked<[String]>([])
        client.configure { $0.diagnostics = Diagnostics { event in events.withLock { $0.append(event.message) } } }
        for headers in [accepted, [:], [:]] {
            stub.fallback(.status(204, headers: headers))
            try await client.delete(people.key(1))
        }
        #expect(events.withLock { $0.filter { $0.contains("Repeatability-Result") }.count } == 1)
    }

    // MARK: Batches

    /// A service that performs a batch, loses its answer, and remembers it by the identifier.
    private final class Remembering: Sendable {
        let service = BatchService(people: [1: "Ada"])
        private let known = Locked<[String: StubAnswer]>([:])
        private let losses: Locked<Int>

        init(losses: Int) { self.losses = Locked(losses) }

        var answer: StubAnswer {
            .answering { request in
                guard let id = request.request.headers["Repeatability-Request-ID"] else { return self.service.answer }
                if let answer = self.known.withLock({ $0[id] }) { return answer }
                let type = request.request.headers[.contentType] ?? ""
                let (status, answerType, body) = try self.service.execute(
                    request.body ?? Data(), type: type, preference: "continue-on-error")
                let answer = StubAnswer.data(body, type: answerType, status: status, headers: ["Repeatability-Result": "accepted"])
                self.known.withLock { $0[id] = answer }
                let isLost = self.losses.withLock { losses in
                    defer { losses -= 1 }
                    return losses > 0
                }
                return isLost ? .failure(TransportError(.connectionLost, "gone")) : answer
            }
        }
    }

    @Test(arguments: [ODataVersion.v4, .v401]) func `a batch with changes comes again after a lost answer, and is performed once`(
        version: ODataVersion
    ) async throws {
        let client = client(version)
        let remembering = Remembering(losses: 1)
        stub.fallback(remembering.answer)
        var batch = ODataBatch()
        let created = batch.create(Person(Id: 0, Name: "Cy"), in: people)
        let ada = batch.fetch(people.key(1))
        let answer = try await client.send(batch)
        #expect(try answer[created].entity?.Name == "Cy" && answer[ada].Name == "Ada")
        #expect(remembering.service.content.people == [1: "Ada", 100: "Cy"] && remembering.service.count == 1)
        #expect(stub.requests.count == 2 && Set(values("Repeatability-Request-ID")).count == 1)
        // The identifier belongs to the batch, not to its parts.
        let text = String(decoding: stub.requests[0].body ?? Data(), as: UTF8.self).lowercased()
        #expect(values("Repeatability-Request-ID")[0] != nil && !text.contains("repeatability"))
    }

    @Test func `each batch of several has its own identifier, those that read have none`() async throws {
        let client = client()
        client.batching.limit = 1
        stub.fallback(Remembering(losses: 0).answer)
        var batch = ODataBatch()
        for name in ["x", "y"] { batch.create(Person(Id: 0, Name: name), in: people) }
        _ = batch.fetch(people.key(1))
        #expect(try await client.send(batch).failures.isEmpty)
        let ids = values("Repeatability-Request-ID")
        #expect(ids.count == 3 && Set(ids).count == 3 && ids[2] == nil && values("Repeatability-First-Sent")[2] == nil)
        // One identifier can't be that of several batches.
        batch.headers["Repeatability-Request-ID"] = "mine"
        await #expect(throws: ServiceError.self) { try await client.send(batch) }
        #expect(stub.requests.count == 3)
        client.batching.limit = nil
        client.sendsRepeatableRequests = false
        #expect(try await client.send(batch).failures.isEmpty)
        #expect(values("Repeatability-Request-ID").last == "mine" && values("Repeatability-First-Sent").last.flatMap(\.self) != nil)
    }

    @Test func `a rejected batch is an error`() async throws {
        let client = client()
        var batch = ODataBatch()
        batch.delete(people.key(1))
        for status in [200, 501] {
            stub.fallback(
                .data(
                    Data("--b--\r\n".utf8), type: "multipart/mixed; boundary=b", status: status,
                    headers: ["Repeatability-Result": "rejected"]))
            let error = await #expect(throws: ServiceError.self) { try await client.send(batch) }
            #expect((error?.cause as? ODataRepeatabilityError) == ODataRepeatabilityError(status: status))
        }
    }

    @Test func `the request for a CSRF token isn't the change`() async throws {
        let client = client(.v2)
        let root = try #require(URL(string: "https://h.example/svc/"))
        client.configure { $0.interceptors = [CSRFProtection(fetchingFrom: root)] }
        stub.on(.get, "/svc/", .status(200, headers: ["X-CSRF-Token": "t"]))
        stub.fallback(.inTurn(.status(403, headers: ["X-CSRF-Token": "Required"]), .status(204, headers: accepted)))
        try await client.delete(people.key(1))
        let ids = values("Repeatability-Request-ID")
        #expect(ids.count == 4 && ids[0] == nil && ids[2] == nil && ids[1] != nil && ids[1] == ids[3])
    }
}
