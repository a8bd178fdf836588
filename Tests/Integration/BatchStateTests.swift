import Foundation
import OData
import TestSupport
import Testing
import WebServiceClient

extension IntegrationTests {
    /// Compares batches that a service executes over SQLite with the same requests sent one by one: results and final rows are equal.
    ///
    /// `STATE_ROUNDS` sets the number of random rounds, `JUDGE_SEED` the seed of the first one.
    @Suite struct BatchStateTests {
        private static func number(_ variable: String) -> Int? { ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } }

        private let items = FetchRequest<StoreItem>()

        // MARK: Random batches

        private func client(of store: ItemStore, mode: String = "plain", isJSON: Bool, isLater: Bool) -> ODataClient {
            let client = store.client(isLater ? .v401 : .v4, mode: mode)
            client.batching.format = isJSON ? .json : .multipart
            return client
        }

        @Test(arguments: [false, true]) func `a batch has the results and the state of its requests one by one`(isJSON: Bool) async throws {
            let first = UInt64(Self.number("JUDGE_SEED") ?? 0) &* 1_000_000
            var performed = 0
            for seed in 0..<UInt64(Self.number("STATE_ROUNDS") ?? Sweep.rounds(ofAll: 120)) {
                var random = SeededGenerator(seed: first &+ seed)
                let (together, alone) = (try ItemStore(), try ItemStore())
                let isLater = Bool.random(using: &random)
                let mode =
                    isJSON
                    ? "shuffle-\(seed % 1_000)"
                    : ["plain", "nameless", "nested", "nameless.nested"].randomElement(using: &random) ?? "plain"
                let batches = client(of: together, mode: mode, isJSON: isJSON, isLater: isLater)
                batches.batching.urls = BatchSettings.URLForm.allCases.randomElement(using: &random) ?? .relative
                batches.batching.statesLengths = Bool.random(using: &random)
                let calls = client(of: alone, isJSON: isJSON, isLater: isLater)
                for turn in 0..<2 {
                    let script = BatchScript(&random, isJSON: isJSON)
                    batches.batching.limit = script.isLocal && Bool.random(using: &random) ? BatchScript.groupLimit : nil
                    let outcomes = try await script.outcomes(inBatchOf: batches)
                    let expected = try await script.outcomes(oneByOneOf: calls, in: alone, tellsFailed: isJSON || mode != "nameless")
                    let (state, expectedState) = (try await together.state(), try await alone.state())
                    performed += outcomes.count { !$0.isFailure }
                    guard outcomes == expected, state == expectedState else {
                        let steps = zip(script.steps, zip(outcomes, expected)).map { "\($0): \($1.0), not \($1.1)" }
                        Issue.record(
                            """
                            seed \(first &+ seed), turn \(turn), \(mode), \(script.policy):
                            \(steps.joined(separator: "\n"))
                            \(state) not
                            \(expectedState)
                            """)
                        return
                    }
                }
                try await together.remove()
                try await alone.remove()
            }
            #expect(performed > 0)
        }

        // MARK: Faults

        /// A read, a group and a creation, each with a known outcome.
        private struct Parts {
            var batch = ODataBatch()
            let read: BatchPart<StoreItem>
            let group: [BatchPart<WriteResult<StoreItem>>]
            let last: BatchPart<WriteResult<StoreItem>>

            init(_ items: FetchRequest<StoreItem>) {
                read = batch.fetch(items.key(Int64(2)))
                group = batch.atomically { group in
                    let made = group.create(StoreItem(Name: "made"), in: items)
                    return [made, group.update(made.reference, setting: ["Count": 9], if: .none, preferring: .representation)]
                }
                last = batch.create(StoreItem(Key: 40, Name: "last"), in: items)
            }

            /// Returns the outcomes of all parts.
            func outcomes(_ answer: ODataBatchAnswer) throws -> [BatchOutcome] {
                func outcome<Value>(_ part: BatchPart<Value>, _ text: (Value) -> BatchOutcome) throws -> BatchOutcome {
                    switch answer.result(of: part) {
                    case .success(let value): text(value)
                    case .failure(let error): try BatchOutcome(error)
                    }
                }
                return try [outcome(read) { .item($0) }] + (group + [last]).map { part in try outcome(part) { .written($0) } }
            }
        }

        @Test(arguments: [false, true]) func `a batch cut at any byte has no false outcome and isn't performed twice`(
            isJSON: Bool
        ) async throws {
            let whole = try ItemStore()
            let parts = Parts(items)
            let expected = try parts.outcomes(try await client(of: whole, isJSON: isJSON, isLater: true).send(parts.batch))
            let state = try await whole.state()
            try await whole.remove()
            #expect(!expected.contains { $0.isFailure })
            // The answer's length is known when a cut leaves everything.
            var cut = 0
            var isWhole = false
            while !isWhole, cut < 10_000 {
                isWhole = true
                // The connection breaks, or the message itself is complete and has a part of the body.
                for kind in ["cut", "end"] {
                    let store = try ItemStore()
                    let client = client(of: store, mode: "\(kind)-\(cut)", isJSON: isJSON, isLater: true)
                    // A client that would repeat everything.
                    client.configure { $0.retry = RetryPolicy(backoff: Backoff(base: .zero), unsafeMethods: .always) }
                    let outcomes: [BatchOutcome]
                    do {
                        outcomes = try parts.outcomes(try await client.send(parts.batch))
                    } catch let error as ServiceError where error.status == nil || error.stage != .status {
                        // The engine may report the cut before the answer's first byte.
                        outcomes = expected.map { _ in .unknown }
                    }
                    // Each outcome is right or unknown, and the outcomes of a group are known together.
                    for (outcome, right) in zip(outcomes, expected) { #expect(outcome == right || outcome == .unknown, "\(kind) \(cut)") }
                    #expect((outcomes[1] == .unknown) == (outcomes[2] == .unknown), "\(kind) \(cut)")
                    #expect(try await store.state() == state, "\(kind) \(cut)")
                    #expect(try await store.batches() == 1, "\(kind) \(cut)")
                    isWhole = isWhole && outcomes == expected
                    try await store.remove()
                }
                cut += Sweep.isFull ? 1 : 41
            }
            #expect(isWhole)
        }

        @Test(arguments: ["json", "plain", "nested", "nameless", "nameless.nested"])
        func `a change set that fails at any position changes nothing`(form: String) async throws {
            let isJSON = form == "json"
            for position in 1...6 {
                let store = try ItemStore()
                let before = try await store.state()
                // The first request is in no group, nor are the requests after the group.
                let mode = (isJSON ? "" : form + ".") + "fail-\(position)"
                let client = client(of: store, mode: mode, isJSON: isJSON, isLater: true)
                // A read that fails would be sent again, in a batch with other ids.
                client.configure { $0.retry = .never }
                var batch = ODataBatch()
                let read = batch.fetch(items.key(Int64(1)))
                let members = batch.atomically { group in
                    (0..<4).map { group.create(StoreItem(Key: 10 + $0, Name: "\($0)"), in: items) }
                }
                let last = batch.fetch(items.key(Int64(12)))
                let answer = try await client.send(batch)
                #expect((try? answer[read].Key) == (position == 1 ? nil : 1))
                let outcomes = try members.map { part in
                    switch answer.result(of: part) {
                    case .success(let result): BatchOutcome.written(result)
                    case .failure(let error): try BatchOutcome(error)
                    }
                }
                if (2...5).contains(position) {
                    #expect(try await store.state() == before, "\(position)")
                    let isTold = form != "nameless"
                    for (index, outcome) in outcomes.enumerated() {
                        #expect(outcome == (isTold && index == position - 2 ? .failed(500) : .groupFailed(500)), "\(position)")
                    }
                    #expect(answer.failures.last?.status == 404)
                } else {
                    #expect(!outcomes.contains { $0.isFailure })
                    #expect((try? answer[last].Key) == (position == 6 ? nil : 12))
                }
                try await store.remove()
            }
        }

        @Test(arguments: [false, true]) func `a batch that is too large is refused as one, or sent as several`(isJSON: Bool) async throws {
            let store = try ItemStore()
            let before = try await store.state()
            let client = client(of: store, mode: "refuse-3", isJSON: isJSON, isLater: true)
            client.configure { $0.retry = RetryPolicy(backoff: Backoff(base: .zero), unsafeMethods: .always) }
            let parts = Parts(items)
            let error = try await serviceError(of: { _ = try await client.send(parts.batch) })
            #expect(error.status == 413 && (error.errorBody as? ODataErrorBody)?.message.contains("more than 3") == true)
            #expect(try await store.state() == before)
            #expect(try await store.batches() == 1)
            client.batching.limit = 3
            #expect(try await client.send(parts.batch).failures.isEmpty)
            #expect(try await store.batches() == 3)
            #expect(try await client.count(of: items) == 5)
            try await store.remove()
        }
    }
}
