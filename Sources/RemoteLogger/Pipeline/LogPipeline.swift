import WebServiceClient

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

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

extension LogPipeline {
    /// The shippers among the sinks, behind filters too, each once, by their names: ``LogHealth/receivers`` has the same keys.
    ///
    /// Without a spool several may have one name, `default` where none is set. The first one has it for its key; the next ones have it with a
    /// number behind, in the order of the sinks, `default 2`, `default 3`, where none is named like that. Who goes by the key is better off with names
    /// (``ShippingSettings/destination``).
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

/// Somewhere that records go: a receiver, the console, an array in a test.
///
/// Records arrive one at a time in the order of their sequence numbers, on the thread that logs. A conforming type therefore
/// * returns from ``write(_:)`` at once, without waiting for disk, network or another thread;
/// * doesn't log in ``write(_:)``: what it logs there is refused and counted (see ``LogPipeline/suppressed``), as it would feed itself;
/// * counts what it can't keep.
public protocol LogSink: Sendable {
    /// Records below this level aren't given to the sink. It doesn't change.
    var minimumLevel: LogLevel { get }

    /// Takes a record.
    func write(_ record: LogRecord)

    /// Waits until what was written before has arrived, or the time is over.
    ///
    /// - Returns: whether all of it arrived.
    func flush(within limit: Duration) async -> Bool

    /// Does what ``flush(within:)`` does, then ends. What is written later is dropped, and counted.
    ///
    /// - Returns: whether all of it arrived.
    func shutdown(within limit: Duration) async -> Bool
}

/// Tells the logger's own work from the program's, so that it never logs itself.
///
/// There are two marks, since one alone is lost when work changes threads: the task that ships carries ``isShipping``, which its
/// child tasks inherit; and the requests that it sends carry ``identity``, which ``CallLogger`` leaves alone on any thread.
enum OwnWork {
    /// Whether this task ships records, or a thread formats and prints them.
    @TaskLocal static var isShipping = false

    /// The call that the logger's own requests belong to.
    static let identity = CallIdentity(client: "RemoteLogger", key: "ship", route: "")
}

extension Diagnostics {
    /// Says something of the logger's own work, without a secret.
    func reportOwnWork(_ level: Event.Level, _ message: String) {
        OwnWork.$isShipping.withValue(true) {
            report(Event(level, message, call: OwnWork.identity))
        }
    }
}

/// Marks the current thread while a record is masked and sinks are being written to, to tell when one of them logs.
struct SinkMark {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Any address will do; these are never read through.
    private static var set: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: 1) }
    private static var finding: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: 2) }

    /// Marks the thread; `nil` when it is marked already.
    init?() {
        guard pthread_getspecific(Self.key) == nil else { return nil }
        pthread_setspecific(Self.key, Self.set)
    }

    /// Looks for secrets by a rule of the program's. One that logs makes no record by that, and one that makes texts be masked isn't asked for
    /// those: it would ask itself without end.
    static func find<Found>(_ body: () -> [Found]) -> [Found] {
        let before = pthread_getspecific(key).map { UnsafeRawPointer($0) }
        guard before != finding else { return [] }
        pthread_setspecific(key, finding)
        defer { pthread_setspecific(key, before) }
        return body()
    }

    func remove() {
        pthread_setspecific(Self.key, nil)
    }
}
