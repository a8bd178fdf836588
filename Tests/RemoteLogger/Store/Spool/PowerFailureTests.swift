import RemoteLogger
import Testing
import WebServiceClient

/// The power fails at every call of short runs, and every disk state that may result is tested.
@Suite struct PowerFailureTests {
    /// A short run of actions on a spool.
    enum Script: String, CaseIterable {
        /// The first run on the disk.
        case first
        /// A run that finds records, delivers all of them, and logs more.
        case next
        /// A run that only delivers.
        case last
        /// A run whose records fill one segment each, and that delivers all of them, so that the segments are deleted.
        case full

        /// Runs the script until it ends or the disk dies.
        func run(_ disk: MemoryDisk, _ files: SpoolFileSystem, _ outcome: inout SpoolCrashTests.Outcome) async throws {
            let harness = try SpoolHarness(disk, files: files) { $0.diskBytes = 512 << 10 }
            if self != .last { await log(harness, &outcome) }
            if self != .first, !disk.isDead {
                let batch = await harness.store.read(after: 0, limits: BatchLimits())
                if !disk.isDead {
                    outcome.lastBatch = Set(batch.sequences)
                    outcome.acknowledged.formUnion(batch.sequences)
                    harness.store.acknowledge(through: batch.last?.position ?? 0)
                }
            }
            await harness.end()
        }

        private func log(_ harness: SpoolHarness, _ outcome: inout SpoolCrashTests.Outcome) async {
            let first: UInt64 = self == .first ? 1 : 10
            for sequence in first...first + (self == .full ? 2 : 1) {
                harness.append([.sample(sequence, .info, String(repeating: "x", count: self == .full ? 20_000 : 3))])
                outcome.logged.insert(sequence)
                if await harness.spool.sync() { outcome.accepted.insert(sequence) }
            }
        }
    }

    @Test(arguments: Script.allCases)
    func `nothing that was synced is lost, whatever the medium has taken of the rest`(script: Script) async throws {
        let whole = try await prepared(script)
        var outcome = SpoolCrashTests.Outcome()
        let journal = DiskJournal(whole.disk)
        try await script.run(whole.disk, journal.files, &outcome)
        let calls = whole.disk.calls
        #expect((1...40).contains(calls), "\(calls) calls: too many to try all states")
        var states = 0
        for call in 1...max(1, calls) {
            let start = try await prepared(script, dyingAt: call)
            var outcome = start.outcome
            let journal = DiskJournal(start.disk)
            try await script.run(start.disk, journal.files, &outcome)
            let left = try #require(journal.outcomes(limit: 20_000), "too many states at call \(call)")
            for contents in left {
                let disk = MemoryDisk()
                for (path, bytes) in contents { disk[path] = bytes }
                try await SpoolCrashTests.check(disk, outcome, powerFailed: true, "\(script), power failed at \(call)")
            }
            states += left.count
        }
        #expect(states > 2 * calls, "\(states) states of \(calls) calls")
    }

    /// Returns the disk at the start of the script, fully synced.
    private func prepared(_ script: Script, dyingAt call: Int? = nil) async throws -> (disk: MemoryDisk, outcome: SpoolCrashTests.Outcome) {
        let disk = MemoryDisk(dyingAt: call)
        var outcome = SpoolCrashTests.Outcome()
        guard script != .first else { return (disk, outcome) }
        let earlier = MemoryDisk()
        try await Script.first.run(earlier, earlier.files, &outcome)
        for path in earlier.paths { disk[path] = earlier[path] }
        return (disk, outcome)
    }
}
