import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Compares the tracked copy of a service that changes at random with the service.
@Suite struct DeltaTrackingTests {
    private let request = FetchRequest<DynamicEntity>(from: "Things")

    /// Applies changes up to the end or, as a program that is killed does, up to a random event. Returns the copy that was kept at the last
    /// checkpoint, as the next run of the program finds it.
    private func round(
        _ client: ODataClient, _ copy: DeltaCollection<DynamicEntity>, _ random: inout SeededGenerator, mayEnd: Bool
    ) async throws -> DeltaCollection<DynamicEntity> {
        var (kept, copy) = (copy, copy)
        var left = mayEnd && Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 0..<12, using: &random) : .max
        for try await change in client.changes(of: request, since: copy.cursor) {
            guard left > 0 else { break }
            left -= 1
            try copy.apply(change)
            if case .checkpoint = change { kept = copy }
        }
        return mayEnd ? try JSONDecoder().decode(DeltaCollection.self, from: JSONEncoder().encode(kept)) : kept
    }

    private func rows(_ copy: DeltaCollection<DynamicEntity>) throws -> [String] {
        try copy.payloads.sorted { ($0["id"]?.integer ?? 0) < ($1["id"]?.integer ?? 0) }.map { row in
            var ordered = DynamicEntity()
            for name in ["id", "name", "note", "tags"] { ordered[name] = row[name] }
            // The order of related entities isn't defined.
            let tags = (row["tags"]?.array ?? []).sorted { ($0["id"]?.integer ?? 0) < ($1["id"]?.integer ?? 0) }
            ordered["tags"] = .array(tags)
            return String(decoding: try ODataEncoder().encode(ordered), as: UTF8.self)
        }
    }

    @Test func `the copy equals the service after each step, over pages, removals, forgotten states and restarts`() async throws {
        let stub = StubTransport(recordingLimit: 0)
        let clients = [stub.client(.v4), stub.client(.v401)]
        for seed in 0..<UInt64(Sweep.isFull ? 2_000 : 100) {
            var random = SeededGenerator(seed: seed)
            let service = TrackedService(seed: seed)
            stub["Things"] = service.answer
            var kept = DeltaCollection<DynamicEntity>(keys: ["id"])
            for step in 0..<3 {
                service.change(interruptions: Int.random(in: 0...3, using: &random))
                let client = clients[Int(seed % 2)]
                kept = try await round(client, kept, &random, mayEnd: true)
                // Changes during a read are in the next one.
                service.change()
                // The first round may end a read that began before the changes.
                for _ in 0..<2 { kept = try await round(client, kept, &random, mayEnd: false) }
                let (copy, truth) = (try rows(kept), service.rows)
                guard copy == truth else {
                    Issue.record("seed \(seed), step \(step):\n\(copy.joined(separator: "\n"))\nnot\n\(truth.joined(separator: "\n"))")
                    return
                }
            }
        }
    }
}
