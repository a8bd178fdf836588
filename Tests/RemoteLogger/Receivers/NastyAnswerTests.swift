import Foundation
import RemoteLogger
import Testing
import WebServiceClient
import WebServiceTesting

/// Malicious responses over real HTTP: oversized, growing, dripping, or announced repeatedly.
@Suite struct NastyAnswerTests {
    private struct Outcome {
        let counts: LogStatistics
        let events: [Diagnostics.Event]
        /// The bodies of the requests, in order.
        let bodies: [Data]

        /// Returns whether a diagnostic contains the text.
        func says(_ text: String) -> Bool { events.contains { $0.message.contains(text) } }
    }

    /// Formats that judge by the status, and one that needs the body.
    private static let byStatus: [any LogFormat] = [
        NDJSONFormat(), OTLPFormat(), LokiFormat(labels: ["app": "shop"]), SplunkFormat(), DatadogFormat(service: "shop"),
        GELFFormat(host: "h", bulk: true),
    ]
    private static let elasticsearch = ElasticsearchFormat(index: "logs")
    private static let stored = #"{"errors":false}"#

    /// Ships records to a server that answers the first requests maliciously and the others well, until all are settled.
    private func ship(
        _ format: any LogFormat, records count: Int = 5, nastily requests: Int = 1, timeout: Duration = .seconds(60), batch: Int = 100,
        _ nasty: @escaping @Sendable () -> LoopbackResponse
    ) async throws -> Outcome {
        let bodies = Locked<[Data]>([])
        let server = try LoopbackServer { routes in
            routes.fallback { request in
                let number = bodies.withLock { bodies in
                    bodies.append(request.body)
                    return bodies.count
                }
                return number <= requests ? nasty() : .json(Self.stored)
            }
        }
        let events = Locked<[Diagnostics.Event]>([])
        let shipper = try LogShipper(to: server.url("/logs"), format: format) { settings in
            settings.compression = .none
            settings.batch = BatchLimits(records: batch, interval: .seconds(60))
            settings.backoff = Backoff(base: .milliseconds(1), cap: .milliseconds(4))
            settings.pause = .milliseconds(20)
            settings.timeout = timeout
            settings.diagnostics = Diagnostics { event in events.withLock { $0.append(event) } }
        }
        let logger = RemoteLogger(label: "nasty", sinks: [shipper])
        for number in 0..<count { logger.info("m\(number)") }
        #expect(await shipper.flush(within: .seconds(300)), "everything is delivered")
        let counts = shipper.statistics
        await shipper.shutdown(within: .zero)
        #expect(counts.emitted == UInt64(count) && counts.delivered == UInt64(count) && counts.dropped.isEmpty && counts.buffered == 0)
        #expect(counts.lastStatus == 200)
        return Outcome(counts: counts, events: events.withLock { $0 }, bodies: bodies.withLock { $0 })
    }

    // MARK: Oversized bodies

    @Test func `an answer of more than 4 MiB is success where the status says it, and health tells that it wasn't read`() async throws {
        for format in Self.byStatus {
            let outcome = try await ship(format) { .generated(count: 5 << 20) }
            #expect(outcome.counts.requests == 1, "nothing is sent again")
            #expect(outcome.says("larger than 4 MiB"), "\(outcome.events)")
        }
    }

    @Test func `an answer of more than 4 MiB is asked for in halves where it tells each record's fate`() async throws {
        let outcome = try await ship(Self.elasticsearch) { .generated(count: 5 << 20) }
        #expect(outcome.counts.requests == 3)
    }

    @Test func `a record alone isn't lost for an answer of more than 4 MiB`() async throws {
        let formats: [any LogFormat] = [Self.elasticsearch, SplunkFormat(acknowledges: true)]
        for format in formats {
            let verdict = format.judge(ReceiverAnswer(status: 200, bodyFault: .tooLarge, records: 1))
            #expect(verdict == .pause(reason: "its answer is larger than 4 MiB"))
        }
        let outcome = try await ship(Self.elasticsearch, records: 1, nastily: 2) { .generated(count: 5 << 20) }
        #expect(outcome.counts.requests == 3 && Set(outcome.bodies).count == 1)
        #expect(outcome.says("refuses the log shipper (status 200, \"its answer is larger than 4 MiB\")"), "\(outcome.events)")
    }

    @Test(arguments: [400, 500, 503]) func `what explains a failure may be as long as it likes`(status: Int) async throws {
        // A 400 starts a search by halving, which finds no bad record: two of the five, one, one, and the last one.
        let outcome = try await ship(NDJSONFormat()) {
            LoopbackResponse(status: status, body: .generated(count: 5 << 20))
        }
        #expect(outcome.counts.requests == (status == 400 ? 5 : 2))
    }

    @Test func `a gzip bomb is left at 4 MiB`() async throws {
        let bomb = Self.bomb(megabytes: 1_024)
        for format in [OTLPFormat(), Self.elasticsearch] as [any LogFormat] {
            let isThrough = Locked(false)
            let outcome = try await ship(format) {
                .script { wire in
                    try wire.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n")
                    try wire.write(bomb)
                    isThrough.withLock { $0 = true }
                    try wire.hang()
                }
            }
            #expect(!isThrough.withLock { $0 }, "nobody has taken all of it")
            #expect(outcome.counts.requests == (format is OTLPFormat ? 1 : 3))
        }
    }

    /// Returns zeros compressed by gzip (RFC 1951 §3.2.6): one byte, followed by repeated copies of the previous 258 bytes, in 13 bits
    /// each.
    private static func bomb(megabytes: Int) -> Data {
        var bits: [UInt8] = [1, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0]
        for _ in 0..<16 { bits += [1, 1, 0, 0, 0, 1, 0, 1] + [0, 0, 0, 0, 0] }
        let bytes = stride(from: 0, to: 208, by: 8).map { start in (0..<8).reduce(UInt8(0)) { $0 | bits[start + $1] << UInt8($1) } }
        // The codes repeat from the third byte on: eight of them take 13 bytes.
        var data = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF] + bytes[..<2])
        let period = Data(bytes[2..<15])
        for _ in 0..<(megabytes << 20) / (258 * 8) { data += period }
        return data
    }

    // MARK: Slow

    @Test func `an answer byte by byte is read`() async throws {
        for format in Self.byStatus + [Self.elasticsearch] {
            let outcome = try await ship(format) { Self.drip(Self.stored, head: "Content-Length: \(Self.stored.utf8.count)\r\n") }
            #expect(outcome.counts.requests == 1 && outcome.bodies.count == 1)
        }
    }

    /// Returns a response whose head also arrives byte by byte.
    private static func drip(_ body: String, head: String) -> LoopbackResponse {
        .script { wire in
            for byte in "HTTP/1.1 200 OK\r\n\(head)\r\n\(body)".utf8 {
                try wire.write(Data([byte]))
                try wire.pause(for: .microseconds(100))
            }
        }
    }

    @Test func `an answer that drips for ever ends with the time for a request`() async throws {
        // Each byte resets the idle timeout, so only a limit on the total time ends it.
        let dripping: @Sendable () -> LoopbackResponse = { .drip(Data(" ".utf8), every: .milliseconds(5)) }
        // On a busy machine the time may end before the head has arrived.
        let endings = ["its answer of status 200 broke off", "did not end within its whole time of 2 s"]
        let outcome = try await ship(Self.elasticsearch, timeout: .seconds(2), dripping)
        #expect(outcome.counts.requests >= 2 && Set(outcome.bodies).count == 1, "the same bytes again")
        #expect(endings.contains(where: outcome.says), "\(outcome.events)")
        let byStatus = try await ship(NDJSONFormat(), timeout: .seconds(2), dripping)
        #expect(endings.contains(where: byStatus.says), "\(byStatus.events)")
    }

    @Test func `a head that drips for ever ends with the time for a request`() async throws {
        let outcome = try await ship(NDJSONFormat(), timeout: .milliseconds(300)) {
            .script { wire in
                try wire.write("HTTP/1.1 200 OK\r\nX-Filler: ")
                while true {
                    try wire.write("a")
                    try wire.pause(for: .milliseconds(5))
                }
            }
        }
        #expect(outcome.counts.repeats >= 1 && Set(outcome.bodies).count == 1)
        #expect(outcome.says("doesn't accept log records at present"), "\(outcome.events)")
    }

    // MARK: Half-closed

    @Test func `a receiver that closes its side behind each answer gets everything`() async throws {
        for format in [NDJSONFormat(), Self.elasticsearch] as [any LogFormat] {
            let outcome = try await ship(format, records: 20, nastily: .max, batch: 2) { .json(Self.stored).failing(.halfClose) }
            #expect(outcome.counts.delivered == 20)
        }
    }

    @Test func `a receiver that closes its side before it answers is asked again`() async throws {
        let outcome = try await ship(NDJSONFormat(), nastily: 2) { LoopbackResponse(body: .raw([])).failing(.halfClose) }
        #expect(outcome.counts.repeats >= 2 && Set(outcome.bodies).count == 1)
        #expect(outcome.says("doesn't accept log records at present") && outcome.says("accepts log records again"), "\(outcome.events)")
    }

    // MARK: Interim answers

    @Test(arguments: [1, 50]) func `interim answers are no answers`(count: Int) async throws {
        for format in [NDJSONFormat(), Self.elasticsearch] as [any LogFormat] {
            let outcome = try await ship(format) {
                var answer = LoopbackResponse.json(Self.stored)
                for number in 0..<count { answer = answer.informing(number % 3 == 2 ? 103 : 100) }
                return answer
            }
            #expect(outcome.counts.requests == 1)
        }
    }

    @Test func `an interim answer that none follows is no success`() async throws {
        let outcome = try await ship(NDJSONFormat(), timeout: .milliseconds(300)) {
            .script { wire in
                try wire.write("HTTP/1.1 100 Continue\r\n\r\n")
                try wire.hang()
            }
        }
        #expect(outcome.counts.repeats >= 1 && Set(outcome.bodies).count == 1)
        let closed = try await ship(NDJSONFormat()) { .raw("HTTP/1.1 100 Continue\r\n\r\n") }
        #expect(closed.counts.repeats >= 1)
    }

    @Test func `interim answers without an end take no longer than a request may`() async throws {
        let outcome = try await ship(NDJSONFormat(), timeout: .milliseconds(300)) {
            .script { wire in
                while true { try wire.write("HTTP/1.1 100 Continue\r\n\r\n") }
            }
        }
        #expect(outcome.counts.repeats >= 1)
    }
}
