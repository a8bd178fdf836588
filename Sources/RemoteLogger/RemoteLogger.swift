import WebServiceClient

/// A logger: a value that knows its name, its context and its level, and gives its records to a ``LogPipeline``.
///
///     let shipper = try LogShipper(to: collector, format: OTLPFormat(resource: ["service.name": "shop"]))
///     let logger = RemoteLogger(label: "shop.orders", sinks: [shipper, ConsoleSink(minimumLevel: .warning)])
///
///     let request = logger.with(["user": user.id])                    // a child: `logger` itself stays as it is
///     request.info("Order placed", ["order": 7, "total": 12.5])
///     request.error("Payment failed", ["order": 7], error: error)
///
///     let everythingIsThere = await logger.flush(within: .seconds(5))
///
/// Logging never throws, never waits for disk or network, and never calls back: when a call has returned, the record is in bounded
/// memory or was counted as dropped, with the reason. A call below ``minimumLevel`` evaluates nothing, neither message nor metadata.
///
/// - Important: Records live in memory until the receiver has acknowledged them, and don't survive the process, unless the shipper has a
///   ``Spool``: see <doc:Durability>.
public struct RemoteLogger: Sendable {
    /// Where the records go; shared by a logger and all its children.
    public let pipeline: LogPipeline
    /// The logger's name, such as `shop.orders`.
    public var label: String
    /// Calls below this level do nothing.
    public var minimumLevel: LogLevel
    /// The trace that the records belong to, if there is one.
    public var traceContext: TraceContext?
    /// What every record of this logger says; secrets in it are masked already.
    public private(set) var context = LogMetadata()

    /// A logger on a pipeline that exists.
    public init(label: String, pipeline: LogPipeline, minimumLevel: LogLevel = .info) {
        self.label = label
        self.pipeline = pipeline
        self.minimumLevel = minimumLevel
    }

    /// A logger with a pipeline of its own.
    public init(
        label: String, sinks: [any LogSink], minimumLevel: LogLevel = .info, redaction: LogRedaction = .standard,
        sampling: LogSampling = .none
    ) {
        let pipeline = LogPipeline(sinks: sinks, redaction: redaction, sampling: sampling)
        self.init(label: label, pipeline: pipeline, minimumLevel: minimumLevel)
    }

    /// A child whose records say this, too. Values given here win over those of the same name that the logger has.
    public func with(_ metadata: LogMetadata) -> RemoteLogger {
        var child = self
        child.context = context.merging(pipeline.redaction.masked(pipeline.bounded(metadata)), pipeline.redaction)
        return child
    }

    /// A child of another name.
    public func with(label: String) -> RemoteLogger {
        var child = self
        child.label = label
        return child
    }

    /// A child with another level.
    public func with(minimumLevel: LogLevel) -> RemoteLogger {
        var child = self
        child.minimumLevel = minimumLevel
        return child
    }

    /// A child whose records belong to a trace.
    public func with(trace: TraceContext?) -> RemoteLogger {
        var child = self
        child.traceContext = trace
        return child
    }

    /// Whether a record of this level would be made.
    @inlinable public func isEnabled(_ level: LogLevel) -> Bool {
        level >= minimumLevel
    }

    /// Waits until every sink has delivered what was logged before, or the time is over.
    ///
    /// - Returns: whether everything was delivered: nothing is left, nothing was dropped while waiting.
    @discardableResult public func flush(within limit: Duration) async -> Bool {
        await pipeline.flush(within: limit)
    }

    /// Delivers what can be delivered within the time, then closes every sink. What is left stays in a shipper's spool for the next run, or is
    /// counted as dropped without one, as is what is logged later.
    ///
    /// - Returns: whether everything was delivered.
    @discardableResult public func shutdown(within limit: Duration) async -> Bool {
        await pipeline.shutdown(within: limit)
    }
}

extension RemoteLogger {
    /// Logs at a level.
    ///
    /// - Parameters:
    ///   - message: what happened; evaluated only when the level is enabled.
    ///   - metadata: the values beside it; evaluated only when the level is enabled.
    ///   - error: the error that the record reports, if there is one.
    @inlinable public func log(
        _ level: LogLevel, _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(),
        error: (any Error)? = nil, file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        guard level >= minimumLevel, keeps(level) else { return }
        record(level, message(), metadata(), error: error, source: LogSource(file: file, function: function, line: line))
    }

    /// Logs at ``LogLevel/trace``: every step, for someone who hunts a fault.
    @inlinable public func trace(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.trace, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// Logs at ``LogLevel/debug``: of use while developing.
    @inlinable public func debug(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.debug, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// Logs at ``LogLevel/info``: what the program does.
    @inlinable public func info(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.info, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// Logs at ``LogLevel/notice``: nothing is wrong, but somebody may want to know.
    @inlinable public func notice(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.notice, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// Logs at ``LogLevel/warning``: something is odd and may become an error.
    @inlinable public func warning(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.warning, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// Logs at ``LogLevel/error``: something failed.
    @inlinable public func error(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.error, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// Logs at ``LogLevel/critical``: the program, or a part of it, can't go on.
    @inlinable public func critical(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.critical, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// The part behind the check of the level, kept out of the callers' code.
    @inline(never) @usableFromInline
    func record(_ level: LogLevel, _ message: String, _ metadata: LogMetadata, error: (any Error)?, source: LogSource?) {
        // What describes an error may log, as what makes the message may.
        let error = error.map { ValueText.text(of: $0) }
        guard let mark = pipeline.begin() else { return }
        defer { mark.remove() }
        let redaction = pipeline.redaction
        // First the bound, so that masking never sees more.
        var metadata = context.merging(redaction.masked(pipeline.bounded(metadata)), redaction)
        if metadata.count > LogMetadata.maximumNames { metadata = pipeline.bounded(metadata) }
        let rate = pipeline.sampling.rate(of: level)
        if rate < 1 { metadata[LogSampling.key] = .double(rate) }
        pipeline.accept(
            level: level, label: label, message: redaction.masked(message), metadata: metadata,
            error: error.map(redaction.masked), trace: traceContext, source: source)
    }

    /// Whether a record isn't sampled out.
    @inline(never) @usableFromInline
    func keeps(_ level: LogLevel) -> Bool {
        pipeline.keeps(level, traceContext)
    }
}
