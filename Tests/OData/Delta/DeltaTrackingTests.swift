import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// The tracked copy of a service that changes at random, beside the service.
@Suite struct DeltaTrackingTests {
    private let request = FetchRequest<DynamicEntity>(from: "Things")

    /// Applies changes up to the end or, as a program that is killed does, up to a random event. Returns the copy that was last kept: it is
    /// written at each checkpoint.
    private func round(
        _ client: ODataClient, _ kept: Data, _ random: inout SeededGenerator, mayEnd: Bool
    ) async throws -> Data {
        var kept = kept
        var copy = try JSONDecoder().decode(DeltaCollection<DynamicEntity>.self, from: kept)
        var left = mayEnd && Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 0..<12, using: &random) : .max
        for try await change in client.changes(of: request, since: copy.cursor) {
            guard left > 0 else { return kept }
            left -= 1
            try copy.apply(change)
            if case .checkpoint = change { kept = try JSONEncoder().encode(copy) }
        }
        return kept
    }

    private func rows(_ kept: Data) throws -> [String] {
        let copy = try JSONDecoder().decode(DeltaCollection<DynamicEntity>.self, from: kept)
        return try copy.payloads.sorted { ($0["id"]?.integer ?? 0) < ($1["id"]?.integer ?? 0) }.map { row in
            var row = row.withoutControl
            // The order of related entities isn't defined.
            let tags = (row["tags"]?.array ?? []).sorted { ($0["id"]?.integer ?? 0) < ($1["id"]?.integer ?? 0) }
            row["tags"] = .array(tags)
            return String(decoding: try ODataEncoder().encode(DynamicEntity(["id", "name", "note", "tags"].compactMap { name in
                row[name].map { DynamicEntity.Property(name, $0) }
            })), as: UTF8.self)
        }
    }

    @Test func `the copy equals the service after each step, over pages, removals, forgotten states and restarts`() async throws {
        for seed in 0..<UInt64(Sweep.rounds(ofAll: 2_000)) {
            var random = SeededGenerator(seed: seed)
            let service = TrackedService(seed: seed)
            let stub = StubTransport(recordingLimit: 0)
            let client = stub.client(seed % 2 == 0 ? .v4 : .v401)
            stub["Things"] = service.answer
            var kept = try JSONEncoder().encode(DeltaCollection<DynamicEntity>(keys: ["id"]))
            for step in 0..<4 {
                service.change(interruptions: Int.random(in: 0...3, using: &random))
                // Changes during a read are in the next one.
                for _ in 0..<2 { kept = try await round(client, kept, &random, mayEnd: true) }
                service.change(interruptions: 0)
                kept = try await round(client, kept, &random, mayEnd: false)
                // A service may forget its state at the last moment; the read that follows is complete.
                kept = try await round(client, kept, &random, mayEnd: false)
                let (copy, truth) = (try rows(kept), service.rows)
                guard copy == truth else {
                    Issue.record("seed \(seed), step \(step):\n\(copy.joined(separator: "\n"))\nnot\n\(truth.joined(separator: "\n"))")
                    return
                }
            }
        }
    }
}
