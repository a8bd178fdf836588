import WebServiceClient

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
