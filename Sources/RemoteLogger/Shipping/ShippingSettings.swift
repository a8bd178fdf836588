import Foundation
public import HTTPTransport

/// The settings of a ``LogShipper``. Every setting has a default that suits most receivers.
public struct ShippingSettings: Sendable {
    /// The header fields of every request, such as a tenant's name or an API key. They are sent only to the endpoint: redirects aren't
    /// followed. Default only `User-Agent`, which names this library and its version.
    public var headers: HTTPFields = ["User-Agent": "RemoteLogger-Swift/\(PackageVersion.text)"]
    /// Adds credentials to the fields of each attempt, such as a token that must be renewed; an error counts as a failed attempt.
    public var authorize: (@Sendable (inout HTTPFields) async throws -> Void)?
    /// The trusted authorities and the client identity. Default: the transport's.
    public var trust: TrustPolicy?
    /// The lowest level of shipped records. Default `trace`: the loggers decide.
    public var minimumLevel = LogLevel.trace
    /// A filter for the shipped records. Default all. With a ``spool`` it also applies to records of an earlier run or of another shipper
    /// on the same spool. It is called once per record and run, on the logging thread, must be fast, and must not use the logger, the
    /// shipper or the spool. Excluded records don't count anywhere; the shipper's own loss reports always pass.
    public var includes: (@Sendable (LogRecord) -> Bool)?
    /// The time and size of batches.
    public var batch = BatchLimits()
    /// The memory limits while the receiver is slow or unreachable.
    public var buffer = BufferLimits()
    /// A spool that keeps the records on disk until the receiver has acknowledged them. Default none: they are kept in memory, within
    /// ``buffer``. With a spool, its own limits apply instead.
    public var spool: Spool?
    /// The shipper's name in ``LogHealth``, in its loss reports, and in its spool, where it identifies the progress across runs: 1 to 60
    /// bytes. Default `default`. Shippers on one spool need different names, and a name that is no longer used keeps its records until room
    /// is needed. Without a spool, shippers with the same name are numbered: see ``LogPipeline/shippers``.
    public var destination = "default"
    /// The file for records that the receiver has permanently refused or that can't be sent. Default none: such records are only counted.
    public var deadLetters: DeadLetters?
    /// Whether records dropped on this side (`overflow`, `oversize`, `unencodable`, `damaged`, `expired`) are also reported to the
    /// receiver, by a record with their number since the last report, at most once a minute, even while the receiver is unreachable. The
    /// record has the label `RemoteLogger` and the sequence 0; its metadata contain `dropped.<reason>`, the shipper's name
    /// (`receiver.destination`), and the receiver's clock minus the local one, if known (`receiver.clock_offset_s`). Only that receiver
    /// gets the report, even if other shippers share the spool. Default `true`.
    public var reportsLosses = true
    /// The compression of bodies. Default gzip, level 1.
    public var compression = Compression.gzip(level: 1)
    /// The waits after failures, which continue until the receiver answers. Default from 1 to 90 seconds, doubling, with full jitter: 45
    /// seconds on average in the long run, so that a receiver that is busy for an hour is tried about 90 times.
    public var backoff = Backoff(base: .seconds(1), cap: .seconds(90))
    /// The maximum number of concurrent requests. Default 1: records arrive in the order in which they were logged. With more, they may
    /// arrive in another order, and after `kill -9` as many batches may be sent again. The actual number adapts to the receiver: it starts
    /// at one, and grows by one after as many answers as the current limit, and halves after a failure (``LogStatistics/concurrency``).
    public var maximumRequestsInFlight = 1
    /// The maximum number of batches that the receiver has accepted but not acknowledged yet, if it acknowledges asynchronously
    /// (``AcknowledgingLogFormat``). Default 8; minimum 1. A batch that isn't acknowledged in time is sent again, after later ones.
    public var maximumUnacknowledgedBatches = 8
    /// The limit for `Retry-After`, or for `X-RateLimit-Reset` of a 429 without it; longer values are reduced to it. Default 1 hour. A
    /// random part of up to a tenth, at most a second, is added, so that clients with the same value don't return at the same time.
    public var longestRetryAfter = Duration.seconds(3_600)
    /// The wait after a response that doesn't concern the records: the credentials or the address are wrong, or the receiver isn't set up
    /// yet. <doc:Receivers> has a table of these. Default 5 minutes.
    public var pause = Duration.seconds(300)
    /// The timeout of a request. Default 10 seconds.
    public var timeout = Duration.seconds(10)
    /// Receives the shipper's diagnostics: outages, losses, refusals. Records that their handler logs are
    /// discarded, to prevent a feedback loop.
    public var diagnostics = Diagnostics()
    /// The clock of batches and waits, which tests can replace.
    public var clock: any LogClock = SystemLogClock()

    /// Replaces zlib in tests.
    var compressor: @Sendable (Data, Int) -> Gzip.Result = { Gzip.compress($0, level: $1) }

    /// The selection of shipped records.
    var selection: RecordSelection { RecordSelection(destination: destination, minimumLevel: minimumLevel, includes: includes) }

    /// Creates settings with the defaults.
    public init() {}

    /// The compression of bodies.
    public enum Compression: Sendable, Hashable {
        /// No compression. The shipper detects receivers that can't read gzip; this setting avoids the attempt.
        case none
        /// Gzip (RFC 1952) by the system's zlib, from level 1 (fast) to 9 (small). Bodies are sent uncompressed if they don't get smaller,
        /// if zlib is missing, or if the receiver has refused a compressed body and accepted it uncompressed.
        case gzip(level: Int)
    }
}
