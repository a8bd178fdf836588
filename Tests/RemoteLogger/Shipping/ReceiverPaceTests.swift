import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// The waits between requests to a receiver.
@Suite struct ReceiverPaceTests {
    /// A format that defers records, individually or all together, after a 503.
    private struct Late: LogFormat {
        let eachByItself: Bool
        let contentType = "text/plain"
        let maximumBodyBytes = 1_000_000
        func encode(_ records: [LogRecord]) throws -> Data { try NDJSONFormat().encode(records) }
        func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict {
            guard answer.status == 503 else { return .delivered() }
            return eachByItself ? .each(Array(repeating: .retry, count: answer.records)) : .retry
        }
    }

    @Test func `a receiver that is busy for an hour is asked 120 times at most`() async throws {
        let receiver = StubReceiver([.status(503)])
        let harness = try Harness(receiver) { $0.batch.records = 1 }
        harness.logger.info("m")
        #expect(await eventually { receiver.requests.count == 1 })
        var elapsed = Duration.zero
        while elapsed < .seconds(3_600) {
            let asked = receiver.requests.count
            // The shipper sleeps, or its wait has already ended.
            #expect(await eventually { harness.clock.nextWake != nil || receiver.requests.count > asked })
            guard let wake = harness.clock.nextWake else { continue }
            elapsed += wake
            harness.clock.advance(by: wake)
            #expect(await eventually { receiver.requests.count > asked })
            #expect(await eventually { harness.shipper.statistics.nextAttempt != nil })
        }
        #expect(receiver.requests.count <= 120 && receiver.requests.count > 40, "\(receiver.requests.count)")
        harness.expectConservation()
    }

    @Test(arguments: [100, 1_000, 3_600]) func `those who are told the same time don't come back at once, nor late`(seconds: Int)
        async throws
    {
        var waits: Set<Duration> = []
        for _ in 0..<20 {
            let harness = try Harness(StubReceiver([.status(429, headers: ["Retry-After": "\(seconds)"])])) { $0.batch.records = 1 }
            harness.logger.info("m")
            #expect(await eventually { harness.shipper.statistics.nextAttempt != nil })
            waits.insert(harness.shipper.statistics.nextAttempt ?? .zero)
        }
        #expect(waits.allSatisfy { $0 >= .seconds(seconds) && $0 <= .seconds(seconds + 1) } && waits.count > 15)
    }

    @Test(arguments: [false, true])
    func `waits grow while nothing is taken, and begin anew after an answer`(eachByItself: Bool) async throws {
        let receiver = StubReceiver { number, _ in number == 5 ? .status(200) : .status(503) }
        let harness = try Harness(receiver, format: Late(eachByItself: eachByItself)) { settings in
            settings.batch.records = 4
            settings.backoff = Backoff(base: .seconds(1), cap: .seconds(60), jitter: .none)
        }
        func expectWait(_ wait: Duration, after requests: Int) async {
            #expect(
                await eventually {
                    receiver.requests.count == requests && harness.shipper.statistics.nextAttempt == wait && harness.clock.nextWake == wait
                }, "\(wait) after \(requests) requests")
        }
        for _ in 0..<4 { harness.logger.info("m") }
        for (number, seconds) in [1, 2, 4, 8, 16].enumerated() {
            await expectWait(.seconds(seconds), after: number + 1)
            harness.clock.advance(by: .seconds(seconds))
        }
        #expect(await eventually { harness.shipper.statistics.delivered == 4 })
        for _ in 0..<4 { harness.logger.info("m") }
        await expectWait(.seconds(1), after: 7)
        harness.expectConservation()
    }
}
