import Foundation
import RemoteLogger
import Testing
import WebServiceClient

@Suite struct RemoteLoggerTests {
    private let sink = CollectingSink()
    private let clock = ManualLogClock()

    private func logger(_ minimumLevel: LogLevel = .trace) -> RemoteLogger {
        RemoteLogger(label: "shop", pipeline: LogPipeline(sinks: [sink], clock: clock), minimumLevel: minimumLevel)
    }

    @Test func `a record knows when, where, what and how much`() throws {
        let line = #line + 1
        logger().warning("Stock is low", ["item": 17], error: TransportError(.tls, "No trust."))
        let record = try #require(sink.records.first)
        #expect(record.level == .warning)
        #expect(record.label == "shop")
        #expect(record.message == "Stock is low")
        #expect(record.metadata == ["item": 17])
        #expect(record.error == "No trust. (tls)")
        #expect(record.time == 1_772_357_400_123_456_789)
        #expect(record.uptime == 1_000_000_000)
        #expect(record.sequence == 1)
        #expect(record.source?.file.hasSuffix("/RemoteLoggerTests.swift") == true)
        #expect(record.source?.line == UInt(line))
        #expect(record.source?.function.hasPrefix("a record knows") == true)
    }

    @Test func `each level has its method`() {
        let logger = logger()
        logger.trace("t")
        logger.debug("d")
        logger.info("i")
        logger.notice("n")
        logger.warning("w")
        logger.error("e")
        logger.critical("c")
        logger.log(.info, "l")
        #expect(sink.records.map(\.level) == LogLevel.allCases + [.info])
        #expect(sink.records.map(\.sequence) == Array(1...8))
    }

    @Test func `a call below the level evaluates nothing`() {
        var evaluated = 0
        func count() -> String {
            evaluated += 1
            return "x"
        }
        let logger = logger(.notice)
        logger.info(count(), ["k": count()])
        #expect(evaluated == 0)
        #expect(sink.records.isEmpty)
        #expect(!logger.isEnabled(.info))
        logger.notice(count(), ["k": count()])
        #expect(evaluated == 2)
    }

    @Test func `children are values of their own`() {
        let parent = logger().with(["user": "7", "step": 1])
        let child = parent.with(["step": 2]).with(label: "shop.orders").with(trace: TraceContext(traceHigh: 1, traceLow: 2))
        child.info("c", ["extra": true, "user": "8"])
        parent.info("p")
        #expect(sink.records.map(\.metadata) == [["user": "8", "step": 2, "extra": true], ["user": "7", "step": 1]])
        #expect(sink.records.map(\.label) == ["shop.orders", "shop"])
        #expect(sink.records.map { $0.trace != nil } == [true, false])
        #expect(parent.with(minimumLevel: .error).minimumLevel == .error)
        #expect(parent.minimumLevel == .trace)
    }

    @Test func `every sink gets what its level lets through`() {
        let quiet = CollectingSink(minimumLevel: .error)
        let logger = RemoteLogger(label: "", sinks: [sink, quiet])
        logger.info("i")
        logger.error("e")
        logger.debug("d")
        #expect(sink.records.map(\.message) == ["i", "e"])
        #expect(quiet.records.map(\.message) == ["e"])
        #expect(sink.records.last?.id == quiet.records.last?.id)
        #expect(logger.pipeline.emitted == 2)
    }

    @Test func `secrets are masked before any sink sees them`() {
        let logger = logger().with(["Authorization": "Bearer abc"])
        logger.info("m", ["password": "hunter2", "user": "ada", "nested": ["api_token": "xyz", "ok": 1] as LogMetadata, "list": [1]])
        #expect(
            sink.records.first?.metadata
                == [
                    "Authorization": "<masked>", "password": "<masked>", "user": "ada",
                    "nested": ["api_token": "<masked>", "ok": 1] as LogMetadata, "list": [1],
                ])
    }

    @Test func `the list of secrets can be changed`() {
        let more = LogRedaction(alsoHiding: ["IBAN"], exceptFor: ["Code"])
        #expect(more.masked(["iban": "DE1", "code": 404, "token": "t"]) == ["iban": "<masked>", "code": 404, "token": "<masked>"])
        #expect(LogRedaction.standard.masked(["code": 404]) == ["code": "<masked>"])
        #expect(LogRedaction.none.masked(["token": "t"]) == ["token": "t"])
        for number in 0..<3_000 { #expect(more.hides("token\(number)")) }
    }

    @Test func `ids are unique and sequence numbers have no gap when many threads log`() async {
        let logger = logger()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let child = logger.with(["task": task])
                    for number in 0..<1_250 { child.info("m", ["n": number]) }
                }
            }
        }
        let records = sink.records
        #expect(records.map(\.sequence) == Array(1...10_000))
        #expect(Set(records.map(\.id)).count == 10_000)
        for task in 0..<8 {
            let numbers = records.filter { $0.metadata["task"] == .int(Int64(task)) }.map { $0.metadata["n"] }
            let all = (0..<1_250).map { LogValue?.some(.int(Int64($0))) }
            #expect(numbers == all)
        }
    }
}
