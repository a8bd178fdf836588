/// What became of a shipper's records, as one consistent picture: ``emitted`` is always ``delivered`` + ``dropped`` + ``buffered``.
public struct LogStatistics: Sendable, Hashable {
    /// The records that the shipper was given, ``found`` ones and reports of losses included.
    public var emitted: UInt64 = 0
    /// How many of them it has found in its spool: left by an earlier run, or written by another shipper on the same spool only.
    public var found: UInt64 = 0
    /// Those that the receiver has acknowledged.
    public var delivered: UInt64 = 0
    /// Those that are lost, by reason.
    public var dropped: [DropReason: UInt64] = [:]
    /// Those that wait in memory or in the spool, the ones on their way included.
    public var buffered: UInt64 = 0
    /// How many of these are on disk, synced: the end of the process, and power loss, keep them. 0 without a spool.
    public var spooled: UInt64 = 0
    /// The bytes that the buffered ones take in memory, about; with a spool those of its files, too.
    public var bufferedBytes = 0
    /// How long the oldest record has waited that is neither delivered nor dropped, on its way or not; `nil` without one. One that an earlier run
    /// left counts from the start.
    public var oldestAge: Duration?
    /// The requests that were sent.
    public var requests: UInt64 = 0
    /// How many of them repeated one that had failed.
    public var repeats: UInt64 = 0
    /// The status of the receiver's last answer; `nil` before the first.
    public var lastStatus: Int?
    /// How long it is until the next attempt, when the last one has failed.
    public var nextAttempt: Duration?
    /// How many requests may be on their way at once at present: see ``ShippingSettings/maximumRequestsInFlight``.
    public var concurrency = 1
    /// The receiver's clock less the one here, by the `Date` of its last answer, to the second; `nil` if it hasn't told.
    public var receiverClockOffset: Duration?

    /// Nothing happened yet.
    public init() {}

    /// The lost records of every reason.
    public var droppedInAll: UInt64 { dropped.values.reduce(0, +) }
}

/// Why a record was lost, an open set.
public struct DropReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The reason's name.
    public let rawValue: String
    /// A reason of that name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The reason's name.
    public var description: String { rawValue }

    /// The buffer or the spool was full, and this was of the lowest level in it, one of the oldest of those.
    public static let overflow = Self(rawValue: "overflow")
    /// By itself it is larger than the buffer, than the format's bound, or than the receiver takes (413).
    public static let oversize = Self(rawValue: "oversize")
    /// It was on disk, and can't be read any more.
    public static let damaged = Self(rawValue: "damaged")
    /// The receiver refused it for good.
    public static let rejected = Self(rawValue: "rejected")
    /// It is older than what the receiver takes.
    public static let expired = Self(rawValue: "expired")
    /// The format could not write it.
    public static let unencodable = Self(rawValue: "unencodable")
    /// The shipper was shut down before it was acknowledged, or before it was logged, and there was no spool that keeps it.
    public static let shutdown = Self(rawValue: "shutdown")
}
