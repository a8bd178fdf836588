/// One entry of the log. It is immutable, so that a record that is sent twice is identical.
public struct LogRecord: Sendable {
    /// The contents of a record.
    private struct Fields: Sendable, Hashable {
        let id: LogRecordID
        let sequence: UInt64
        let time: UInt64
        let uptime: UInt64
        let level: LogLevel
        let label: String
        let message: String
        let metadata: LogMetadata
        let error: String?
        let trace: TraceContext?
        let source: LogSource?
    }

    /// A record goes to every sink and through queues and batches: each copy is a single reference.
    private final class Box: Sendable {
        /// The memory of a record in addition to its fields: the header of this object and its own count (24 bytes), the allocator's
        /// overhead for this object and the metadata (24 on average), and a slot in a queue (40). Without it, records would exceed the
        /// memory bounds.
        private static let overhead = 88

        let fields: Fields
        let footprint: Int

        init(_ fields: consuming Fields) {
            footprint =
                Self.overhead + MemoryLayout<Fields>.stride + fields.message.utf8.count + fields.metadata.footprint()
                + (fields.error?.utf8.count ?? 0)
            self.fields = fields
        }
    }

    private let box: Box

    /// The record's unique 128-bit id. A receiver that gets an id twice has got the same record twice.
    public var id: LogRecordID { box.fields.id }
    /// The record's position in its session: 1, 2, 3 … without gaps, over all loggers of one ``LogPipeline``.
    public var sequence: UInt64 { box.fields.sequence }
    /// The wall-clock time in nanoseconds since 1970-01-01T00:00:00Z.
    public var time: UInt64 { box.fields.time }
    /// The monotonic time in nanoseconds since an arbitrary moment, such as the start of the machine. It never jumps.
    public var uptime: UInt64 { box.fields.uptime }
    /// The severity.
    public var level: LogLevel { box.fields.level }
    /// The name of the logger: OpenTelemetry's instrumentation scope.
    public var label: String { box.fields.label }
    /// The message.
    public var message: String { box.fields.message }
    /// The logger's context merged with the call's values, which take precedence.
    public var metadata: LogMetadata { box.fields.metadata }
    /// The description of the reported error; `nil` without one.
    public var error: String? { box.fields.error }
    /// The trace of the record; `nil` without one.
    public var trace: TraceContext? { box.fields.trace }
    /// The source location of the log call; `nil` for records about the calls of a client.
    public var source: LogSource? { box.fields.source }

    /// Creates a record, for sinks and their tests. Loggers create records themselves.
    public init(
        id: LogRecordID, sequence: UInt64, time: UInt64, uptime: UInt64 = 0, level: LogLevel, label: String = "", message: String,
        metadata: LogMetadata = LogMetadata(), error: String? = nil, trace: TraceContext? = nil, source: LogSource? = nil
    ) {
        box = Box(
            Fields(
                id: id, sequence: sequence, time: time, uptime: uptime, level: level, label: label, message: message, metadata: metadata,
                error: error, trace: trace, source: source))
    }

    /// The approximate number of bytes of the record in memory, used for the bounds of buffers and batches.
    public var footprint: Int { box.footprint }
}

extension LogRecord: Hashable {
    /// Whether two records have equal contents.
    public static func == (left: Self, right: Self) -> Bool {
        left.box === right.box || left.box.fields == right.box.fields
    }

    /// Hashes the contents.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(box.fields)
    }
}

/// The 128-bit id of a record, unique among all records of all programs.
///
/// The first half is random per session, the second is a random start followed by a permutation of all 64-bit numbers: ids within a session
/// never collide, and two sessions collide only if they draw the same 64 bits.
public struct LogRecordID: Sendable, Hashable, CustomStringConvertible {
    /// The first 64 bits.
    public let high: UInt64
    /// The last 64 bits.
    public let low: UInt64

    /// Creates an id from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// 32 hexadecimal digits.
    public var description: String {
        var text = JSONText()
        text.hexadecimal(high, low)
        return text.string
    }
}

/// Generates the ids of a session's records.
struct LogRecordIDSource: Sendable {
    private let session: UInt64
    private let start: UInt64

    init(using generator: inout some RandomNumberGenerator) {
        session = generator.next()
        start = generator.next()
    }

    /// Returns the id of the record at a position. Each mixing step is invertible, so ids are unique.
    func id(of sequence: UInt64) -> LogRecordID {
        var mixed = start &+ sequence &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return LogRecordID(high: session, low: mixed ^ (mixed >> 31))
    }
}

/// A source location.
public struct LogSource: Sendable, Hashable {
    /// The file as `#fileID`: module and file name.
    public let file: String
    /// The function.
    public let function: String
    /// The line, from 1.
    public let line: UInt

    /// Creates a source location.
    public init(file: String, function: String, line: UInt) {
        self.file = file
        self.function = function
        self.line = line
    }
}
