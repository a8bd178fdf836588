import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Fleets of clients on a simulated clock. The numbers are printed, and are the same in each run.
@Suite struct RetryStormTests {
    /// A fleet whose clients call one after another, and the requests that its service gets.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private struct Fleet: Sendable {
        let policy: RetryPolicy
        var budget: RetryBudget? = RetryBudget()
        var clients = 1_000
        /// The mean pause after a call's end; `nil` for a single call each.
        var pause: Duration?
        /// The end of the simulation.
        let end: Duration
        /// The service's answer at a time.
        let answer: @Sendable (Duration) -> TransportResponse

        /// The times of the requests of each client.
        func run() throws -> [[Duration]] {
            let time = SimulatedTime()
            let requests = Locked([[Duration]](repeating: [], count: clients))
            try time.run {
                await withTaskGroup(of: Void.self) { group in
                    for client in 0..<clients { group.addTask { await self.work(client, time, requests) } }
                }
            }
            return requests.withLock { $0 }
        }

        private func work(_ client: Int, _ time: SimulatedTime, _ requests: Locked<[[Duration]]>) async {
            let generator = Locked(SeededGenerator(seed: UInt64(client)))
            let random: @Sendable () -> Double = { generator.withLock { Double.random(in: 0..<1, using: &$0) } }
            var stage = Retry(policy: policy, clock: time.clock, allowance: RetryAllowance(budget: budget, account: RetryAccount()))
            stage.random = random
            // Calls of clients with pauses are spread when the simulation begins; the others all begin at the same instant.
            if let pause { try? await time.sleep(pause * random()) }
            repeat {
                _ = try? await stage.intercept(ServiceRequest(url: URL(filePath: "/")), context: CallContext()) { [answer] _, _ in
                    requests.withLock { $0[client].append(time.elapsed) }
                    return answer(time.elapsed)
                }
                if let pause { try? await time.sleep(pause * (0.5 + random())) }
            } while pause != nil && time.elapsed < end
        }
    }

    /// The largest number of requests within 100 ms, and the mean, from `start` on.
    private func spread(_ requests: [[Duration]], from start: Duration, for duration: Duration) -> (peak: Int, mean: Double) {
        var counts = [Int](repeating: 0, count: Int(duration / .milliseconds(100)))
        for time in requests.joined() where time >= start && time < start + duration {
            counts[Int((time - start) / .milliseconds(100))] += 1
        }
        return (counts.max() ?? 0, Double(counts.reduce(0, +)) / Double(counts.count))
    }

    private static let unavailable = TransportResponse(status: 503, url: URL(filePath: "/"))
    private static let fine = TransportResponse(status: 200, url: URL(filePath: "/"))

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `After an outage a fleet comes back without a storm`() throws {
        // The clients call one after another, with pauses of 1 to 3 seconds. Each outage is longer than any wait of the policy.
        for (name, policy, outage) in [("standard", RetryPolicy.standard, Duration.seconds(10)), ("unattended", .unattended, .seconds(60))]
        {
            let fleet = Fleet(policy: policy, pause: .seconds(2), end: outage + .seconds(60)) {
                $0 < outage ? Self.unavailable : Self.fine
            }
            let (peak, mean) = spread(try fleet.run(), from: outage, for: .seconds(60))
            print("\(name): the first minute after an outage, per 100 ms: peak \(peak), mean \(mean), ratio \(Double(peak) / mean)")
            #expect(Double(peak) <= 3 * mean)
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `Calls that fail at the same instant spread`() throws {
        // All calls begin at the same instant of an outage of a minute, as in the table of the reference, with the backoff's defaults.
        for jitter in Backoff.Jitter.allCases {
            let policy = RetryPolicy(attempts: 100, backoff: Backoff(jitter: jitter))
            let fleet = Fleet(policy: policy, budget: nil, end: .seconds(100)) { $0 < .seconds(60) ? Self.unavailable : Self.fine }
            let requests = try fleet.run()
            let (peak, mean) = spread(requests, from: .seconds(2), for: .seconds(88))
            let each = Double(requests.joined().count) / 1_000
            print("\(jitter.rawValue) jitter: \(each) requests a client; from 2 s on peak \(peak), ratio \(Double(peak) / mean)")
            if jitter != .none { #expect(Double(peak) <= (jitter == .full ? 10 : 20) * mean) }
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `A service that answers 503 for an hour gets at most one request in half a minute`() throws {
        let fleet = Fleet(policy: .unattended, clients: 50, end: .seconds(3_600)) { _ in Self.unavailable }
        let requests = try fleet.run()
        let gaps = requests.flatMap { times in zip(times, times.dropFirst()).map { $1 - $0 } }
        print("an hour of 503: \(Double(requests.joined().count) / 50) requests a client, at least \(gaps.min()?.text ?? "") apart")
        #expect(gaps.allSatisfy { $0 >= .seconds(30) && $0 <= .seconds(60) })
        // Each call goes on for nearly the hour, and ends.
        #expect(requests.allSatisfy { ($0.last ?? .zero) > .seconds(3_500) && ($0.last ?? .zero) <= .seconds(3_600) })
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `Clients that are told the same second don't come in the same instant`() throws {
        let busy = TransportResponse(status: 503, headers: ["Retry-After": "30"], url: URL(filePath: "/"))
        let fleet = Fleet(policy: .standard, end: .seconds(60)) { $0 < .seconds(10) ? busy : Self.fine }
        let requests = try fleet.run()
        let (peak, _) = spread(requests, from: .seconds(10), for: .seconds(50))
        print("Retry-After: 30 for 1,000 clients: at most \(peak) requests in 100 ms")
        #expect(requests.allSatisfy { $0.count == 2 && $0[1] >= .seconds(30) && $0[1] <= .seconds(31) })
        #expect(peak < 150)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `The waits of a client are those of its clock`() throws {
        let time = SimulatedTime()
        let stub = StubTransport()
        stub.fallback(.inTurn(.status(503, headers: ["Retry-After": "20"]), .status(503, headers: ["Retry-After": "40"]), .status(200)))
        try time.run {
            let client = CallClock.$current.withValue(time.clock) {
                Store(serviceRoot: "https://api.test/v1") {
                    $0.transport = stub
                    $0.retry = .standard
                }
            }
            try await client.http.get("/").send()
        }
        #expect(time.elapsed >= .seconds(60) && time.elapsed <= .seconds(62) && stub.requests.count == 3)
    }
}
