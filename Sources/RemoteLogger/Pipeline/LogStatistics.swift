/// The outcome of a shipper's records, as a consistent snapshot: ``emitted`` is always ``delivered`` + ``dropped`` + ``buffered``.
public struct LogStatistics: Sendable, Hashable {
    /// The number of records that the shipper received, including ``found`` ones and reports of losses.
    public var emitted: UInt64 = 0
    /// The number of those that the shipper found in its spool: left by an earlier run, or written only to another shipper on the same
    /// spool.
    public var found: UInt64 = 0
    /// The number of records that the receiver has acknowledged.
    public var delivered: UInt64 = 0
    /// The numbers of lost records, by reason.
    public var dropped: [DropReason: UInt64] = [:]
    /// The number of records waiting in memory or in the spool, including those in flight.
    public var buffered: UInt64 = 0
    /// The number of those that are synced to disk and survive the end of the process and power loss. 0 without a spool.
    public var spooled: UInt64 = 0
    /// The approximate bytes of the buffered records in memory; with a spool including its files.
    public var bufferedBytes = 0
    /// The age of the oldest record that is neither delivered nor dropped, in flight or not; `nil` without one. The age of records of an
    /// earlier run counts from the start.
    public var oldestAge: Duration?
    /// The number of requests that were sent.
    public var requests: UInt64 = 0
    /// The number of those that repeated a failed one.
    public var repeats: UInt64 = 0
    /// The status of the receiver's last answer; `nil` before the first.
    public var lastStatus: Int?
    /// The time until the next attempt after a failure; `nil` otherwise.
    public var nextAttempt: Duration?
    /// The current limit of requests in flight: see ``ShippingSettings/maximumRequestsInFlight``.
    public var concurrency = 1
    /// The receiver's clock minus the local clock, from the `Date` of its last answer, with a precision of one second; `nil` if unknown.
    public var receiverClockOffset: Duration?

    /// Creates empty statistics.
    public init() {}

    /// The number of lost records for all reasons.
    public var droppedInAll: UInt64 { dropped.values.reduce(0, +) }
}

/// The reason for a lost record, an open set.
public struct DropReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The reason's name.
    public let rawValue: String
    /// Creates a reason with a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The reason's name.
    public var description: String { rawValue }

    /// The buffer or the spool was full, and the record was one of the oldest at the lowest level in it.
    public static let overflow = Self(rawValue: "overflow")
    /// The record alone exceeds the buffer, the format's bound, or the receiver's limit (413).
    public static let oversize = Self(rawValue: "oversize")
    /// The record was on disk and can't be read any more.
    public static let damaged = Self(rawValue: "damaged")
    /// The receiver finally rejected the record.
    public static let rejected = Self(rawValue: "rejected")
    /// The record is older than the receiver accepts.
    public static let expired = Self(rawValue: "expired")
    /// The format couldn't encode the record.
    public static let unencodable = Self(rawValue: "unencodable")
    /// The shipper was shut down before the record was acknowledged or logged, and no spool keeps it.
    public static let shutdown = Self(rawValue: "shutdown")
}
