import Foundation
import Testing
import WebServiceClient

@testable import RemoteLogger

@Suite struct LogShipperTests {
    // MARK: Batches

    @Test func `a batch goes when it has enough records, and the rest when its time has come`() async throws {
        let harness = try Harness { $0.batch = BatchLimits(records: 10, interval: .seconds(60)) }
        for number in 0..<25 { harness.logger.info("m\(number)") }
        #expect(await eventually { harness.shipper.statistics.delivered == 20 })
        await settle()
        #expect(harness.receiver.lines.map(\.count) == [10, 10])
        #expect(harness.shipper.statistics.buffered == 5)
        harness.expectConservation()
        #expect(await harness.clock.run(step: .seconds(10)) { harness.shipper.statistics.delivered == 25 })
        #expect(harness.receiver.lines.joined().map(\.message) == (0..<25).map { "m\($0)" })
        harness.expectConservation()
    }

    @Test func `a batch goes when it has enough bytes`() async throws {
        let harness = try Harness { $0.batch = BatchLimits(bytes: 4_000, interval: .seconds(3_600)) }
        for _ in 0..<10 { harness.logger.info(String(repeating: "x", count: 1_000)) }
        #expect(await eventually { harness.shipper.statistics.delivered >= 9 })
        #expect(harness.receiver.lines.allSatisfy { $0.count <= 3 })
        harness.expectConservation()
    }

    @Test func `a single record on an idle system leaves after the interval, and no earlier`() async throws {
        let harness = try Harness { $0.batch.interval = .seconds(2) }
        for round in 1...20 {
            harness.logger.info("m")
            #expect(await eventually { harness.clock.nextWake == .seconds(2) })
            harness.clock.advance(by: .milliseconds(1_999))
            await settle()
            #expect(harness.receiver.requests.count == round - 1)
            harness.clock.advance(by: .milliseconds(1))
            #expect(await eventually { harness.shipper.statistics.delivered == UInt64(round) })
        }
        harness.expectConservation()
    }

    @Test func `requests are what the format and the settings say`() async throws {
        let harness = try Harness(format: OTLPFormat()) { settings in
            settings.compression = .gzip(level: 1)
            settings.headers["X-Team"] = "core"
            settings.timeout = .seconds(3)
            settings.authorize = { $0[.authorization] = "Bearer secret" }
        }
        for _ in 0..<100 { harness.logger.info("The same again") }
        #expect(await harness.shipper.flush(within: .seconds(5)))
        let request = try #require(harness.receiver.requests.first)
        #expect(request.method == .post)
        #expect(request.url == (try Harness.endpoint()))
        #expect(request.headers[.contentType] == "application/json")
        #expect(request.headers["X-Team"] == "core")
        #expect(request.headers[.authorization] == "Bearer secret")
        #expect(request.headers[.userAgent]?.hasPrefix("RemoteLogger-Swift/") == true)
        #expect(request.timeouts.total == .seconds(3))
        let isCompressed = harness.receiver.bodies[0].starts(with: [0x1F, 0x8B])
        #expect((request.headers[.contentEncoding] == "gzip") == isCompressed)
        harness.expectConservation()
    }

    @Test func `without zlib bodies go as they are, and that is said once`() async throws {
        let harness = try Harness { settings in
            settings.compression = .gzip(level: 1)
            settings.compressor = { _, _ in .missing }
        }
        for _ in 0..<3 {
            harness.logger.info("m")
            #expect(await harness.shipper.flush(within: .seconds(5)))
        }
        #expect(harness.receiver.lines.map(\.count) == [1, 1, 1])
        #expect(harness.receiver.requests.allSatisfy { !$0.headers.contains(.contentEncoding) })
        #expect(harness.events.withLock { $0.filter { $0.message.contains("zlib") } }.count == 1)
    }

    // MARK: Failures

    @Test func `a request whose fate is unknown is sent again, byte for byte`() async throws {
        let harness = try Harness(StubReceiver([.broken, .status(503), .broken, .status(200)]))
        for number in 0..<50 { harness.logger.info("m\(number)") }
        // A concurrent flush would also wait for the clock, and might wait for its whole time.
        try #require(await harness.clock.run { harness.shipper.statistics.delivered == 50 })
        #expect(await harness.shipper.flush(within: .seconds(5)))
        #expect(Set(harness.receiver.bodies).count == 1)
        #expect(harness.receiver.bodies.count == 4)
        let counts = harness.shipper.statistics
        #expect(counts.requests == 4 && counts.repeats == 3 && counts.lastStatus == 200 && counts.nextAttempt == nil)
        let levels = harness.events.withLock { $0.map(\.level) }
        #expect(levels == [.warning, .notice], "the outage and its end, not every attempt")
        harness.expectConservation()
    }

    @Test(arguments: ["120", "Sun, 01 Mar 2026 09:32:01 GMT"])
    func `Retry-After is obeyed in both forms`(value: String) async throws {
        let harness = try Harness(StubReceiver([.status(429, headers: ["Retry-After": value]), .status(200)])) { $0.batch.records = 1 }
        harness.logger.info("m")
        #expect(await eventually { harness.shipper.statistics.nextAttempt != nil })
        #expect(await eventually { (harness.clock.nextWake ?? .zero) > .seconds(119) })
        #expect(harness.clock.nextWake ?? .zero <= .seconds(122), "up to a second is added, and a date has whole ones")
        harness.clock.advance(by: .seconds(118))
        await settle()
        #expect(harness.receiver.requests.count == 1)
        async let flushed = harness.shipper.flush(within: .seconds(36_000))
        await settle()
        #expect(harness.receiver.requests.count == 1, "a flush doesn't end a wait that the receiver asked for")
        // Advanced in steps: if the shipper is about to sleep again, it counts from the time it finds.
        try #require(await harness.clock.run { harness.receiver.requests.count == 2 })
        #expect(await flushed)
        harness.expectConservation()
    }

    @Test func `a flush ends a wait that is only ours`() async throws {
        let harness = try Harness(StubReceiver([.broken, .status(200)])) { settings in
            settings.batch.records = 1
            settings.backoff = Backoff(base: .seconds(3_600), cap: .seconds(3_600))
        }
        harness.logger.info("m")
        #expect(await eventually { harness.shipper.statistics.nextAttempt != nil })
        #expect(await harness.shipper.flush(within: .seconds(1)))
        harness.expectConservation()
    }

    @Test func `a body above the format's bound is split before it is sent`() async throws {
        var format = NDJSONFormat()
        format.maximumBodyBytes = 2_000
        let harness = try Harness(format: format)
        for number in 0..<20 { harness.logger.info("m\(number)") }
        harness.logger.info(String(repeating: "x", count: 3_000))
        #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        #expect(harness.receiver.bodies.allSatisfy { $0.count <= 2_000 })
        #expect(harness.shipper.statistics.delivered == 20)
        #expect(harness.shipper.statistics.dropped == [.oversize: 1])
        harness.expectConservation()
    }

    @Test func `what the receiver refuses for good is counted, what it refuses in part, too`() async throws {
        let partial = #"{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"too old"}}"#
        let harness = try Harness(
            StubReceiver([.status(500), .status(200, body: partial), .status(200, body: "{}")]), format: OTLPFormat())
        for _ in 0..<3 {
            for _ in 0..<5 { harness.logger.info("m") }
            _ = await harness.shipper.flush(within: .seconds(5))
        }
        let counts = harness.shipper.statistics
        #expect(counts.requests == 3)
        #expect(counts.delivered == 8)
        #expect(counts.dropped == [.rejected: 7])
        #expect(harness.events.withLock { $0.contains { $0.message.contains("too old") } })
        harness.expectConservation()
    }

    @Test(arguments: [401, 403, 307])
    func `wrong credentials and redirects keep the records and pause`(status: Int) async throws {
        let headers: HTTPFields = ["Location": "http://elsewhere.test/"]
        let harness = try Harness(StubReceiver([.status(status, headers: headers), .status(200)])) { settings in
            settings.batch.records = 1
            settings.headers[.authorization] = "Bearer secret"
        }
        harness.logger.info("m")
        #expect(await eventually { harness.shipper.statistics.nextAttempt == .seconds(300) })
        #expect(harness.shipper.statistics.buffered == 1)
        harness.expectConservation()
        async let flushed = harness.shipper.flush(within: .seconds(60))
        try #require(await eventually { harness.clock.nextWake == .seconds(60) })
        harness.clock.advance(by: .seconds(60))
        #expect(await flushed == false)
        #expect(harness.receiver.requests.count == 1)
        harness.clock.advance(by: .seconds(240))
        #expect(await harness.clock.run { harness.shipper.statistics.delivered == 1 })
        #expect(harness.receiver.requests.allSatisfy { $0.url.host() == "receiver.test" })
        let said = harness.events.withLock { $0 }
        #expect(said.map(\.level) == [.warning, .notice])
        #expect(!said.contains { $0.description.contains("secret") })
    }

    @Test func `a record that the format can't write is dropped alone`() async throws {
        struct Picky: LogFormat {
            struct Refusal: Error {}
            let contentType = "text/plain"
            let maximumBodyBytes = 1_000_000
            func encode(_ records: [LogRecord]) throws -> Data {
                guard !records.contains(where: { $0.message == "bad" }) else { throw Refusal() }
                return try NDJSONFormat().encode(records)
            }
            func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict { .delivered() }
        }
        let harness = try Harness(format: Picky())
        for number in 0..<9 { harness.logger.info(number == 4 ? "bad" : "good") }
        #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        #expect(harness.shipper.statistics.delivered == 8)
        #expect(harness.shipper.statistics.dropped == [.unencodable: 1])
        harness.expectConservation()
    }

    @Test func `an error in authorize is a failed attempt`() async throws {
        let isAllowed = Locked(false)
        let harness = try Harness { settings in
            settings.authorize = { _ in if !isAllowed.withLock({ $0 }) { throw TransportError(.other, "No token yet.") } }
        }
        harness.logger.info("m")
        #expect(await harness.clock.run { harness.shipper.statistics.repeats > 3 })
        #expect(harness.receiver.requests.isEmpty)
        isAllowed.withLock { $0 = true }
        #expect(await harness.clock.run { harness.shipper.statistics.delivered == 1 })
        harness.expectConservation()
    }

    // MARK: Bounds

    @Test func `overflow drops the lowest level first, then the oldest, and tells`() async throws {
        let harness = try Harness(StubReceiver([.hangs])) { settings in
            settings.buffer.records = 10
            settings.batch.records = 4
            settings.reportsLosses = false
        }
        for number in 0..<4 { harness.logger.info("sent \(number)") }
        #expect(await eventually { harness.receiver.requests.count == 1 })
        for number in 0..<3 { harness.logger.debug("debug \(number)") }
        for number in 0..<5 { harness.logger.error("error \(number)") }
        let counts = harness.shipper.statistics
        #expect(counts.dropped == [.overflow: 2])
        #expect(counts.buffered == 10)
        harness.expectConservation()
        harness.receiver.release()
        #expect(await harness.clock.run { harness.receiver.requests.count == 2 })
        harness.receiver.release()
        #expect(await harness.shipper.shutdown(within: .zero) == false)
        #expect(harness.shipper.statistics.dropped == [.overflow: 2, .shutdown: 10])
        harness.expectConservation()
    }

    @Test func `the shipper's level and the endpoint are checked`() async throws {
        let harness = try Harness { $0.minimumLevel = .warning }
        harness.logger.info("low")
        harness.shipper.write(.sample(1, .info))
        harness.logger.error("high")
        #expect(await harness.shipper.flush(within: .seconds(5)))
        #expect(harness.shipper.statistics.emitted == 1)
        for bad in ["ftp://host/x", "/relative", "http:///x", "http://user:xyzzy@host/"] {
            let url = try #require(URL(string: bad))
            let error = #expect(throws: LogShipperError.self) {
                try LogShipper(to: url, format: NDJSONFormat(), transport: StubReceiver())
            }
            #expect(error?.message.contains("xyzzy") != true)
        }
        #expect(throws: LogShipperError.self) {
            try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: StubReceiver()) { $0.headers["X"] = "a\r\nb" }
        }
        #expect(throws: LogShipperError.self) {
            try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: StubReceiver()) { $0.headers["X Y"] = "a" }
        }
    }
}
