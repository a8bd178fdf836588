import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import OData
@testable import WebServiceClient

/// Batches that a service carries out asynchronously.
@Suite struct AcceptedBatchesTests {
    private let people = FetchRequest<BatchPerson>()
    private let waits = Locked([Duration]())
    private static let type = "multipart/mixed; boundary=b"
    private static let parts =
        "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
        + "{\"Id\":1,\"Name\":\"Ada\"}\r\n--b--\r\n"

    /// A client whose waits end immediately.
    private func client(_ stub: StubTransport, _ version: ODataVersion = .v4) -> ODataClient {
        let waits = waits
        let clock = CallClock(
            now: { .now }, date: { Date(timeIntervalSince1970: 1_800_000_000) },
            schedule: { delay, action in
                waits.withLock { $0.append(delay) }
                action()
                return {}
            })
        return CallClock.$current.withValue(clock) { stub.client(version) }
    }

    /// Sends a batch to a service that accepts it, and whose monitor has these answers.
    private func send(
        _ answers: StubAnswer..., to stub: StubTransport = StubTransport(), version: ODataVersion = .v4
    ) async throws -> Result<BatchPerson, ServiceError> {
        let left = Locked(answers[...])
        stub.on(.post, "/*path", .status(202, headers: ["Location": "/status/1", "Retry-After": "7"]))
        stub.on(.get, "/*path", .answering { _ in left.withLock { $0.popFirst() ?? .status(404) } })
        var batch = ODataBatch()
        let ada = batch.fetch(people.key(1))
        batch.headers["Prefer"] = "wait=1, Respond-Async"
        return try await client(stub, version).send(batch).result(of: ada)
    }

    private func inside(_ response: String) -> StubAnswer { .data(Data(response.utf8), type: "application/http") }

    @Test func `the monitor is polled until it has the parts`() async throws {
        let stub = StubTransport()
        let result = try await send(
            .status(202), .status(202, headers: ["Location": "https://h.example/status/2"]),
            .data(Data(Self.parts.utf8), type: Self.type), to: stub)
        #expect(try result.get().Name == "Ada")
        #expect(stub.requests.map(\.request.url.path) == ["/svc/$batch", "/status/1", "/status/1", "/status/2"])
        #expect(stub.requests.dropFirst().allSatisfy { $0.request.headers["Accept"] == "multipart/mixed" })
        #expect(waits.withLock { $0 } == [.seconds(7), .seconds(1), .seconds(2)])
    }

    @Test func `the answer may be a response inside of a body`() async throws {
        let result = try await send(inside("HTTP/1.1 200 OK\r\nContent-Type: \(Self.type)\r\nOData-Version: 4.0\r\n\r\n" + Self.parts))
        #expect(try result.get() == BatchPerson(Id: 1, Name: "Ada"))
        let json = #"{"responses":[{"id":"1","status":200,"body":{"Id":1,"Name":"Bo"}}]}"#
        #expect(try await send(.json(json), version: .v401).get().Name == "Bo")
    }

    @Test func `the monitor's URL keeps its secrets, and links are relative to the batch`() async throws {
        let stub = StubTransport()
        stub.on(.post, "/*path", .status(202, headers: ["Location": "/status/1?sig=abc"]))
        let link = #","@nextLink":"more?$skiptoken=2""#
        let pages = Locked([(1, link), (2, "")][...])
        stub.on(
            .get, "/*path",
            .answering { _ in
                let (id, link) = pages.withLock { $0.popFirst() ?? (0, "") }
                return .json(#"{"responses":[{"id":"\#(id)","status":200,"body":{"Id":\#(id),"Name":"Ada"}}]\#(link)}"#)
            })
        var batch = ODataBatch()
        let (first, second) = (batch.fetch(people.key(1)), batch.fetch(people.key(2)))
        batch.headers["Prefer"] = "respond-async"
        let answer = try await client(stub, .v401).send(batch)
        #expect(try answer[first].Id == 1 && answer[second].Id == 2)
        let urls = stub.requests.dropFirst().map(\.request.url.absoluteString)
        #expect(urls == ["https://h.example/status/1?sig=abc", "https://h.example/svc/more?$skiptoken=2"])
    }

    @Test func `a report isn't the answer, and may end the wait`() async throws {
        let stub = StubTransport()
        let json = #"{"responses":[{"id":"1","status":200,"body":{"Id":1,"Name":"Bo"}}]}"#
        let running = #"{"status":"running"}"#
        let result = try await send(.json(running), .json(running, status: 202), .json(json), to: stub, version: .v401)
        #expect(try result.get().Name == "Bo" && stub.requests.count == 4)
        for status in [200, 202] {
            let error = await #expect(throws: ServiceError.self) {
                _ = try await send(.json(#"{"status":"failed","error":{"code":"E1","message":"too much"}}"#, status: status))
            }
            #expect(error?.kind == .refused && (error?.errorBody as? ODataErrorBody)?.code == "E1", "\(String(describing: error))")
            // The batch is finished, but its responses aren't there.
            let other = StubTransport()
            guard case .failure(let missing) = try await send(.json(#"{"status":"completed"}"#, status: status), to: other, version: .v401),
                case .unanswered? = missing.cause as? ODataBatchError
            else { throw TestingFailure("the result of a report") }
            #expect(other.requests.count == 2)
        }
        // An error after the responses doesn't revoke them.
        let late = String(json.dropLast()) + #","error":{"code":"E1","message":"too much"}}"#
        #expect(try await send(.json(late), version: .v401).get().Name == "Bo")
    }

    @Test func `an answer in JSON above the length of reports is read`() async throws {
        let name = String(repeating: "a", count: JobReport.limit)
        let pieces = [#"{"responses":[{"id":"1","status":200,"body":{"Id":1,"Name":""#, name, #""}}"#, "]}"].map { Data($0.utf8) }
        let answer = StubAnswer.pieces(pieces, headers: ["Content-Type": "application/json"])
        #expect(try await send(answer, version: .v401).get().Name == name)
    }

    @Test func `an answer that is cut has no false results`() async throws {
        let cut = String(Self.parts.dropLast(8))
        let result = try await send(inside("HTTP/1.1 200 OK\r\nContent-Type: \(Self.type)\r\n\r\n" + cut))
        guard case .failure(let error) = result, case .unanswered? = error.cause as? ODataBatchError else {
            throw TestingFailure("\(result)")
        }
    }

    @Test func `failures of the batch and of the monitor are errors`() async throws {
        let text = #"{"error":{"code":"E1","message":"too much"}}"#
        let answers: [(StubAnswer, ServiceError.Kind, Int?)] = [
            (inside("HTTP/1.1 413 x\r\nContent-Type: application/json\r\n\r\n" + text), .refused, 413),
            (.data(Data(text.utf8), type: "application/json", headers: ["AsyncResult": "400"]), .refused, 400),
            (inside("no response"), .job, 200), (.status(404), .job, 404), (.text("hello"), .format, 200),
            (.data(Data(Self.parts.utf8), type: Self.type, headers: ["AsyncResult": "soon"]), .job, 200),
            (.data(Data(Self.parts.utf8), type: Self.type, headers: ["OData-Version": "9.0"]), .version, 200),
            (inside("HTTP/1.1 200 OK\r\nContent-Type: \(Self.type)\r\nOData-Version: 9.0\r\n\r\n" + Self.parts), .version, 200),
            (
                inside("HTTP/1.1 200 x\r\nContent-Type: \(Self.type)\r\nRepeatability-Result: rejected\r\n\r\n" + Self.parts),
                .repeatability, 200
            ),
        ]
        for (answer, kind, status) in answers {
            let error = await #expect(throws: ServiceError.self) { _ = try await send(answer) }
            #expect(error?.kind == kind && error?.status == status, "\(String(describing: error))")
        }
    }

    @Test func `an acceptance that is taken back after its body is an error, and the monitor isn't asked`() async throws {
        let stub = StubTransport()
        stub.on(
            .post, "/*path",
            .pieces([Data("soon".utf8)], status: 202, headers: ["Location": "/status/1", "Content-Type": "text/plain"]))
        var batch = ODataBatch()
        _ = batch.fetch(people.key(1))
        batch.headers["Prefer"] = "respond-async"
        let client = client(stub).takingBackItsAnswers()
        let error = await #expect(throws: ServiceError.self) { _ = try await client.send(batch) }
        #expect(error?.kind == .refused && (error?.errorBody as? ODataErrorBody)?.code == "E1" && stub.requests.count == 1)
    }

    @Test func `an acceptance whose body breaks off leads to the monitor all the same`() async throws {
        let stub = StubTransport()
        stub.on(
            .post, "/*path",
            .pieces(
                [Data("so".utf8)], failing: TransportError(.connectionLost, "cut"), status: 202,
                headers: ["Location": "/status/1", "Content-Type": "text/plain", "Content-Length": "4"]))
        stub.on(.get, "/*path", .data(Data(Self.parts.utf8), type: Self.type))
        var batch = ODataBatch()
        let ada = batch.fetch(people.key(1))
        batch.headers["Prefer"] = "respond-async"
        #expect(try await client(stub).send(batch)[ada].Name == "Ada")
        #expect(stub.requests.map(\.request.url.path) == ["/svc/$batch", "/status/1"])
    }

    @Test func `without the preference an accepted batch is an error that names the monitor`() async throws {
        let stub = StubTransport()
        stub.on(.post, "/*path", .status(202, headers: ["Location": "/status/1"]))
        var batch = ODataBatch()
        _ = batch.fetch(people.key(1))
        batch.headers["Prefer"] = "respond-asynchronously"
        let error = await #expect(throws: ServiceError.self) { _ = try await client(stub).send(batch) }
        guard case .accepted(let monitor, _)? = error?.cause as? ODataStatusError else {
            throw TestingFailure("\(String(describing: error))")
        }
        #expect(monitor?.absoluteString == "https://h.example/status/1" && stub.requests.count == 1)
    }
}
