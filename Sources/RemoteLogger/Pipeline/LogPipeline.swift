import WebServiceClient

/// What stands between loggers and sinks: it numbers the records of a session, stamps their time, and hands each to every sink.
///
/// All loggers that share a pipeline share its order: a sink sees the sequence numbers rise. The records of one session are those of
/// one pipeline.
public final class LogPipeline: Sendable {
    /// Where the records go.
    public let sinks: [any LogSink]
    /// What is masked in the records.
    public let redaction: LogRedaction

    /// How many of the records are kept.
    public let sampling: LogSampling

    let clock: any LogClock
    private let isSampling: Bool
    private let choiceSeed: UInt64
    private let choices = Locked((made: UInt64(0), leftOut: UInt64(0)))
    private let shutDown = Locked(false)
    private let ids: LogRecordIDSource
    private let sequence = Locked<UInt64>(0)
    private let refusals = Locked<UInt64>(0)
    private let cuts = Locked<UInt64>(0)

    /// A pipeline to sinks.
    ///
    /// - Parameter clock: stamps the records; tests give their own.
    public init(
        sinks: [any LogSink], redaction: LogRedaction = .standard, sampling: LogSampling = .none, clock: any LogClock = SystemLogClock()
    ) {
        self.sinks = sinks
        self.redaction = redaction
        self.sampling = sampling
        isSampling = !sampling.keepsEverything
        self.clock = clock
        var generator = SystemRandomNumberGenerator()
        ids = LogRecordIDSource(using: &generator)
        choiceSeed = generator.next()
    }

    /// How many records were made so far.
    public var emitted: UInt64 { sequence.withLock { $0 } }

    /// How many calls were refused since the logger's own machinery made them: while it ships records, in a sink's `write`, or in what it calls of
    /// yours to mask, format or print a record. They made no record, or each failed request would cause the next one.
    public var suppressed: UInt64 { refusals.withLock { $0 } }

    /// How many calls made no record since they were sampled out.
    public var sampledOut: UInt64 { choices.withLock { $0.leftOut } }

    /// How many names were dropped from the metadata of records that had more than ``LogMetadata/maximumNames``.
    public var droppedNames: UInt64 { cuts.withLock { $0 } }

    /// The metadata within its bound; what is dropped is counted.
    func bounded(_ metadata: LogMetadata) -> LogMetadata {
        var metadata = metadata
        let dropped = metadata.trim()
        if dropped > 0 { cuts.withLock { $0 += UInt64(dropped) } }
        return metadata
    }

    /// Whether it was shut down.
    var isShutDown: Bool { shutDown.withLock { $0 } }

    /// Whether a record is kept; if not, that is counted.
    func keeps(_ level: LogLevel, _ trace: TraceContext?) -> Bool {
        guard isSampling, sampling.rate(of: level) < 1 else { return true }
        return choices.withLock { choices in
            choices.made &+= 1
            let keeps = sampling.keeps(level, trace: trace, number: choices.made ^ choiceSeed)
            if !keeps { choices.leftOut += 1 }
            return keeps
        }
    }

    /// Waits until every sink has delivered what was logged before, or the time is over.
    ///
    /// - Returns: whether every sink says that everything was delivered.
    @discardableResult public func flush(within limit: Duration) async -> Bool {
        await all { await $0.flush(within: limit) }
    }

    /// Delivers what can be delivered within the time, then closes every sink.
    ///
    /// - Returns: whether every sink says that everything was delivered.
    @discardableResult public func shutdown(within limit: Duration) async -> Bool {
        defer {
            shutDown.withLock { $0 = true }
            ExitHook.remove(self)
        }
        return await all { await $0.shutdown(within: limit) }
    }

    private func all(_ body: @escaping @Sendable (any LogSink) async -> Bool) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for sink in sinks { group.addTask { await body(sink) } }
            var everything = true
            for await delivered in group where !delivered { everything = false }
            return everything
        }
    }

    /// Begins a record, before anything of it is masked: what masks, too, may log.
    ///
    /// - Returns: what the thread is marked by until the record is with the sinks; `nil` when the logger's own machinery logs, which is counted.
    func begin() -> SinkMark? {
        if !OwnWork.isShipping, let mark = SinkMark() { return mark }
        refusals.withLock { $0 += 1 }
        return nil
    }

    /// Makes a record and hands it to the sinks. Number, time and hand-over are one step under the lock: that is what keeps the order.
    func accept(
        level: LogLevel, label: String, message: String, metadata: LogMetadata, error: String?, trace: TraceContext?,
        source: LogSource?
    ) {
        sequence.withLock { sequence in
            sequence += 1
            let record = LogRecord(
                id: ids.id(of: sequence), sequence: sequence, time: clock.time, uptime: clock.uptime, level: level, label: label,
                message: message, metadata: metadata, error: error, trace: trace, source: source)
            for sink in sinks where level >= sink.minimumLevel { sink.write(record) }
        }
    }
}
