#if SwiftLog
import Foundation
import Logging
import RemoteLogger
import Testing
import WebServiceClient

@Suite struct RemoteLogHandlerTests {
    private let sink = CollectingSink()

    private func logger(_ configure: (inout RemoteLogHandler) -> Void = { _ in }) -> Logger {
        var handler = RemoteLogHandler(label: "shop.orders", pipeline: LogPipeline(sinks: [sink]), logLevel: .debug)
        configure(&handler)
        return Logger(label: "shop.orders") { _ in handler }
    }

    @Test func `an event becomes a record`() throws {
        let line = #line + 1
        logger().error(
            "Payment failed", error: CancellationError(),
            metadata: ["order": "7", "n": .stringConvertible(17), "ok": .stringConvertible(true)])
        let record = try #require(sink.records.first)
        #expect(record.level == .error && record.label == "shop.orders" && record.message == "Payment failed")
        #expect(record.error == "CancellationError()")
        #expect(record.metadata == ["n": 17, "ok": true, "order": "7"])
        #expect(record.source?.line == UInt(line) && record.source?.file.hasSuffix("RemoteLogHandlerTests.swift") == true)
    }

    @Test func `levels are those of the same name, and below the handler's nothing is made`() {
        var logger = logger()
        for level in Logger.Level.allCases { logger.log(level: level, "m") }
        #expect(sink.records.map(\.level) == LogLevel.allCases.filter { $0 >= .debug })
        #expect(Logger.Level.allCases.map { LogLevel($0).description } == Logger.Level.allCases.map(\.rawValue))
        logger.logLevel = .critical
        logger.error("no")
        #expect(sink.records.count == 6)
    }

    @Test func `the call's metadata wins over the provider's, and that over the handler's`() {
        var logger = logger { handler in
            handler.metadata = ["a": "handler", "b": "handler", "c": "handler"]
            handler.metadataProvider = Logger.MetadataProvider { ["b": "provider", "c": "provider"] }
        }
        let other = logger
        logger[metadataKey: "own"] = "1"
        logger.info("m", metadata: ["c": "call", "nested": ["list": ["x", "y"]]])
        other.info("m")
        #expect(
            sink.records.map(\.metadata) == [
                ["a": "handler", "b": "provider", "c": "call", "nested": ["list": ["x", "y"]] as LogMetadata, "own": "1"],
                ["a": "handler", "b": "provider", "c": "provider"],
            ])
    }

    @Test func `sensitive values are masked, and so are secrets`() {
        enum Privacy: Int64, Sendable, Logger.MetadataValueAttributes.Attribute { case hidden = 9 }
        let logger = logger { handler in
            let standard = handler.isSensitive
            handler.isSensitive = { standard($0) || $0[Privacy.self] == .hidden }
        }
        logger.info(
            "password=hunter22",
            metadata: [
                "mail": .attributed("ada@x.example", attributes: [LogSensitivity.sensitive]),
                "open": .attributed("o", attributes: [LogSensitivity.open]),
                "other": .attributed("x", attributes: [Privacy.hidden]), "token": "abc",
                "list": [.attributed("ada", attributes: [LogSensitivity.sensitive])],
            ])
        #expect(sink.records.first?.message == "password=<masked>")
        #expect(
            sink.records.first?.metadata
                == ["list": ["<masked>"], "mail": "<masked>", "open": "o", "other": "<masked>", "token": "<masked>"])
    }

    @Test func `a trace in the metadata is the record's`() {
        let logger = logger { $0.recordsSource = true }
        logger.info("m", metadata: ["trace_id": "0af7651916cd43dd8448eb211c80319c", "span_id": "b7ad6b7169203331", "x": "1"])
        logger.info("m", metadata: ["trace-id": "no"])
        #expect(
            sink.records.first?.trace?.traceID == "0af7651916cd43dd8448eb211c80319c"
                && sink.records.first?.trace?.spanID == "b7ad6b7169203331")
        #expect(sink.records.first?.metadata == ["x": "1", "source": "RemoteLoggerTests"])
        #expect(sink.records.last?.trace == nil && sink.records.last?.metadata["trace-id"] == "no")
    }

    @Test func `the module doesn't replace metadata of the same name`() {
        let logger = logger { $0.recordsSource = true }
        logger.info("m", metadata: ["source": "mine", "source_": "too"])
        #expect(sink.records.first?.metadata == ["source": "mine", "source_": "too", "source__": "RemoteLoggerTests"])
    }

    @Test func `what the shipper does is not logged`() async throws {
        let clock = ManualLogClock()
        let receiver = StubReceiver([.broken, .broken, .status(200)])
        let logger = Locked<Logger?>(nil)
        let shipper = try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: receiver) { settings in
            settings.clock = clock
            settings.compression = .none
            settings.diagnostics = Diagnostics { event in logger.withLock { $0 }?.warning("\(event.message)") }
        }
        let pipeline = LogPipeline(sinks: [shipper])
        let front = Logger(label: "a") { RemoteLogHandler(label: $0, pipeline: pipeline) }
        logger.withLock { $0 = front }
        front.info("m")
        #expect(await clock.run { shipper.statistics.delivered == 1 })
        #expect(pipeline.emitted == 1 && pipeline.suppressed > 0)
    }
}

/// The samples of the README and of the handler's documentation. A process can run only one of them: compiling them suffices.
private func bootstrap(_ pipeline: LogPipeline, provider: Logger.MetadataProvider) {
    LoggingSystem.bootstrap { RemoteLogHandler(label: $0, pipeline: pipeline) }
    LoggingSystem.bootstrap({ RemoteLogHandler(label: $0, pipeline: pipeline, metadataProvider: $1) }, metadataProvider: provider)
}
#endif
