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
