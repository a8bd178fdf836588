import Foundation
import WebServiceClient
import Workloads

/// Runs all workloads and prints tables in Markdown.
struct Report {
    let rounds: Int

    func print() async throws {
        try await printCalls()
        Swift.print("")
        try await printStages()
        Swift.print("")
        try await printCookies()
        Swift.print("")
        try await printParts()
    }

    // MARK: Calls

    private func printCalls() async throws {
        let small = Engine(answering: Payloads.small)
        let large = Engine(answering: Payloads.large)
        let (smallHand, largeHand) = (CallsByHand(small), CallsByHand(large))
        let (smallClient, largeClient) = (DeclaredCalls(small), DeclaredCalls(large))
        let alternation = Alternation(rounds: rounds, repetitions: 200)
        Swift.print("\(rounds) rounds in alternation, 200 calls each, medians; the quartiles of the ratio in brackets")
        Swift.print("")
        Swift.print("| call | declared | by hand | difference | declared / by hand | by hand, values not encoded |")
        Swift.print("|---|--:|--:|--:|--:|--:|")
        // Uses a new URL for each call, as most calls do: a client caches the latest.
        let names = ["swift", "swift-nio", "orders", "stocks"]
        let times60 = try await alternation.times(of: [
            { keep(try await smallClient.health(service: names[$0 % 4])) },
            { keep(try await smallHand.health(service: names[$0 % 4])) },
            { keep(try await smallHand.carelessHealth(service: names[$0 % 4])) },
        ])
        row("\(Payloads.small.count) bytes", times60)
        let times2000 = try await alternation.times(of: [
            { keep(try await largeClient.repository(owner: "swiftlang", name: names[$0 % 4])) },
            { keep(try await largeHand.repository(owner: "swiftlang", name: names[$0 % 4])) },
            { keep(try await largeHand.carelessRepository(owner: "swiftlang", name: names[$0 % 4])) },
        ])
        row("\(Payloads.large.count) bytes", times2000)
    }

    private func row(_ name: String, _ times: [[Double]]) {
        let medians = times.map { Spread($0).median }
        let ratios = Spread(zip(times[0], times[1]).map { $0 / $1 })
        let ratio = "\(text(ratios.median)) (\(text(ratios.lower)) to \(text(ratios.upper)))"
        let cells = [
            name, text(medians[0]) + " µs", text(medians[1]) + " µs", text(medians[0] - medians[1]) + " µs", ratio,
            text(medians[2]) + " µs",
        ]
        Swift.print("| " + cells.joined(separator: " | ") + " |")
    }

    /// Compares calls that pass through stages with bare ones, which follow no redirects and have no other stage.
    private func printStages() async throws {
        let engine = Engine(answering: Payloads.small)
        let clients = DeclaredCalls.Stages.allCases.map { stages in DeclaredCalls(engine, stages: stages) }
        let works = clients.map { client -> Alternation.Work in { _ in keep(try await client.health(service: "orders")) } }
        let times = try await Alternation(rounds: rounds, repetitions: 200).times(of: works)
        Swift.print("| stages of a call, 60 bytes | median | difference to a bare call |")
        Swift.print("|---|--:|--:|")
        for (stages, own) in zip(DeclaredCalls.Stages.allCases, times) {
            let differences = Spread(zip(own, times[0]).map { $0 - $1 })
            Swift.print("| \(stages.rawValue) | \(text(Spread(own).median)) µs | \(text(differences.median)) µs |")
        }
    }

    private func printCookies() async throws {
        let engine = Engine(answering: Payloads.small)
        let plain = DeclaredCalls(engine)
        Swift.print("| cookies sent, of a jar with 3,000 | without a jar | with it | difference |")
        Swift.print("|---|--:|--:|--:|")
        for sent in [0, 1, 3, 10] {
            let jar = try DeclaredCalls.jar(sending: sent)
            let keeping = DeclaredCalls(engine) { $0.cookies = jar }
            let times = try await Alternation(rounds: rounds, repetitions: 200).times(of: [
                { _ in keep(try await plain.health(service: "orders")) }, { _ in keep(try await keeping.health(service: "orders")) },
            ])
            let medians = times.map { Spread($0).median }
            Swift.print("| \(sent) | \(text(medians[0])) µs | \(text(medians[1])) µs | \(text(medians[1] - medians[0])) µs |")
        }
    }

    // MARK: Parts

    private func printParts() async throws {
        let templates = try TemplateWork()
        let md5 = try await DigestWork(algorithm: "MD5")
        let sha256 = try await DigestWork(algorithm: "SHA-256")
        let query = QueryWork()
        let log = LogWork()
        let works: [(String, Alternation.Work)] = [
            ("`%%label%%` template with four arguments, bound in a dry run", { _ in keep(try await templates.bind()) }),
            ("RFC 6570 template expanded", { _ in keep(try templates.expand()) }),
            ("Digest, MD5", { _ in keep(try await md5.authorize()) }),
            ("Digest, SHA-256", { _ in keep(try await sha256.authorize()) }),
            ("`FetchRequest` built and printed", { _ in keep(try query.buildAndPrint()) }),
            ("`FetchRequest` printed", { _ in keep(try query.print()) }),
            ("query's URL parsed", { _ in keep(try query.parse()) }),
            ("log call, taken", { _ in log.taken(7) }),
            ("log call, filtered out", { _ in log.filtered(7) }),
        ]
        let times = try await Alternation(rounds: rounds, repetitions: 200).times(of: works.map(\.1))
        Swift.print("| part | median |")
        Swift.print("|---|--:|")
        for ((name, _), times) in zip(works, times) { Swift.print("| \(name) | \(text(Spread(times).median)) µs |") }
    }

    private func text(_ value: Double) -> String {
        String(format: abs(value) < 0.1 ? "%.3f" : "%.2f", value)
    }
}

/// Consumes a result so that the compiler can't remove the work for it.
@inline(never)
func keep<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
