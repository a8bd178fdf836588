import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct RetryTests {
    private let policy = RetryPolicy(attempts: 3, backoff: Backoff(base: .seconds(1), hasJitter: false))

    /// Runs only this stage; returns the outcome, the number of attempts and the waits.
    private func run(
        _ policy: RetryPolicy, method: ServiceRequest.Method = .get, body: RequestBody? = nil, deadline: Duration? = nil,
        _ answers: [Result<TransportResponse, any Error>]
    ) async throws -> (outcome: Result<Int, any Error>, attempts: [Int], waits: [Duration]) {
        let url = try #require(URL(string: "https://api.test/"))
        var request = ServiceRequest(method: method, url: url, body: body)
        request.deadline = deadline.map { ContinuousClock.now.advanced(by: $0) }
        let waits = Locked<[Duration]>([])
        let attempts = Locked<[Int]>([])
        var stage = Retry(policy: policy)
        stage.sleep = { wait in waits.withLock { $0.append(wait) } }
        let outcome: Result<Int, any Error>
        do {
            let response = try await stage.intercept(request, context: CallContext()) { _, context in
                let index = attempts.withLock { attempts in
                    attempts.append(context.attempt)
                    return attempts.count - 1
                }
                return try answers[min(index, answers.count - 1)].get()
            }
            outcome = .success(response.status)
        } catch {
            outcome = .failure(error)
        }
        return (outcome, attempts.withLock { $0 }, waits.withLock { $0 })
    }

    private func answer(_ status: Int, _ headers: HTTPFields = [:]) throws -> Result<TransportResponse, any Error> {
        .success(TransportResponse(status: status, headers: headers, url: try #require(URL(string: "https://api.test/"))))
    }

    @Test func `A failure that passes is repeated with growing waits`() async throws {
        let run = try await run(policy, [answer(503), answer(503), answer(200)])
        #expect(try run.outcome.get() == 200)
        #expect(run.attempts == [1, 2, 3] && run.waits == [.seconds(1), .seconds(2)])
    }

    @Test func `The last failure is delivered`() async throws {
        let run = try await run(policy, [answer(503)])
        #expect(try run.outcome.get() == 503)
        #expect(run.attempts.count == 3)
        let failed = try await self.run(policy, [.failure(TransportError(.connectionLost, "x"))])
        #expect(throws: TransportError.self) { try failed.outcome.get() }
        #expect(failed.attempts.count == 3)
    }

    @Test func `The larger of Retry-After and back-off is waited for`() async throws {
        #expect(try await run(policy, [answer(429, ["Retry-After": "7"]), answer(200)]).waits == [.seconds(7)])
        #expect(try await run(policy, [answer(429, ["Retry-After": "0"]), answer(200)]).waits == [.seconds(1)])
        let late = try await run(policy, [answer(429, ["Retry-After": "3600"]), answer(200)])
        #expect(try late.outcome.get() == 429 && late.attempts.count == 1)
    }

    @Test func `What may not be repeated isn't`() async throws {
        #expect(try await run(policy, method: .post, [answer(503)]).attempts.count == 1)
        #expect(try await run(policy, method: .put, [answer(503)]).attempts.count == 3)
        let once = RequestBody { AsyncThrowingStream { $0.finish() } }
        #expect(try await run(policy, method: .put, body: once, [answer(503)]).attempts.count == 1)
        var bold = policy
        bold.repeatsUnsafeMethods = true
        #expect(try await run(bold, method: .post, [answer(503)]).attempts.count == 3)
        #expect(try await run(policy, [answer(404)]).attempts.count == 1)
        #expect(try await run(policy, [.failure(TransportError(.tls, "x"))]).attempts.count == 1)
        #expect(try await run(policy, [.failure(Refusal())]).attempts.count == 1)
        #expect(try await run(.never, [answer(503)]).attempts.count == 1)
        #expect(try await run(RetryPolicy(attempts: -5), [answer(503)]).attempts.count == 1)
    }

    @Test func `A kept connection that was just closed costs no attempt, once, and no wait`() async throws {
        var stale = TransportError(.connectionLost, "Closed.")
        stale.isConnectionStale = true
        let run = try await run(policy, [.failure(stale), answer(200)])
        #expect(try run.outcome.get() == 200)
        #expect(run.attempts == [1, 1] && run.waits.isEmpty)
        #expect(try await self.run(policy, method: .post, [.failure(stale), answer(200)]).attempts.count == 1)
    }

    @Test(arguments: [ServiceRequest.Method.get, .head, .put, .delete, "OPTIONS", .post, .patch])
    func `Where there is no repeat, a request over a kept connection that ends goes out once`(method: ServiceRequest.Method) async throws {
        var stale = TransportError(.connectionLost, "Closed.")
        stale.isConnectionStale = true
        for policy in [RetryPolicy.never, RetryPolicy(attempts: 1), RetryPolicy(attempts: 0), RetryPolicy(attempts: -3)] {
            #expect(try await run(policy, method: method, [.failure(stale), answer(200)]).attempts.count == 1)
        }
    }

    @Test func `What a server says it hasn't taken is sent once more, whatever the policy`() async throws {
        var refused = TransportError(.connectionLost, "Refused.")
        refused.isUnprocessed = true
        #expect(try await run(.never, [.failure(refused), answer(200)]).outcome.get() == 200)
        #expect(try await run(.never, [.failure(refused), .failure(refused), answer(200)]).attempts.count == 2)
        #expect(try await run(.never, method: .post, [.failure(refused), answer(200)]).attempts.count == 1)
        #expect(try await run(.never, [.failure(TransportError(.connectionLost, "Closed.")), answer(200)]).attempts.count == 1)
    }

    @Test func `Each attempt may meet one kept connection that was just closed`() async throws {
        var closed = TransportError(.connectionLost, "Closed.")
        closed.isConnectionStale = true
        let stale: Result<TransportResponse, any Error> = .failure(closed)
        let patient = try await run(policy, [stale, stale, stale, stale, answer(200)])
        #expect(try patient.outcome.get() == 200)
        #expect(patient.attempts == [1, 1, 2, 2, 3] && patient.waits.count == 2)
        let busy = try await run(policy, [stale, answer(503), stale, answer(200)])
        #expect(busy.attempts == [1, 1, 2, 2] && busy.waits.count == 1)
        var bold = policy
        bold.repeatsUnsafeMethods = true
        let posted = try await run(bold, method: .post, [stale, answer(200)])
        #expect(posted.attempts == [1, 2] && posted.waits.count == 1)
        let once = RequestBody { AsyncThrowingStream { $0.finish() } }
        #expect(try await run(policy, method: .put, body: once, [stale, answer(200)]).attempts == [1])
    }

    @Test func `No wait outlives the deadline`() async throws {
        let run = try await run(policy, deadline: .milliseconds(900), [answer(503)])
        #expect(try run.outcome.get() == 503 && run.attempts.count == 1 && run.waits.isEmpty)
    }

    @Test func `The endpoint's policy wins over the client's`() async throws {
        let (client, stub) = Store.stubbed(.status(503)) { $0.retry = RetryPolicy(attempts: 5, backoff: Backoff(base: .zero)) }
        _ = await serviceError { try await client.http.get("/").describing { $0.retry(.never) }.send() }
        #expect(stub.requests.count == 1)
        _ = await serviceError { try await client.http.get("/").send() }
        #expect(stub.requests.count == 6)
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
        let context = CallContext()
        let attempts = Locked<[Int]>([])
        let retry = Retry(policy: RetryPolicy(attempts: 9, backoff: Backoff(base: .zero)), sleep: { _ in })
        let url = try #require(URL(string: "https://a.test/"))
        for _ in 0..<2 {
            let answers = Locked([200, 503])
            _ = try await retry.intercept(ServiceRequest(url: url), context: context) { request, context in
                attempts.withLock { $0.append(context.attempt) }
                return TransportResponse(status: answers.withLock { $0.popLast() ?? 200 }, url: request.url)
            }
        }
        #expect(attempts.withLock { $0 } == [1, 2, 2, 3])
    }

    @Test func `A wait of centuries doesn't trap`() async throws {
        let (client, stub) = Store.stubbed(.status(503)) {
            let backoff = Backoff(base: .seconds(Int64.max), cap: .seconds(Int64.max), hasJitter: false)
            $0.retry = RetryPolicy(attempts: 2, backoff: backoff)
        }
        let task = Task { try await client.http.get("/").send() }
        while stub.requests.isEmpty { await Task.yield() }
        for _ in 0..<1_000 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `Cancelling ends the wait at once, exactly once`() async throws {
        let (client, stub) = Store.stubbed(.status(503)) {
            $0.retry = RetryPolicy(attempts: 3, backoff: Backoff(base: .seconds(3_600), cap: .seconds(3_600), hasJitter: false))
        }
        let task = Task { try await client.http.get("/").send() }
        while stub.requests.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await watched { try await task.value } }
        #expect(stub.requests.count == 1)
    }
}

@Suite struct BackoffTests {
    @Test func `The bound grows to the cap`() {
        let backoff = Backoff(base: .seconds(1), factor: 2, cap: .seconds(10), hasJitter: false)
        #expect([1, 2, 3, 4, 5, 6, Int.max].map { backoff.bound(afterFailures: $0) } == [1, 2, 4, 8, 10, 10, 10].map { .seconds($0) })
        #expect(backoff.bound(afterFailures: Int.min) == .seconds(1))
    }

    @Test func `Odd settings neither trap nor leave the bounds`() {
        for factor in [0, -1, .nan, .infinity, 1e308, 1.0000001] {
            for base in [Duration.zero, .seconds(-5), .seconds(1), .seconds(1 << 40)] {
                let bound = Backoff(base: base, factor: factor, cap: .seconds(9)).bound(afterFailures: 1000)
                #expect(bound >= .zero && bound <= .seconds(9))
            }
        }
    }

    @Test func `Jitter stays below the bound`() {
        var generator = SystemRandomNumberGenerator()
        for failures in 1...200 {
            let delay = Backoff().delay(afterFailures: failures, using: &generator)
            #expect(delay >= .zero && delay <= Backoff().bound(afterFailures: failures))
        }
    }
}

@Suite struct RetryAfterTests {
    @Test func `Both forms are read`() {
        #expect(RetryAfter(" 120 ") == .seconds(120))
        #expect(RetryAfter("Sun, 06 Nov 1994 08:49:37 GMT") == .date(Date(timeIntervalSince1970: 784_111_777)))
        for text in ["", "-1", "1.5", "soon", "１２"] { #expect(RetryAfter(text) == nil) }
    }

    @Test func `The wait is bounded on both sides`() {
        let now = Date(timeIntervalSince1970: 784_111_777)
        #expect(RetryAfter.seconds(5).delay(from: now) == .seconds(5))
        #expect(RetryAfter("99999999999999999999999")?.delay(limit: .seconds(9)) == .seconds(9))
        #expect(RetryAfter.date(now.addingTimeInterval(30)).delay(from: now) == .seconds(30))
        #expect(RetryAfter.date(now.addingTimeInterval(-30)).delay(from: now) == .zero)
        #expect(RetryAfter.date(.distantFuture).delay(from: now, limit: .seconds(60)) == .seconds(60))
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 0) * 18
        #expect(RetryAfter.date(now.addingTimeInterval(30)).delay(from: now, limit: longest) == .seconds(30))
    }
}
