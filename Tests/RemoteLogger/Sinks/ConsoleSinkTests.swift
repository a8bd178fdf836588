import Foundation
import RemoteLogger
import Testing
import WebServiceClient

@Suite struct ConsoleSinkTests {
    @Test func `prints readable lines that nobody can forge`() async {
        let lines = Locked<[String]>([])
        let sink = ConsoleSink(minimumLevel: .info) { line in lines.withLock { $0.append(line) } }
        let logger = RemoteLogger(label: "shop", pipeline: LogPipeline(sinks: [sink], clock: ManualLogClock()), minimumLevel: .trace)
        logger.info("Order\n2026 critical shop: forged", ["order": 7], error: CancellationError(), file: "Shop/Orders.swift", line: 42)
        logger.debug("too low")
        #expect(await logger.flush(within: .seconds(300)))
        #expect(
            lines.withLock { $0 } == [
                "2026-03-01T09:30:00.123Z info     shop: Order\\n2026 critical shop: forged order=7 error=CancellationError() "
                    + "(Shop/Orders.swift:42)\n"
            ])
    }

    @Test func `escapes what terminals obey and what ends lines elsewhere`() async {
        let lines = Locked<[String]>([])
        let sink = ConsoleSink { line in lines.withLock { $0.append(line) } }
        let logger = RemoteLogger(label: "shop", pipeline: LogPipeline(sinks: [sink], clock: ManualLogClock()))
        logger.info("a\u{1B}[2J\u{9B}2J\u{85}b\u{2028}c\u{202E}d ü", file: "F", line: 1)
        #expect(await logger.flush(within: .seconds(300)))
        #expect(
            lines.withLock { $0 } == [
                #"2026-03-01T09:30:00.123Z info     shop: a\u{1b}[2J\u{9b}2J\u{85}b\u{2028}c\u{202e}d ü (F:1)"# + "\n"
            ])
    }

    @Test func `leaves lines out instead of waiting, and says so`() async {
        let gate = DispatchSemaphore(value: 0)
        let lines = Locked<[String]>([])
        let sink = ConsoleSink(limit: 2) { line in
            gate.wait()
            lines.withLock { $0.append(line) }
        }
        for number in 1...10 { sink.write(.sample(UInt64(number))) }
        let leftOut = sink.leftOut
        #expect(leftOut == 8 || leftOut == 7)
        #expect(await sink.flush(within: .milliseconds(1)) == false)
        for _ in 0..<10 { gate.signal() }
        #expect(await sink.shutdown(within: .seconds(300)))
        #expect(lines.withLock { $0.contains { $0.contains("records left out") } })
        sink.write(.sample())
        #expect(sink.leftOut == leftOut + 1)
    }
}
