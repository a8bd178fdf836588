import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct RetryBudgetTests {
    private typealias Rig = RetryRig

    @Test func `Units are taken and given back as AWS's SDKs do`() async throws {
        let account = RetryAccount()
        let rig = Rig(budget: RetryBudget(), account: account)
        _ = await rig.run(Rig.answer(503))
        #expect(account.balance == 10)
        _ = await rig.run(Rig.failure(.timedOutWaiting), Rig.failure(.connectionLost))
        #expect(account.balance == 25)
        // A success at the first attempt returns one unit, a success after repeats what the last repeat took.
        _ = await rig.run(Rig.answer(200))
        #expect(account.balance == 24)
        _ = await rig.run(Rig.answer(503), Rig.failure(.timedOutWaiting), Rig.answer(200))
        #expect(account.balance == 24 + 5 + 10 - 10)
        _ = await rig.run(Rig.answer(404))
        #expect(account.balance == 29)
        for _ in 0..<100 { _ = await rig.run(Rig.answer(200)) }
        #expect(account.balance == 0)
    }

    @Test func `A refused repeat delivers the failure at once, and is reported`() async throws {
        let account = RetryAccount()
        let rig = Rig(budget: RetryBudget(capacity: 9), account: account)
        let run = await rig.run(Rig.answer(503))
        #expect(run.status == 503 && run.attempts.count == 2 && run.waits.count == 1)
        #expect(run.messages.contains { $0.contains("the retry budget is used up") })
        #expect(await rig.run(Rig.answer(503)).attempts.count == 1)
        #expect(await Rig(account: account).run(Rig.answer(503)).attempts.count == 3)
        let failed = await rig.run(Rig.failure(.connectionLost))
        #expect(throws: TransportError.self) { try failed.outcome.get() }
    }

    @Test func `Odd budgets neither trap nor give more than there is`() {
        for number in [Int.min, -1, 0, 1, Int.max] {
            for capacity in [Int.min, -1, 0, 1, 10, Int.max] {
                let allowance = RetryAllowance(
                    budget: RetryBudget(capacity: capacity, cost: number, timeoutCost: number, refund: number), account: RetryAccount())
                for _ in 0..<3 {
                    if let taken = allowance.take() { #expect(taken >= 0 && allowance.account.balance <= max(0, capacity)) }
                    allowance.noteSuccess(after: nil)
                    _ = allowance.take(isTimeout: true)
                    allowance.give(number)
                    #expect(allowance.account.balance >= 0)
                }
            }
        }
        #expect(RetryAllowance(budget: nil, account: RetryAccount()).take() == 0)
    }

    @Test func `A client has one budget for all calls, which survives changes of its settings`() async throws {
        let (client, stub) = Store.stubbed(.status(503)) {
            $0.retry = RetryPolicy(attempts: 2, backoff: Backoff(base: .zero))
            $0.retryBudget = RetryBudget(capacity: 10)
        }
        for _ in 0..<5 { _ = await serviceError { try await client.http.get("/").send() } }
        #expect(stub.requests.count == 7)
        client.configure { $0.headers["X-Team"] = "core" }
        _ = await serviceError { try await client.http.get("/").send() }
        #expect(stub.requests.count == 8)
        client.configure { $0.retryBudget?.capacity = 15 }
        _ = await serviceError { try await client.http.get("/").send() }
        #expect(stub.requests.count == 10)
        client.configure { $0.retryBudget = nil }
        _ = await serviceError { try await client.http.get("/").send() }
        #expect(stub.requests.count == 12)
        #expect("\(client.configuration)".contains("retryBudget"))
    }

    /// 100 calls a second for a minute, with 3 attempts: the requests per call, as in the table of the reference.
    private func load(
        _ budget: RetryBudget?, failing share: Double, with failure: Rig.Answer = Rig.answer(503), calls: Int = 6_000
    ) async -> Double {
        let generator = Locked(SeededGenerator(seed: 7))
        let account = RetryAccount()
        let rig = Rig(budget: budget, account: account)
        var requests = 0
        for _ in 0..<calls {
            let answers = (0..<3).map { _ in
                generator.withLock { Double.random(in: 0..<1, using: &$0) } < share ? failure : Rig.answer(200)
            }
            requests += await rig.run(answers[0], answers[1], answers[2]).attempts.count
        }
        return Double(requests) / Double(calls)
    }

    @Test func `The load of a service stays bounded however many calls fail`() async throws {
        let all = await load(RetryBudget(), failing: 1)
        let slow = await load(RetryBudget(), failing: 1, with: Rig.failure(.timedOutWaiting))
        let (half, tenth) = (await load(RetryBudget(), failing: 0.5), await load(RetryBudget(), failing: 0.1))
        let (unlimited, unlimitedHalf) = (await load(nil, failing: 1, calls: 500), await load(nil, failing: 0.5, calls: 500))
        print(
            "load factors with the budget: all failing \(all), timing out \(slow), half \(half), a tenth \(tenth); "
                + "without: \(unlimited), half \(unlimitedHalf)")
        #expect(all <= 1.05 && slow <= 1.05)
        #expect(half <= 1.3 && tenth <= 1.13)
        #expect(unlimited == 3 && unlimitedHalf > 1.6)
    }
}
