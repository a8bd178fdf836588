public import RemoteLogger

/// A sink that discards records.
public struct NoSink: LogSink {
    /// Accepts all levels.
    public let minimumLevel = LogLevel.trace
    /// Discards the record.
    public func write(_ record: LogRecord) {}
    /// Returns immediately, because no record is pending.
    public func flush(within limit: Duration) async -> Bool { true }
    /// Returns immediately, because the sink holds no resources.
    public func shutdown(within limit: Duration) async -> Bool { true }
}

/// A log call that is either accepted or filtered out by its level.
public struct LogWork: Sendable {
    private let logger = RemoteLogger(label: "shop.orders", sinks: [NoSink()], minimumLevel: .info)

    /// A logger at the level `info`.
    public init() {}

    /// Logs a record with a text and two values.
    public func taken(_ number: Int) {
        logger.info("Order placed", ["order": number, "total": 12.5])
    }

    /// Logs the same below the level.
    public func filtered(_ number: Int) {
        logger.debug("Order placed", ["order": number, "total": 12.5])
    }
}
