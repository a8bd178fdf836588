import HTTPTransport

/// Provides metadata for each record, usually from the task-local values of the code that logs.
///
///     enum Session { @TaskLocal static var user: String? }
///
///     let session = LogMetadataProvider { Session.user.map { ["user": .string($0)] } ?? [:] }
///     let logger = RemoteLogger(label: "shop", pipeline: pipeline).with(metadataProvider: .multiplex([session, .trace]))
///
///     Session.$user.withValue("ada") { logger.info("Order placed") }      // user=ada
///
/// It is the counterpart of swift-log's `Logger.MetadataProvider`. The metadata of a call takes precedence over a provider's, which takes
/// precedence over the logger's own. A trace in the metadata (`trace_id` and `span_id`, or with `-`) becomes the record's trace. Redaction
/// applies to all values.
///
/// The closure runs on the logging thread, only for records that are made. It returns quickly; records that it logs itself are suppressed
/// and counted (``LogPipeline/suppressed``).
public struct LogMetadataProvider: Sendable {
    private let provide: @Sendable () -> LogMetadata

    /// Creates a provider from a closure.
    public init(_ provide: @escaping @Sendable () -> LogMetadata) {
        self.provide = provide
    }

    /// Returns the metadata for a record of the current task.
    public func get() -> LogMetadata { provide() }

    /// Returns a provider with the metadata of several; `nil` for none. If several provide a value for the same name, the last one counts.
    public static func multiplex(_ providers: [LogMetadataProvider]) -> LogMetadataProvider? {
        guard let first = providers.first else { return nil }
        let others = providers.dropFirst()
        return LogMetadataProvider { others.reduce(first.get()) { $0.merging($1.get()) } }
    }

    /// Provides the trace of the current task, ``HTTPTransport/TracePropagation/current``.
    public static let trace = LogMetadataProvider {
        guard let trace = TracePropagation.current?.trace else { return LogMetadata() }
        var metadata: LogMetadata = ["trace_id": trace.traceID]
        metadata["span_id"] = trace.spanID.map { .string($0) }
        return metadata
    }
}

extension LogMetadata {
    /// The names of the trace and the span in metadata.
    static let traceNames = [("trace_id", "span_id"), ("trace-id", "span-id")]

    /// Removes the ids of a trace and returns the trace; `nil` if there is none, or an id is invalid, which leaves the values.
    mutating func takeTrace() -> TraceContext? {
        for (traceName, spanName) in Self.traceNames {
            guard let trace = self[traceName]?.description else { continue }
            guard let context = TraceContext(traceID: trace, spanID: self[spanName]?.description) else { continue }
            self[traceName] = nil
            self[spanName] = nil
            return context
        }
        return nil
    }
}
