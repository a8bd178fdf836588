public import WebServiceClient

/// The bounds and habits of a ``Spool``. Every setting has a default that suits most programs.
public struct SpoolSettings: Sendable {
    /// The most bytes that the spool's files may have together, to the byte, what it needs to tidy up included. Default 64 MiB; less than
    /// 64 KiB counts as that. A record that takes more than a sixteenth of it, or than 1 MiB, is dropped as `oversize`.
    public var diskBytes = 64 << 20
    /// How much is kept in memory: what is on its way to the disk, and all there is while the disk fails. Default 50,000 records, 4 MiB.
    public var memory = BufferLimits()
    /// How long a record may wait until it is written and synced. Default 200 ms. One of level `error` or `critical` doesn't wait.
    public var syncInterval = Duration.milliseconds(200)
    /// The bytes of waiting records, as they take in memory, from which on nothing waits for the interval. Default 64 KiB.
    public var syncBytes = 64 << 10
    /// How long it is until the disk is tried again after it has failed. Default 500 ms.
    public var retryInterval = Duration.milliseconds(500)
    /// Where the spool says what it has to say: that the disk fails and works again, and what it finds damaged.
    public var diagnostics = Diagnostics()
    /// The clock of the intervals; tests give their own.
    public var clock: any LogClock = SystemLogClock()

    /// The defaults.
    public init() {}

    var boundedDiskBytes: Int { max(64 << 10, diskBytes) }

    /// The most bytes of a segment's file.
    var segmentBytes: Int { min(1 << 20, boundedDiskBytes / 16) }

    /// What is kept free for the copy of a segment, or of a cursor, that takes the other's place.
    var reservedBytes: Int { segmentBytes + SegmentHeader.size + DestinationCursor.size }
}
