import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct RetryTests {
    private typealias Rig = RetryRig

    private static let once = RequestBody { AsyncThrowingStream { $0.finish() } }

    @Test func `A failure that passes is repeated with growing waits`() async throws {
        let run = await Rig().run(Rig.answer(503), Rig.answer(503), Rig.answer(200))
        #expect(run.status == 200)
        #expect(run.attempts == [1, 2, 3] && run.waits == [.seconds(1), .seconds(2)])
        #expect(
            run.record.waits == [
                .init(reason: .retry, duration: .seconds(1), attempt: 2, cause: "status 503"),
                .init(reason: .retry, duration: .seconds(2), attempt: 3, cause: "status 503"),
            ])
    }

    @Test func `The last failure is delivered`() async throws {
        let run = await Rig().run(Rig.answer(503))
        #expect(run.status == 503)
        #expect(run.attempts.count == 3)
        let failed = await Rig().run(Rig.failure(.connectionLost))
        #expect(throws: TransportError.self) { try failed.outcome.get() }
        #expect(failed.attempts.count == 3)
    }

    @Test func `What may not be repeated isn't`() async throws {
        func count(_ rig: Rig, _ answer: Rig.Answer = Rig.answer(503)) async -> Int { await rig.run(answer).attempts.count }
        #expect(await count(Rig(method: .post)) == 1)
        #expect(await count(Rig(method: .put)) == 3)
        #expect(await count(Rig(method: .put, body: Self.once)) == 1)
        #expect(await count(Rig(attributes: [Idempotence()], method: .post)) == 3)
        #expect(await count(Rig(attributes: [Idempotence(false)], method: .delete)) == 1)
        var bold = Rig(method: .post)
        bold.policy.unsafeMethods = .always
        #expect(await count(bold) == 3)
        #expect(await count(Rig(), Rig.answer(404)) == 1)
        #expect(await count(Rig(), Rig.failure(.tls)) == 1)
        #expect(await count(Rig(), .failure(Refusal())) == 1)
        #expect(await count(Rig(policy: .never)) == 1)
        for attempts in [1, 0, -5, Int.min] { #expect(await count(Rig(policy: RetryPolicy(attempts: attempts))) == 1) }
        var chosen = Rig()
        chosen.policy.failures = [.tls]
        chosen.policy.statuses = [404]
        #expect(await count(chosen, Rig.failure(.tls)) == 3)
        #expect(await count(chosen, Rig.failure(.connectionLost)) == 1)
        #expect(await count(chosen, Rig.answer(404)) == 3)
        #expect(await count(chosen) == 1)
    }

    @Test func `By default what passes is repeated, to a bound, and a solicited call adds to it`() async throws {
        let (standard, solicited) = (Rig(), Rig(attributes: [Solicited()]))
        func last(_ rig: Rig, _ answer: Rig.Answer) async -> Int? { await rig.run(answer).attempts.last }
        for status in 400...599 {
            let passes = [408, 429, 500, 502, 503, 504].contains(status)
            #expect(await last(standard, Rig.answer(status)) == (passes ? 3 : 1), "\(status)")
            guard passes else { continue }
            #expect(await last(solicited, Rig.answer(status)) == 8, "\(status)")
        }
        let passing: [TransportError.Code] = [.hostNotFound, .cannotConnect, .connectionLost, .timedOutConnecting, .timedOutWaiting]
        for code in passing {
            #expect(await last(standard, Rig.failure(code)) == 3, "\(code)")
            #expect(await last(solicited, Rig.failure(code)) == 8, "\(code)")
        }
        // The call's own time is over, or the body has begun to arrive.
        for code in [TransportError.Code.timedOutTotal, .timedOutIdle, .truncated, .badRequest, .other] {
            #expect(await last(standard, Rig.failure(code)) == 1, "\(code)")
            #expect(await last(solicited, Rig.failure(code)) == 1, "\(code)")
        }
    }

    @Test(arguments: ["memory", "file", "form"])
    func `Each attempt sends the same request: what is added per call is there once`(kind: String) async throws {
        let file = URL(filePath: NSTemporaryDirectory()).appending(path: "retry-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("film".utf8).write(to: file)
        let body: any Sendable
        switch kind {
        case "memory": body = StoreItem(id: 1, name: "tea")
        case "file": body = try RequestBody(file: file)
        default: body = MultipartForm([.text("a", "b")])
        }
        let prepared = Locked<[String]>([])
        let (client, stub) = Store.stubbed(.inTurn(.status(503), .status(503), .json("{}")), root: "https://api.test/v1?tenant=7") {
            $0.retry = RetryPolicy(attempts: 3, backoff: Backoff(base: .zero))
            $0.headers = ["X-Level": "client", "X-Client": "1"]
            $0.interceptors = [
                RequestPreparer { request in
                    prepared.withLock { $0.append("client") }
                    request.url.append(queryItems: [URLQueryItem(name: "Lang", value: "da")])
                    request.headers.append("X-Trail", "1")
                }
            ]
        }
        try await client.http.put("/items/1").query("page", 2).header("X-Level", "call").body(body)
            .prepare { _ in prepared.withLock { $0.append("call") } }.send()
        #expect(prepared.withLock { $0 } == ["client", "call"])
        #expect(stub.requests.count == 3)
        let first = try #require(stub.requests.first)
        #expect(first.request.url.absoluteString == "https://api.test/v1/items/1?tenant=7&page=2&Lang=da")
        #expect(first.request.headers["X-Level"] == "call" && first.request.headers["X-Client"] == "1")
        #expect(first.request.headers[values: "X-Trail"] == ["1"] && first.body?.isEmpty == false)
        for other in stub.requests.dropFirst() {
            #expect(other.request.url == first.request.url && other.body == first.body)
            #expect(other.request.headers == first.request.headers)
        }
    }

    @Test func `A POST is repeated with an idempotency key only, also after 409`() async throws {
        let keyed: HTTPFields = ["Idempotency-Key": "k"]
        #expect(await Rig(method: .post, headers: keyed).run(Rig.answer(503)).attempts.count == 3)
        #expect(await Rig(method: .post, headers: keyed).run(Rig.answer(409), Rig.answer(200)).status == 200)
        #expect(await Rig(method: .put).run(Rig.answer(409)).attempts.count == 1)
        var never = Rig(method: .post, headers: keyed)
        never.policy.unsafeMethods = .never
        #expect(await never.run(Rig.answer(503)).attempts.count == 1)
        let named = Rig(attributes: [IdempotencyKey(named: "PayPal-Request-Id")], method: .post, headers: ["PayPal-Request-Id": "k"])
        #expect(await named.run(Rig.answer(503)).attempts.count == 3)
    }

    @Test func `A success is never repeated`() async throws {
        var rig = Rig(success: [200, 503])
        #expect(await rig.run(Rig.answer(503)).attempts.count == 1)
        rig.attributes = [Solicited(), RetryDecider { _ in .retry(after: .zero) }]
        rig.policy.overrules = [.shouldRetry]
        #expect(await rig.run(Rig.answer(503, ["x-should-retry": "true"])).attempts.count == 1)
        #expect(await rig.run(Rig.answer(200)).attempts.count == 1)
        // An endpoint that accepts everything leaves the question to the policy.
        #expect(await Rig(success: .any).run(Rig.answer(503), Rig.answer(404)).status == 404)
    }

    // MARK: Unprocessed requests

    @Test func `A kept connection that was just closed costs no attempt, once, and no wait`() async throws {
        let stale = Rig.failure(.connectionLost, stale: true)
        let run = await Rig().run(stale, Rig.answer(200))
        #expect(run.status == 200)
        #expect(run.attempts == [1, 1] && run.waits.isEmpty)
        #expect(await Rig(method: .post).run(stale, Rig.answer(200)).attempts.count == 1)
        #expect(await Rig(attributes: [Idempotence()], method: .post).run(stale, Rig.answer(200)).attempts == [1, 1])
        #expect(await Rig(method: .post, headers: ["Idempotency-Key": "k"]).run(stale, Rig.answer(200)).attempts == [1, 1])
    }

    @Test(arguments: [ServiceRequest.Method.get, .head, .put, .delete, "OPTIONS", .post, .patch])
    func `Where there is no repeat, a request over a kept connection that ends goes out once`(method: ServiceRequest.Method) async throws {
        for policy in [RetryPolicy.never, RetryPolicy(attempts: 1), RetryPolicy(attempts: 0), RetryPolicy(attempts: -3)] {
            let run = await Rig(policy: policy, method: method).run(Rig.failure(.connectionLost, stale: true), Rig.answer(200))
            #expect(run.attempts.count == 1)
        }
    }

    @Test(arguments: [ServiceRequest.Method.get, .post, .patch, "LOCK"])
    func `What a server says it hasn't processed is sent once more, whatever policy and method`(method: ServiceRequest.Method) async throws
    {
        for refused in [Rig.failure(.connectionLost, unprocessed: true), Rig.answer(421), Rig.answer(425)] {
            let run = await Rig(policy: .never, method: method).run(refused, Rig.answer(200))
            #expect(run.status == 200 && run.attempts == [1, 1] && run.waits.isEmpty)
            #expect(await Rig(policy: .never, method: method).run(refused, refused, Rig.answer(200)).attempts.count == 2)
            #expect(await Rig(policy: .never, method: method, body: Self.once).run(refused, Rig.answer(200)).attempts.count == 1)
            // It doesn't use the budget either.
            let account = RetryAccount()
            _ = await Rig(method: method, budget: RetryBudget(), account: account).run(refused, Rig.answer(200))
            #expect(account.balance == 0)
        }
        #expect(await Rig(policy: .never).run(Rig.failure(.connectionLost), Rig.answer(200)).attempts.count == 1)
    }

    @Test func `Each attempt may meet one kept connection that was just closed`() async throws {
        let stale = Rig.failure(.connectionLost, stale: true)
        let patient = await Rig().run(stale, stale, stale, stale, Rig.answer(200))
        #expect(patient.status == 200)
        #expect(patient.attempts == [1, 1, 2, 2, 3] && patient.waits.count == 2)
        let busy = await Rig().run(stale, Rig.answer(503), stale, Rig.answer(200))
        #expect(busy.attempts == [1, 1, 2, 2] && busy.waits.count == 1)
        var bold = Rig(method: .post)
        bold.policy.unsafeMethods = .always
        let posted = await bold.run(stale, Rig.answer(200))
        #expect(posted.attempts == [1, 2] && posted.waits.count == 1)
        #expect(await Rig(method: .put, body: Self.once).run(stale, Rig.answer(200)).attempts == [1])
    }

    // MARK: Bounds

    @Test func `No wait outlives the deadline`() async throws {
        let run = await Rig(deadline: .milliseconds(900)).run(Rig.answer(503))
        #expect(run.status == 503 && run.attempts.count == 1 && run.waits.isEmpty)
    }

    @Test func `The total time bounds attempts and waits together`() async throws {
        var rig = Rig(duration: .seconds(4))
        rig.policy.attempts = 100
        rig.policy.longestTotal = .seconds(20)
        // 4 s, 1 s, 4 s, 2 s, 4 s; the next wait of 4 s would end after 19 s, the one after it later than 20 s.
        let run = await rig.run(Rig.answer(503))
        #expect(run.waits == [.seconds(1), .seconds(2), .seconds(4)] && run.attempts.count == 4)
        // A second hop of the call has what the first left.
        #expect(await rig.run(Rig.answer(503), record: run.record).attempts == [4, 5])
        for total in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
            rig.policy.longestTotal = total
            #expect(await rig.run(Rig.answer(503)).attempts.count == 1)
        }
        rig.policy.longestTotal = Duration(secondsComponent: .max, attosecondsComponent: 0) * 18
        #expect(await rig.run(Rig.answer(503)).attempts.count == 100)
    }

    @Test func `The endpoint's policy wins over the client's, and the call's over both`() async throws {
        let (client, stub) = Store.stubbed(.status(503)) { $0.retry = RetryPolicy(attempts: 5, backoff: Backoff(base: .zero)) }
        _ = await serviceError { try await client.http.get("/").retry(.never).send() }
        #expect(stub.requests.count == 1)
        _ = await serviceError { try await client.http.get("/").send() }
        #expect(stub.requests.count == 6)
        let own = RetryPolicy(attempts: 2, backoff: Backoff(base: .zero))
        _ = await serviceError { try await client.with(own) { _ = try await $0.http.get("/").retry(.never).send() } }
        #expect(stub.requests.count == 8)
    }

    @Test func `The bound on attempts holds for the whole call, redirects included`() async throws {
        let (client, stub) = Store.stubbed(.status(503)) { $0.retry = RetryPolicy(attempts: 3, backoff: Backoff(base: .zero)) }
        stub.on(.get, "/v1/a", .inTurn(.status(503), .redirect(to: "/v1/b")))
        let error = await serviceError { try await client.http.get("/a").send() }
        #expect(error?.status == 503)
        // A retry at the first hop leaves one for the second.
        #expect(stub.requests.map { $0.request.url.path() } == ["/v1/a", "/v1/a", "/v1/b", "/v1/b"])
    }

    @Test func `Attempts are numbered over the whole call`() async throws {
        var rig = Rig()
        rig.policy.attempts = 9
        let first = await rig.run(Rig.answer(503), Rig.answer(200))
        let second = await rig.run(Rig.answer(503), Rig.answer(200), record: first.record)
        #expect(first.attempts + second.attempts == [1, 2, 2, 3])
    }

    // MARK: Cancelling

    @Test func `A wait of centuries doesn't trap`() async throws {
        let (client, stub) = Store.stubbed(.status(503)) {
            let backoff = Backoff(base: .seconds(Int64.max), cap: .seconds(Int64.max), jitter: .none)
            $0.retry = RetryPolicy(attempts: 2, backoff: backoff, longestTotal: .seconds(Int64.max))
        }
        let task = Task { try await client.http.get("/").send() }
        while stub.requests.isEmpty { await Task.yield() }
        for _ in 0..<1_000 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `Cancelling the task ends the wait at once, exactly once`() async throws {
        let (client, stub) = Store.stubbed(.status(503)) {
            let backoff = Backoff(base: .seconds(3_600), cap: .seconds(3_600), jitter: .none)
            $0.retry = RetryPolicy(attempts: 3, backoff: backoff, longestTotal: .seconds(7_200))
        }
        let task = Task { try await client.http.get("/").send() }
        while stub.requests.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await watched { try await task.value } }
        #expect(stub.requests.count == 1)
        #expect(client.runtime.retryAccounts.account(for: client.state.place).balance == 0)
    }

    @Test func `Cancelling the call ends the wait with the reason, and returns the budget`() async throws {
        let account = RetryAccount()
        let run = await Rig(
            budget: RetryBudget(), account: account, onWait: { $0.cancellation.cancel(CallCancelled(reason: "no longer needed")) }
        ).run(Rig.answer(503))
        #expect(throws: CallCancelled(reason: "no longer needed")) { try run.outcome.get() }
        #expect(run.attempts.count == 1 && account.balance == 0)
        // A call that is cancelled during an attempt isn't repeated.
        let before = await Rig().run(Rig.answer(200))
        before.record.cancellation.cancel(CallCancelled(reason: "late"))
        let after = await Rig().run(Rig.answer(503), record: before.record)
        #expect(throws: CallCancelled(reason: "late")) { try after.outcome.get() }
        #expect(after.attempts.count == 1)
    }

    @Test func `The body of a failure is cancelled before its repeat`() async throws {
        let cancelled = Locked(0)
        let body = ResponseBody(expectedLength: nil, next: { nil }, cancel: { cancelled.withLock { $0 += 1 } })
        let failure = TransportResponse(status: 503, url: URL(filePath: "/"), body: body)
        #expect(await Rig().run(.success(failure), Rig.answer(200)).status == 200)
        #expect(cancelled.withLock { $0 } == 1)
        let delivered = await Rig(method: .post).run(.success(failure))
        #expect(delivered.status == 503 && cancelled.withLock { $0 } == 1)
    }

    @Test func `A stream that can't be replayed is delivered with a remark`() async throws {
        let run = await Rig(method: .put, body: Self.once).run(Rig.answer(503))
        #expect(run.messages.contains { $0.contains("read only once") })
    }
}
