import Foundation
import RemoteLogger
import Testing
import WebServiceClient

@Suite struct LogMetadataProviderTests {
    private enum Session {
        @TaskLocal static var user: String?
    }

    private let sink = CollectingSink()
    private let session = LogMetadataProvider { Session.user.map { ["user": $0] } ?? [:] }

    private func logger(_ provider: LogMetadataProvider?, sampling: LogSampling = .none) -> RemoteLogger {
        RemoteLogger(
            label: "shop", pipeline: LogPipeline(sinks: [sink], sampling: sampling, clock: ManualLogClock()), minimumLevel: .info
        ).with(metadataProvider: provider)
    }

    @Test func `task-local values are in the records of their tasks`() async {
        let logger = logger(session)
        logger.info("outside")
        await Session.$user.withValue("ada") {
            logger.info("inside")
            async let child: Void = logger.info("child")
            await child
            await Task.detached { logger.info("detached") }.value
        }
        #expect(sink.records.map { $0.metadata["user"] } == [nil, .string("ada"), .string("ada"), nil])
    }

    @Test func `the call's metadata takes precedence over the provider's, and that over the logger's`() {
        let provider = LogMetadataProvider { ["a": "provider", "b": "provider"] }
        logger(provider).with(["a": "logger", "b": "logger", "c": "logger"]).info("x", ["a": "call"])
        #expect(sink.records.map(\.metadata) == [["a": "call", "b": "provider", "c": "logger"]])
    }

    @Test func `several providers count in their order`() {
        #expect(LogMetadataProvider.multiplex([]) == nil)
        let both = LogMetadataProvider.multiplex([.init { ["a": 1, "b": 1] }, .init { ["b": 2, "c": 2] }])
        #expect(both?.get() == ["a": 1, "b": 2, "c": 2])
    }

    @Test func `a record that isn't made evaluates nothing, and secrets are masked`() {
        let count = Locked(0)
        let logger = logger(
            LogMetadataProvider {
                count.withLock { $0 += 1 }
                return ["password": "hunter2"]
            })
        logger.debug("below the level")
        #expect(count.withLock { $0 } == 0)
        logger.info("x")
        #expect(count.withLock { $0 } == 1)
        #expect(sink.records[0].metadata["password"] == .string(LogRedaction.mask))
    }

    @Test func `a trace in the metadata is the record's`() throws {
        let trace = TraceContext.random()
        let logger = logger(.trace).with(trace: TraceContext(traceHigh: 1, traceLow: 1))
        logger.info("outside")
        TracePropagation.$current.withValue(TracePropagation(trace: trace)) { logger.info("inside") }
        #expect(sink.records.map { $0.trace?.traceID } == ["00000000000000010000000000000001", trace.traceID])
        #expect(sink.records[1].trace?.spanID == trace.spanID && sink.records[1].metadata.isEmpty)
        // An invalid id stays metadata.
        self.logger(LogMetadataProvider { ["trace-id": "x", "span-id": "y"] }).info("x")
        #expect(sink.records[2].trace == nil && sink.records[2].metadata == ["trace-id": "x", "span-id": "y"])
    }

    @Test func `records of a trace are sampled together`() {
        let logger = logger(.trace, sampling: LogSampling(rate: 0.5))
        for _ in 0..<50 {
            let before = sink.records.count
            TracePropagation.$current.withValue(TracePropagation(trace: .random())) {
                for _ in 0..<4 { logger.info("x") }
            }
            #expect([0, 4].contains(sink.records.count - before))
        }
        #expect(!sink.records.isEmpty && sink.records.count < 200)
    }

    @Test func `a provider that logs makes no further records`() {
        let holder = Locked<RemoteLogger?>(nil)
        for sampling in [LogSampling.none, LogSampling(rate: 0.999_999)] {
            let logger = logger(
                LogMetadataProvider {
                    holder.withLock { $0 }?.info("from the provider")
                    return ["a": 1]
                }, sampling: sampling)
            holder.withLock { $0 = logger }
            logger.info("x")
            #expect(logger.pipeline.emitted == 1 && logger.pipeline.suppressed >= 1)
        }
        holder.withLock { $0 = nil }
        #expect(sink.records.map { $0.metadata["a"] } == [.int(1), .int(1)])
    }
}
