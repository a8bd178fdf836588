import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// Records that are too old for the receiver, and wrong clocks.
@Suite struct RecordAgeTests {
    /// Returns a receiver whose clock is ahead by some days.
    private static func receiver(daysAhead days: Int) -> StubReceiver {
        StubReceiver([.status(202, headers: ["Date": HTTPDate.text(daysAhead: days)])])
    }

    @Test func `with the clock days behind nothing that is fresh is dropped`() async throws {
        let receiver = Self.receiver(daysAhead: 3)
        let harness = try Harness(receiver, format: DatadogFormat(service: "shop"))
        for number in 0..<3 {
            harness.logger.info("m\(number)")
            #expect(await harness.shipper.flush(within: .seconds(5)))
        }
        #expect(harness.shipper.statistics.receiverClockOffset ?? .zero > .seconds(250_000))
        #expect(harness.shipper.statistics.delivered == 3 && receiver.requests.count == 3)
        harness.expectConservation()
    }

    @Test func `a clock that is days off is told once, by the diagnostics, and by each report of losses`() async throws {
        let harness = try Harness(Self.receiver(daysAhead: 3)) { $0.buffer.bytes = 2_000 }
        let ahead = { harness.events.withLock { $0.filter { $0.message.contains("ahead of the local one") }.count } }
        for number in 0..<3 {
            harness.logger.info("m\(number)")
            #expect(await harness.shipper.flush(within: .seconds(5)))
        }
        #expect(ahead() == 1)
        harness.logger.info(String(repeating: "too long ", count: 1_000))
        harness.logger.info("next")
        #expect(await harness.shipper.flush(within: .seconds(5)))
        let report = try #require(harness.receiver.lines.joined().first { $0.message.contains("oversize 1") })
        guard case .int(let offset) = report.metadata?["receiver.clock_offset_s"] else {
            Issue.record("\(report)")
            return
        }
        #expect((250_000...270_000).contains(offset) && ahead() == 1)
    }

    @Test func `a clock that is right is no news`() async throws {
        let harness = try Harness(Self.receiver(daysAhead: 0))
        harness.logger.info("m")
        #expect(await harness.shipper.flush(within: .seconds(5)))
        let offset = try #require(harness.shipper.statistics.receiverClockOffset)
        #expect(offset < .seconds(60) && offset > .seconds(-60))
        #expect(harness.events.withLock { $0.isEmpty })
    }

    @Test func `what has waited for too long goes to the dead letters`() async throws {
        let box = try DeadLetterBox()
        defer { box.remove() }
        let isAway = Locked(false)
        let receiver = StubReceiver { _, _ in
            .status(isAway.withLock { $0 } ? 503 : 202, headers: ["Date": HTTPDate.text(daysAhead: 1)])
        }
        let harness = try Harness(receiver, format: DatadogFormat(service: "shop")) { settings in
            settings.deadLetters = box.letters
            settings.batch.records = 1
            settings.reportsLosses = false
        }
        harness.logger.info("first")
        #expect(await eventually { harness.shipper.statistics.delivered == 1 })
        isAway.withLock { $0 = true }
        // The first record was sent without success before it expired; the second isn't checked before.
        harness.logger.info("sent before")
        #expect(await eventually { harness.shipper.statistics.nextAttempt != nil })
        harness.logger.info("old")
        harness.clock.advance(by: .seconds(19 * 3_600))
        isAway.withLock { $0 = false }
        #expect(await harness.clock.run { harness.shipper.statistics.buffered == 0 })
        #expect(harness.shipper.statistics.dropped == [.expired: 2] && harness.shipper.statistics.delivered == 1)
        #expect(box.lines.map { ($0["record"] as? [String: Any])?["message"] as? String } == ["sent before", "old"])
        #expect(box.lines.first?["reason"] as? String == "expired")
        harness.expectConservation()
    }

    @Test func `the age of what an earlier run has left is told by the time, on the receiver's clock`() async throws {
        let source = try SpoolHarness()
        let now = source.clock.time
        func record(_ sequence: UInt64, hoursOld: UInt64) -> LogRecord {
            LogRecord(
                id: LogRecordID(high: 1, low: sequence), sequence: sequence, time: now - hoursOld * 3_600_000_000_000,
                // The uptime of an earlier boot, which is meaningless now.
                uptime: 999_000_000_000_000, level: .info, label: "test", message: "m\(sequence)", metadata: [:], error: nil, trace: nil,
                source: nil)
        }
        source.append([record(1, hoursOld: 30), record(2, hoursOld: 17), record(3, hoursOld: 1)])
        #expect(await source.spool.sync())
        let clock = ManualLogClock()
        var settings = SpoolSettings()
        settings.clock = clock
        let spool = Spool(root: "/spool", settings: settings, files: source.disk.afterKill().files)
        // The receiver's clock is two hours ahead, which its first response reveals.
        let receiver = StubReceiver { number, _ in
            number == 0 ? .status(503, headers: ["Date": "Sun, 01 Mar 2026 11:30:00 GMT"]) : .status(202)
        }
        let shipper = try LogShipper(to: Harness.endpoint(), format: DatadogFormat(service: "shop"), transport: receiver) { settings in
            settings.compression = .none
            settings.clock = clock
            settings.spool = spool
            settings.batch.records = 1
            settings.reportsLosses = false
        }
        #expect(await clock.run { shipper.statistics.buffered == 0 })
        // The first record was sent before the offset was known; it isn't sent again.
        #expect(shipper.statistics.delivered == 1 && shipper.statistics.dropped == [.expired: 2])
    }

    @Test func `a date to come back at is the receiver's`() async throws {
        // The receiver's clock is a day ahead of the local one, and it requests two minutes.
        let headers: HTTPFields = ["Date": "Mon, 02 Mar 2026 09:30:00 GMT", "Retry-After": "Mon, 02 Mar 2026 09:32:00 GMT"]
        let harness = try Harness(StubReceiver([.status(503, headers: headers), .status(200)])) { $0.batch.records = 1 }
        harness.logger.info("m")
        #expect(await eventually { harness.shipper.statistics.nextAttempt != nil })
        let wait = harness.shipper.statistics.nextAttempt ?? .zero
        #expect(wait >= .seconds(118) && wait <= .seconds(134), "\(wait)")
    }
}

extension HTTPDate {
    /// Returns the time of the tests' clocks, or some days later.
    fileprivate static func text(daysAhead days: Int) -> String {
        "\(["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][days % 7]), 0\(1 + days) Mar 2026 09:30:00 GMT"
    }
}
