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
