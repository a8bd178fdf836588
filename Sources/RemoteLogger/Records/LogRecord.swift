/// One entry of the log: made when it is logged, and never changed afterwards, so that a record that is sent twice is the same twice.
public struct LogRecord: Sendable, Hashable {
    /// The record's own number of 128 bits. A receiver that gets it twice has got one record twice.
    public let id: LogRecordID
    /// The record's place in the order of its session: 1, 2, 3 … without gaps, over all loggers of one ``LogPipeline``.
    public let sequence: UInt64
    /// The wall-clock time in nanoseconds since 1970-01-01T00:00:00Z.
    public let time: UInt64
    /// The monotonic time in nanoseconds since an arbitrary moment, such as the start of the machine. It never jumps.
    public let uptime: UInt64
    /// How much it matters.
    public let level: LogLevel
    /// The name of the logger: OpenTelemetry's instrumentation scope.
    public let label: String
    /// What happened.
    public let message: String
    /// The values beside the message: the logger's context with the call's values laid over it.
    public let metadata: LogMetadata
    /// What the error said that the record reports, if there was one.
    public let error: String?
    /// The trace that the record belongs to, if there is one.
    public let trace: TraceContext?
    /// Where in the source it was logged; `nil` for records that the library makes of calls.
    public let source: LogSource?

    /// A record. Loggers make theirs by themselves; this is for sinks and their tests.
    public init(
        id: LogRecordID, sequence: UInt64, time: UInt64, uptime: UInt64 = 0, level: LogLevel, label: String = "", message: String,
        metadata: LogMetadata = LogMetadata(), error: String? = nil, trace: TraceContext? = nil, source: LogSource? = nil
    ) {
        self.id = id
        self.sequence = sequence
        self.time = time
        self.uptime = uptime
        self.level = level
        self.label = label
        self.message = message
        self.metadata = metadata
        self.error = error
        self.trace = trace
        self.source = source
    }

    /// About how many bytes the record takes in memory: what the bounds of buffers and batches count.
    public var footprint: Int {
        MemoryLayout<LogRecord>.stride + message.utf8.count + metadata.footprint() + (error?.utf8.count ?? 0)
    }
}

/// A place in the source code.
public struct LogSource: Sendable, Hashable {
    /// The file as `#fileID` tells it: module and file name.
    public let file: String
    /// The function.
    public let function: String
    /// The line, from 1.
    public let line: UInt

    /// A place.
    public init(file: String, function: String, line: UInt) {
        self.file = file
        self.function = function
        self.line = line
    }
}
