#if SwiftLog
public import Logging

/// A handler of swift-log that makes records; there with the package trait `SwiftLog`.
///
///     let pipeline = LogPipeline(sinks: [shipper, ConsoleSink(minimumLevel: .warning)])
///     LoggingSystem.bootstrap { RemoteLogHandler(label: $0, pipeline: pipeline) }
///
/// A metadata provider goes the same way: `LoggingSystem.bootstrap({ RemoteLogHandler(label: $0, pipeline: pipeline, metadataProvider: $1) },
/// metadataProvider: provider)`.
///
/// The label is the record's label; the error of a log call is the record's error. Metadata of the call wins over that of the provider, and that over the
/// handler's own. Values keep their type where the record has one for it: numbers, truth values, dates, whatever is ``LogValueConvertible``; others are
/// texts. A trace that the metadata tells of (`trace_id` and `span_id`, also with `-`) becomes the record's.
///
/// Values that are marked ``LogSensitivity/sensitive`` are masked, whatever they are; redaction runs over everything else.
///
/// swift-log has no way to flush: shut the pipeline down by `pipeline.shutdown(within:)` or ``LogPipeline/shutdownAtExit(within:)``.
public struct RemoteLogHandler: LogHandler {
    /// Makes the records: its label, pipeline, context and trace are those of this handler.
    public var logger: RemoteLogger
    /// Calls below this level do nothing.
    public var logLevel: Logger.Level
    /// What every record says.
    public var metadata: Logger.Metadata
    /// What every record says, asked anew for each.
    public var metadataProvider: Logger.MetadataProvider?
    /// Whether records tell the module that logs, as `source`. Default not.
    public var recordsSource = false
    /// Whether a value with such attributes is masked. By default ``LogSensitivity`` says so; have it ask for attributes of other packages, too.
    public var isSensitive: @Sendable (Logger.MetadataValueAttributes) -> Bool = { $0[LogSensitivity.self] == .sensitive }

    /// A handler on a pipeline.
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

    /// Makes a record of an event.
    public func log(event: LogEvent) {
        var values = metadata
        if let provided = metadataProvider?.get(), !provided.isEmpty { values.merge(provided) { $1 } }
        if let own = event.metadata, !own.isEmpty { values.merge(own) { $1 } }
        var logger = logger
        if let trace = Self.takeTrace(from: &values) { logger.traceContext = trace }
        let level = LogLevel(event.level)
        guard logger.keeps(level) else { return }
        var metadata = record(values, depth: 0)
        if recordsSource { metadata["source"] = .string(event.source) }
        logger.record(
            level, event.message.description, metadata, error: event.error,
            source: LogSource(file: event.file, function: event.function, line: event.line))
    }

    // MARK: Metadata

    /// A dictionary has no order: by name the same metadata is the same text.
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
        for (traceKey, spanKey) in [("trace_id", "span_id"), ("trace-id", "span-id")] {
            guard let trace = metadata[traceKey]?.description else { continue }
            guard let context = TraceContext(traceID: trace, spanID: metadata[spanKey]?.description) else { continue }
            metadata[traceKey] = nil
            metadata[spanKey] = nil
            return context
        }
        return nil
    }
}

/// Whether a metadata value may be read by others: an attribute of swift-log's values.
///
///     logger.info("Signed in", metadata: ["user": .attributed(user.email, attributes: [LogSensitivity.sensitive])])
public enum LogSensitivity: Int64, Sendable, Logger.MetadataValueAttributes.Attribute {
    /// It may.
    case open = 1
    /// It is masked before any sink sees it.
    case sensitive = 2
}

extension LogLevel {
    /// The level of swift-log's of the same name.
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
