import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// The logger never logs itself, in any configuration.
@Suite struct SelfLoggingTests {
    /// A transport that fails and logs each request, like an HTTP client with logging: on the same task, through a call logger, and on a
    /// separate thread.
    private struct LoggingTransport: Transport {
        let logger: Locked<RemoteLogger?>
        let sent: Locked<Int>
        var capabilities: TransportCapabilities { [] }

        func send(_ request: ServiceRequest) async throws -> TransportResponse {
            sent.withLock { $0 += 1 }
            guard let logger = logger.withLock({ $0 }) else { throw CancellationError() }
            logger.trace("about to send")
            async let child: Void = logger.critical("from a child task")
            await child
            let calls = CallLogger(logger, level: .trace)
            // The detached task inherits nothing from the shipping task; only the request identifies its origin.
            return try await Task.detached {
                try await calls.intercept(request, context: CallContext()) { _, _ in throw TransportError(.cannotConnect, "Nobody there.") }
            }.value
        }
    }

    @Test func `a failing receiver behind a client that logs at trace causes no record`() async throws {
        let clock = ManualLogClock()
        let transport = LoggingTransport(logger: Locked(nil), sent: Locked(0))
        let holder = transport.logger
        let shipper = try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: transport) { settings in
            settings.clock = clock
            settings.batch.interval = .milliseconds(100)
            settings.diagnostics = Diagnostics { event in holder.withLock { $0 }?.warning("\(event)") }
        }
        let logger = RemoteLogger(label: "own", pipeline: LogPipeline(sinks: [shipper], clock: clock), minimumLevel: .trace)
        holder.withLock { $0 = logger }
        logger.info("the only record")
        #expect(await clock.run { transport.sent.withLock { $0 } >= 20 })
        #expect(logger.pipeline.emitted == 1)
        // Two per request; the last request may not have logged yet.
        #expect(logger.pipeline.suppressed >= 38)
        #expect(shipper.statistics.emitted == 1)
        #expect(shipper.statistics.buffered == 1)
        #expect(await shipper.shutdown(within: .zero) == false)
        #expect(shipper.statistics.dropped == [.shutdown: 1])
        #expect(logger.pipeline.emitted == 1)
        holder.withLock { $0 = nil }
    }

    /// A transport that logs on an unmarked thread, like HTTP libraries with event loops.
    private struct HoppingTransport: Transport {
        let logger: Locked<RemoteLogger?>
        let sent: Locked<Int>
        var capabilities: TransportCapabilities { [] }

        func send(_ request: ServiceRequest) async throws -> TransportResponse {
            sent.withLock { $0 += 1 }
            let logger = logger.withLock { $0 }
            await Task.detached { logger?.trace("connecting") }.value
            throw TransportError(.cannotConnect, "Nobody there.")
        }
    }

    @Test(arguments: [false, true]) func `a client that logs on other threads is kept out by its label`(hasSpool: Bool) async throws {
        let clock = ManualLogClock()
        let transport = HoppingTransport(logger: Locked(nil), sent: Locked(0))
        let shipper = try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: transport) { settings in
            settings.clock = clock
            settings.batch.interval = .milliseconds(100)
            settings.includes = { !$0.label.hasPrefix("http.client") }
            guard hasSpool else { return }
            var spool = SpoolSettings()
            spool.clock = clock
            settings.spool = Spool(root: "/spool", settings: spool, files: MemoryDisk().files)
        }
        let logger = RemoteLogger(label: "shop", pipeline: LogPipeline(sinks: [shipper], clock: clock), minimumLevel: .trace)
        transport.logger.withLock { $0 = logger.with(label: "http.client.pool") }
        logger.info("the only record")
        #expect(await clock.run(step: .seconds(5)) { transport.sent.withLock { $0 } >= 20 })
        #expect(shipper.statistics.emitted == 1 && shipper.statistics.buffered == 1)
        transport.logger.withLock { $0 = nil }
        await shipper.shutdown(within: .zero)
    }

    /// A sink that logs each of its records.
    private final class ChattySink: LogSink {
        let minimumLevel = LogLevel.trace
        let logger = Locked<RemoteLogger?>(nil)

        func write(_ record: LogRecord) { logger.withLock { $0 }?.info("I got \(record.message)") }
        func flush(within limit: Duration) async -> Bool { true }
        func shutdown(within limit: Duration) async -> Bool { true }
    }

    @Test func `a sink that logs neither dead-locks nor feeds itself`() {
        let sink = ChattySink()
        let logger = RemoteLogger(label: "own", sinks: [sink])
        sink.logger.withLock { $0 = logger }
        for _ in 0..<3 { logger.info("m") }
        #expect(logger.pipeline.emitted == 3)
        #expect(logger.pipeline.suppressed == 3)
        sink.logger.withLock { $0 = nil }
    }

    @Test(arguments: [false, true]) func `a formatter or an output that logs doesn't feed itself`(isFormatter: Bool) async {
        let holder = Locked<RemoteLogger?>(nil)
        let printed = Locked(0)
        @Sendable func log() {
            let logger = holder.withLock { $0 }
            logger?.info("again")
            Task { logger?.info("from a task") }
        }
        let sink = ConsoleSink(
            formatter: LineFormatter { record in
                if isFormatter { log() }
                return record.message
            },
            output: { _ in
                if !isFormatter { log() }
                printed.withLock { $0 += 1 }
            })
        let logger = RemoteLogger(label: "own", sinks: [sink])
        holder.withLock { $0 = logger }
        logger.info("m")
        #expect(await eventually { logger.pipeline.suppressed == 2 })
        #expect(await sink.flush(within: .seconds(60)))
        #expect(printed.withLock { $0 } == 1 && logger.pipeline.emitted == 1)
        holder.withLock { $0 = nil }
    }

    @Test func `a formatter of a file that logs doesn't feed itself`() async throws {
        let file = URL.temporaryDirectory.appending(path: "self-\(UUID().uuidString).log")
        defer { try? FileManager.default.removeItem(at: file) }
        let holder = Locked<RemoteLogger?>(nil)
        let sink = FileSink(
            file,
            formatter: LineFormatter { record in
                holder.withLock { $0 }?.info("again")
                return record.message
            })
        let logger = RemoteLogger(label: "own", sinks: [sink])
        holder.withLock { $0 = logger }
        logger.info("m")
        for _ in 0..<3 { #expect(await sink.flush(within: .seconds(60))) }
        #expect(try String(contentsOf: file, encoding: .utf8) == "m\n")
        #expect(logger.pipeline.emitted == 1 && logger.pipeline.suppressed == 1)
        holder.withLock { $0 = nil }
        await logger.shutdown(within: .seconds(60))
    }

    @Test func `a rule of redaction that logs doesn't ask itself without end, and masks`() throws {
        let holder = Locked<RemoteLogger?>(nil)
        let sink = CollectingSink()
        let rule = RedactionRule.matching { text in
            let logger = holder.withLock { $0 }
            logger?.info("I look at \(text)")
            logger?.with(["text": "\(text)"]).info("once more")
            return text.ranges(of: "swordfish")
        }
        let redaction = LogRedaction(rules: RedactionRule.standard + [rule])
        let logger = RemoteLogger(label: "own", sinks: [sink], redaction: redaction)
        holder.withLock { $0 = logger }
        logger.with(["who": "swordfish"]).info("the swordfish", ["what": "swordfish"], error: CancellationError())
        #expect(sink.records.count == 1 && !"\(sink.records)".contains("swordfish"))
        #expect(logger.pipeline.emitted == 1 && logger.pipeline.suppressed >= 6)
        logger.info("m")
        #expect(logger.pipeline.emitted == 2, "the thread isn't marked any more")
        holder.withLock { $0 = nil }
    }
}
