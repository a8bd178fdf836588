import Foundation
public import HTTPTransport

/// How a ``LogShipper`` ships. Every setting has a default that suits most receivers.
public struct ShippingSettings: Sendable {
    /// Header fields of every request, such as a tenant's name or an API key. They go to the endpoint and nowhere else: redirects are
    /// not followed. Default none but `User-Agent`, which names this library and its version.
    public var headers: HTTPFields = ["User-Agent": "RemoteLogger-Swift/\(PackageVersion.text)"]
    /// Adds credentials to the fields of each attempt, such as a token that has to be renewed; an error counts as a failed attempt.
    public var authorize: (@Sendable (inout HTTPFields) async throws -> Void)?
    /// Whom to trust, and who to be. Default: the transport's own.
    public var trust: TrustPolicy?
    /// Records below this level aren't shipped. Default `trace`: the loggers decide.
    public var minimumLevel = LogLevel.trace
    /// Which of these records are shipped. Default all. With a ``spool`` it also holds for those that an earlier run, or another shipper on the
    /// same spool, has put there. It is asked once for each record and run, on the thread that logs, must be quick, and mustn't ask the
    /// logger, the shipper or the spool for anything. What it keeps out counts nowhere; the shipper's own reports of losses pass.
    public var includes: (@Sendable (LogRecord) -> Bool)?
    /// When records are sent, and how many at once.
    public var batch = BatchLimits()
    /// How much is kept in memory while the receiver is slow or away.
    public var buffer = BufferLimits()
    /// Keeps the records on disk until the receiver has acknowledged them. Default none: they are in memory, within ``buffer``. With a
    /// spool its own bounds hold instead.
    public var spool: Spool?
    /// The shipper's name, in ``LogHealth``, in its reports of losses, and in its spool, under which its progress is kept from run to run: 1 to 60
    /// bytes. Default `default`. Shippers on one spool need different names, and a name that isn't used any more keeps its records until room is
    /// needed. Without a spool shippers of one name are told apart by numbers: see ``LogPipeline/shippers``.
    public var destination = "default"
    /// Where records go that the receiver has refused for good, or that can't be sent to it. Default nowhere: they are counted only.
    public var deadLetters: DeadLetters?
    /// Whether records that were dropped before the receiver was asked (`overflow`, `oversize`, `unencodable`, `damaged`, `expired`) are reported to
    /// the receiver, too, by a record that tells how many since the last one, at most once a minute, also while the receiver is away. It has the label
    /// `RemoteLogger` and the sequence 0; its metadata tell `dropped.<reason>`, whose losses they are (`receiver.destination`, the shipper's name),
    /// and the receiver's clock less the one here, where that is known (`receiver.clock_offset_s`). It is for that receiver only, also where others
    /// share the spool. Default yes.
    public var reportsLosses = true
    /// How bodies are compressed. Default gzip, level 1.
    public var compression = Compression.gzip(level: 1)
    /// The waits after failures, which go on until the receiver answers. Default from 1 to 90 seconds, doubling, with full jitter: 45 seconds on
    /// average once it lasts, so that a receiver that is busy for an hour is asked some 90 times.
    public var backoff = Backoff(base: .seconds(1), cap: .seconds(90))
    /// The most requests that are on their way at once. Default 1: records arrive in the order in which they were logged. With more they may
    /// arrive in another one, and after `kill -9` as many batches may be sent again. How many it really are adapts itself to the receiver: one at
    /// first, one more after as many answers as there may be requests, half as many after a failure (``LogStatistics/concurrency``).
    public var maximumRequestsInFlight = 1
    /// While the receiver has taken so many batches and not acknowledged them yet, where it does so later (``AcknowledgingLogFormat``), no further
    /// one is begun. Default 8; below 1 counts as 1. One that isn't acknowledged in time is sent again, behind those that came later.
    public var maximumUnacknowledgedBatches = 8
    /// The longest `Retry-After` that is obeyed, or `X-RateLimit-Reset` of a 429 without it; a longer one is cut. Default 1 hour. Up to a tenth
    /// is added to it at random, and no more than a second, so that those who were told the same don't come back at once.
    public var longestRetryAfter = Duration.seconds(3_600)
    /// How long nothing is sent after an answer that isn't about the records: other credentials or another address are wanted, or the receiver isn't
    /// there yet. <doc:Receivers> has a table of these. Default 5 minutes.
    public var pause = Duration.seconds(300)
    /// How long a request may take. Default 10 seconds.
    public var timeout = Duration.seconds(10)
    /// Where the shipper says what it has to say: outages, losses, refusals. What a logger is told there is not logged: it would feed
    /// itself.
    public var diagnostics = Diagnostics()
    /// The clock of batches and waits; tests give their own.
    public var clock: any LogClock = SystemLogClock()

    /// Takes the place of zlib in tests.
    var compressor: @Sendable (Data, Int) -> Gzip.Result = { Gzip.compress($0, level: $1) }

    /// Which records are shipped.
    var selection: RecordSelection { RecordSelection(destination: destination, minimumLevel: minimumLevel, includes: includes) }

    /// The defaults.
    public init() {}

    /// How bodies are compressed.
    public enum Compression: Sendable, Hashable {
        /// Not at all. A receiver that can't read gzip is found out by itself; this spares the attempt.
        case none
        /// With gzip (RFC 1952) by the system's zlib, from level 1 (quick) to 9 (small). A body that doesn't get smaller, and every
        /// body where there is no zlib, or to a receiver that has refused a compressed one and taken it uncompressed, is sent as it is.
        case gzip(level: Int)
    }
}

/// When records are sent, and how many at once: as soon as one of the three bounds is met.
public struct BatchLimits: Sendable, Hashable {
    /// The most records of a request. Default 1,000.
    public var records: Int
    /// The most bytes of a request's records, as they take in memory. Default 1 MiB.
    public var bytes: Int
    /// How long a record waits for others. Default 1 second.
    public var interval: Duration

    /// The given bounds; a number below 1 counts as 1.
    public init(records: Int = 1_000, bytes: Int = 1 << 20, interval: Duration = .seconds(1)) {
        self.records = max(1, records)
        self.bytes = max(1, bytes)
        self.interval = interval
    }
}

/// How much is kept in memory for a receiver that is slow or away.
public struct BufferLimits: Sendable, Hashable {
    /// The most records. Default 50,000.
    public var records: Int
    /// The most bytes that they take in memory, about (``LogRecord/footprint``). Default 4 MiB.
    public var bytes: Int

    /// The given bounds; a number below 1 counts as 1.
    public init(records: Int = 50_000, bytes: Int = 4 << 20) {
        self.records = max(1, records)
        self.bytes = max(1, bytes)
    }
}
