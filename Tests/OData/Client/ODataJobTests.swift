import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import OData
@testable import WebServiceClient

/// Requests that a service carries out asynchronously.
@Suite struct ODataJobTests {
    struct Item: Codable, Sendable, Equatable { var id: Int }

    private let stub = StubTransport()
    private let items = FetchRequest<Item>(from: "Items")
    private let waits = Locked([Duration]())
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// A client whose waits end at once.
    private func client(_ version: ODataVersion = .v4, root: String = "https://h.example/svc/") -> ODataClient {
        let waits = waits
        let clock = CallClock(
            now: { .now }, date: { Self.now },
            schedule: { delay, action in
                waits.withLock { $0.append(delay) }
                action()
                return {}
            })
        return CallClock.$current.withValue(clock) {
            let client = stub.client(version, root: root)
            client.configure { $0.headers = ["X-Client": "1"] }
            return client
        }
    }

    private func monitors(_ answers: StubAnswer...) {
        let left = Locked(answers[...])
        stub.on(.get, "/*path", .answering { _ in left.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? .status(404) } })
        stub.on(.delete, "/*path", .status(204))
    }

    private func accepted(_ location: String = "/status/1", after seconds: String? = nil) -> StubAnswer {
        var headers: HTTPFields = ["Location": location]
        headers["Retry-After"] = seconds
        return .status(202, headers: headers)
    }

    private static let page = #"{"value":[{"id":1}],"@odata.nextLink":"Items?$skiptoken=1"}"#

    private var prefer: [String] { stub.requests[0].request.headers[values: "Prefer"] }

    @Test func `a service may answer immediately`() async throws {
        stub["Items"] = .json(Self.page)
        let job = try await client().start(items, waiting: .milliseconds(9_100))
        #expect(try await job.value.entities == [Item(id: 1)] && job.ticket == nil)
        #expect(try await job.status() == .finished)
        #expect(try await job.cancel() == .finished)
        #expect(prefer == ["respond-async, wait=10"] && stub.requests.count == 1 && waits.withLock { $0 } == [])
    }

    @Test func `the monitor is polled as asked, and may move`() async throws {
        stub["Items"] = .answering { [stub] request in
            switch stub.requests.count {
            case 1: return accepted(after: "7")
            case 2: return accepted("/status/2?s3cret")
            case 3: return .status(202)
            default:
                return .json(Self.page, headers: ["AsyncResult": "200", "ETag": "\"1\""])
            }
        }
        let job = try await client().start(items)
        let response = try await job.response()
        #expect(response.value.entities == [Item(id: 1)] && response.status == 200 && response.headers["ETag"] == "\"1\"")
        // Links are relative to the request, not to the monitor.
        #expect(response.value.url(of: response.value.nextLink)?.absoluteString == "https://h.example/svc/Items?$skiptoken=1")
        let urls = stub.requests.map(\.request.url.absoluteString).dropFirst()
        #expect(urls == ["https://h.example/status/1", "https://h.example/status/2?s3cret", "https://h.example/status/2?s3cret"])
        #expect(waits.withLock { $0 } == [.seconds(7), .seconds(1), .seconds(2)])
        #expect(stub.requests[1].request.headers["Accept"]?.hasPrefix("application/json") == true)
        #expect(stub.requests[1].request.headers["X-Client"] == "1" && stub.requests[1].request.headers["Prefer"] == nil)
        #expect(job.ticket == nil)
    }

    @Test func `the result may be a response inside of a body`() async throws {
        let inner = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nOData-Version: 4.0\r\n\r\n" + Self.page
        stub["Items"] = .inTurn(accepted(), .data(Data(inner.utf8), type: "application/http"))
        #expect(try await client().start(items).value.entities == [Item(id: 1)])
        let failed = "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n\r\n" + #"{"error":{"code":"E1","message":"gone"}}"#
        stub["Items"] = .inTurn(accepted(), .data(Data(failed.utf8), type: "application/http"))
        let error = await #expect(throws: ServiceError.self) { try await client().start(items).value }
        #expect(error?.status == 404 && (error?.errorBody as? ODataErrorBody)?.code == "E1")
        stub["Items"] = .inTurn(accepted(), .data(Data("nothing".utf8), type: "application/http"))
        let broken = await #expect(throws: ServiceError.self) { try await client().start(items).value }
        #expect(broken?.kind == .job)
    }

    @Test func `a result of another format names its media type`() async throws {
        let bodies = [
            ("text/html", "<html><title>Sign in</title></html>"), ("application/xml", "<feed/>"), ("image/png", "\u{1}\u{2}"),
            ("multipart/mixed; boundary=b", "--b\r\n\r\n--b--"), ("text/plain", "down for maintenance"),
        ]
        let client = client()
        for (type, body) in bodies {
            let inner = "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n" + body
            let monitored: [StubAnswer] = [
                .data(Data(body.utf8), type: type, headers: ["AsyncResult": "200"]), .data(Data(inner.utf8), type: "application/http"),
            ]
            for answer in monitored.map({ StubAnswer.inTurn(accepted(), $0) }) + [.data(Data(body.utf8), type: type)] {
                stub["Items"] = answer
                let error = await #expect(throws: ServiceError.self) { try await client.start(items).value }
                let names = error?.message.contains(type.prefix { $0 != ";" }) ?? false
                #expect(error?.kind == .format && names, "\(String(describing: error))")
            }
        }
        for status in [200, 204] {
            stub["Items"] = .inTurn(accepted(), .status(200, headers: ["AsyncResult": "\(status)"]))
            let error = await #expect(throws: ServiceError.self) { try await client.start(items).value }
            #expect(error?.kind == .emptyBody && error?.message.contains("status \(status) and no body") == true)
        }
    }

    @Test func `failures of the request and of the monitor are errors`() async throws {
        let body = #"{"error":{"code":"E1","message":"m"}}"#
        let cases: [(StubAnswer, Int?, ServiceError.Kind)] = [
            (.json(body, headers: ["AsyncResult": "409"]), 409, .refused), (.json("x", headers: ["AsyncResult": "500"]), 500, .status),
            (.json(body, headers: ["AsyncResult": "abc"]), 200, .job), (.status(404), 404, .job), (.status(410), 410, .job),
            (.status(503), 503, .status), (.json(body, status: 500), 500, .refused), (.json(#"{"value":[{"id":"#), 200, .decoding),
            (.status(200), 200, .emptyBody), (.json(#"{"operation":"copy","status":"failed"}"#, status: 202), 202, .refused),
            (.status(202, headers: ["Location": "ftp://h.example/1"]), nil, .link),
        ]
        for (answer, status, kind) in cases {
            stub["Items"] = .inTurn(accepted(), answer)
            let error = await #expect(throws: ServiceError.self) { try await client().start(items).value }
            #expect(error?.status == status && error?.kind == kind, "\(kind) \(String(describing: error))")
        }
        stub["Items"] = .status(202)
        let lost = await #expect(throws: ServiceError.self) { try await client().start(items) }
        #expect(lost?.cause as? ODataStatusError == .accepted(monitor: nil, retryAfter: nil))
        stub["Items"] = .json(body, status: 400)
        let refused = await #expect(throws: ServiceError.self) { try await client().start(items) }
        #expect(refused?.status == 400 && (refused?.errorBody as? ODataErrorBody)?.code == "E1")
    }

    @Test func `a job is found again by its ticket, and the ticket shows nothing`() async throws {
        stub["Items"] = .inTurn(accepted("/status/1?sig=s3cret", after: "5"), .json(Self.page))
        let ticket = try #require(try await client().start(items).ticket)
        #expect(ticket.notBefore == Self.now.addingTimeInterval(5))
        let kept = try JSONDecoder().decode(ODataJobTicket.self, from: JSONEncoder().encode(ticket))
        let job = try client().job(kept, returning: ODataPage<Item>.self)
        #expect(try await job.value.entities == [Item(id: 1)] && waits.withLock { $0 } == [.seconds(5)])
        var dumped = ""
        dump(ticket, to: &dumped)
        #expect(!"\(ticket)\(String(reflecting: ticket))\(dumped)".contains("s3cret"))
        let error = #expect(throws: ServiceError.self) {
            try client(root: "https://other.example/").job(kept, returning: ODataPage<Item>.self)
        }
        #expect(error?.cause as? ODataJobError == .otherService("https://h.example"))
    }

    @Test func `a monitor at another origin gets no credentials and no headers`() async throws {
        stub["Items"] = .inTurn(
            accepted("https://other.example/m/1"),
            .json(#"{"operation":"copy","status":"inProgress","percentageComplete":40}"#, status: 202),
            .json(#"{"operation":"copy","status":"completed","resourceId":"01"}"#, status: 202))
        let job: ODataJob<DynamicEntity> = try await client().start(invoking: ODataQuery(ResourcePath("Items")))
        #expect(try await job.status() == .running(progress: 0.4, wait: nil))
        #expect(try await job.value["resourceId"] == "01")
        for request in stub.requests.dropFirst() {
            #expect(request.request.url.host() == "other.example" && request.request.headers["X-Client"] == nil)
        }
        stub["Items"] = accepted("http://h.example/m/1")
        let error = await #expect(throws: ServiceError.self) { try await client().start(items) }
        #expect(error?.cause as? ODataJobError == .insecureMonitor("http://h.example/m/1"))
    }

    @Test func `a job can be cancelled`() async throws {
        stub["Items"] = .answering { [stub] request in
            guard request.request.method == .delete else { return accepted() }
            return stub.requests.count == 2 ? accepted("/status/2") : .status(204)
        }
        let job = try await client().start(items)
        #expect(try await job.cancel() == .pending)
        #expect(try await job.cancel() == .cancelled)
        #expect(stub.requests.last?.request.url.path() == "/status/2")
        for (answer, kind) in [(StubAnswer.status(405), ServiceError.Kind.status), (.status(404), .job)] {
            stub["Items"] = .answering { $0.request.method == .delete ? answer : accepted() }
            let other = try await client().start(items)
            let error = await #expect(throws: ServiceError.self) { try await other.cancel() }
            #expect(error?.kind == kind)
        }
    }

    @Test func `concurrent waits share the polls and the result`() async throws {
        let waits = waits
        stub["Items"] = .answering { [stub] _ in
            switch stub.requests.count {
            case 1: return accepted()
            case 2:
                // Both tasks have waited before the service answers, and it sends the result only once.
                while waits.withLock({ $0.count < 2 }) { await Task.yield() }
                return .json(Self.page)
            default: return .status(404)
            }
        }
        let job = try await client().start(items)
        let found = try await watched {
            async let first = job.value.entities
            async let second = job.value.entities
            return try await [first, second]
        }
        #expect(found == [[Item(id: 1)], [Item(id: 1)]] && stub.requests.count == 2)
        #expect(try await job.status() == .finished)
        #expect(try await job.cancel() == .finished)
    }

    @Test func `a cancelled wait ends immediately, and the answer in flight is kept`() async throws {
        let isOpen = Locked(false)
        stub["Items"] = .answering { [stub] _ in
            guard stub.requests.count > 1 else { return accepted() }
            while !isOpen.withLock({ $0 }) { await Task.yield() }
            return stub.requests.count == 2 ? .json(Self.page) : .status(404)
        }
        let job = try await client().start(items)
        try await watched { [stub] in
            let waiting = Task { try await job.value }
            while stub.requests.count < 2 { await Task.yield() }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            isOpen.withLock { $0 = true }
            let entities = try await job.value.entities
            #expect(entities == [Item(id: 1)] && stub.requests.count == 2)
        }
    }

    @Test func `the final answer is kept, also if it is a failure or can't be decoded`() async throws {
        let body = #"{"error":{"code":"E1","message":"m"}}"#
        let answers: [(StubAnswer, ServiceError.Kind)] = [
            (.json(body, headers: ["AsyncResult": "409"]), .refused), (.json(#"{"value":[{"id":"x"}]}"#), .decoding),
            (.json(body, headers: ["AsyncResult": "abc"]), .job), (.data(Data("nothing".utf8), type: "application/http"), .job),
            (.json(#"{"operation":"copy","status":"failed"}"#, status: 202), .refused),
        ]
        for (answer, kind) in answers {
            stub.forgetRequests()
            stub["Items"] = .inTurn(accepted(), answer, .status(404))
            let job = try await client().start(items)
            for _ in 0..<2 {
                let error = await #expect(throws: ServiceError.self) { try await job.value }
                #expect(error?.kind == kind)
                let same = await #expect(throws: ServiceError.self) { try await job.status() }
                #expect(same?.kind == kind)
            }
            #expect(stub.requests.count == 2 && job.ticket == nil)
            #expect(try await job.cancel() == .finished)
        }
        // A failed poll isn't final.
        stub["Items"] = .inTurn(accepted(), .status(400), .json(Self.page))
        let job = try await client().start(items)
        await #expect(throws: ServiceError.self) { try await job.status() }
        #expect(try await job.value.entities == [Item(id: 1)])
    }

    private struct Choosy: Decodable, Sendable {
        static let key = CodingUserInfoKey(rawValue: "choosy")

        init(from decoder: any Decoder) throws {
            guard let key = Self.key, decoder.userInfo[key] != nil else {
                throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "The setting is missing."))
            }
        }
    }

    @Test func `a result is decoded again with the client's settings of that time`() async throws {
        stub["Items"] = .inTurn(accepted(), .json(#"{"id":1}"#), .status(404))
        let client = client()
        let job: ODataJob<Choosy> = try await client.start(evaluating: ODataQuery(ResourcePath("Items")))
        await #expect(throws: ServiceError.self) { try await job.value }
        client.userInfo = [try #require(Choosy.key): true]
        _ = try await job.value
        #expect(stub.requests.count == 2)
    }

    @Test func `a failure after the response is an error`() async throws {
        for status in [200, 202] {
            stub["Items"] = status == 200 ? .json(Self.page) : accepted()
            let late = await #expect(throws: ServiceError.self) { try await self.client().takingBackItsAnswers().start(items) }
            #expect((late?.errorBody as? ODataErrorBody)?.code == "E1" && late?.kind == .refused, "\(status)")
        }
        let client = client()
        client.configure {
            $0.interceptors = [
                ResponseProcessor {
                    guard $0.status == 200 else { return }
                    $0.report = ExchangeReport(
                        metrics: { ExchangeMetrics() }, trailers: { ["OData-Error": #"{"error":{"code":"E1","message":"late"}}"#] })
                }
            ]
        }
        stub["Items"] = .inTurn(accepted(), .json(Self.page), .status(404))
        let job = try await client.start(items)
        for _ in 0..<2 {
            let error = await #expect(throws: ServiceError.self) { try await job.value }
            #expect((error?.errorBody as? ODataErrorBody)?.code == "E1" && error?.message.contains("late") == true)
        }
    }

    @Test func `a report or an error in a successful answer isn't the result`() async throws {
        let failed = #"{"operation":"copy","status":"failed"}"#
        let running = #"{"operation":"copy","status":"inProgress","percentageComplete":40}"#
        let error = #"{"error":{"code":"E1","message":"m"}}"#
        let action = ODataQuery(ResourcePath("Items"))
        for place in ["/status/1", "https://other.example/m/1"] {
            for body in [failed, error] {
                stub["Items"] = .inTurn(accepted(place), .json(running), .json(body), .status(404))
                let job: ODataJob<NoContent> = try await client().start(invoking: action)
                #expect(try await job.status() == .running(progress: 0.4, wait: nil), "\(place)")
                let refused = await #expect(throws: ServiceError.self) { try await job.value }
                #expect(refused?.kind == .refused && refused?.status == 200, "\(place) \(body)")
                #expect((refused?.errorBody as? ODataErrorBody)?.code == (body == error ? "E1" : nil))
            }
            stub["Items"] = .inTurn(accepted(place), .json(#"{"operation":"copy","status":"completed"}"#))
            let done: ODataJob<NoContent> = try await client().start(invoking: action)
            _ = try await done.value
            // If the answer has the final status itself, its body is the result.
            stub["Items"] = .inTurn(accepted(place), .json(failed, headers: ["AsyncResult": "200"]))
            let other: ODataJob<DynamicEntity> = try await client().start(invoking: action)
            #expect(try await other.value["status"] == "failed")
        }
        stub["Items"] = .inTurn(accepted("https://other.example/m/1"), .json(running), .json(failed))
        let foreign: ODataJob<DynamicEntity> = try await client().start(invoking: action)
        await #expect(throws: ServiceError.self) { try await foreign.value }
        // Entities with such properties.
        stub["Items"] = .inTurn(accepted("https://other.example/m/1"), .json(#"{"operation":"x","status":"open"}"#))
        let open: ODataJob<DynamicEntity> = try await client().start(invoking: action)
        #expect(try await open.value["status"] == "open")
        stub["Items"] = .inTurn(accepted(), .json(failed))
        let own: ODataJob<DynamicEntity> = try await client().start(invoking: action)
        #expect(try await own.value["status"] == "failed")
    }

    private var accepts: [String?] { stub.requests.map { $0.request.headers[.accept] } }

    @Test func `raw values and counts are requested and read as such, also by a ticket`() async throws {
        let client = client()
        let name = EntityRequest<String>(at: "Items(1)/Name/$value")
        let answer = StubAnswer.data(Data("5 \u{E9}".utf8), type: "text/plain;charset=utf-8")
        stub.fallback(answer)
        #expect(try await client.start(name).value == "5 \u{E9}")
        stub.fallback(.inTurn(accepted(), answer))
        #expect(try await client.start(name).value == "5 \u{E9}" && accepts == ["*/*", "*/*", "*/*"])
        stub.fallback(.inTurn(accepted(), answer))
        let ticket = try #require(try await client.start(name).ticket)
        let kept = try JSONDecoder().decode(ODataJobTicket.self, from: JSONEncoder().encode(ticket))
        #expect(kept == ticket)
        #expect(try await client.job(kept, returning: String.self).value == "5 \u{E9}" && accepts.last == "*/*")
        let inner = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n5"
        stub.fallback(.inTurn(accepted("https://other.example/m/1"), .data(Data(inner.utf8), type: "application/http")))
        #expect(try await client.start(name).value == "5" && accepts.last == "*/*")
        stub.forgetRequests()
        stub.fallback(.inTurn(accepted(), .data(Data("17".utf8), type: "text/plain")))
        #expect(try await client.start(EntityRequest<Int>(at: "Items/$count")).value == 17)
        #expect(accepts == Array(repeating: "text/plain, */*;q=0.1", count: 2))
        // The request's own field, and the client's settings.
        stub.forgetRequests()
        stub.fallback(.inTurn(accepted(), .json(Self.page)))
        _ = try await client.start(items.header("Accept", "application/json;odata.streaming=true")).value
        #expect(accepts == Array(repeating: "application/json;odata.streaming=true", count: 2))
        stub.forgetRequests()
        client.asksForIEEE754Compatible = true
        stub.fallback(.inTurn(accepted(), .json(Self.page)))
        _ = try await client.start(items).value
        #expect(accepts.count == 2 && accepts.allSatisfy { $0?.contains("IEEE754Compatible=true") == true })
    }

    @Test func `changes, operations and entities have typed results`() async throws {
        let client = client(.v401)
        let created = #"{"@odata.etag":"\"1\"","id":7}"#
        stub["Items"] = .inTurn(accepted(), .json(created, headers: ["AsyncResult": "201", "Location": "Items(7)"]))
        let job = try await client.start(creating: Item(id: 7), in: items, preferring: .representation)
        let response = try await job.response()
        #expect(response.status == 201 && response.value?.value == Item(id: 7) && response.value?.metadata.etag == "\"1\"")
        #expect(prefer == ["return=representation, respond-async"])
        var draft = EntityDraft(of: Item(id: 7), etag: "\"1\"")
        let unchanged: ODataJob<ODataEntity<Item>?> = try await client.start(updating: items.key(7), with: draft)
        #expect(try await unchanged.value == nil)
        draft.id = 8
        stub["Items(…)"] = .inTurn(accepted(), .status(200, headers: ["AsyncResult": "204"]))
        #expect(try await client.start(updating: items.key(7), with: draft).value == nil)
        stub["Items(…)"] = .inTurn(accepted(), .status(200, headers: ["AsyncResult": "201"]))
        let wrong = await #expect(throws: ServiceError.self) { try await client.start(updating: items.key(7), with: draft).value }
        #expect(wrong?.cause as? ODataStatusError == .created(at: nil))
        stub["Items(…)"] = .inTurn(accepted(), .status(200, headers: ["AsyncResult": "204"]))
        _ = try await client.start(deleting: items.key(7)).value
        stub["Items"] = .inTurn(accepted(), .json(#"{"value":5}"#))
        let number: ODataJob<Int> = try await client.start(evaluating: ODataQuery(ResourcePath("Items")))
        #expect(try await number.value == 5)
        stub["Items"] = .inTurn(accepted(), .json(#"{"value":"5"}"#))
        let text: ODataJob<String> = try await client.start(evaluating: ODataQuery(ResourcePath("Items")))
        #expect(try await text.value == "5")
        stub["Items(…)"] = .inTurn(accepted(), .json(#"{"id":7}"#))
        #expect(try await client.start(items.key(7)).value == Item(id: 7))
    }
}
