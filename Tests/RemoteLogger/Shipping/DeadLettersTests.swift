import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// The dead-letter file on a disk that fails.
@Suite struct DeadLettersTests {
    private static let path = "/dead/refused.ndjson"

    /// Returns a receiver that refuses everything, and its dead-letter file.
    private static func harness(_ disk: MemoryDisk) throws -> (Harness, DeadLetters) {
        let letters = DeadLetters(file: URL(filePath: path), maximumBytes: 1 << 20, files: disk.files)
        return (try Harness(StubReceiver([.status(404)]), format: RefusableFormat()) { $0.deadLetters = letters }, letters)
    }

    /// Returns the message of each line's record; `nil` for lines that aren't JSON.
    private static func messages(on disk: MemoryDisk) -> [String?] {
        Data(disk[path] ?? []).split(separator: UInt8(ascii: "\n")).map { line in
            let object = try? JSONSerialization.jsonObject(with: line) as? [String: Any]
            return (object?["record"] as? [String: Any])?["message"] as? String
        }
    }

    private static func fail(_ disk: MemoryDisk, _ calls: [String: Int32]) {
        disk.faults.withLock { $0 = { call, _ in calls[call] } }
    }

    @Test func `a line that the disk takes in part only is taken back`() async throws {
        let disk = MemoryDisk()
        let (harness, letters) = try Self.harness(disk)
        for (message, faults) in [("whole", [:]), ("torn", ["write": 28]), ("unsynced", ["fsync": 5]), ("next", [:])]
            as [(String, [String: Int32])]
        {
            Self.fail(disk, faults)
            harness.logger.info(message)
            #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        }
        #expect(Self.messages(on: disk) == ["whole", "next"])
        #expect(letters.written == 2 && letters.lost == 2)
        #expect(harness.shipper.statistics.dropped == [.rejected: 4])
        harness.expectConservation()
    }

    @Test func `a line that was torn when a process ended spoils no other one`() async throws {
        let disk = MemoryDisk()
        let (harness, _) = try Self.harness(disk)
        harness.logger.info("first")
        _ = await harness.shipper.flush(within: .seconds(5))
        // The failed write can't be undone either.
        Self.fail(disk, ["write": 28, "ftruncate": 5])
        harness.logger.info("torn")
        _ = await harness.shipper.flush(within: .seconds(5))
        let next = disk.afterKill()
        let (again, letters) = try Self.harness(next)
        for message in ["second", "third"] {
            again.logger.info(message)
            _ = await again.shipper.flush(within: .seconds(5))
        }
        #expect(Self.messages(on: next) == ["first", nil, "second", "third"])
        #expect(letters.written == 2 && letters.lost == 0)
    }

    @Test func `a file that can't be asked for its size isn't overwritten`() async throws {
        let disk = MemoryDisk()
        let (harness, letters) = try Self.harness(disk)
        harness.logger.info("first")
        _ = await harness.shipper.flush(within: .seconds(5))
        for call in ["fstat", "read"] {
            Self.fail(disk, [call: 5])
            harness.logger.info("lost")
            _ = await harness.shipper.flush(within: .seconds(5))
        }
        Self.fail(disk, [:])
        harness.logger.info("second")
        _ = await harness.shipper.flush(within: .seconds(5))
        #expect(Self.messages(on: disk) == ["first", "second"])
        #expect(letters.written == 2 && letters.lost == 2)
    }
}
