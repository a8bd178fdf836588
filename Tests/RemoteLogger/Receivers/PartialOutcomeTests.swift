import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// The outcomes of records that a receiver accepts in part or not at all.
@Suite struct PartialOutcomeTests {
    @Test func `a poison record is found by halving, and the rest is delivered`() async throws {
        let box = try DeadLetterBox()
        defer { box.remove() }
        let receiver = StubReceiver { _, request in
            String(decoding: request.body?.data ?? Data(), as: UTF8.self).contains("\"m37\"") ? .status(400, body: "bad m37") : .status(200)
        }
        let harness = try Harness(receiver) { $0.deadLetters = box.letters }
        for number in 0..<64 { harness.logger.info("m\(number)") }
        #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        #expect(harness.shipper.statistics.delivered == 63)
        #expect(harness.shipper.statistics.dropped == [.rejected: 1])
        // The first request, one for each of the six halvings, one for the record alone, and one for all that waited.
        #expect(harness.shipper.statistics.requests == 9)
        let line = try #require(box.lines.first)
        #expect(box.lines.count == 1 && line["reason"] as? String == "rejected" && line["message"] as? String == "bad m37")
        #expect((line["record"] as? [String: Any])?["message"] as? String == "m37")
        #expect(box.letters.written == 1 && box.letters.lost == 0)
        harness.expectConservation()
    }

    @Test func `a receiver that refuses everything isn't asked for every record`() async throws {
        let box = try DeadLetterBox()
        defer { box.remove() }
        let harness = try Harness(StubReceiver([.status(400)])) { $0.deadLetters = box.letters }
        for number in 0..<512 { harness.logger.info("m\(number)") }
        #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        #expect(harness.shipper.statistics.dropped == [.rejected: 512])
        #expect(harness.shipper.statistics.requests <= 41)
        #expect(Set(box.ids).count == 512)
        harness.expectConservation()
    }

    @Test func `the dead-letter file keeps its bound`() async throws {
        let box = try DeadLetterBox(maximumBytes: 20_000)
        defer { box.remove() }
        let harness = try Harness(StubReceiver([.status(400)])) { $0.deadLetters = box.letters }
        for number in 0..<300 {
            harness.logger.info("m\(number) " + String(repeating: "x", count: number % 400))
            if number % 7 == 0 {
                _ = await harness.shipper.flush(within: .seconds(5))
                #expect(box.bytes <= 20_000)
            }
        }
        harness.logger.info(String(repeating: "x", count: 11_000))
        _ = await harness.shipper.flush(within: .seconds(5))
        #expect(box.bytes <= 20_000 && box.bytes > 9_000)
        #expect(box.letters.written == 300 && box.letters.lost == 1)
        #expect(box.ids.count > 10 && box.ids.count < 300)
        harness.expectConservation()
    }

    @Test func `records that can be taken later are sent again by themselves`() async throws {
        struct Picky: LogFormat {
            let contentType = "text/plain"
            let maximumBodyBytes = 1_000_000
            let maximumRecords = 8
            func encode(_ records: [LogRecord]) throws -> Data { try NDJSONFormat().encode(records) }
            func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict {
                let late = Set(String(decoding: answer.body, as: UTF8.self).split(separator: ",").compactMap { Int($0) })
                return .each((0..<answer.records).map { late.contains($0) ? .retry : .delivered })
            }
        }
        let receiver = StubReceiver([.status(200, body: "1,3"), .status(200, body: "0"), .status(200), .status(200)])
        let harness = try Harness(receiver, format: Picky())
        for number in 0..<10 { harness.logger.info("m\(number)") }
        async let flushed = harness.shipper.flush(within: .seconds(3_600))
        #expect(await harness.clock.run { harness.shipper.statistics.delivered == 10 })
        #expect(await flushed)
        #expect(
            receiver.lines.map { $0.map(\.message) } == [
                ["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"], ["m1", "m3"], ["m1"], ["m8", "m9"],
            ])
        harness.expectConservation()
    }
}
