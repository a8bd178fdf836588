/// The state of a pipeline: the records that it made, and their outcome at each receiver.
public struct LogHealth: Sendable, Hashable {
    /// The number of records that were made.
    public var emitted: UInt64 = 0
    /// The number of calls that made no record because they came from the logger's own code.
    public var suppressed: UInt64 = 0
    /// The number of calls that made no record because they were sampled out.
    public var sampledOut: UInt64 = 0
    /// The number of lines that console and files omitted.
    public var leftOut: UInt64 = 0
    /// The number of names that were dropped from metadata with more than ``LogMetadata/maximumNames``.
    public var droppedNames: UInt64 = 0
    /// The statistics of the shippers, by the keys of ``LogPipeline/shippers``.
    public var receivers: [String: LogStatistics] = [:]

    /// Creates a state without events.
    public init() {}

    /// Whether no receiver is failing and nothing was lost.
    public var isGood: Bool {
        leftOut == 0 && droppedNames == 0 && receivers.values.allSatisfy { $0.nextAttempt == nil && $0.droppedInAll == 0 }
    }
}

/// A sink that contributes to the health of its pipeline.
protocol HealthReporting {
    func report(to health: inout LogHealth)

    /// The shipper that this sink is or wraps; it reports by itself.
    var shipper: LogShipper? { get }
}

extension HealthReporting {
    func report(to health: inout LogHealth) {}
    var shipper: LogShipper? { nil }
}

extension LogPipeline {
    /// The current state of the pipeline.
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

    /// The state of the pipeline, now and after each change, checked once per interval. The stream ends with the final state after the
    /// pipeline is shut down. A slow consumer gets only the latest state.
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

extension LogPipeline {
    /// The shippers among the sinks, including filtered ones, each once, by name. ``LogHealth/receivers`` has the same keys.
    ///
    /// Without a spool several shippers may share a name; `default` is the default. The first one has the name as its key; the next ones
    /// get a number that makes the key unique, in the order of the sinks: `default 2`, `default 3`. Set names
    /// (``ShippingSettings/destination``) for stable keys.
    public var shippers: [String: LogShipper] {
        var all: [LogShipper] = []
        for case let sink as any HealthReporting in sinks {
            if let shipper = sink.shipper, !all.contains(where: { $0 === shipper }) { all.append(shipper) }
        }
        let names = Set(all.map(\.name))
        var shippers: [String: LogShipper] = [:]
        for shipper in all {
            var (key, number) = (shipper.name, 1)
            while shippers[key] != nil || number > 1 && names.contains(key) {
                number += 1
                key = "\(shipper.name) \(number)"
            }
            shippers[key] = shipper
        }
        return shippers
    }
}
