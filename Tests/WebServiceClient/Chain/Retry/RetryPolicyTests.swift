import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct RetryPolicyTests {
    private typealias Rig = RetryRig

    // MARK: The server decides

    @Test(arguments: [RetryOverrule.shouldRetry, .stripeShouldRetry])
    func `The server overrules the statuses both ways, but no bound`(overrule: RetryOverrule) async throws {
        var rig = Rig()
        rig.policy.overrules = [overrule]
        func count(_ status: Int, _ value: String) async -> Int {
            await rig.run(Rig.answer(status, HTTPFields([.init(name: overrule.field, value: value)]))).attempts.count
        }
        #expect(await count(503, "false") == 1)
        #expect(await count(400, " TRUE ") == 3)
        #expect(await count(503, "maybe") == 3)
        #expect(await count(400, "") == 1)
        rig.method = .post
        #expect(await count(400, "true") == 1)
        rig.policy = .never
        rig.method = .get
        #expect(await count(400, "true") == 1)
    }

    @Test func `A limit of GitHub's kind is waited for`() async throws {
        var rig = Rig()
        rig.policy.limits = [.gitHub]
        rig.date = Date(timeIntervalSince1970: 1_700_000_000)
        func waits(_ status: Int, _ headers: HTTPFields) async -> [Duration] {
            await rig.run(Rig.answer(status, headers), Rig.answer(200)).waits
        }
        let reset: HTTPFields = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000040"]
        for status in [403, 429] { #expect(await waits(status, reset) == [.seconds(40)]) }
        // The response's own date counts.
        var dated = reset
        dated["Date"] = "Tue, 14 Nov 2023 22:13:50 GMT"
        #expect(await waits(403, dated) == [.seconds(10)])
        // A past reset leaves the backoff; an hour is too long; `Retry-After` counts too.
        #expect(await waits(403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1600000000"]) == [.seconds(1)])
        #expect(await waits(403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700003600"]) == [])
        #expect(await waits(403, ["Retry-After": "20"]) == [.seconds(20)])
        // Other refusals aren't limits.
        for headers: HTTPFields in [
            [:], ["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "1700000040"], ["X-RateLimit-Remaining": "0"],
            ["X-RateLimit-Reset": "1700000040"], ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "40"],
            ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "-5"], ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"],
            ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000040000"],
            ["X-RateLimit-Remaining": "none", "X-RateLimit-Reset": "1700000040"], ["Retry-After": "later"],
        ] { #expect(await waits(403, headers) == [], "\(headers)") }
        #expect(await waits(401, reset) == [])
        rig.policy.limits = [.secondsUntilReset]
        #expect(await waits(403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "40"]) == [.seconds(40)])
        #expect(await waits(403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "0.25"]) == [.seconds(1)])
        #expect(await waits(403, reset) == [])
    }

    // MARK: Solicited calls

    @Test func `A solicited call tries harder, on failure only`() async throws {
        func count(_ rig: Rig, _ answer: Rig.Answer) async -> Int { await rig.run(answer).attempts.count }
        // The ancestors' fault: after success as well, for ever.
        #expect(await count(Rig(policy: .never, attributes: [Solicited()]), Rig.answer(200)) == 1)
        // A constant 500 is repeated more than three times, and ends.
        #expect(await count(Rig(policy: .never, attributes: [Solicited()]), Rig.answer(500)) == 8)
        #expect(await count(Rig(policy: .never, attributes: [Solicited(false)]), Rig.answer(500)) == 1)
        var twenty = Rig(attributes: [Solicited()])
        twenty.policy.attempts = 20
        twenty.policy.longestTotal = .seconds(1_000)
        #expect(await count(twenty, Rig.answer(599)) == 40)
        twenty.policy.attempts = .max
        twenty.policy.longestTotal = .seconds(60)
        #expect((7...100).contains(await count(twenty, Rig.answer(599))))
        for status in [400, 404, 501, 505, 511] { #expect(await count(Rig(attributes: [Solicited()]), Rig.answer(status)) == 1) }
        #expect(await count(Rig(attributes: [Solicited()]), Rig.failure(.proxyRefused)) == 8)
        #expect(await count(Rig(attributes: [Solicited()]), Rig.failure(.unknownIssuer)) == 1)
        // The conditions on method and deadline remain.
        #expect(await count(Rig(attributes: [Solicited()], method: .post), Rig.answer(500)) == 1)
        #expect(await count(Rig(attributes: [Solicited()], deadline: .seconds(4)), Rig.answer(500)) == 3)
        // No attempt waits longer than ten seconds.
        let waits = await Rig(attributes: [Solicited()]).run(Rig.answer(500)).waits
        #expect(waits.max() == .seconds(10))
    }

    @Test func `Calls are solicited one by one, in a closure, and by their endpoint`() async throws {
        let (client, stub) = Store.stubbed(.inTurn(.status(500), .status(200)))
        try await CallClock.$current.withValue(.immediate) {
            let client = Store(serviceRoot: "https://api.test/v1") { $0.transport = stub }
            try await client.with(.solicited) { _ = try await $0.http.get("/a").send() }
            #expect(stub.requests.count == 2)
            stub.fallback(.inTurn(.status(500), .status(200)))
            try await client.http.get("/a").solicited().send()
            #expect(stub.requests.count == 4)
            stub.fallback(.inTurn(.status(500), .status(200)))
            let error = await serviceError {
                try await client.with(.unsolicited) { _ = try await $0.http.get("/a").solicited().send() }
            }
            #expect(error?.status == 500)
        }
        #expect(client.configuration.retry == .never)
    }

    // MARK: Deciders

    @Test func `A decider is asked after failures, and decides`() async throws {
        let asked = Locked<[String]>([])
        var decision = RetryDecision.default
        func run(_ rig: Rig, _ answers: Rig.Answer...) async -> Rig.Run {
            var rig = rig
            rig.attributes = [
                RetryDecider { [decision] failure in
                    let what = failure.status.map { "\($0)" } ?? (failure.error as? TransportError)?.code.rawValue ?? "error"
                    asked.withLock { $0.append("\(what) \(failure.attempt) \(failure.proposedWait?.text ?? "-")") }
                    return decision
                }
            ]
            return await rig.run(answers[0], answers.count > 1 ? answers[1] : answers[0])
        }
        #expect(await run(Rig(), Rig.answer(503), Rig.answer(200)).status == 200)
        #expect(await run(Rig(), Rig.answer(404)).attempts.count == 1)
        #expect(await run(Rig(method: .post), Rig.failure(.connectionLost)).attempts.count == 1)
        #expect(asked.withLock { $0 } == ["503 1 1 s", "404 1 -", "connectionLost 1 -"])
        decision = .fail
        #expect(await run(Rig(), Rig.answer(503), Rig.answer(200)).status == 503)
        decision = .retry(after: .seconds(7))
        #expect(await run(Rig(method: .post), Rig.answer(404), Rig.answer(200)).waits == [.seconds(7)])
        #expect(await run(Rig(), .failure(Refusal()), Rig.answer(200)).status == 200)
        decision = .retry()
        #expect(await run(Rig(), Rig.answer(404), Rig.answer(200)).waits == [.seconds(1)])
        #expect(await run(Rig(), Rig.answer(503), Rig.answer(200)).waits == [.seconds(1)])
        decision = .retry(after: .seconds(Int64.min))
        #expect(await run(Rig(), Rig.answer(404), Rig.answer(200)).waits == [])
    }

    @Test func `A decider can't exceed the bounds, and isn't asked in vain`() async throws {
        let count = Locked(0)
        func run(_ decision: RetryDecision, _ rig: Rig, _ answer: Rig.Answer) async -> Int {
            var rig = rig
            rig.attributes = [
                RetryDecider { _ in
                    count.withLock { $0 += 1 }
                    return decision
                }
            ]
            count.withLock { $0 = 0 }
            return await rig.run(answer).attempts.count
        }
        let again = RetryDecision.retry(after: .zero)
        #expect(await run(again, Rig(), Rig.answer(404)) == 3 && count.withLock { $0 } == 2)
        #expect(await run(again, Rig(policy: .never), Rig.answer(404)) == 1 && count.withLock { $0 } == 0)
        let once = RequestBody { AsyncThrowingStream { $0.finish() } }
        #expect(await run(again, Rig(method: .put, body: once), Rig.answer(503)) == 1 && count.withLock { $0 } == 0)
        #expect(await run(.retry(after: .seconds(299)), Rig(duration: .seconds(2)), Rig.answer(404)) == 1)
        #expect(await run(.retry(after: .longest), Rig(), Rig.answer(404)) == 1)
        #expect(await run(.retry(after: .seconds(5)), Rig(deadline: .seconds(5)), Rig.answer(404)) == 1)
        #expect(await run(again, Rig(budget: RetryBudget(capacity: 5)), Rig.answer(404)) == 2)
        // Neither success nor cancelling is a failure.
        for answer in [Rig.answer(200), .failure(CancellationError()), .failure(CallCancelled(reason: "x"))] {
            #expect(await run(again, Rig(), answer) == 1 && count.withLock { $0 } == 0)
        }
    }

    @Test func `A client's decider is one of its attributes`() async throws {
        let (client, stub) = Store.stubbed(.inTurn(.status(404), .status(200))) {
            $0.retry = RetryPolicy(backoff: Backoff(base: .zero))
            $0.retryDecider = RetryDecider { $0.status == 404 ? .retry() : .default }
        }
        try await client.http.get("/").send()
        #expect(stub.requests.count == 2 && client.configuration.retryDecider != nil)
        client.configure { $0.retryDecider = nil }
        #expect(client.configuration.attributes.isEmpty)
    }

    // MARK: Verification

    private func faults(_ configure: (inout WebServiceClient.Configuration) -> Void) -> [String] {
        Store(serviceRoot: "https://api.test", configure: configure).verify().filter { $0.kind == .badRetry }.map(\.description)
    }

    @Test func `A policy that makes no sense is a fault with its fix`() {
        let wrong: [(RetryPolicy, String)] = [
            (RetryPolicy(attempts: 0), "allows 0 attempts; use at least 2, or .never"), (RetryPolicy(attempts: .min), "attempts; use at"),
            (RetryPolicy(backoff: Backoff(base: .seconds(-1))), "negative duration"),
            (RetryPolicy(backoff: Backoff(cap: .seconds(-1))), "negative duration"),
            (RetryPolicy(backoff: Backoff(factor: .nan)), "factor nan"), (RetryPolicy(backoff: Backoff(factor: 0.5)), "factor 0.5"),
            (RetryPolicy(longestWait: .seconds(-1)), "negative longestWait"),
            (RetryPolicy(longestTotal: .zero), "can never repeat a call: its longestTotal"),
            (RetryPolicy(backoff: Backoff(base: .seconds(90), cap: .seconds(90), jitter: .none), longestTotal: .seconds(60)), "first wait"),
            (RetryPolicy(statuses: [], failures: []), "neither statuses nor failures"),
        ]
        for (policy, text) in wrong {
            let found = faults { $0.retry = policy }
            #expect(found.count == 1 && found[0].contains(text) && found[0].contains("; "), "\(found)")
            // Endpoints, calls and classes are checked as well.
            #expect(faults { $0.attributes[RetryPolicy.self] = policy }.count == 1)
        }
        for policy in [RetryPolicy.never, .standard, .solicited, .unattended] { #expect(faults { $0.retry = policy }.isEmpty) }
        #expect(faults { $0.retryBudget = RetryBudget(capacity: 4) }.count == 1)
        #expect(faults { $0.retryBudget = RetryBudget(cost: -1) }.count == 1)
        #expect(faults { $0.retryBudget = nil }.isEmpty)
        #expect(faults { $0.attributes[IdempotencyKey.self] = IdempotencyKey(named: "Authorization") }.count == 1)
        #expect(faults { $0.attributes[IdempotencyKey.self] = IdempotencyKey(named: "a b") }.count == 1)
    }

    private final class Bank: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "pay()": .post("/pay").retry(.standard), "ping()": .post("/ping").retry(.standard).idempotent(),
                "keyed()": .post("/keyed").retry(.standard).idempotencyKey(),
                "named(id:)": .post("/named").retry(.standard).idempotencyKey("%%id%%", named: "X-Key").withoutBody(),
                "bold()": .post("/bold").retry(RetryPolicy(unsafeMethods: .always)),
                "shy()": .post("/shy").retry(RetryPolicy(unsafeMethods: .never)).idempotencyKey(), "get()": .get("/").retry(.standard),
                "no()": .post("/no").retry(.never), "broken()": .get("/").retry(RetryPolicy(attempts: -1)),
            ]
        }
    }

    @Test func `A policy that an endpoint's method forbids is a fault`() async throws {
        let faults = Bank.verify()
        #expect(faults.map(\.key) == ["pay()", "shy()", "broken()"] && faults.allSatisfy { $0.kind == .badRetry }, "\(faults)")
        #expect(faults[0].description.contains("a POST isn't idempotent; add .idempotent()"))
        // A client's rule for keys makes the first sensible; the client of the table is faulty all the same.
        let keyed = Bank(serviceRoot: "https://bank.test") { $0.attributes[IdempotencyKey.self] = IdempotencyKey() }
        #expect(keyed.verify().map(\.key) == ["shy()", "broken()"])
        // A policy for all endpoints may suit only some.
        let (client, stub) = Store.stubbed(.status(503)) { $0.retry = RetryPolicy(backoff: Backoff(base: .zero)) }
        #expect(await serviceError { try await client.http.post("/").send() }?.status == 503)
        #expect(stub.requests.count == 1)
        let error = await serviceError { try await client.http.post("/").retry(.standard).send() }
        #expect(error?.kind == .table && error?.message.contains(".idempotent()") == true)
        #expect(stub.requests.count == 1)
    }

    @Test func `Descriptions show the values`() {
        #expect("\(RetryPolicy.never)" == "RetryPolicy(never)")
        #expect(
            "\(RetryPolicy.standard)"
                == "RetryPolicy(3 attempts within 300 s; waits from 0.5 s to 30 s with full jitter; Retry-After up to 60 s; statuses 408, "
                + "429, 500, 502…504; failures cannotConnect, connectionLost, hostNotFound, timedOutConnecting, timedOutWaiting)")
        var policy = RetryPolicy(unsafeMethods: .always)
        policy.limits = [.gitHub]
        policy.overrules = [.shouldRetry]
        policy.millisecondFields = ["retry-after-ms"]
        policy.keyedStatuses = []
        for part in ["unsafe methods always", "limits of X-RateLimit-Reset", "overruled by x-should-retry", "retry-after-ms", "key none"] {
            #expect("\(policy)".contains(part))
        }
        let shown = Bank.describe().endpoints.flatMap(\.attributes)
        #expect(shown.contains("idempotent") && shown.contains("idempotency key in X-Key") && shown.contains("RetryPolicy(never)"))
    }
}

extension CallClock {
    /// Waits take no time.
    static let immediate = CallClock(
        now: { .now }, date: { Date() },
        schedule: { _, action in
            action()
            return {}
        })
}
