import Foundation
import RemoteLogger
import Testing

@Suite struct LogRecordTests {
    @Test func `levels are ordered and have names`() {
        #expect(LogLevel.allCases == LogLevel.allCases.sorted())
        #expect(LogLevel.trace < .debug && LogLevel.error < .critical)
        for level in LogLevel.allCases { #expect(LogLevel(name: level.description.uppercased()) == level) }
        #expect(LogLevel(name: "loud") == nil)
    }

    @Test func `an id has 32 hexadecimal digits`() {
        #expect(LogRecordID(high: 0xAB, low: .max).description == "00000000000000abffffffffffffffff")
    }

    @Test func `a trace comes from hexadecimal ids`() {
        let trace = TraceContext(traceID: "4BF92F3577B34DA6A3CE929D0E0E4736", spanID: "00f067aa0ba902b7", flags: 1)
        #expect(trace?.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(trace?.spanID == "00f067aa0ba902b7")
        #expect(TraceContext(traceID: String(repeating: "0", count: 32)) == nil)
        #expect(TraceContext(traceID: "4bf92f3577b34da6a3ce929d0e0e473") == nil)
        #expect(TraceContext(traceID: "+bf92f3577b34da6+3ce929d0e0e4736") == nil)
        #expect(TraceContext(traceID: "4bf92f3577b34da6a3ce929d0e0e4736", spanID: "0000000000000000") == nil)
        #expect(TraceContext(traceID: "4bf92f3577b34da6a3ce929d0e0e473é") == nil)
    }

    @Test(arguments: [
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true),
        ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later", true),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later", false),
        ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", false),
        ("", false), ("---", false),
    ])
    func `a trace comes from a traceparent`(text: String, isValid: Bool) {
        #expect((TraceContext(traceparent: text) != nil) == isValid)
    }

    @Test func `the footprint counts what a record holds`() {
        let small = LogRecord.sample()
        let large = LogRecord.sample(metadata: ["text": String(repeating: "x", count: 10_000), "data": Data(count: 5_000)])
        #expect(large.footprint - small.footprint > 15_000)
        #expect(large.footprint - small.footprint < 16_000)
    }
}
