/// The limits of a batch, which is sent as soon as one of them is reached.
public struct BatchLimits: Sendable, Hashable {
    /// The maximum number of records in a request. Default 1,000.
    public var records: Int
    /// The maximum memory footprint of a request's records, in bytes. Default 1 MiB.
    public var bytes: Int
    /// The maximum time that a record waits for others. Default 1 second.
    public var interval: Duration

    /// Creates limits; numbers below 1 count as 1.
    public init(records: Int = 1_000, bytes: Int = 1 << 20, interval: Duration = .seconds(1)) {
        self.records = max(1, records)
        self.bytes = max(1, bytes)
        self.interval = interval
    }
}

/// The memory limits for records while a receiver is slow or unreachable.
public struct BufferLimits: Sendable, Hashable {
    /// The maximum number of records. Default 50,000.
    public var records: Int
    /// The approximate maximum of their memory in bytes (``LogRecord/footprint``). Default 4 MiB.
    public var bytes: Int

    /// Creates limits; numbers below 1 count as 1.
    public init(records: Int = 50_000, bytes: Int = 4 << 20) {
        self.records = max(1, records)
        self.bytes = max(1, bytes)
    }
}
