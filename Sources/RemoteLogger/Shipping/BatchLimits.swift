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
