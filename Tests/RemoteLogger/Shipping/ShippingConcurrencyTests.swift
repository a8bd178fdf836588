import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

/// Several concurrent requests, and batches that wait for their acknowledgements concurrently.
@Suite struct ShippingConcurrencyTests {
    private static func harness(_ receiver: GatedReceiver, maximum: Int, configure: (inout ShippingSettings) -> Void = { _ in }) throws
        -> Harness
    {
        try Harness(StubReceiver(), transport: receiver) { settings in
            settings.batch = BatchLimits(records: 2, interval: .seconds(1))
            settings.maximumRequestsInFlight = maximum
            settings.reportsLosses = false
            settings.backoff = Backoff(base: .seconds(1), cap: .seconds(60), jitter: .none)
            configure(&settings)
        }
    }

    /// Answers while the limit is fully used, which is required for its growth, until the limit reaches a number.
    private static func grows(_ harness: Harness, _ receiver: GatedReceiver, to number: Int) async -> Bool {
        await eventually {
            let concurrency = harness.shipper.statistics.concurrency
            let open = receiver.open
            if concurrency < number, open.count == concurrency { receiver.answer(open[0], .status(200)) }
            return concurrency == number
        }
    }

    /// Returns the sequence number of the first record in a body.
    private static func sequence(of body: Data) -> UInt64 { NDJSONLine.lines(of: body).first?.sequence ?? 0 }

    @Test func `unless set there is one request at once, and the order is kept`() async throws {
        let receiver = GatedReceiver()
        let harness = try Self.harness(receiver, maximum: 1)
        for _ in 0..<20 { harness.logger.info("m") }
        for number in 1...10 {
            #expect(await eventually { receiver.open.count == 1 })
            await settle()
            #expect(receiver.open == [number - 1] && harness.shipper.statistics.concurrency == 1)
            receiver.answer(number - 1, .status(200))
        }
        #expect(await eventually { harness.shipper.statistics.delivered == 20 })
        #expect(receiver.lines.joined().map(\.sequence) == Array(1...20))
        harness.expectConservation()
    }

    @Test func `one more is sent after as many answers as there may be, up to the maximum`() async throws {
        let receiver = GatedReceiver()
        let harness = try Self.harness(receiver, maximum: 3)
        for _ in 0..<40 { harness.logger.info("m") }
        // One answer raises the limit to two, two more to three, and further ones don't raise it to four.
        for (answers, requests) in [(0, 1), (1, 2), (1, 2), (1, 3), (3, 3), (3, 3), (3, 3)] {
            for number in receiver.open.prefix(answers) { receiver.answer(number, .status(200)) }
            #expect(await eventually { receiver.open.count == requests })
            await settle()
            #expect(receiver.open.count == requests && harness.shipper.statistics.concurrency == requests)
            harness.expectConservation()
        }
        #expect(await receiver.answersAll { harness.shipper.statistics.delivered == 40 })
        harness.expectConservation()
    }

    @Test func `a failure halves the number, once for all that began before it, and they wait together`() async throws {
        let receiver = GatedReceiver()
        let harness = try Self.harness(receiver, maximum: 8)
        for _ in 0..<200 { harness.logger.info("m") }
        #expect(await eventually { receiver.open.count == 1 })
        #expect(await Self.grows(harness, receiver, to: 8))
        #expect(await eventually { receiver.open.count == 8 })
        let sent = receiver.lines.count
        let failing = receiver.open
        for number in failing { receiver.answer(number, .status(503)) }
        #expect(await eventually { harness.shipper.statistics.nextAttempt == .seconds(1) && harness.clock.nextWake == .seconds(1) })
        await settle()
        #expect(receiver.open.isEmpty && harness.shipper.statistics.concurrency == 4)
        #expect(harness.events.withLock { $0.filter { $0.level == .warning } }.count == 1)
        harness.clock.advance(by: .seconds(1))
        #expect(await eventually { receiver.open.count == 4 })
        await settle()
        #expect(receiver.open == [sent, sent + 1, sent + 2, sent + 3])
        // The earliest batches come first, each unchanged; the order among the permitted ones is undefined.
        let first = failing.map { receiver.bodies[$0] }.sorted { Self.sequence(of: $0) < Self.sequence(of: $1) }.prefix(4)
        #expect(Set(receiver.bodies[sent..<sent + 4]) == Set(first))
        harness.expectConservation()
        for number in receiver.open { receiver.answer(number, .broken) }
        #expect(await eventually { harness.clock.nextWake == .seconds(2) && harness.shipper.statistics.concurrency == 2 }, "the wait grows")
        harness.clock.advance(by: .seconds(2))
        #expect(await receiver.answersAll { harness.shipper.statistics.delivered == 200 })
        #expect(Set(receiver.answered.joined().map(\.sequence)) == Set(1...200))
        harness.expectConservation()
    }

    @Test func `what is acknowledged to the store is in order, whatever comes back first`() async throws {
        let receiver = GatedReceiver()
        let harness = try Self.harness(receiver, maximum: 2)
        for _ in 0..<6 { harness.logger.info("m") }
        #expect(await eventually { receiver.open == [0] })
        receiver.answer(0, .status(200))
        #expect(await eventually { receiver.open == [1, 2] })
        let later = receiver.lines[1].first?.sequence == 5 ? 1 : 2
        receiver.answer(later, .status(200))
        await settle()
        #expect(harness.shipper.statistics.delivered == 2 && harness.shipper.statistics.buffered == 4)
        harness.expectConservation()
        receiver.answer(3 - later, .status(400, body: "no"))
        #expect(await eventually { receiver.open.count == 1 })
        #expect(await receiver.answersAll { harness.shipper.statistics.delivered == 6 })
        harness.expectConservation()
    }

    @Test func `a Retry-After of any of them is obeyed by all, and a refusal of credentials leaves one`() async throws {
        let receiver = GatedReceiver()
        let harness = try Self.harness(receiver, maximum: 2)
        for _ in 0..<12 { harness.logger.info("m") }
        #expect(await eventually { receiver.open == [0] })
        receiver.answer(0, .status(200))
        #expect(await eventually { receiver.open == [1, 2] })
        receiver.answer(1, .status(503))
        receiver.answer(2, .status(429, headers: ["Retry-After": "120"]))
        // Up to a tenth is added.
        let isLong = { harness.shipper.statistics.nextAttempt.map { $0 >= .seconds(120) && $0 <= .seconds(132) } ?? false }
        #expect(await eventually { isLong() && harness.clock.nextWake != nil })
        async let flushed = harness.shipper.flush(within: .seconds(1_000_000_000))
        await settle()
        #expect(receiver.open.isEmpty, "a flush doesn't end it")
        #expect(await harness.clock.run { !receiver.open.isEmpty })
        receiver.answer(receiver.open[0], .status(401))
        #expect(await eventually { (harness.shipper.statistics.nextAttempt ?? .zero) > .seconds(299) })
        #expect(harness.shipper.statistics.concurrency == 1)
        #expect(
            await harness.clock.run(step: .seconds(5)) {
                for number in receiver.open { receiver.answer(number, .status(200)) }
                return harness.shipper.statistics.delivered == 12
            })
        #expect(await flushed)
        harness.expectConservation()
    }

    @Test func `a shutdown ends with requests under way, and counts them`() async throws {
        let receiver = GatedReceiver()
        let harness = try Self.harness(receiver, maximum: 4)
        for _ in 0..<100 { harness.logger.info("m") }
        #expect(await Self.grows(harness, receiver, to: 3))
        #expect(await harness.shipper.shutdown(within: .zero) == false)
        let counts = harness.shipper.statistics
        #expect(counts.buffered == 0 && counts.dropped[.shutdown] ?? 0 > 0)
        harness.expectConservation()
        for number in receiver.open { receiver.answer(number, .status(200)) }
        await settle()
        #expect(harness.shipper.statistics == counts)
    }

    /// The oracle of the other tests, with several concurrent requests.
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `conservation holds under any faults`(seed: UInt64) async throws {
        let random = Locked(SeededGenerator(seed: seed))
        let stored = Locked<Set<String>>([])
        let receiver = StubReceiver { _, request in
            let lines = NDJSONLine.lines(of: request.body?.data ?? Data())
            switch random.withLock({ Int.random(in: 0..<12, using: &$0) }) {
            case 0: return .status(503)
            case 1: return .broken
            case 2: return .status(413)
            case 3: return .status(400)
            case 4: return .status(404)
            default:
                stored.withLock { $0.formUnion(lines.map(\.id)) }
                return .status(200)
            }
        }
        let harness = try Harness(receiver, format: RefusableFormat()) { settings in
            settings.batch = BatchLimits(records: 10, interval: .milliseconds(500))
            settings.maximumRequestsInFlight = 6
            settings.reportsLosses = false
        }
        for number in 0..<400 {
            harness.logger.log(LogLevel.allCases[number % 7], "m\(number)")
            harness.expectConservation()
            if number % 20 == 0 { harness.clock.advance(by: .milliseconds(300)) }
        }
        #expect(await harness.clock.run(step: .seconds(5)) { harness.shipper.statistics.buffered == 0 })
        let counts = harness.shipper.statistics
        #expect(counts.emitted == 400 && counts.delivered <= UInt64(stored.withLock { $0.count }))
        harness.expectConservation()
    }

    @Test func `behind a request that comes to no end others go on, up to a bound`() async throws {
        let receiver = GatedReceiver()
        let harness = try Self.harness(receiver, maximum: 2)
        for _ in 0..<200 { harness.logger.info("m") }
        #expect(await eventually { receiver.open == [0] })
        receiver.answer(0, .status(200))
        #expect(await eventually { receiver.open.count == 2 })
        let stuck = receiver.lines[1].first?.sequence == 3 ? 1 : 2
        // Two in flight, and eight that wait for an acknowledgement.
        let isOver = { receiver.open == [stuck] && receiver.bodies.count >= 11 }
        #expect(
            await eventually {
                for number in receiver.open where number != stuck { receiver.answer(number, .status(200)) }
                return isOver()
            })
        await settle()
        #expect(isOver() && receiver.bodies.count == 11 && harness.shipper.statistics.delivered == 2)
        harness.expectConservation()
        receiver.answer(stuck, .status(200))
        #expect(await receiver.answersAll { harness.shipper.statistics.delivered == 200 })
        harness.expectConservation()
    }

    @Test func `what was on its way when the process was killed is sent again, in whatever order it was`() async throws {
        let disk = MemoryDisk()
        let clock = ManualLogClock()
        func spool(_ disk: MemoryDisk) -> Spool {
            var settings = SpoolSettings()
            settings.clock = clock
            return Spool(root: "/spool", settings: settings, files: disk.files)
        }
        let receiver = GatedReceiver()
        let kept = spool(disk)
        let first = try Self.harness(receiver, maximum: 3) { $0.spool = kept }
        for _ in 0..<60 { first.logger.info("m") }
        #expect(await kept.sync())
        #expect(await Self.grows(first, receiver, to: 3))
        #expect(await eventually { receiver.open.count == 3 })
        // The receiver has the last of the three, which the shipper can't know after the kill.
        let last = try #require(receiver.open.max { Self.sequence(of: receiver.bodies[$0]) < Self.sequence(of: receiver.bodies[$1]) })
        receiver.answer(last, .status(200))
        await settle()
        let delivered = first.shipper.statistics.delivered
        first.expectConservation()
        let again = StubReceiver()
        let second = try Harness(again) { $0.spool = spool(disk.afterKill()) }
        #expect(second.shipper.statistics.found >= 60 - delivered)
        #expect(await second.clock.run { second.shipper.statistics.buffered == 0 })
        #expect(Set(receiver.answered.joined().map(\.sequence)).union(again.lines.joined().map(\.sequence)) == Set(1...60))
        second.expectConservation()
        for number in receiver.open { receiver.answer(number, .broken) }
    }

    @Test func `the largest bounds are none`() async throws {
        let harness = try Harness { settings in
            settings.batch.records = 2
            settings.maximumRequestsInFlight = .max
            settings.maximumUnacknowledgedBatches = .max
        }
        for _ in 0..<10 { harness.logger.info("m") }
        #expect(await harness.clock.run { harness.shipper.statistics.delivered == 10 })
        harness.expectConservation()
    }

    // MARK: Acknowledgements

    @Test func `batches wait for their acknowledgements beside each other, up to a bound`() async throws {
        let (acknowledged, asked) = (Locked<Set<Int>>([]), Locked<[Int]>([]))
        let sent = Locked(0)
        let receiver = StubReceiver { _, request in
            guard request.url.path().hasSuffix("ack") else {
                return .status(200, body: "{\"ackId\":\(sent.withLock { $0 += 1; return $0 - 1 })}")
            }
            let text = String(decoding: request.body?.data ?? Data(), as: UTF8.self)
            // One query covers all tickets that wait at that time.
            let ids = text.split { !$0.isNumber }.compactMap { Int($0) }
            asked.withLock { $0 += ids }
            let answers = ids.map { id in "\"\(id)\":\(acknowledged.withLock { $0.contains(id) })" }
            return .status(200, body: "{\"acks\":{\(answers.joined(separator: ","))}}")
        }
        var format = SplunkFormat(acknowledges: true)
        // Longer than the clock runs.
        format.acknowledgementTimeout = .seconds(1_000_000_000)
        let harness = try Harness(receiver, format: format) { settings in
            settings.batch.records = 2
            settings.maximumUnacknowledgedBatches = 3
        }
        for _ in 0..<10 { harness.logger.info("m") }
        #expect(await eventually { sent.withLock { $0 } == 3 })
        await settle()
        #expect(sent.withLock { $0 } == 3 && harness.shipper.statistics.delivered == 0)
        #expect(harness.shipper.statistics.nextAttempt == nil, "nothing has failed")
        // The second batch is stored first.
        acknowledged.withLock { $0 = [1] }
        #expect(await harness.clock.run { sent.withLock { $0 } == 4 })
        #expect(harness.shipper.statistics.delivered == 0, "the first is missing")
        // Each is queried when its own batch waits; the first batch may do so last.
        #expect(await harness.clock.run { Set(asked.withLock { $0 }).isSuperset(of: [0, 1, 2]) })
        #expect(harness.shipper.statistics.delivered == 0)
        harness.expectConservation()
        acknowledged.withLock { $0 = Set(0..<100) }
        #expect(await harness.clock.run { harness.shipper.statistics.delivered == 10 })
        #expect(harness.shipper.statistics.repeats == 0 && sent.withLock { $0 } == 5)
        harness.expectConservation()
    }

    @Test func `a batch that isn't acknowledged in time is sent again, and holds up no other one`() async throws {
        let sent = Locked<[Data]>([])
        let receiver = StubReceiver { _, request in
            guard request.url.path().hasSuffix("ack") else {
                let number = sent.withLock { sent in
                    sent.append(request.body?.data ?? Data())
                    return sent.count - 1
                }
                return .status(200, body: "{\"ackId\":\(number)}")
            }
            // One query covers all tickets that wait at that time.
            let ids = String(decoding: request.body?.data ?? Data(), as: UTF8.self).split { !$0.isNumber }
            return .status(200, body: "{\"acks\":{\(ids.map { "\"\($0)\":\($0 != "0")" }.joined(separator: ","))}}")
        }
        let harness = try Harness(receiver, format: SplunkFormat(acknowledges: true)) { $0.batch.records = 2 }
        for _ in 0..<8 { harness.logger.info("m") }
        #expect(await eventually { sent.withLock { $0.count } == 4 })
        #expect(await harness.clock.run(step: .seconds(1)) { harness.shipper.statistics.delivered == 8 })
        let bodies = sent.withLock { $0 }
        #expect(bodies.count == 5 && bodies[4] == bodies[0])
        #expect(harness.shipper.statistics.repeats == 1)
        harness.expectConservation()
    }
}
