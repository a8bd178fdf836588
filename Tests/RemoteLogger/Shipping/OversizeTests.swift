import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// Batches that are too large for the receiver.
@Suite struct OversizeTests {
    /// Ships records of these lengths to a receiver that accepts bodies up to a size, and never one with the named record.
    private func ship(_ lengths: [Int], upTo bytes: Int, never name: String = "none") async throws -> (counts: LogStatistics, taken: [Int])
    {
        let receiver = StubReceiver { _, request in
            let body = request.body?.data ?? Data()
            return body.count <= bytes && body.range(of: Data("\"\(name) ".utf8)) == nil ? .status(200) : .status(413)
        }
        let harness = try Harness(receiver)
        for (number, length) in lengths.enumerated() {
            harness.logger.info("m\(number) " + String(repeating: "x", count: length))
        }
        _ = await harness.shipper.flush(within: .seconds(5))
        harness.expectConservation()
        let taken = zip(receiver.bodies, receiver.lines).filter { body, lines in
            body.count <= bytes && !lines.contains { $0.message.hasPrefix(name + " ") }
        }
        let numbers = taken.flatMap { $0.1.map { Int($0.message.dropFirst().prefix { $0.isNumber }) ?? -1 } }
        return (harness.shipper.statistics, numbers)
    }

    @Test(arguments: [2, 3, 32, 100]) func `one record that is too large costs no more than three requests beside the first`(
        count: Int
    ) async throws {
        for large in Set([0, 1, count / 2, count - 1]) {
            var lengths = Array(repeating: 10, count: count)
            lengths[large] = 400 * count
            let (counts, taken) = try await ship(lengths, upTo: 350 * count)
            #expect(counts.dropped == [.oversize: 1])
            #expect(taken == (0..<count).filter { $0 != large }, "in order")
            // The records before it, itself, and those after it: fewer than log2(n) + 1.
            #expect(counts.requests <= (large == 0 || large == count - 1 ? 3 : 4), "\(large) of \(count): \(counts.requests)")
        }
    }

    @Test func `a batch of which both halves fit goes in halves`() async throws {
        let (counts, taken) = try await ship(Array(repeating: 10, count: 32), upTo: 6_000)
        #expect(counts.requests == 3 && counts.delivered == 32 && counts.dropped.isEmpty)
        #expect(taken == Array(0..<32))
    }

    @Test func `two and three records that are too large are found`() async throws {
        for large in [[0, 1], [0, 31], [30, 31], [7, 20], [3, 4, 5], [0, 15, 31]] {
            var lengths = Array(repeating: 10, count: 32)
            for (index, number) in large.enumerated() { lengths[number] = 20_000 * (index + 1) }
            let (counts, taken) = try await ship(lengths, upTo: 10_000)
            #expect(counts.dropped == [.oversize: UInt64(large.count)])
            #expect(taken == (0..<32).filter { !large.contains($0) })
            #expect(counts.requests <= UInt64(1 + large.count * 6), "\(large): \(counts.requests)")
        }
    }

    @Test func `one that fits alone is delivered, however large it is beside the others`() async throws {
        var lengths = Array(repeating: 10, count: 32)
        lengths[9] = 20_000
        let (counts, taken) = try await ship(lengths, upTo: 21_000)
        #expect(counts.requests == 4 && counts.delivered == 32 && counts.dropped.isEmpty)
        #expect(taken == Array(0..<32))
    }

    @Test func `where the size isn't what tells the record it is found by halving`() async throws {
        let (counts, taken) = try await ship(Array(repeating: 10, count: 32), upTo: .max, never: "m11")
        #expect(counts.dropped == [.oversize: 1])
        #expect(taken == (0..<32).filter { $0 != 11 })
        // The first request, and both halves for each of the five halvings, because each half may fit.
        #expect(counts.requests == 11)
    }
}
