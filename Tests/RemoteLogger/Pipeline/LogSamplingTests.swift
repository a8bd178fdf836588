import Foundation
import RemoteLogger
import TestSupport
import Testing

@Suite struct LogSamplingTests {
    private let sink = CollectingSink()

    private func logger(_ sampling: LogSampling) -> RemoteLogger {
        RemoteLogger(label: "test", sinks: [sink], minimumLevel: .trace, sampling: sampling)
    }

    @Test func `about as many are kept as the rate says, and each tells it`() {
        let logger = logger(LogSampling(rate: 0.25, rates: [.debug: 0]))
        for _ in 0..<4_000 { logger.info("i") }
        for _ in 0..<100 { logger.debug("d") }
        let records = sink.records
        #expect((800...1_200).contains(records.count))
        #expect(records.allSatisfy { $0.metadata[LogSampling.key] == .double(0.25) })
        #expect(records.map(\.sequence) == Array(1...UInt64(records.count)), "what is left out takes no number")
        #expect(logger.pipeline.sampledOut == 4_100 - UInt64(records.count))
        #expect(logger.pipeline.health.sampledOut == logger.pipeline.sampledOut)
    }

    @Test func `errors are never left out`() {
        let logger = logger(LogSampling(rate: 0, rates: [.error: 0, .critical: 0.1]))
        for _ in 0..<50 {
            logger.error("e")
            logger.critical("c")
            logger.warning("w")
        }
        #expect(sink.records.count == 100 && sink.records.allSatisfy { $0.level >= .error && $0.metadata.isEmpty })
    }

    @Test func `a trace is kept or left out as a whole, whoever decides`() {
        var generator = SeededGenerator(seed: 1)
        let (here, there) = (LogSampling(rate: 0.5), LogSampling(rate: 0.5))
        var kept = 0
        for number in 0..<1_000 as Range<UInt64> {
            let trace = TraceContext(traceHigh: generator.next(), traceLow: generator.next())
            let first = here.keeps(.info, trace: trace, number: number)
            for other in 0..<5 as Range<UInt64> { #expect(there.keeps(.debug, trace: trace, number: other) == first) }
            // The traces kept at a tenth are a subset of those kept at a half.
            if LogSampling(rate: 0.1).keeps(.info, trace: trace, number: 0) { #expect(first) }
            kept += first ? 1 : 0
        }
        #expect((400...600).contains(kept))
        let edge = TraceContext(traceHigh: 1, traceLow: 0xFF00_0000_0000_0000)
        #expect(!LogSampling(rate: 0.999).keeps(.info, trace: edge, number: 0), "only the last 56 bits decide")
    }

    @Test func `what is left out isn't evaluated`() {
        var evaluated = 0
        func text() -> String {
            evaluated += 1
            return "x"
        }
        logger(LogSampling(rate: 0)).info(text(), ["k": text()])
        #expect(evaluated == 0)
        #expect(LogSampling(rate: .nan).rate(of: .info) == 0 && LogSampling(rate: 7).rate(of: .info) == 1)
    }
}
