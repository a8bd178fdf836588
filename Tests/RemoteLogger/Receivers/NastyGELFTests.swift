import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import RemoteLogger

/// Graylog's input: it accepts messages before it checks them, and rejects them in peculiar ways.
@Suite struct NastyGELFTests {
    private static func ids(_ body: Data) -> [String] {
        body.split(separator: UInt8(ascii: "\n")).compactMap { line in
            ((try? JSONSerialization.jsonObject(with: line)) as? [String: Any])?["_record_id"] as? String
        }
    }

    // MARK: A 202 proves nothing

    @Test func `no name of metadata is one that Graylog passes over`() throws {
        let names = [
            "id", "_id", "host", "short_message", "message", "source", "timestamp", "level", "streams", "_source", "_index", "_type",
            "gl2_remote_ip", "gl2_source_input", "version", "facility", "line", "file", "logger", "trace.id", "trace_id", "a.b", "a_b",
            "a-b",
            "a b", "é", "_", "__", ".", "record_id", "@timestamp",
        ]
        let nested: LogMetadata = ["id": "nested trace", "span": ["id": "nested span"] as LogMetadata]
        var metadata = LogMetadata(names.map { ($0, .string("value of \($0)")) })
        metadata["trace"] = .dictionary(nested)
        let trace = try #require(TraceContext(traceHigh: 1, traceLow: 2, span: 3, flags: 0))
        let record = LogRecord.sample(metadata: metadata, label: "shop", error: "no", trace: trace)
        let stored = try #require(GraylogJudge.stored(GELFFormat(host: "shop-1").encode([record])))
        let values = Set(stored.values)
        for name in names { #expect(values.contains("value of \(name)"), "\(name)") }
        #expect(values.isSuperset(of: ["nested trace", "nested span", "shop", "no"]))
        #expect(stored["source"] == "shop-1" && stored["message"] == "Hello" && stored["trace_id"] == trace.traceID)
    }

    @Test(arguments: ["", " ", "\n\t", "\u{1C}", "\u{1D}\u{1F}", "\0", "\u{7}\u{1B} \u{1}", "\u{A0}", "\u{2003}", "\u{FEFF}\r", "\u{200B}"])
    func `a message or a host without anything to see is stored all the same`(text: String) throws {
        let data = try GELFFormat(host: text).encode([.sample(1, .info, text)])
        let stored = try #require(GraylogJudge.stored(data), "\(String(decoding: data, as: UTF8.self))")
        #expect(stored["message"] == "-" && stored["source"] == "unknown")
    }

    @Test func `every record of any kind is stored, with all that it has`() throws {
        var generator = SeededGenerator(seed: 23)
        for number in 1...2_000 as ClosedRange<UInt64> {
            let record = LogRecord.random(number, using: &generator)
            let data = try GELFFormat(host: "h").encode([record])
            let stored = try #require(GraylogJudge.stored(data), "\(String(decoding: data, as: UTF8.self))")
            // Graylog discards blank values, whatever their names are.
            let written = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any]).filter { name, value in
                name.hasPrefix("_") && (value as? String).map { $0.contains { ($0.unicodeScalars.first?.value ?? 0) > 0x20 } } ?? true
            }
            #expect(stored.count == written.count + 5, "\(String(decoding: data, as: UTF8.self))")
        }
    }

    // MARK: Statuses

    @Test(arguments: [false, true], [408, 429, 500, 502, 503, 504, 507]) func `a busy input gets the same bytes again`(
        bulk: Bool, status: Int
    ) async throws {
        let harness = try Harness(
            StubReceiver([.status(status), .broken, .status(status), .status(202)]), format: GELFFormat(host: "h", bulk: bulk))
        for number in 0..<5 { harness.logger.info("m\(number)") }
        async let flushed = harness.shipper.flush(within: .seconds(3_600))
        #expect(await harness.clock.run { harness.shipper.statistics.delivered == 5 })
        #expect(await flushed)
        let bodies = harness.receiver.bodies
        #expect(Set(bodies[...3]).count == 1 && bodies.count == (bulk ? 4 : 8) && harness.shipper.statistics.dropped.isEmpty)
        harness.expectConservation()
    }

    @Test(arguments: [401, 403, 404, 405, 407, 301, 308]) func `an input that is elsewhere, or wants other credentials, keeps the records`(
        status: Int
    ) async throws {
        let harness = try Harness(StubReceiver([.status(status), .status(202)]), format: GELFFormat(host: "h", bulk: true))
        for number in 0..<5 { harness.logger.info("m\(number)") }
        #expect(await harness.shipper.flush(within: .zero) == false)
        #expect(await harness.clock.run(step: .milliseconds(1)) { harness.shipper.statistics.nextAttempt ?? .zero > .seconds(200) })
        #expect(harness.shipper.statistics.buffered == 5 && harness.receiver.requests.count == 1)
        harness.expectConservation()
        #expect(await harness.clock.run(step: .seconds(10)) { harness.shipper.statistics.delivered == 5 })
        harness.expectConservation()
    }

    @Test(arguments: [false, true]) func `what it refuses is found, whether records come together or alone`(bulk: Bool) async throws {
        let box = try DeadLetterBox()
        defer { box.remove() }
        let receiver = StubReceiver { _, request in
            String(decoding: request.body?.data ?? Data(), as: UTF8.self).contains("\"poison") ? .status(400, body: "bad") : .status(202)
        }
        let harness = try Harness(receiver, format: GELFFormat(host: "h", bulk: bulk)) { $0.deadLetters = box.letters }
        for number in 0..<40 { harness.logger.info(number % 13 == 5 ? "poison \(number)" : "m\(number)") }
        #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        let counts = harness.shipper.statistics
        #expect(counts.delivered == 37 && counts.dropped == [.rejected: 3] && counts.buffered == 0 && box.ids.count == 3)
        // One request for each, or a few halvings for each bad one.
        #expect(bulk ? counts.requests <= 1 + 2 * 6 * 3 : counts.requests == 40)
        harness.expectConservation()
    }

    // MARK: Sizes

    @Test func `no body is larger than the input takes once it is unpacked`() async throws {
        let harness = try Harness(StubReceiver([.status(202)]), format: GELFFormat(host: "h", bulk: true)) { settings in
            settings.reportsLosses = false
            settings.compression = .gzip(level: 1)
            settings.compressor = { data, level in
                #expect(data.count <= 64 << 10)
                return Gzip.compress(data, level: level)
            }
        }
        // The last two have the maximum size and more.
        for size in [100, 9_000, 30_000, 60_000, 20_000, 65_000, 200, 70_000] { harness.logger.info(String(repeating: "x", count: size)) }
        #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        let counts = harness.shipper.statistics
        #expect(counts.delivered == 7 && counts.dropped == [.oversize: 1] && counts.buffered == 0)
        #expect(harness.receiver.requests.allSatisfy { $0.headers[.contentEncoding] == "gzip" })
        harness.expectConservation()
    }

    @Test(arguments: [false, true]) func `an input that takes less is sent halves, and single records that are too large are told`(
        bulk: Bool
    )
        async throws
    {
        let receiver = StubReceiver { _, request in .status(request.body?.data?.count ?? 0 > 4_000 ? 413 : 202) }
        let harness = try Harness(receiver, format: GELFFormat(host: "h", bulk: bulk)) { $0.reportsLosses = false }
        for number in 0..<64 { harness.logger.info("m\(number) " + String(repeating: "x", count: number == 20 ? 5_000 : 100)) }
        #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        #expect(harness.shipper.statistics.delivered == 63 && harness.shipper.statistics.dropped == [.oversize: 1])
        harness.expectConservation()
    }

    // MARK: Over real HTTP

    @Test(arguments: [LoopbackFault.cut(afterBytes: 0), .reset(afterBytes: 0)])
    func `an answer that is cut or reset anywhere loses nothing`(
        fault: LoopbackFault
    ) async throws {
        let bodies = Locked<[Data]>([])
        let receiver = try ScriptedReceiver(seed: 1, isMoody: false) { request, state in
            bodies.withLock { $0.append(request.body) }
            state.stored += Self.ids(request.body)
            // Within the status line, the fields, or at their end.
            guard state.requests % 2 == 1, state.requests < 50 else { return .status(202) }
            let count = 3 * (state.requests / 2)
            return .status(202).failing(fault == .cut(afterBytes: 0) ? .cut(afterBytes: count) : .reset(afterBytes: count))
        }
        let result = try await receiver.ship(60, to: "/gelf", format: GELFFormat(host: "h"))
        let counts = result.counts
        #expect(counts.emitted == 60 && counts.delivered == 60 && counts.dropped.isEmpty && counts.buffered == 0)
        #expect(Set(result.sound) == Set(receiver.state.withLock { $0.stored }))
        #expect(Set(bodies.withLock { $0 }).count == 60, "what comes twice is the same to the byte")
        // A request over a connection that was reset before doesn't reach the server.
        #expect(counts.requests >= UInt64(bodies.withLock { $0.count }))
    }

    @Test func `an input that refuses before it has read the body is understood`() async throws {
        // Netty answers 413 after reading the length, and closes the connection.
        let heads = Locked(0)
        let stored = Locked<Set<String>>([])
        let server = try LoopbackServer { routes in
            routes.fallback(reading: .headOnly) { request in
                let length = request.fields["Content-Length"].flatMap { Int($0) } ?? 0
                heads.withLock { $0 += 1 }
                return .script { wire in
                    guard length <= 8_000 else {
                        return try wire.write("HTTP/1.1 413 Request Entity Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    }
                    var body = Data()
                    while body.count < length, let bytes = try wire.read() { body += bytes }
                    for id in Self.ids(body) { _ = stored.withLock { $0.insert(id) } }
                    try wire.write("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                }
            }
        }
        let shipper = try LogShipper(to: server.url("/gelf"), format: GELFFormat(host: "h", bulk: true)) { settings in
            settings.compression = .none
            settings.batch = BatchLimits(records: 40, interval: .milliseconds(5))
            settings.backoff = Backoff(base: .milliseconds(1), cap: .milliseconds(4))
            settings.reportsLosses = false
        }
        for number in 0..<40 as Range<UInt64> {
            shipper.write(.sample(number + 1, .info, String(repeating: "x", count: number == 7 ? 9_000 : 1_000)))
        }
        #expect(await shipper.flush(within: .seconds(300)) == false, "one is too large")
        let counts = shipper.statistics
        #expect(counts.emitted == 40 && counts.delivered == 39 && counts.dropped == [.oversize: 1] && counts.buffered == 0)
        #expect(stored.withLock { $0.count } == 39 && counts.requests == UInt64(heads.withLock { $0 }))
        await shipper.shutdown(within: .zero)
    }
}
