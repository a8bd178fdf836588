import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

private final class Chaos: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "first()": .get("/first").faults(FaultPlan(.times(2, .status(503, retryAfter: 1)), then: .connectionLost)),
            "half()": .get("/half").faults(FaultPlan(share: 0.5, of: .status(500))),
            "plain()": .get("/plain"),
            "body()": .get("/body").faults(FaultPlan(.times(1, .cut(afterBytes: 3)), .times(1, .reset(afterBytes: 0)))),
        ]
    }

    func first() async throws -> String { try await call() }
    func half() async throws -> String { try await call() }
    func plain() async throws -> String { try await call() }
    func body() async throws -> String { try await call() }
}

private final class BadPlan: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "a()": .get("/a").faults(FaultPlan(.times(0, .connectionLost))),
            "b()": .get("/b").faults(FaultPlan(share: 2, of: .connectionLost)),
            "c()": .get("/c").faults(FaultPlan(then: .status(99))), "d()": .get("/d").faults(FaultPlan(then: .cut(afterBytes: -1))),
            "e()": .get("/e").faults(FaultPlan(latency: .logNormal(median: .zero, p99: .seconds(1)))),
            "f()": .get("/f").faults(FaultPlan(latency: .uniform(.seconds(2), .seconds(1)))),
        ]
    }
}

@Suite struct FaultInjectionTests {
    private func client(
        _ faults: FaultInjection?, _ configure: @escaping (inout WebServiceClient.Configuration) -> Void = { _ in }
    ) -> (Chaos, StubTransport) {
        let stub = StubTransport()
        stub.fallback(.text("content"))
        let client = Chaos(serviceRoot: "https://chaos.example") {
            $0.transport = stub
            $0.faults = faults
            configure(&$0)
        }
        return (client, stub)
    }

    @Test func `plans have no effect until they are switched on`() async throws {
        let (quiet, stub) = client(nil)
        for _ in 0..<3 { #expect(try await quiet.first() == "content") }
        #expect(stub.requests.count == 3)

        let faults = FaultInjection()
        let (chaos, sent) = client(faults)
        for _ in 0..<2 {
            let error = await serviceError { _ = try await chaos.first() }
            #expect(error?.response?.status == 503 && error?.response?.headers[.retryAfter] == "1")
        }
        let lost = await serviceError { _ = try await chaos.first() }
        #expect((lost?.cause as? TransportError)?.code == .connectionLost, "\(lost as Any)")
        #expect(try await chaos.plain() == "content")
        #expect(sent.requests.map(\.key) == ["plain()"])
        #expect(faults.requestCount(for: "first()") == 3 && faults.faultCount(for: "first()") == 3)
        #expect(faults.requestCount(for: "plain()") == 0)
        // A dry run sends nothing, so nothing fails.
        #expect(try await chaos.dryRun { try await $0.first() }.url.path == "/first")
        #expect(faults.requestCount(for: "first()") == 3)
    }

    @Test func `bodies end early, and retries see each fault`() async throws {
        let (chaos, _) = client(FaultInjection())
        let cut = await serviceError { _ = try await chaos.body() }
        #expect((cut?.cause as? TransportError)?.code == .truncated, "\(cut as Any)")
        let reset = await serviceError { _ = try await chaos.body() }
        #expect((reset?.cause as? TransportError)?.code == .connectionLost, "\(reset as Any)")
        #expect(try await chaos.body() == "content")

        let faults = FaultInjection(plans: ["plain()": FaultPlan(.times(2, .status(503, retryAfter: 0)))])
        let (patient, sent) = client(faults) {
            $0.retry = RetryPolicy(attempts: 3, backoff: Backoff(base: .milliseconds(1)))
        }
        #expect(try await patient.plain() == "content")
        #expect(faults.requestCount(for: "plain()") == 3 && sent.requests.count == 1)
    }

    @Test func `the same seed fails the same requests`() async throws {
        func outcomes(_ seed: UInt64) async throws -> [Bool] {
            let (chaos, _) = client(FaultInjection(seed: seed))
            var outcomes: [Bool] = []
            for _ in 0..<40 { outcomes.append(await serviceError { _ = try await chaos.half() } == nil) }
            return outcomes
        }
        let first = try await outcomes(1)
        #expect(try await outcomes(1) == first)
        #expect(try await outcomes(2) != first)
        #expect((8...32).contains(first.count { $0 }))
    }

    @Test func `latencies and missing responses wait on the clock, and pass deadlines`() async throws {
        let clock = ManualClock()
        let plan = FaultPlan(.passing(2), then: .noResponse, latency: .fixed(.seconds(30)))
        let (chaos, _) = client(FaultInjection(clock: clock, plans: ["plain()": plan])) { $0.timeouts.firstByte = .seconds(60) }
        try await watched {
            async let value = chaos.plain()
            try await clock.waitForSleepers(count: 1, within: .seconds(200))
            clock.advance(by: .seconds(30))
            #expect(try await value == "content")

            chaos.configure { $0.timeouts.firstByte = .seconds(20) }
            async let slow = serviceError { _ = try await chaos.plain() }
            try await clock.waitForSleepers(count: 1, within: .seconds(200))
            clock.advance(by: .seconds(20))
            #expect((await slow?.cause as? TransportError)?.code == .timedOutWaiting)

            chaos.configure { $0.timeouts.firstByte = .seconds(60) }
            async let never = serviceError { _ = try await chaos.plain() }
            try await clock.waitForSleepers(count: 1, within: .seconds(200))
            clock.advance(by: .seconds(30))
            try await clock.waitForSleepers(count: 1, within: .seconds(200))
            clock.advance(by: .seconds(60))
            #expect((await never?.cause as? TransportError)?.code == .timedOutWaiting)
        }
    }

    @Test func `a call that waits can be cancelled`() async throws {
        let clock = ManualClock()
        let (chaos, _) = client(FaultInjection(clock: clock, plans: ["plain()": FaultPlan(latency: .fixed(.seconds(30)))]))
        try await watched {
            async let error = serviceError { _ = try await chaos.plain() }
            try await clock.waitForSleepers(count: 1, within: .seconds(200))
            chaos.cancelAll(reason: "The test ends.")
            #expect(await error?.kind == .cancelled)
            #expect(clock.sleeperCount == 0)
        }
    }

    @Test func `plans that make no sense are faults`() {
        let faults = BadPlan.verify()
        #expect(faults.count == 6 && faults.allSatisfy { $0.kind == .badPolicy }, "\(faults)")
        #expect(Set(faults.compactMap(\.key)) == ["a()", "b()", "c()", "d()", "e()", "f()"])
        let (client, _) = client(FaultInjection(plans: ["plain()": FaultPlan(then: .status(1_000))]))
        #expect(client.verify().map(\.key) == ["plain()"])
        #expect(Chaos.verify().isEmpty)
    }

    @Test func `distributions have their percentiles`() {
        var generator = RepeatableGenerator(seed: 4, name: "latency")
        let lognormal = LatencyDistribution.logNormal(median: .milliseconds(80), p99: .milliseconds(900))
        let samples = (0..<20_000).map { _ in lognormal.sample(using: &generator) }.sorted()
        #expect((70...90).contains(samples[10_000] / .milliseconds(1)), "\(samples[10_000])")
        #expect((700...1_150).contains(samples[19_800] / .milliseconds(1)), "\(samples[19_800])")
        for _ in 0..<1_000 {
            let uniform = LatencyDistribution.uniform(.seconds(1), .seconds(2)).sample(using: &generator)
            #expect(uniform >= .seconds(1) && uniform <= .seconds(2))
        }
        // Extreme durations don't trap.
        let huge = Duration.seconds(Int64.max)
        for distribution: LatencyDistribution in [
            .fixed(huge), .fixed(.zero - huge), .uniform(.zero - huge, huge), .uniform(huge, .zero),
            .logNormal(median: .nanoseconds(1), p99: huge),
            .logNormal(median: huge, p99: .zero),
        ] {
            for _ in 0..<100 { #expect(distribution.sample(using: &generator) >= .zero) }
        }
    }
}
