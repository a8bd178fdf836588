import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

/// Bad records in a batch that the receiver refuses as a whole.
@Suite struct IsolationTests {
    /// The start of a bad record's message. It includes the blank, because an ID may start with the word.
    private static let mark = Data("\"bad ".utf8)

    /// Returns a receiver that refuses batches with bad records.
    private static func receiver() -> StubReceiver {
        StubReceiver { _, request in
            let body = request.body?.data ?? Data()
            return body.range(of: mark) == nil ? .status(200) : .status(400, body: "no")
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
        // The batch is full and may be finished before the flush begins, which then doesn't count its losses.
        _ = await harness.shipper.flush(within: .seconds(5))
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

    @Test(arguments: Sweep.isFull ? Array(1...20) : [1, 2, 5, 11, 20]) func `of a thousand records exactly the bad ones are lost`(
        number: Int
    ) async throws {
        var generator = SeededGenerator(seed: UInt64(number))
        var bad: Set<Int> = []
        while bad.count < number { bad.insert(Int.random(in: 0..<1_000, using: &generator)) }
        _ = try await ship(1_000, bad: bad)
    }

    @Test(arguments: [0, 490, 980]) func `a run of twenty bad ones costs no good one`(start: Int) async throws {
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

    // MARK: Requests

    @Test(arguments: [2, 31, 32, 64]) func `one bad record costs log2(n) + 2 more requests at most`(count: Int) async throws {
        // The last request is needed for the second of the last two: a record must be sent alone before it is dropped.
        let halvings = Int.bitWidth - (count - 1).leadingZeroBitCount
        for bad in stride(from: 0, to: count, by: count > 32 ? 9 : count > 31 ? 1 : 3) {
            let counts = try await ship(count, bad: [bad])
            #expect(counts.requests <= 1 + halvings + 2, "\(bad) of \(count)")
        }
    }

    /// Also if the joined rest is refused, for a near or a distant record.
    @Test(arguments: [
        [0, 1], [0, 63], [62, 63], [0, 40], [31, 32], [0, 1, 2], [0, 31, 63], [61, 62, 63], [5, 20, 21], [0, 32, 33],
    ]) func `a few bad records cost a search each`(bad: [Int]) async throws {
        let counts = try await ship(64, bad: Set(bad))
        #expect(counts.requests <= 1 + bad.count * 2 * 7, "\(counts.requests)")
    }

    @Test(arguments: 0..<16) func `records arrive in their order, and none comes twice`(bad: Int) async throws {
        let harness = try Harness(Self.receiver())
        for number in 0..<16 { harness.logger.info(number == bad ? "bad \(number)" : "good \(number)") }
        #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        let taken = harness.receiver.lines.filter { !$0.contains { $0.message.hasPrefix("bad") } }.joined().map(\.message)
        #expect(taken == (0..<16).filter { $0 != bad }.map { "good \($0)" })
    }

    @Test func `a single refusal that no record explains loses none`() async throws {
        for count in 1...17 {
            let harness = try Harness(StubReceiver([.status(400), .status(200)])) { $0.batch.records = count }
            for number in 0..<count { harness.logger.info("m\(number)") }
            _ = await harness.shipper.flush(within: .seconds(5))
            #expect(harness.shipper.statistics.delivered == (count > 1 ? UInt64(count) : 0))
            harness.expectConservation()
        }
    }

    @Test(arguments: [StubReceiver.Reply.broken, .status(503), .status(413), .status(200, body: "?")])
    func `a search that something else comes between loses no good record`(reply: StubReceiver.Reply) async throws {
        for disturbed in 1...9 {
            let receiver = StubReceiver { number, request in
                if number == disturbed { return reply }
                let body = request.body?.data ?? Data()
                return body.range(of: Self.mark) == nil ? .status(200) : .status(400)
            }
            let harness = try Harness(receiver) { $0.backoff = Backoff(base: .milliseconds(1), cap: .milliseconds(1)) }
            for number in 0..<32 { harness.logger.info([9, 20].contains(number) ? "bad \(number)" : "good \(number)") }
            async let flushed = harness.shipper.flush(within: .seconds(3_600))
            #expect(await harness.clock.run(step: .milliseconds(1)) { harness.shipper.statistics.buffered == 0 })
            _ = await flushed
            #expect(harness.shipper.statistics.delivered >= 29, "a 413 may be for a single one")
            harness.expectConservation()
        }
    }

    @Test(arguments: [[3], [0, 7, 8, 31], [3, 12, 30], Array(8..<16), [15, 16, 17]])
    func `in a batch that goes in several pieces each has a search of its own`(bad: [Int]) async throws {
        let harness = try Harness(Self.receiver(), format: SmallPieces())
        for number in 0..<32 { harness.logger.info(bad.contains(number) ? "bad \(number)" : "good \(number)") }
        #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        let counts = harness.shipper.statistics
        #expect(counts.delivered == UInt64(32 - bad.count) && counts.dropped == [.rejected: UInt64(bad.count)])
        #expect(harness.receiver.lines.allSatisfy { $0.count <= 8 })
        // Four pieces, and five more requests for one bad record of eight.
        if bad.count == 1 { #expect(counts.requests <= 4 + 5) }
        harness.expectConservation()
    }

    private struct SmallPieces: LogFormat {
        let maximumRecords = 8
        let contentType = "text/plain"
        let maximumBodyBytes = 1_000_000
        func encode(_ records: [LogRecord]) throws -> Data { try NDJSONFormat().encode(records) }
        func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict { answer.usualVerdict }
    }
}
