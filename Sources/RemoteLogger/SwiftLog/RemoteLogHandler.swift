#if SwiftLog
public import Logging

/// A swift-log handler that makes records, available with the package trait `SwiftLog`.
///
///     let pipeline = LogPipeline(sinks: [shipper, ConsoleSink(minimumLevel: .warning)])
///     LoggingSystem.bootstrap { RemoteLogHandler(label: $0, pipeline: pipeline) }
///
/// A metadata provider works likewise: `LoggingSystem.bootstrap({ RemoteLogHandler(label: $0, pipeline: pipeline, metadataProvider: $1) },
/// metadataProvider: provider)`.
///
/// The label is the record's label; the error of a log call is the record's error. Metadata of the call takes precedence over that of the
/// provider, which takes precedence over the handler's own. Values keep their type if the record supports it: numbers, Booleans, dates, and
/// any ``LogValueConvertible``; others become text. A trace in the metadata (`trace_id` and `span_id`, or with `-`) becomes the record's
/// trace.
///
/// Values with the attribute ``LogSensitivity/sensitive`` are always masked; redaction applies to all other values.
///
/// swift-log has no flush: shut the pipeline down with `pipeline.shutdown(within:)` or ``LogPipeline/shutdownAtExit(within:)``.
public struct RemoteLogHandler: LogHandler {
    /// The logger that makes the records, with label, pipeline, context and trace.
    public var logger: RemoteLogger
    /// Calls below this level do nothing.
    public var logLevel: Logger.Level
    /// Metadata of every record.
    public var metadata: Logger.Metadata
    /// Provides metadata for every record, evaluated each time.
    public var metadataProvider: Logger.MetadataProvider?
    /// A Boolean value that indicates whether records include the logging module, as `source`, or as `source_` if the
    /// metadata has a `source`. The default is `false`.
    public var recordsSource = false
    /// Determines whether a value with these attributes is masked. By default it checks ``LogSensitivity``; extend it for attributes of
    /// other packages.
    public var isSensitive: @Sendable (Logger.MetadataValueAttributes) -> Bool = { $0[LogSensitivity.self] == .sensitive }

    /// Creates a handler on a pipeline.
    public init(
        label: String, pipeline: LogPipeline, logLevel: Logger.Level = .info, metadata: Logger.Metadata = [:],
        metadataProvider: Logger.MetadataProvider? = nil
    ) {
        logger = RemoteLogger(label: label, pipeline: pipeline, minimumLevel: .trace)
        self.logLevel = logLevel
        self.metadata = metadata
        self.metadataProvider = metadataProvider
    }

    /// A value of ``metadata``.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Makes a record from an event.
    public func log(event: LogEvent) {
        var values = metadata
        if let provided = metadataProvider?.get(), !provided.isEmpty { values.merge(provided) { $1 } }
        if let own = event.metadata, !own.isEmpty { values.merge(own) { $1 } }
        var logger = logger
        if let trace = Self.takeTrace(from: &values) { logger.traceContext = trace }
        let level = LogLevel(event.level)
        guard logger.keeps(level) else { return }
        var metadata = record(values, depth: 0)
        if recordsSource {
            // Metadata of the same name keeps its value.
            var name = "source"
            while metadata[name] != nil { name += "_" }
            metadata[name] = .string(event.source)
        }
        logger.record(
            level, event.message.description, metadata, error: event.error,
            source: LogSource(file: event.file, function: event.function, line: event.line))
    }

    // MARK: Metadata

    /// A dictionary has no order: sorting by name makes equal metadata equal text.
    private func record(_ metadata: Logger.Metadata, depth: Int) -> LogMetadata {
        LogMetadata(metadata.sorted { $0.key < $1.key }.map { ($0.key, record($0.value, depth: depth)) })
    }

    private func record(_ value: Logger.MetadataValue, depth: Int) -> LogValue {
        switch value {
        case .string(let text): return .string(text)
        case .stringConvertible(let content):
            if isSensitive(value.attributes) { return .string(LogRedaction.mask) }
            return (content as? any LogValueConvertible)?.logValue ?? .string(content.description)
        case .dictionary(let values):
            return depth < LogValue.maximumDepth ? .dictionary(record(values, depth: depth + 1)) : .string(LogValue.tooDeep)
        case .array(let values):
            return depth < LogValue.maximumDepth ? .array(values.map { record($0, depth: depth + 1) }) : .string(LogValue.tooDeep)
        }
    }

    private static func takeTrace(from metadata: inout Logger.Metadata) -> TraceContext? {
        for (traceKey, spanKey) in LogMetadata.traceNames {
            guard let trace = metadata[traceKey]?.description else { continue }
            guard let context = TraceContext(traceID: trace, spanID: metadata[spanKey]?.description) else { continue }
            metadata[traceKey] = nil
            metadata[spanKey] = nil
            return context
        }
        return nil
    }
}

/// The sensitivity of a metadata value: an attribute of swift-log's values.
///
///     logger.info("Signed in", metadata: ["user": .attributed(user.email, attributes: [LogSensitivity.sensitive])])
public enum LogSensitivity: Int64, Sendable, Logger.MetadataValueAttributes.Attribute {
    /// The value is logged.
    case open = 1
    /// The value is masked before any sink sees it.
    case sensitive = 2
}

extension LogLevel {
    /// Creates a level from swift-log's level of the same name.
    public init(_ level: Logger.Level) {
        switch level {
        case .trace: self = .trace
        case .debug: self = .debug
        case .info: self = .info
        case .notice: self = .notice
        case .warning: self = .warning
        case .error: self = .error
        case .critical: self = .critical
        }
    }
}
#endif
