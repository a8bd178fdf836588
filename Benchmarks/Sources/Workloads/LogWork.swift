public import RemoteLogger

/// A sink that takes records and forgets them.
public struct NoSink: LogSink {
    /// Takes everything.
    public let minimumLevel = LogLevel.trace
    /// Forgets the record.
    public func write(_ record: LogRecord) {}
    /// There is nothing to wait for.
    public func flush(within limit: Duration) async -> Bool { true }
    /// There is nothing to end.
    public func shutdown(within limit: Duration) async -> Bool { true }
}

/// One log call, taken or filtered out by its level.
public struct LogWork: Sendable {
    private let logger = RemoteLogger(label: "shop.orders", sinks: [NoSink()], minimumLevel: .info)

    /// A logger at the level `info`.
    public init() {}

    /// A call that makes a record of a text and two values.
    public func taken(_ number: Int) {
        logger.info("Order placed", ["order": number, "total": 12.5])
    }

    /// The same below the level.
    public func filtered(_ number: Int) {
        logger.debug("Order placed", ["order": number, "total": 12.5])
    }
}
