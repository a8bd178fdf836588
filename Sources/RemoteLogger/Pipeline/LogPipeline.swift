import HTTPTransport

/// The connection between loggers and sinks: it numbers the records of a session, stamps their time, and passes each to every sink.
///
/// All loggers that share a pipeline share its order: a sink sees the sequence numbers rise. One pipeline is one session.
public final class LogPipeline: Sendable {
    /// The sinks that receive the records.
    public let sinks: [any LogSink]
    /// The redaction of the records.
    public let redaction: LogRedaction

    /// The sampling of the records.
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

    /// Creates a pipeline with sinks.
    ///
    /// - Parameter clock: Provides the times of the records; tests can replace it.
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

    /// The number of records made so far.
    public var emitted: UInt64 { sequence.withLock { $0 } }

    /// The number of calls that were suppressed because they came from the logger's own code: while it ships records, in a sink's `write`,
    /// or in your closures that mask, format or print a record. They make no record, since otherwise each failed request would cause the
    /// next one.
    public var suppressed: UInt64 { refusals.withLock { $0 } }

    /// The number of calls that made no record because they were sampled out.
    public var sampledOut: UInt64 { choices.withLock { $0.leftOut } }

    /// The number of names that were dropped from the metadata of records with more than ``LogMetadata/maximumNames``.
    public var droppedNames: UInt64 { cuts.withLock { $0 } }

    /// The metadata within its bound; dropped names are counted.
    func bounded(_ metadata: LogMetadata) -> LogMetadata {
        var metadata = metadata
        let dropped = metadata.trim()
        if dropped > 0 { cuts.withLock { $0 += UInt64(dropped) } }
        return metadata
    }

    /// Whether the pipeline was shut down.
    var isShutDown: Bool { shutDown.withLock { $0 } }

    /// Whether only a part of the records of a level is kept.
    func samples(_ level: LogLevel) -> Bool { isSampling && sampling.rate(of: level) < 1 }

    /// Whether a record is kept; dropped ones are counted.
    func keeps(_ level: LogLevel, _ trace: TraceContext?) -> Bool {
        guard samples(level) else { return true }
        return choices.withLock { choices in
            choices.made &+= 1
            let keeps = sampling.keeps(level, trace: trace, number: choices.made ^ choiceSeed)
            if !keeps { choices.leftOut += 1 }
            return keeps
        }
    }

    /// Waits until every sink has delivered all earlier records, or the time is over.
    ///
    /// - Returns: Whether every sink delivered everything.
    @discardableResult public func flush(within limit: Duration) async -> Bool {
        await all { await $0.flush(within: limit) }
    }

    /// Delivers as much as possible within the time, then closes every sink.
    ///
    /// - Returns: Whether every sink delivered everything.
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

    /// Begins a record before any of it is masked, since masking rules may log, too.
    ///
    /// - Returns: A mark on the thread until the record is with the sinks; `nil` if the logger's own code logs, which is counted.
    func begin() -> SinkMark? {
        if !OwnWork.isShipping, let mark = SinkMark() { return mark }
        refusals.withLock { $0 += 1 }
        return nil
    }

    /// Makes a record and passes it to the sinks. Numbering, time and handover share the lock to keep the order.
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

/// A destination of records: a receiver, the console, an array in a test.
///
/// Records arrive one at a time in the order of their sequence numbers, on the logging thread. A conforming type therefore
/// - returns from ``write(_:)`` at once, without waiting for disk, network or another thread;
/// - doesn't log in ``write(_:)``: such calls are suppressed and counted (see ``LogPipeline/suppressed``), since they would recurse;
/// - counts the records that it can't keep.
public protocol LogSink: Sendable {
    /// Records below this level aren't passed to the sink. It doesn't change.
    var minimumLevel: LogLevel { get }

    /// Accepts a record.
    func write(_ record: LogRecord)

    /// Waits until all earlier records are delivered, or the time is over.
    ///
    /// - Returns: Whether all of them were delivered.
    func flush(within limit: Duration) async -> Bool

    /// Flushes like ``flush(within:)``, then closes the sink. Later records are dropped and counted.
    ///
    /// - Returns: Whether all earlier records were delivered.
    func shutdown(within limit: Duration) async -> Bool
}

/// Identifies the logger's own work, so that it never logs itself.
///
/// There are two marks, since a single one is lost when work changes threads: the shipping task has ``isShipping``, which its child tasks
/// inherit; and its requests have ``identity``, which ``CallLogger`` ignores on any thread.
enum OwnWork {
    /// Whether this task ships records, or a thread formats and prints them.
    @TaskLocal static var isShipping = false

    /// The call identity of the logger's own requests.
    static let identity = CallIdentity(client: "RemoteLogger", key: "ship", route: "")
}

extension Diagnostics {
    /// Reports an event of the logger's own work. The message must not contain secrets.
    func reportOwnWork(_ level: Event.Level, _ message: String) {
        OwnWork.$isShipping.withValue(true) {
            report(Event(level, message, call: OwnWork.identity))
        }
    }
}
