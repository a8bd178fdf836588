import Foundation
import TestSupport
import Testing

@testable import RemoteLogger

@Suite struct SyslogFormatTests {
    private func text(_ record: LogRecord, _ format: SyslogFormat? = nil) -> String {
        var format = format ?? SyslogFormat(application: "shop", hostname: "host.example")
        format.isClockSynchronized = { nil }
        return String(decoding: format.message(of: record), as: UTF8.self)
    }

    @Test func `a record is a message of RFC 5424`() {
        let record = LogRecord.sample(
            7, .error, "Hello", metadata: ["a": 1, "b": ["c d": "x\"y\\z]"] as LogMetadata], label: "shop orders", error: "E",
            trace: TraceContext(traceHigh: 1, traceLow: 2, span: 3), source: LogSource(file: "S/F.swift", function: "f()", line: 4))
        let process = ProcessInfo.processInfo.processIdentifier
        #expect(
            text(record)
                == "<131>1 2026-03-01T09:30:00.123456Z host.example shop \(process) shop_orders [timeQuality tzKnown=\"1\"][meta sequenceId=\"7\"]"
                + "[record@32473 id=\"\(record.id)\" sequence=\"7\" time=\"1772357400123456789\" level=\"error\" "
                + "trace=\"00000000000000010000000000000002\" span=\"0000000000000003\" error=\"E\" source=\"S/F.swift:4\"]"
                + "[metadata@32473 a=\"1\" b.c_d=\"x\\\"y\\\\z\\]\"] Hello")
    }

    @Test(arguments: [(true, " isSynced=\"1\""), (false, " isSynced=\"0\""), (nil, "")])
    func `the clock's state is told where it is known`(state: Bool?, text: String) {
        var format = SyslogFormat(application: "shop")
        format.isClockSynchronized = { state }
        let message = String(decoding: format.message(of: .sample(1)), as: UTF8.self)
        #expect(message.contains(" [timeQuality tzKnown=\"1\"\(text)][meta "))
    }

    #if os(Linux)
    @Test(.enabled("python3 isn't there") { await Tool.exists("python3") })
    func `the system's clock is what another reader of the kernel's answer says`() async throws {
        // `modes` is a padded int; four longs later comes `status`, whose 0x40 is STA_UNSYNC; 5 is TIME_ERROR.
        let script = "import ctypes; t = (ctypes.c_long * 64)(); r = ctypes.CDLL(None).adjtimex(t); print(r, r != 5 and not t[5] & 0x40)"
        let said = try await ChildProcess.run(["python3", "-c", script]).text
        #expect(SyslogFormat.systemClockIsSynchronized() == (said.hasPrefix("-1") ? nil : said.contains("True")))
    }
    #endif

    @Test(arguments: zip(LogLevel.allCases, [15, 15, 14, 13, 12, 11, 10])) func `levels have their severity`(level: LogLevel, priority: Int)
    {
        #expect(text(.sample(1, level), SyslogFormat(application: "a", facility: 1)).hasPrefix("<\(priority)>1 "))
    }

    @Test func `a long message is cut between characters, and says so`() {
        for count in stride(from: 0, through: 3_000, by: 37) {
            let format = SyslogFormat(application: "a", hostname: "h", maximumMessageBytes: 600)
            let record = LogRecord.sample(
                1, .info, String(repeating: "🦊é", count: count), metadata: ["m": String(repeating: "y", count: count)])
            let message = format.message(of: record)
            #expect(message.count <= 600)
            let text = String(decoding: message, as: UTF8.self)
            #expect(Array(text.utf8) == message, "no half characters")
            let whole = SyslogFormat(application: "a", hostname: "h", maximumMessageBytes: 1 << 20).message(of: record).count
            #expect(text.contains("truncated=") == (whole > 600))
        }
    }

    @Test func `the least bound holds with the longest names`() {
        let long = String(repeating: "x", count: 300)
        let format = SyslogFormat(application: long, hostname: long, facility: 23, enterprise: .max, maximumMessageBytes: 480)
        let record = LogRecord.sample(.max, .trace, String(repeating: long, count: 10_000), metadata: ["m": long], label: long)
        let message = format.message(of: record)
        #expect(message.count <= 480 && message.last == UInt8(ascii: "x"))
        #expect(String(decoding: message, as: UTF8.self).contains("id=\"\(record.id)\" truncated="))
    }

    @Test func `sequence numbers stay in their range`() {
        #expect(text(.sample(2_147_483_647)).contains("sequenceId=\"2147483647\""))
        #expect(text(.sample(2_147_483_648)).contains("sequenceId=\"1\""))
        #expect(text(.sample(0)).contains("sequenceId=\"1\""))
    }

    @Test func `whatever is logged, the grammar holds`() throws {
        var generator = SeededGenerator(seed: 3)
        let format = SyslogFormat(application: "a b=\"c]", hostname: "")
        let grammar = try Regex(
            #"<(0|[1-9][0-9]{0,2})>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}Z [\x21-\x7E]{1,255} [\x21-\x7E]{1,48} [\x21-\x7E]{1,128} [\x21-\x7E]{1,32} (\[[^ =\]"]{1,32}( [\x21-\x7E--="\]]{1,32}="([^"\\\]]|\\["\\\]])*")*\])+( (?s:.*))?"#
        )
        for number in 1...500 as ClosedRange<UInt64> {
            let message = String(decoding: format.message(of: .random(number, using: &generator)), as: UTF8.self)
            #expect(message.wholeMatch(of: grammar.matchingSemantics(.unicodeScalar)) != nil, "\(message)")
        }
    }
}
