import Foundation
import OData
import TestSupport
import Testing
import WebServiceClient

extension IntegrationTests {
    /// Changes that a service tracks over SQLite: the tracked copy equals the service after each step.
    ///
    /// `STATE_ROUNDS` sets the number of random rounds, `JUDGE_SEED` the seed of the first one.
    @Suite struct DeltaStateTests {
        private static func number(_ variable: String) -> Int? { ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } }

        private typealias Copy = DeltaCollection<StoreItem>

        /// Applies the changes up to the end. Others come between two pages of them.
        ///
        /// - Returns: The copy as the next run of the program finds it, whether the service had forgotten its changes, and whether others
        ///   came.
        private func update(
            _ copy: Copy, _ request: FetchRequest<StoreItem>, by client: ODataClient, _ random: inout SeededGenerator
        ) async throws -> (copy: Copy, restarts: Int, isBehind: Bool) {
            var copy = copy
            var restarts = 0
            var isBehind = false
            for try await change in client.changes(of: request, since: copy.cursor) {
                try copy.apply(change)
                if case .restarted(let reason?) = change {
                    #expect(reason.status == 410)
                    restarts += 1
                }
                if case .checkpoint(let cursor) = change, !cursor.isComplete, Int.random(in: 0..<4, using: &random) == 0 {
                    try await self.change(by: client, &random)
                    isBehind = true
                }
            }
            return (try JSONDecoder().decode(Copy.self, from: JSONEncoder().encode(copy)), restarts, isBehind)
        }

        /// Changes items at random, by a batch. Some of the changes fail.
        private func change(by client: ODataClient, _ random: inout SeededGenerator) async throws {
            _ = try await BatchScript(&random, isJSON: client.printer.version == .v401).outcomes(inBatchOf: client)
        }

        @Test func `the copy equals the service after each step, over pages, removals, forgotten changes and restarts`() async throws {
            let first = UInt64(Self.number("JUDGE_SEED") ?? 0) &* 1_000_000
            let rounds = Self.number("STATE_ROUNDS") ?? Sweep.rounds(ofAll: 200)
            var restarts = 0
            for seed in 0..<UInt64(rounds) {
                var random = SeededGenerator(seed: first &+ seed)
                let store = try ItemStore()
                let client = store.client(seed % 2 == 0 ? .v401 : .v4)
                client.maxPageSize = [nil, 1, 2, 3].randomElement(using: &random) ?? nil
                let all = FetchRequest<StoreItem>()
                let request = seed % 3 == 0 ? all.filter { $0.Name == "item 1" } : all
                var copy = Copy(keys: ["Key"])
                for step in 0..<4 {
                    if step > 0 { try await change(by: client, &random) }
                    if Int.random(in: 0..<6, using: &random) == 0 { try await store.forgetChanges() }
                    var result = try await update(copy, request, by: client, &random)
                    restarts += result.restarts
                    while result.isBehind { result = try await update(result.copy, request, by: client, &random) }
                    copy = result.copy
                    let tracked = try copy.entities().sorted { ($0.Key ?? 0) < ($1.Key ?? 0) }
                    let truth = try await client.fetch(request)
                    guard tracked == truth else {
                        Issue.record("seed \(first &+ seed), step \(step):\n\(tracked)\nnot\n\(truth)")
                        return
                    }
                }
                try await store.remove()
            }
            #expect(restarts > 0 || rounds < 20)
        }
    }
}
