import Foundation
import RemoteLogger
import Testing
import WebServiceClient
import WebServiceTesting

/// Datadog's intake: its limits, its many forms of being busy, and incomplete responses.
@Suite struct NastyDatadogTests {
    private static let format = DatadogFormat(service: "shop")

    private static func items(_ body: Data) -> [[String: Any]] {
        (try? JSONSerialization.jsonObject(with: body)) as? [[String: Any]] ?? []
    }

    // MARK: Statuses

    @Test(arguments: [(202, "{}"), (202, ""), (202, "<html>"), (200, "{}"), (204, ""), (202, #"{"errors":["x"]}"#)])
    func `any success is success, with whatever body`(status: Int, body: String) async throws {
        let harness = try Harness(StubReceiver([.status(status, body: body)]), format: Self.format)
        for number in 0..<5 { harness.logger.info("m\(number)") }
        #expect(await harness.shipper.flush(within: .seconds(5)))
        #expect(harness.shipper.statistics.delivered == 5 && harness.receiver.requests.count == 1)
        harness.expectConservation()
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504, 507]) func `a busy intake gets the same bytes again`(status: Int) async throws {
        let replies: [StubReceiver.Reply] = [.status(status), .broken, .status(status, body: "<html>"), .status(202)]
        let harness = try Harness(StubReceiver(replies), format: Self.format)
        for number in 0..<5 { harness.logger.info("m\(number)") }
        async let flushed = harness.shipper.flush(within: .seconds(3_600))
        #expect(await harness.clock.run { harness.shipper.statistics.delivered == 5 })
        #expect(await flushed)
        #expect(harness.receiver.bodies.count == 4 && Set(harness.receiver.bodies).count == 1)
        #expect(harness.shipper.statistics.dropped.isEmpty && harness.shipper.statistics.repeats == 3)
        harness.expectConservation()
    }

    @Test(arguments: [401, 403]) func `a key that isn't taken any more costs no record`(status: Int) async throws {
        let harness = try Harness(StubReceiver([.status(status, body: #"{"errors":["Forbidden"]}"#), .status(202)]), format: Self.format)
        for number in 0..<5 { harness.logger.info("m\(number)") }
        #expect(await harness.shipper.flush(within: .zero) == false)
        #expect(await harness.clock.run(step: .milliseconds(1)) { harness.shipper.statistics.nextAttempt ?? .zero > .seconds(200) })
        #expect(harness.shipper.statistics.buffered == 5 && harness.shipper.statistics.dropped.isEmpty)
        #expect(await harness.clock.run(step: .seconds(10)) { harness.shipper.statistics.delivered == 5 })
        #expect(harness.receiver.requests.count == 2)
        harness.expectConservation()
    }

    @Test func `an item that spoils a batch is found, and no other is lost`() async throws {
        let box = try DeadLetterBox()
        defer { box.remove() }
        let receiver = StubReceiver { _, request in
            let isPoison = Self.items(request.body?.data ?? Data()).contains { ($0["message"] as? String)?.hasPrefix("poison") == true }
            return isPoison ? .status(400, body: #"{"errors":[{"detail":"no"}]}"#) : .status(202)
        }
        let harness = try Harness(receiver, format: Self.format) { $0.deadLetters = box.letters }
        for number in 0..<100 { harness.logger.info(number % 40 == 7 ? "poison" : "m\(number)") }
        #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        #expect(harness.shipper.statistics.delivered == 97 && harness.shipper.statistics.dropped == [.rejected: 3])
        #expect(box.ids.count == 3)
        harness.expectConservation()
    }

    // MARK: Waits

    @Test(arguments: [("30", 30), ("0", 0), ("1", 1), (" 12 ", 12), ("999999999999999999999", 3_600), ("7200", 3_600)])
    func `a limit of the rate tells when to come back`(field: String, seconds: Int) async throws {
        let harness = try Harness(StubReceiver([.status(429, headers: ["X-RateLimit-Reset": field]), .status(202)]), format: Self.format)
        harness.logger.info("m")
        #expect(await harness.shipper.flush(within: .zero) == false)
        #expect(await eventually { harness.shipper.statistics.nextAttempt != nil || harness.shipper.statistics.delivered == 1 })
        let wait = harness.shipper.statistics.nextAttempt ?? .zero
        // Up to a tenth is added; for 0 the backoff applies.
        #expect(wait >= .seconds(seconds) && wait <= max(.seconds(seconds) * 1.1, .seconds(1)), "\(wait)")
    }

    @Test func `it counts beside Retry-After, when it says something, and for a limit of the rate only`() async throws {
        func wait(_ status: Int, _ headers: HTTPFields) async throws -> Duration {
            let harness = try Harness(StubReceiver([.status(status, headers: headers), .status(202)]), format: Self.format)
            harness.logger.info("m")
            #expect(await harness.shipper.flush(within: .zero) == false)
            #expect(await eventually { harness.shipper.statistics.nextAttempt != nil })
            return harness.shipper.statistics.nextAttempt ?? .zero
        }
        #expect(try await wait(429, ["Retry-After": "100", "X-RateLimit-Reset": "5"]) >= .seconds(100))
        #expect(try await wait(503, ["X-RateLimit-Reset": "500"]) <= .seconds(1))
        for text in ["", "soon", "-5", "1e3", "5,6"] { #expect(try await wait(429, ["X-RateLimit-Reset": text]) <= .seconds(1), "\(text)") }
        // Other receivers send the absolute time. The harness's clock is at 1,772,357,400.
        let wait40 = try await wait(429, ["X-RateLimit-Reset": "1772357440"])
        #expect(wait40 >= .seconds(39) && wait40 <= .seconds(45), "\(wait40)")
        #expect(try await wait(429, ["X-RateLimit-Reset": "1772357300"]) <= .seconds(1))
    }

    @Test func `neither a flush nor more records shorten such a wait`() async throws {
        let harness = try Harness(StubReceiver([.status(429, headers: ["X-RateLimit-Reset": "30"]), .status(202)]), format: Self.format)
        harness.logger.info("m")
        #expect(await harness.shipper.flush(within: .zero) == false)
        #expect(await eventually { harness.shipper.statistics.nextAttempt != nil })
        harness.clock.advance(by: .seconds(29))
        for number in 0..<2_000 { harness.logger.info("m\(number)") }
        #expect(await harness.shipper.flush(within: .zero) == false)
        await settle()
        #expect(harness.receiver.requests.count == 1 && harness.shipper.statistics.buffered == 2_001)
        harness.expectConservation()
        harness.clock.advance(by: .seconds(5))
        #expect(await harness.clock.run { harness.shipper.statistics.delivered == 2_001 })
        harness.expectConservation()
    }

    // MARK: Sizes

    @Test func `no request has more items or bytes than it may`() async throws {
        let receiver = StubReceiver { _, request in
            let body = request.body?.data ?? Data()
            return .status(Self.items(body).count <= 1_000 && body.count <= 5_000_000 ? 202 : 413)
        }
        let harness = try Harness(receiver, format: Self.format) { settings in
            settings.batch = BatchLimits(records: 5_000, bytes: 64 << 20)
            settings.buffer = BufferLimits(records: 10_000, bytes: 128 << 20)
            settings.reportsLosses = false
        }
        for number in 0..<2_500 { harness.logger.info("m\(number)") }
        #expect(await harness.shipper.flush(within: .seconds(5)))
        #expect(receiver.bodies.map { Self.items($0).count } == [1_000, 1_000, 500])
        // The intake truncates records above 1 MB itself; records too large for any request are reported.
        let sizes = [Int](repeating: 900_000, count: 12) + [1_300_000, 4_400_000, 4_600_000, 10]
        for size in sizes { harness.logger.info(String(repeating: "x", count: size)) }
        #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        let lengths = receiver.bodies.dropFirst(3).flatMap { Self.items($0).map { ($0["message"] as? String)?.utf8.count ?? 0 } }
        #expect(lengths == sizes.filter { $0 != 4_600_000 }, "all, in order")
        #expect(harness.shipper.statistics.dropped == [.oversize: 1] && harness.shipper.statistics.delivered == 2_515)
        harness.expectConservation()
    }

    @Test func `an intake that takes less is sent halves`() async throws {
        let receiver = StubReceiver { _, request in .status(request.body?.data?.count ?? 0 > 20_000 ? 413 : 202) }
        let harness = try Harness(receiver, format: Self.format)
        for number in 0..<256 { harness.logger.info("m\(number) " + String(repeating: "x", count: 300)) }
        #expect(await harness.shipper.flush(within: .seconds(5)))
        let taken = receiver.bodies.filter { $0.count <= 20_000 }.flatMap {
            Self.items($0).compactMap { $0["log.record.sequence"] as? Int }
        }
        #expect(taken == Array(1...256) && harness.shipper.statistics.delivered == 256)
        harness.expectConservation()
    }

    // MARK: Over real HTTP

    @Test(arguments: [LoopbackFault.cut(afterBytes: 0), .reset(afterBytes: 0)])
    func `an answer that is cut or reset anywhere loses nothing`(
        fault: LoopbackFault
    ) async throws {
        let receiver = try ScriptedReceiver(seed: 1, isMoody: false) { request, state in
            state.require(request.fields["DD-API-KEY"] == "k", "DD-API-KEY")
            let items = Self.items(request.body)
            state.require(!items.isEmpty, "no items")
            state.stored += items.compactMap { $0["log.record.uid"] as? String }
            guard state.requests % 2 == 1, state.requests < 60 else { return .json("{}", status: 202) }
            let count = 3 * (state.requests / 2)
            return .json("{}", status: 202).failing(fault == .cut(afterBytes: 0) ? .cut(afterBytes: count) : .reset(afterBytes: count))
        }
        let result = try await receiver.ship(120, to: "/api/v2/logs", format: Self.format) { settings in
            settings.headers["DD-API-KEY"] = "k"
            settings.batch.records = 4
        }
        let (counts, state) = (result.counts, receiver.state.withLock { $0 })
        #expect(counts.emitted == 120 && counts.delivered == 120 && counts.dropped.isEmpty && counts.buffered == 0)
        #expect(Set(result.sound) == Set(state.stored) && state.violations.isEmpty, "\(state.violations)")
        // A request over a connection that was reset before doesn't reach the server.
        #expect(counts.requests >= UInt64(state.requests))
    }
}
