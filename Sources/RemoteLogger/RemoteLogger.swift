public import HTTPTransport

// Imported so that records and requests use the same type of trace.
@_exported public import struct HTTPTransport.TraceContext
@_exported public import struct HTTPTransport.TracePropagation

/// A logger: a value with a name, a context and a level that passes its records to a ``LogPipeline``.
///
///     let shipper = try LogShipper(to: collector, format: OTLPFormat(resource: ["service.name": "shop"]))
///     let logger = RemoteLogger(label: "shop.orders", sinks: [shipper, ConsoleSink(minimumLevel: .warning)])
///
///     let request = logger.with(["user": user.id])                    // a child: `logger` itself is unchanged
///     request.info("Order placed", ["order": 7, "total": 12.5])
///     request.error("Payment failed", ["order": 7], error: error)
///
///     let everythingIsThere = await logger.flush(within: .seconds(5))
///
/// Logging never throws, never waits for disk or network, and never calls back: when a call returns, the record is in bounded memory or was
/// counted as dropped, with the reason. A call below ``minimumLevel`` evaluates neither message nor metadata.
///
/// - Important: Records live in memory until the receiver has acknowledged them, and don't survive the process, unless the shipper has a
///   ``Spool``: see <doc:Durability>.
public struct RemoteLogger: Sendable {
    /// The pipeline that receives the records; shared by a logger and all its children.
    public let pipeline: LogPipeline
    /// The logger's name, such as `shop.orders`.
    public var label: String
    /// Calls below this level do nothing.
    public var minimumLevel: LogLevel
    /// The trace of the records; `nil` without one.
    public var traceContext: TraceContext?
    /// Metadata of every record of this logger, with secrets already masked.
    public private(set) var context = LogMetadata()
    /// Provides metadata for each record; `nil` for none.
    public var metadataProvider: LogMetadataProvider?

    /// Creates a logger on an existing pipeline.
    public init(label: String, pipeline: LogPipeline, minimumLevel: LogLevel = .info) {
        self.label = label
        self.pipeline = pipeline
        self.minimumLevel = minimumLevel
    }

    /// Creates a logger with a new pipeline.
    public init(
        label: String, sinks: [any LogSink], minimumLevel: LogLevel = .info, redaction: LogRedaction = .standard,
        sampling: LogSampling = .none
    ) {
        let pipeline = LogPipeline(sinks: sinks, redaction: redaction, sampling: sampling)
        self.init(label: label, pipeline: pipeline, minimumLevel: minimumLevel)
    }

    /// Returns a child with additional metadata. These values take precedence over values of the same name in the logger's context.
    public func with(_ metadata: LogMetadata) -> RemoteLogger {
        var child = self
        child.context = context.merging(pipeline.redaction.masked(pipeline.bounded(metadata)), pipeline.redaction)
        return child
    }

    /// Returns a child with another name.
    public func with(label: String) -> RemoteLogger {
        var child = self
        child.label = label
        return child
    }

    /// Returns a child with another level.
    public func with(minimumLevel: LogLevel) -> RemoteLogger {
        var child = self
        child.minimumLevel = minimumLevel
        return child
    }

    /// Returns a child whose records belong to a trace.
    public func with(trace: TraceContext?) -> RemoteLogger {
        var child = self
        child.traceContext = trace
        return child
    }

    /// Returns a child with a metadata provider, in place of the logger's own.
    public func with(metadataProvider: LogMetadataProvider?) -> RemoteLogger {
        var child = self
        child.metadataProvider = metadataProvider
        return child
    }

    /// Whether a call at this level makes a record.
    @inlinable public func isEnabled(_ level: LogLevel) -> Bool {
        level >= minimumLevel
    }

    /// Waits until every sink has delivered all earlier records, or the time is over.
    ///
    /// - Returns: Whether everything was delivered: nothing is left, and nothing was dropped while waiting.
    @discardableResult public func flush(within limit: Duration) async -> Bool {
        await pipeline.flush(within: limit)
    }

    /// Delivers as much as possible within the time, then closes every sink. Remaining records stay in a shipper's spool for the next run;
    /// without a spool they are counted as dropped, as are later ones.
    ///
    /// - Returns: Whether everything was delivered.
    @discardableResult public func shutdown(within limit: Duration) async -> Bool {
        await pipeline.shutdown(within: limit)
    }
}

extension RemoteLogger {
    /// Logs at a level.
    ///
    /// - Parameters:
    ///   - message: The message; evaluated only if the level is enabled.
    ///   - metadata: Additional values; evaluated only if the level is enabled.
    ///   - error: The reported error; `nil` without one.
    @inlinable public func log(
        _ level: LogLevel, _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(),
        error: (any Error)? = nil, file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        guard level >= minimumLevel, keeps(level) else { return }
        record(level, message(), metadata(), error: error, source: LogSource(file: file, function: function, line: line))
    }

    /// Logs at ``LogLevel/trace``: detailed steps for tracing a fault.
    @inlinable public func trace(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.trace, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// Logs at ``LogLevel/debug``: information for development.
    @inlinable public func debug(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.debug, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// Logs at ``LogLevel/info``: normal activity of the program.
    @inlinable public func info(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.info, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// Logs at ``LogLevel/notice``: a normal but noteworthy event.
    @inlinable public func notice(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.notice, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// Logs at ``LogLevel/warning``: an unusual condition that may become an error.
    @inlinable public func warning(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.warning, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// Logs at ``LogLevel/error``: a failure.
    @inlinable public func error(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.error, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// Logs at ``LogLevel/critical``: a failure after which the program, or a part of it, can't continue.
    @inlinable public func critical(
        _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata = LogMetadata(), error: (any Error)? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(.critical, message(), metadata(), error: error, file: file, function: function, line: line)
    }

    /// The part after the level check, kept out of the callers' code.
    @inline(never) @usableFromInline
    func record(_ level: LogLevel, _ message: String, _ metadata: LogMetadata, error: (any Error)?, source: LogSource?) {
        // The error's description may log, like the message's closure.
        let error = error.map { ValueText.text(of: $0) }
        guard let mark = pipeline.begin() else { return }
        defer { mark.remove() }
        let redaction = pipeline.redaction
        var (metadata, trace) = (metadata, traceContext)
        if var provided = metadataProvider?.get() {
            trace = provided.takeTrace() ?? trace
            metadata = provided.merging(metadata)
        }
        // Bounds the metadata first, so that masking never sees more.
        metadata = context.merging(redaction.masked(pipeline.bounded(metadata)), redaction)
        if metadata.count > LogMetadata.maximumNames { metadata = pipeline.bounded(metadata) }
        let rate = pipeline.sampling.rate(of: level)
        if rate < 1 { metadata[LogSampling.key] = .double(rate) }
        pipeline.accept(
            level: level, label: label, message: redaction.masked(message), metadata: metadata,
            error: error.map(redaction.masked), trace: trace, source: source)
    }

    /// Returns the provider's metadata without its trace, and the trace of a record made now.
    ///
    /// - Parameter current: The trace of the current task, which takes precedence over the logger's own.
    func providedMetadata(or current: TraceContext?) -> (metadata: LogMetadata, trace: TraceContext?) {
        let trace = current ?? traceContext
        guard let metadataProvider, let mark = SinkMark() else { return (LogMetadata(), trace) }
        defer { mark.remove() }
        var provided = metadataProvider.get()
        let own = provided.takeTrace()
        return (provided, own ?? trace)
    }

    /// Whether a record is kept by sampling.
    @inline(never) @usableFromInline
    func keeps(_ level: LogLevel) -> Bool {
        pipeline.keeps(level, metadataProvider == nil || !pipeline.samples(level) ? traceContext : providedTrace ?? traceContext)
    }

    /// The trace of the metadata provider, which determines sampling. The thread is marked, so log calls of the provider make no records.
    private var providedTrace: TraceContext? {
        guard let mark = SinkMark() else { return nil }
        defer { mark.remove() }
        var provided = metadataProvider?.get()
        return provided?.takeTrace()
    }
}
