import Foundation
import Testing
import WebServiceClient

@testable import RemoteLogger

/// The meaning of each status, for every format: only statuses about the records may cause a loss.
@Suite struct ReceiverStatusTests {
    private static let formats = SampleFormats.all.filter { $0.key != "syslog" }

    /// The address, the credentials or the form of the request.
    private static let pausing = [
        300, 301, 302, 303, 304, 307, 308, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 415, 417, 421, 426, 428, 431, 451, 501, 505,
    ]

    @Test(arguments: formats.keys.sorted()) func `a fault of the settings, or a deployment, is no verdict on records`(name: String) throws {
        let format = try #require(Self.formats[name])
        for status in Self.pausing {
            let verdict = format.judge(ReceiverAnswer(status: status, body: Data("<h1>Not here</h1>".utf8), records: 5))
            if case .pause = verdict { continue }
            Issue.record("\(status): \(verdict)")
        }
    }

    /// Every format with some statuses, and every status with one of the formats.
    private static let pairs: [(String, Int)] = {
        let others = formats.keys.filter { $0 != "NDJSON" }.sorted()
        return others.flatMap { name in [301, 401, 404, 405, 415, 501].map { (name, $0) } } + pausing.map { ("NDJSON", $0) }
    }()

    @Test(arguments: pairs) func `a fault of the settings, or a deployment, costs no record`(name: String, status: Int) async throws {
        let format = try #require(Self.formats[name])
        let good: StubReceiver.Reply = .status(200, body: #"{"errors":false}"#)
        let harness = try Harness(StubReceiver([.status(status, body: "<h1>Not here</h1>"), good]), format: format)
        for number in 0..<5 { harness.logger.info("m\(number)") }
        #expect(await harness.shipper.flush(within: .zero) == false)
        #expect(await harness.clock.run(step: .milliseconds(1)) { harness.shipper.statistics.nextAttempt ?? .zero > .seconds(200) })
        #expect(harness.shipper.statistics.buffered == 5 && harness.shipper.statistics.lastStatus == status)
        #expect(!LogPipeline(sinks: [harness.shipper]).health.isGood)
        // The pause is reported after it has begun.
        #expect(await eventually { harness.events.withLock { $0.contains { $0.message.contains("status \(status)") } } })
        harness.expectConservation()
        #expect(await harness.clock.run(step: .seconds(10)) { harness.shipper.statistics.delivered == 5 })
        #expect(harness.shipper.statistics.dropped.isEmpty)
        harness.expectConservation()
    }

    @Test(arguments: [#"{"error":"bad","record":{"message":"The SSL certificate error"}}"#, " [\"Invalid Hostname\"]"])
    func `JSON that quotes a record isn't a web server's refusal`(text: String) {
        #expect(!ReceiverAnswer(status: 400, body: Data(text.utf8), records: 1).isAboutConnection)
    }

    @Test(
        arguments: [
            "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head>",
            "Client sent an HTTP request to an HTTPS server.\n",
            "<p>Reason: You're speaking plain HTTP to an SSL-enabled server port.<br />",
            "Bad Request\r\nThis combination of host and port requires TLS.\r\n",
            "<title>400 No required SSL certificate was sent</title>", "<title>400 The SSL certificate error</title>",
            "<title>400 Request Header Or Cookie Too Large</title>", "<h2>Bad Request - Invalid Hostname</h2>",
        ])
    func `A web server that refuses the connection costs no record`(text: String) async throws {
        for (name, format) in Self.formats where name == "NDJSON" || text.contains("HTTPS port") {
            let good: StubReceiver.Reply = .status(200, body: #"{"errors":false}"#)
            let harness = try Harness(StubReceiver([.status(400, body: text), good]), format: format)
            for number in 0..<5 { harness.logger.info("m\(number)") }
            #expect(await harness.shipper.flush(within: .zero) == false)
            #expect(
                await harness.clock.run(step: .milliseconds(1)) { harness.shipper.statistics.nextAttempt ?? .zero > .seconds(200) },
                "\(name)")
            #expect(await harness.clock.run(step: .seconds(10)) { harness.shipper.statistics.delivered == 5 }, "\(name)")
            #expect(harness.shipper.statistics.dropped.isEmpty)
            harness.expectConservation()
        }
    }

    @Test(arguments: [100, 199, 600, 999, 0]) func `what is no status of an answer costs no record`(status: Int) {
        #expect(ReceiverAnswer(status: status, records: 1).usualVerdict == .pause(reason: ""))
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 507, 508, 520, 599]) func `a receiver that is busy is asked again`(status: Int) {
        #expect(ReceiverAnswer(status: status, records: 1).usualVerdict == .retry)
    }

    @Test(arguments: formats.keys.sorted()) func `a number that is no status is no verdict on records in any format`(name: String) throws {
        let format = try #require(Self.formats[name])
        for status in [0, 99, 100, 199, 600, 999] {
            guard case .pause = format.judge(ReceiverAnswer(status: status, records: 5)) else {
                Issue.record("\(status)")
                continue
            }
        }
    }

    private static let pages = [
        "<!DOCTYPE html>\n<html lang=\"en\"><title>Sign in</title></html>", "<html>\r\n<body>Hotel Wi-Fi</body></html>",
        " \n<HTML><BODY/></HTML>", "\u{FEFF}<!doctype HTML><title>x</title>", "<?xml version=\"1.0\"?><html xmlns=\"x\"/>",
    ]

    @Test(arguments: formats.keys.sorted()) func `a web page isn't a receiver's success`(name: String) async throws {
        let format = try #require(Self.formats[name])
        for (index, page) in Self.pages.enumerated() {
            for type in ["text/html", "text/html; charset=utf-8", "application/xhtml+xml"] {
                let answer = ReceiverAnswer(
                    status: [200, 203, 202][index % 3], headers: ["Content-Type": type], body: Data(page.utf8), records: 5)
                guard case .pause = format.judge(answer) else {
                    Issue.record("\(type) \(page): \(format.judge(answer))")
                    continue
                }
            }
        }
        let good: StubReceiver.Reply = .status(200, body: #"{"errors":false}"#)
        let page: StubReceiver.Reply = .status(200, headers: ["Content-Type": "text/html"], body: Self.pages[0])
        let harness = try Harness(StubReceiver([page, good]), format: format)
        for number in 0..<5 { harness.logger.info("m\(number)") }
        #expect(await harness.shipper.flush(within: .zero) == false)
        #expect(await harness.clock.run(step: .milliseconds(1)) { harness.shipper.statistics.nextAttempt ?? .zero > .seconds(200) })
        #expect(harness.shipper.statistics.delivered == 0)
        #expect(await harness.clock.run(step: .seconds(10)) { harness.shipper.statistics.delivered == 5 })
        harness.expectConservation()
    }

    @Test(
        arguments: [
            ("text/html", ""), ("text/html", "ok"), ("text/html", "<p>ok</p>"), ("text/plain", "<html>"), ("application/json", "{}"),
        ])
    func `another body of a success is accepted`(type: String, body: String) {
        let answer = ReceiverAnswer(status: 200, headers: ["Content-Type": type], body: Data(body.utf8), records: 5)
        for format in [NDJSONFormat(), SplunkFormat(), OTLPFormat(), GELFFormat(host: "h")] as [any LogFormat] {
            #expect(format.judge(answer) == .delivered(remark: nil))
        }
    }

    // MARK: Compression

    /// Creates a compressing shipper to a receiver that answers compressed bodies by the first script and others by the second.
    private func harness(
        _ format: any LogFormat = NDJSONFormat(), compressed: @escaping @Sendable (Int) -> StubReceiver.Reply,
        plain: @escaping @Sendable (Data) -> StubReceiver.Reply = { _ in .status(200, body: #"{"errors":false}"#) }
    ) throws -> (Harness, coded: () -> [Bool]) {
        let receiver = StubReceiver { number, request in
            request.headers[.contentEncoding] == nil ? plain(request.body?.data ?? Data()) : compressed(number)
        }
        let harness = try Harness(receiver, format: format) { settings in
            settings.compression = .gzip(level: 1)
            // Works with or without zlib.
            settings.compressor = { data, _ in .compressed(Data(data.prefix(8))) }
        }
        return (harness, { receiver.requests.map { $0.headers[.contentEncoding] != nil } })
    }

    private static let refusals = [400, 406, 415, 422, 501]

    @Test(arguments: formats.keys.sorted(), refusals) func `a receiver without gzip gets everything uncompressed`(
        name: String, status: Int
    ) async throws {
        let (harness, coded) = try harness(try #require(Self.formats[name])) { _ in .status(status) }
        for round in 0..<3 {
            for number in 0..<5 { harness.logger.info("m\(round) \(number)") }
            #expect(await harness.shipper.flush(within: .seconds(5)))
        }
        let counts = harness.shipper.statistics
        #expect(counts.delivered == 15 && counts.dropped.isEmpty && counts.repeats == 0)
        // One attempt, and then none.
        if name != "GELF" { #expect(coded() == [true, false, false, false]) }
        #expect(coded().count { $0 } == 1)
        #expect(harness.events.withLock { $0.count { $0.message.contains("doesn't accept gzip") } } == 1)
        harness.expectConservation()
    }

    @Test(arguments: [406, 415, 501]) func `one that refuses both loses nothing, and isn't asked for ever`(status: Int) async throws {
        let (harness, coded) = try harness(compressed: { _ in .status(status) }, plain: { _ in .status(status) })
        for number in 0..<5 { harness.logger.info("m\(number)") }
        #expect(await harness.clock.run(step: .milliseconds(1)) { harness.shipper.statistics.nextAttempt ?? .zero > .seconds(200) })
        #expect(coded() == [true, false] && harness.shipper.statistics.buffered == 5)
        #expect(!harness.events.withLock { $0.contains { $0.message.contains("doesn't accept gzip") } }, "nobody knows")
        harness.expectConservation()
    }

    @Test func `a record that spoils a batch is found with gzip, too`() async throws {
        let (harness, coded) = try harness(
            compressed: { _ in .status(400) },
            plain: { String(decoding: $0, as: UTF8.self).contains("\"poison\"") ? .status(400) : .status(200) })
        for number in 0..<16 { harness.logger.info(number == 11 ? "poison" : "m\(number)") }
        #expect(await harness.shipper.flush(within: .seconds(5)) == false)
        let counts = harness.shipper.statistics
        #expect(counts.delivered == 15 && counts.dropped == [.rejected: 1])
        #expect(coded().contains(true))
        harness.expectConservation()
    }

    @Test func `one that took gzip and takes it no more loses nothing`() async throws {
        let (harness, coded) = try harness(compressed: { $0 < 3 ? .status(200) : .status(400) })
        for round in 0..<8 {
            for number in 0..<(round % 2 + 1) { harness.logger.info("m\(round) \(number)") }
            #expect(await harness.shipper.flush(within: .seconds(5)))
        }
        #expect(harness.shipper.statistics.delivered == 12 && harness.shipper.statistics.dropped.isEmpty)
        #expect(coded().last == false)
        harness.expectConservation()
    }

    @Test func `a poison record costs one that is known to take gzip no more than before`() async throws {
        let receiver = StubReceiver { number, _ in number == 1 ? .status(400) : .status(200) }
        let harness = try Harness(receiver) { settings in
            settings.compression = .gzip(level: 1)
            settings.compressor = { data, _ in .compressed(Data(data.prefix(8))) }
        }
        for _ in 0..<2 {
            for number in 0..<8 { harness.logger.info("m\(number)") }
            _ = await harness.shipper.flush(within: .seconds(5))
        }
        #expect(receiver.requests.allSatisfy { $0.headers[.contentEncoding] == "gzip" })
        #expect(harness.shipper.statistics.delivered == 16)
        harness.expectConservation()
    }

    @Test func `an answer that shows that the body was read is no refusal of gzip`() async throws {
        let body = #"{"text":"No","code":12,"invalid-event-number":1}"#
        let (harness, coded) = try harness(SplunkFormat(), compressed: { $0 == 0 ? .status(400, body: body) : .status(200, body: "{}") })
        for number in 0..<3 { harness.logger.info("m\(number)") }
        #expect(await harness.clock.run { harness.shipper.statistics.buffered == 0 })
        #expect(coded().allSatisfy { $0 } && harness.shipper.statistics.dropped == [.rejected: 1])
        harness.expectConservation()
    }
}
