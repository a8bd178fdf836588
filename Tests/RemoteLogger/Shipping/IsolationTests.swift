import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

/// Bad records in a batch that the receiver refuses as a whole.
@Suite struct IsolationTests {
    /// Refuses what has a bad record in it.
    private static func receiver() -> StubReceiver {
        StubReceiver { _, request in
            let body = request.body?.data ?? Data()
            return body.range(of: Data("\"bad".utf8)) == nil ? .status(200) : .status(400, body: "no")
        }
    }

    private func ship(_ count: Int, bad: Set<Int>, expectsExactly: Bool = true) async throws -> LogStatistics {
        let box = try DeadLetterBox()
        defer { box.remove() }
        let harness = try Harness(Self.receiver()) { settings in
            settings.deadLetters = box.letters
            settings.batch = BatchLimits(records: count, bytes: 64 << 20, interval: .seconds(3_600))
        }
        for number in 0..<count { harness.logger.info(bad.contains(number) ? "bad \(number)" : "good \(number)") }
        #expect(await harness.shipper.flush(within: .seconds(5)) == bad.isEmpty)
        let buried = box.lines.compactMap { ($0["record"] as? [String: Any])?["message"] as? String }
        let counts = harness.shipper.statistics
        if expectsExactly {
            #expect(Set(buried) == Set(bad.map { "bad \($0)" }) && buried.count == bad.count, "\(bad.sorted()): \(buried.count)")
            #expect(counts.delivered == UInt64(count - bad.count))
            #expect(harness.receiver.lines.last.map { _ in true } == true)
        }
        harness.expectConservation()
        return counts
    }

    @Test(arguments: 1...20) func `of a thousand records exactly the bad ones are lost`(number: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(number))
        for _ in 0..<3 {
            var bad: Set<Int> = []
            while bad.count < number { bad.insert(Int.random(in: 0..<1_000, using: &generator)) }
            _ = try await ship(1_000, bad: bad)
        }
    }

    @Test(arguments: [0, 1, 490, 979, 980]) func `a run of twenty bad ones costs no good one`(start: Int) async throws {
        _ = try await ship(1_000, bad: Set(start..<start + 20))
    }

    @Test func `every second one`() async throws {
        _ = try await ship(128, bad: Set(stride(from: 0, to: 128, by: 2)))
    }

    @Test(arguments: [0, 500]) func `a hundred bad ones in a row cost no good one before or far behind`(start: Int) async throws {
        let counts = try await ship(1_000, bad: Set(start..<start + 100), expectsExactly: false)
        #expect(counts.delivered >= 890 && counts.requests < 400)
    }

    @Test(arguments: [64, 512, 1_000]) func `where everything is refused few requests are made`(count: Int) async throws {
        let counts = try await ship(count, bad: Set(0..<count))
        #expect(counts.requests <= 41 && counts.dropped == [.rejected: UInt64(count)])
    }
}
