import Foundation
import TestSupport
import Testing
import WebServiceClient

@testable import RemoteLogger

/// Two independent servers that parse RFC 5424 must read the intended message.
@Suite(.serialized) struct SyslogJudgeTests {
    @Test(
        .enabled(
            if: SyslogJudge.Kind.allCases.allSatisfy { $0.program != nil },
            "rsyslog or syslog-ng isn't there: install Debian's rsyslog, unpack syslog-ng-core, and name its folder by SYSLOG_NG_ROOT."),
        arguments: SyslogJudge.Kind.allCases)
    func `every field arrives as it was logged`(kind: SyslogJudge.Kind) async throws {
        let judge = try await SyslogJudge(kind, program: try #require(kind.program))
        defer { judge.stop() }
        let keeper = CollectingSink()
        let count = 10_000
        let shipper = try LogShipper(
            toSyslog: SyslogReceiver(host: "127.0.0.1", port: judge.port),
            format: SyslogFormat(application: "shop", hostname: "shop-1.example")
        ) { settings in
            settings.batch.interval = .milliseconds(10)
            settings.backoff = Backoff(base: .milliseconds(10), cap: .milliseconds(100))
            settings.buffer = BufferLimits(records: count, bytes: 1 << 30)
        }
        let logger = RemoteLogger(label: "shop.orders", sinks: [shipper, keeper], minimumLevel: .trace)
        var generator = SeededGenerator(seed: 5)
        let pieces = ["a", "Ω", "🦊", "\"", "\\", "]", "[", "=", "\n", "\t", "'", "%", "#012", "é", "\u{2028}", " ", "<13>1", "user"]
        func text() -> String {
            "x" + (0..<Int.random(in: 0...8, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined() + "x"
        }
        for number in 0..<count {
            logger.with(trace: number % 2 == 0 ? TraceContext(traceHigh: 1, traceLow: 2, span: 3) : nil).log(
                LogLevel.allCases[number % 7], "\(number) \(text())",
                ["n": number, "text": text(), "inner": ["value": text()] as LogMetadata],
                error: number % 9 == 0 ? CancellationError() : nil)
        }
        #expect(await logger.shutdown(within: .seconds(1_200)))
        #expect(await eventually { judge.lines >= count }, "\(judge.lines)")
        let messages = judge.messages
        #expect(messages.count == count)
        let process = String(ProcessInfo.processInfo.processIdentifier)
        let severities = [135, 135, 134, 133, 132, 131, 130]
        for (message, record) in zip(messages, keeper.records) {
            var expected = SyslogJudge.Message(
                priority: String(severities[Int(record.level.rawValue)]), host: "shop-1.example", application: "shop", process: process,
                id: "shop.orders",
                text: record.message)
            expected.parameters = [
                "timeQuality/tzKnown": "1", "meta/sequenceId": String(record.sequence), "record@32473/id": record.id.description,
                "record@32473/sequence": String(record.sequence), "record@32473/time": String(record.time),
                "record@32473/level": record.level.description,
                "metadata@32473/n": "\(record.sequence - 1)",
            ]
            if let isSynchronized = SyslogFormat.systemClockIsSynchronized() {
                expected.parameters["timeQuality/isSynced"] = isSynchronized ? "1" : "0"
            }
            if case .string(let text) = record.metadata["text"] { expected.parameters["metadata@32473/text"] = text }
            if case .dictionary(let inner) = record.metadata["inner"], case .string(let text) = inner["value"] {
                expected.parameters["metadata@32473/inner.value"] = text
            }
            if let trace = record.trace { expected.parameters["record@32473/trace"] = trace.traceID }
            if let span = record.trace?.spanID { expected.parameters["record@32473/span"] = span }
            if let error = record.error { expected.parameters["record@32473/error"] = error }
            if let source = record.source { expected.parameters["record@32473/source"] = "\(source.file):\(source.line)" }
            let isSame = message == expected
            #expect(isSame, "\(message) isn't \(expected)")
            if !isSame { break }
        }
    }

    @Test(
        .enabled(
            if: SyslogJudge.Kind.allCases.allSatisfy(\.speaksTLS),
            "rsyslog with its package rsyslog-openssl, or syslog-ng, isn't there: see above."),
        .enabled("openssl isn't there") { await Tool.exists("openssl") }, arguments: SyslogJudge.Kind.allCases)
    func `messages arrive over TLS, from who is known`(kind: SyslogJudge.Kind) async throws {
        let certificates = try await TLSCertificates.make()
        defer { certificates.remove() }
        let judge = try await SyslogJudge(kind, program: try #require(kind.program), certificates: certificates)
        defer { judge.stop() }
        func shipper(asClient: Bool, _ events: Locked<[String]> = Locked([])) throws -> LogShipper {
            try LogShipper(toSyslog: .tls(host: "localhost", port: judge.port), format: SyslogFormat(application: "shop")) { settings in
                settings.trust = try? certificates.trust(asClient: asClient)
                settings.timeout = .seconds(60)
                settings.batch.interval = .milliseconds(10)
                settings.backoff = Backoff(base: .milliseconds(10), cap: .milliseconds(100))
                settings.diagnostics = Diagnostics { event in events.withLock { $0.append(event.message) } }
            }
        }
        let known = try shipper(asClient: true)
        let logger = RemoteLogger(label: "shop.orders", sinks: [known])
        let texts = (0..<1_000).map { "\($0) Ω\n" + String(repeating: "y", count: 1 + $0 * 3) }
        for text in texts { logger.info(text) }
        #expect(await logger.shutdown(within: .seconds(1_200)))
        #expect(await eventually { judge.messages.count >= texts.count }, "\(judge.messages.count)")
        let isSame = judge.messages.map(\.text) == texts
        #expect(isSame)
        let events = Locked<[String]>([])
        let stranger = try shipper(asClient: false, events)
        stranger.write(.sample())
        #expect(await eventually { events.withLock { !$0.isEmpty } })
        #expect(stranger.statistics.delivered == 0 && judge.messages.count == texts.count)
        #expect(await stranger.shutdown(within: .milliseconds(10)) == false)
    }
}
