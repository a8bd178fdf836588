import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

#if compiler(>=6.3) && (os(Linux) || os(macOS))
/// A real process with a real spool on a real disk, killed by SIGKILL. The child is this test program, restarted by the testing library (an
/// exit test).
@Suite(.serialized) struct SpoolKillTests {
    @Test func `what was synced when the process was killed is all there`() async throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "spool-kill-\(UUID().uuidString)").path(percentEncoded: false)
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        var held: Set<UInt64> = []
        for round in 1...6 {
            await ExitTesting.alone {
                await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String, round = round as Int] in
                    ExitTesting.endLater()
                    try await KilledProcess.run(root, round)
                }
            }
            let synced = try KilledProcess.synced(root)
            let spool = Spool(directory: URL(filePath: root + "/spool"))
            let store = try #require(spool.store(for: "default", minimumLevel: .trace))
            let count = store.load.records
            var read: [StoredRecord] = []
            while true {
                let batch = await store.read(after: read.last?.position ?? 0, limits: BatchLimits())
                guard !batch.isEmpty else { break }
                read += batch
            }
            let found = Set(read.map(\.record.sequence))
            let base = UInt64(round) * KilledProcess.span
            #expect(read.count == count && found.count == count, "each once")
            #expect(synced > base, "the child has worked")
            #expect(Set(base + 1...synced).subtracting(found).isEmpty, "round \(round)")
            #expect(held.subtracting(found).isEmpty, "what earlier rounds have left")
            #expect(read.allSatisfy { $0.record.message == KilledProcess.message($0.record.sequence) })
            let half = read.count / 2
            if half > 0 { store.acknowledge(through: read[half - 1].position) }
            held = Set(read[half...].map(\.record.sequence))
            _ = store.close()
            _ = await spool.sync()
        }
    }
}

/// The child process.
enum KilledProcess {
    /// The sequence numbers of a round start at its number times this.
    static let span: UInt64 = 10_000_000

    static func message(_ sequence: UInt64) -> String {
        "record \(sequence) " + String(repeating: "y", count: Int(sequence % 97))
    }

    static func synced(_ root: String) throws -> UInt64 {
        let data = try Data(contentsOf: URL(filePath: root + "/synced"))
        return UInt64(String(decoding: data, as: UTF8.self).split(separator: "\n").last ?? "") ?? 0
    }

    /// Logs until it kills itself at a random moment, and records the synced sequence numbers in a file.
    static func run(_ root: String, _ round: Int) async throws {
        let spool = Spool(directory: URL(filePath: root + "/spool"))
        guard let store = spool.store(for: "default", minimumLevel: .trace) else { return }
        let file = open(root + "/synced", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let first = UInt64(round) * span
        let killsAfter = Double(100 + round * 37)
        let hasSynced = Locked(false)
        Thread.detachNewThread {
            while !hasSynced.withLock({ $0 }) { usleep(1_000) }
            usleep(UInt32(killsAfter * 1_000))
            kill(getpid(), SIGKILL)
        }
        var sequence = first
        while true {
            for _ in 0..<50 {
                sequence += 1
                _ = store.append(
                    LogRecord(
                        id: LogRecordID(high: 1, low: sequence), sequence: sequence, time: sequence,
                        level: sequence % 9 == 0 ? .error : .info, message: message(sequence)), now: 1)
            }
            guard await spool.sync() else { continue }
            let line = Array("\(sequence)\n".utf8)
            _ = line.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            hasSynced.withLock { $0 = true }
        }
    }
}
#endif
