/// One entry of the log: made when it is logged, and never changed afterwards, so that a record that is sent twice is the same twice.
public struct LogRecord: Sendable {
    /// What a record says.
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

    /// A record goes to every sink and through queues and batches: each of its copies is one reference.
    private final class Box: Sendable {
        /// What a record takes beside its fields: the header of this object and its own count (24 bytes), what the allocator adds to this
        /// object and to the metadata's (24 on average), and a place in a queue (40). Bounds of memory that left it out would be passed.
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

    /// The record's own number of 128 bits. A receiver that gets it twice has got one record twice.
    public var id: LogRecordID { box.fields.id }
    /// The record's place in the order of its session: 1, 2, 3 … without gaps, over all loggers of one ``LogPipeline``.
    public var sequence: UInt64 { box.fields.sequence }
    /// The wall-clock time in nanoseconds since 1970-01-01T00:00:00Z.
    public var time: UInt64 { box.fields.time }
    /// The monotonic time in nanoseconds since an arbitrary moment, such as the start of the machine. It never jumps.
    public var uptime: UInt64 { box.fields.uptime }
    /// How much it matters.
    public var level: LogLevel { box.fields.level }
    /// The name of the logger: OpenTelemetry's instrumentation scope.
    public var label: String { box.fields.label }
    /// What happened.
    public var message: String { box.fields.message }
    /// The values beside the message: the logger's context with the call's values laid over it.
    public var metadata: LogMetadata { box.fields.metadata }
    /// What the error said that the record reports, if there was one.
    public var error: String? { box.fields.error }
    /// The trace that the record belongs to, if there is one.
    public var trace: TraceContext? { box.fields.trace }
    /// Where in the source it was logged; `nil` for records that the library makes of calls.
    public var source: LogSource? { box.fields.source }

    /// A record. Loggers make theirs by themselves; this is for sinks and their tests.
    public init(
        id: LogRecordID, sequence: UInt64, time: UInt64, uptime: UInt64 = 0, level: LogLevel, label: String = "", message: String,
        metadata: LogMetadata = LogMetadata(), error: String? = nil, trace: TraceContext? = nil, source: LogSource? = nil
    ) {
        box = Box(
            Fields(
                id: id, sequence: sequence, time: time, uptime: uptime, level: level, label: label, message: message, metadata: metadata,
                error: error, trace: trace, source: source))
    }

    /// About how many bytes the record takes in memory: what the bounds of buffers and batches count.
    public var footprint: Int { box.footprint }
}

extension LogRecord: Hashable {
    /// Whether two records say the same.
    public static func == (left: Self, right: Self) -> Bool {
        left.box === right.box || left.box.fields == right.box.fields
    }

    /// Hashes what the record says.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(box.fields)
    }
}

/// The number of a record, of 128 bits, unique among all records of all programs.
///
/// The first half is random per session, the second runs through all numbers of 64 bits in an order that is scattered by a random
/// start: no two records of a session can share one, and two sessions would have to draw the same 64 bits.
public struct LogRecordID: Sendable, Hashable, CustomStringConvertible {
    /// The first 64 bits.
    public let high: UInt64
    /// The last 64 bits.
    public let low: UInt64

    /// A number of two halves.
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

/// Gives the numbers of a session's records.
struct LogRecordIDSource: Sendable {
    private let session: UInt64
    private let start: UInt64

    init(using generator: inout some RandomNumberGenerator) {
        session = generator.next()
        start = generator.next()
    }

    /// The number of the record at that place in the order. Each step of the mixing can be undone, hence no two places share a number.
    func id(of sequence: UInt64) -> LogRecordID {
        var mixed = start &+ sequence &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return LogRecordID(high: session, low: mixed ^ (mixed >> 31))
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
