import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import WebServiceClient

/// A source of reports that a test makes.
final class HandNetworks: Sendable {
    private struct State {
        var report: (@Sendable (NetworkStatus) -> Void)?
        var starts = 0
        var stops = 0
        var initial: NetworkStatus.Evidence?
    }

    private let state: Locked<State>

    /// - Parameter initial: What is reported at the start of each run.
    init(_ initial: NetworkStatus.Evidence? = nil) {
        state = Locked(State(initial: initial))
    }

    var starts: Int { state.withLock { $0.starts } }
    var stops: Int { state.withLock { $0.stops } }

    var source: ReachabilitySource {
        ReachabilitySource { report in
            let initial = self.state.withLock { state in
                state.report = report
                state.starts += 1
                return state.initial
            }
            if let initial { report(NetworkStatus(initial)) }
            return { self.state.withLock { $0.stops += 1 } }
        }
    }

    func report(_ evidence: NetworkStatus.Evidence, isExpensive: Bool? = nil) {
        state.withLock { $0.report }?(NetworkStatus(evidence, isExpensive: isExpensive))
    }
}

@Suite struct ReachabilityTests {
    private let networks = HandNetworks()
    private let clock = HandClock()

    private func reachability() -> Reachability { clock.provide { Reachability(source: networks.source) } }

    private static func origin(_ text: String) throws -> Origin { try #require(URL(string: text).flatMap { Origin($0) }) }

    @Test func `nothing is known, and nothing observed, without an observer`() {
        let reachability = reachability()
        #expect(reachability.status.evidence == .nothing && reachability.status.availability == .unknown)
        #expect(networks.starts == 0)
    }

    @Test func `the source runs from the first observer to the last`() {
        let reachability = reachability()
        var first: Reachability.Observation? = reachability.observe {}
        var second: Reachability.Observation? = reachability.observe {}
        networks.report(.noLink)
        #expect(networks.starts == 1 && reachability.status.availability == .offline)
        first = nil
        #expect(networks.stops == 0)
        second = nil
        #expect(networks.stops == 1 && reachability.status.evidence == .nothing)
        networks.report(.defaultRoute)
        #expect(reachability.status.evidence == .nothing, "a late report")
        let third = reachability.observe {}
        networks.report(.noRoute)
        #expect(networks.starts == 2 && reachability.status.evidence == .noRoute)
        withExtendedLifetime((first, second, third)) {}
    }

    @Test func `the first report is published at once, and changes after half a second`() async throws {
        let reachability = reachability()
        var iterator = reachability.changes.makeAsyncIterator()
        networks.report(.noLink)
        #expect(await iterator.next()?.evidence == .noLink)
        networks.report(.defaultRoute)
        #expect(reachability.status.evidence == .defaultRoute && reachability.published?.evidence == .noLink)
        clock.advance(by: .milliseconds(499))
        #expect(reachability.published?.evidence == .noLink)
        clock.advance(by: .milliseconds(1))
        #expect(await iterator.next()?.evidence == .defaultRoute)
        // An interface that goes up and down is left out.
        networks.report(.noLink)
        networks.report(.defaultRoute)
        clock.advance(by: .seconds(1))
        networks.report(.defaultRoute, isExpensive: true)
        clock.advance(by: .seconds(1))
        let last = await iterator.next()
        #expect(last?.isExpensive == true && last?.description == "online: a default route, expensive")
    }

    @Test func `an interface that never rests is published twice a second at most, and at least`() {
        let reachability = reachability()
        let count = Locked(0)
        let observation = reachability.observe { count.withLock { $0 += 1 } }
        networks.report(.noLink)
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<1_000 {
            networks.report(Bool.random(using: &generator) ? .noLink : .defaultRoute)
            clock.advance(by: .milliseconds(10))
        }
        #expect((5...21).contains(count.withLock { $0 }))
        withExtendedLifetime(observation) {}
    }

    @Test func `the sequence ends with its task, and with it the observation`() async throws {
        let reachability = reachability()
        let task = Task {
            var count = 0
            for await _ in reachability.changes { count += 1 }
            return count
        }
        try await until { networks.starts == 1 }
        task.cancel()
        #expect(try await watched { await task.value } == 0)
        try await until { networks.stops == 1 }
    }

    @Test func `a status with the same evidence keeps its date`() {
        let reachability = reachability()
        let observation = reachability.observe {}
        networks.report(.noLink)
        let date = reachability.status.date
        networks.report(.noLink, isExpensive: false)
        #expect(reachability.status.date == date && reachability.status.isExpensive == false)
        withExtendedLifetime(observation) {}
    }

    @Test func `an answer that came since is better evidence than the system's`() throws {
        let reachability = reachability()
        let (shop, other) = (try Self.origin("https://shop.example.com"), try Self.origin("https://other.example.com"))
        let observation = reachability.observe {}
        #expect(!reachability.isOffline(shop), "unknown counts as online")
        reachability.note(shop, failure: nil)
        clock.advance(by: .seconds(1))
        networks.report(.noRoute)
        #expect(reachability.isOffline(shop) && reachability.isOffline(other))
        clock.advance(by: .seconds(1))
        reachability.note(shop, failure: nil)
        reachability.note(other, failure: .cannotConnect)
        #expect(!reachability.isOffline(shop) && reachability.isOffline(other))
        #expect(reachability.contact(with: shop)?.responded == clock.startDate.addingTimeInterval(2))
        #expect(reachability.contact(with: other)?.failure == .cannotConnect)
        for local in ["http://localhost:8080", "http://127.0.0.1", "http://[::1]"] {
            #expect(try !reachability.isOffline(Self.origin(local)))
        }
        withExtendedLifetime(observation) {}
    }

    @Test func `the contacts are bounded, and the oldest go first`() throws {
        let reachability = reachability()
        for number in 0...Reachability.contactLimit {
            reachability.note(try Self.origin("https://host\(number).example.com"), failure: nil)
            clock.advance(by: .seconds(1))
        }
        #expect(reachability.contact(with: try Self.origin("https://host0.example.com")) == nil)
        #expect(reachability.contact(with: try Self.origin("https://host1.example.com")) != nil)
    }

    @Test func `many observers come and go at once`() async throws {
        let networks = HandNetworks(.noLink)
        let reachability = Reachability(source: networks.source)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<300 {
                        let observation = reachability.observe { _ = reachability.published }
                        networks.report(.defaultRoute)
                        withExtendedLifetime(observation) {}
                    }
                }
            }
        }
        #expect(networks.starts == networks.stops && networks.starts > 0)
        #expect(reachability.status.evidence == .nothing)
    }
}
