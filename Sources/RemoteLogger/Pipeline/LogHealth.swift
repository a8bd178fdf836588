/// How a pipeline is: what it made, and what became of it at each receiver.
public struct LogHealth: Sendable, Hashable {
    /// How many records were made.
    public var emitted: UInt64 = 0
    /// How many calls made no record since the logger's own machinery made them.
    public var suppressed: UInt64 = 0
    /// How many calls made no record since they were sampled out.
    public var sampledOut: UInt64 = 0
    /// How many lines console and files have left out.
    public var leftOut: UInt64 = 0
    /// How many names were dropped from metadata that had more than ``LogMetadata/maximumNames``.
    public var droppedNames: UInt64 = 0
    /// The accounts of the shippers, by the keys of ``LogPipeline/shippers``.
    public var receivers: [String: LogStatistics] = [:]

    /// Nothing happened yet.
    public init() {}

    /// Whether everything is delivered or on its way: no receiver is failing, nothing was lost.
    public var isGood: Bool {
        leftOut == 0 && droppedNames == 0 && receivers.values.allSatisfy { $0.nextAttempt == nil && $0.droppedInAll == 0 }
    }
}

/// What a sink adds to the health of its pipeline.
protocol HealthReporting {
    func report(to health: inout LogHealth)

    /// The shipper that the sink is, or has behind it; it reports by itself.
    var shipper: LogShipper? { get }
}

extension HealthReporting {
    func report(to health: inout LogHealth) {}
    var shipper: LogShipper? { nil }
}

extension LogPipeline {
    /// How the pipeline is.
    public var health: LogHealth {
        var health = LogHealth()
        health.emitted = emitted
        health.suppressed = suppressed
        health.sampledOut = sampledOut
        health.droppedNames = droppedNames
        for case let sink as any HealthReporting in sinks { sink.report(to: &health) }
        health.receivers = shippers.mapValues(\.statistics)
        return health
    }

    /// How the pipeline is, now and whenever it has changed, looked at once in an interval. It ends when the pipeline is shut down, with how it
    /// ended. Who is slow gets the latest.
    public func healthUpdates(every interval: Duration = .seconds(10)) -> AsyncStream<LogHealth> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task { [self] in
                var last: LogHealth?
                while !Task.isCancelled {
                    let isEnd = isShutDown
                    let health = health
                    if health != last { continuation.yield(health) }
                    last = health
                    guard !isEnd, (try? await clock.sleep(for: max(.milliseconds(1), interval))) != nil else { break }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
