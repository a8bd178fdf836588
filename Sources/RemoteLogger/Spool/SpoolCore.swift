import Dispatch
import WebServiceClient

/// The parts of a spool: the state that callers change, the queue that writes, the one that reads, and the task that knows the time.
///
/// Locks are taken in the order `writer`, `files in exchange`, `cursors`, `state`; only the last one is ever taken by who logs, and
/// nobody holds it while a disk works.
final class SpoolCore: Sendable {
    let root: String
    let settings: SpoolSettings
    let files: SpoolFileSystem
    /// The directory of a process that has ended, which nothing is added to; `nil` for the process's own.
    let leftover: SpoolDirectory?
    let state = Locked(SpoolState())
    let writer = Locked(SpoolWriter())
    /// Held while a file is read, while another one takes its place, and while one is deleted.
    let exchange = Locked(())
    /// Held while a cursor's file is written.
    let cursors = Locked(())
    /// Whom to tell what has come without an `append` of theirs.
    let news = Locked<[String: @Sendable (StoreNews) -> Void]>([:])

    private let writing = DispatchQueue(label: "RemoteLogger.Spool.writing", qos: .utility)
    private let reading = DispatchQueue(label: "RemoteLogger.Spool.reading", qos: .utility)
    private let alarm = Alarm()
    private let task = Locked<Task<Void, Never>?>(nil)

    init(root: String, settings: SpoolSettings, files: SpoolFileSystem, leftover: SpoolDirectory? = nil) {
        self.leftover = leftover
        self.root = root
        self.settings = settings
        self.files = files
    }

    func start() {
        writer.withLock { writer in openDirectory(&writer) }
        task.withLock { task in
            task = Task.detached(priority: .utility) { [self] in
                while !Task.isCancelled, !state.withLock({ $0.isClosed }) {
                    let pause = pause
                    if pause == .zero { await run() } else { await alarm.wait(for: pause, clock: settings.clock) }
                }
            }
        }
    }

    /// How long nothing is to be written; `nil` until something comes.
    private var pause: Duration? {
        let now = settings.clock.uptime
        let interval = settings.syncInterval.wholeNanoseconds
        return state.withLock { state in
            guard state.memory.count > 0 || state.retryAt != nil else { return nil }
            let due = state.retryAt ?? (state.memory.oldest?.since ?? now) &+ interval
            return due > now ? .nanoseconds(Int64(clamping: due - now)) : .zero
        }
    }

    // MARK: The callers' side

    func append(_ record: LogRecord, now: UInt64, for destination: String) -> AppendOutcome {
        let size = record.footprint
        let urgent = record.level >= .error
        var (isFirst, isDue) = (false, false)
        // Takes no memory as long as it is empty.
        var news: [SpoolNews] = []
        let outcome = state.withLock { state in
            isFirst = state.memory.count == 0
            let outcome = state.append(record, size: size, now: now, for: destination, limits: settings.memory, &news)
            isDue = (urgent || state.memory.bytes >= settings.syncBytes) && state.retryAt == nil && !state.isScheduled
            if isDue { state.isScheduled = true }
            return outcome
        }
        if isDue { writing.async { [self] in work() } } else if isFirst { alarm.ring() }
        if !news.isEmpty { tell(news) }
        return outcome
    }

    func acknowledge(through position: RecordPosition, by destination: String) {
        let canFree = state.withLock { state in
            state.acknowledge(through: position, by: destination)
            // The process's own last segment is still written to.
            guard !state.isClosed, !state.isScheduled, state.segments.count > 1 || leftover != nil || state.retryAt != nil else {
                return false
            }
            guard let first = state.segments.first, let all = state.acknowledgedByAll, first.last <= all else { return false }
            state.isScheduled = true
            return true
        }
        // Before the next read, since the queue keeps the order: at most one batch is sent twice after a crash.
        reading.async { [self] in writeCursor(of: destination, sync: false) }
        if canFree { writing.async { [self] in work() } }
    }

    func load(of destination: String) -> StoreLoad {
        state.withLock { $0.load(of: destination) }
    }

    func census(of destination: String) -> StoreLoad {
        state.withLock { $0.census(of: destination) }
    }

    func takeLosses(of destination: String) -> ShortList<RecordLoss> {
        state.withLock { $0.destinations.change(destination) { $0.takeLosses() } ?? ShortList() }
    }

    func isAcknowledged(through position: RecordPosition, by destination: String) -> Bool {
        state.withLock { ($0.destinations[destination]?.acknowledged ?? 0) >= position }
    }

    func read(for destination: String, after cursor: RecordPosition, limits: BatchLimits) async -> [StoredRecord] {
        await withCheckedContinuation { continuation in
            reading.async { [self] in
                continuation.resume(returning: collect(for: destination, after: cursor, limits: limits))
            }
        }
    }

    @discardableResult func sync() async -> Bool {
        let target = state.withLock { $0.last }
        await run()
        return state.withLock { state in (state.memory.oldest?.position ?? .max) > target }
    }

    /// Writes a destination's cursor, and waits until it is synced.
    func syncCursor(of destination: String) async {
        await withCheckedContinuation { continuation in
            reading.async { [self] in
                writeCursor(of: destination, sync: true)
                continuation.resume()
            }
        }
    }

    /// Creates cursors, and deletes what nobody needs: in a leftover all of it may have been delivered just before its process ended.
    func tidyUp() {
        writing.async { [self] in work() }
    }

    private func run() async {
        await withCheckedContinuation { continuation in
            writing.async { [self] in
                work()
                continuation.resume()
            }
        }
    }

    /// Ends a destination's use.
    ///
    /// - Returns: how many records are lost by that: none, unless the disk fails.
    func release(_ destination: String) -> Int {
        news.withLock { $0[destination] = nil }
        let lost = state.withLock { state in
            state.destinations[destination]?.isOpen = false
            guard state.directory == nil || state.retryAt != nil else { return 0 }
            return state.abandonMemory(of: destination)
        }
        writing.async { [self] in work() }
        return lost
    }

    /// Writes what there is, and ends.
    func close() {
        state.withLock { $0.isClosed = true }
        task.withLock { $0 }?.cancel()
        alarm.ring()
        writing.async { [self] in
            work()
            writer.withLock { closeDirectory(&$0) }
        }
    }

    var statistics: SpoolStatistics {
        state.withLock { state in
            SpoolStatistics(
                mode: state.directory == nil || state.retryAt != nil ? .memory : .disk, diskBytes: state.diskBytes,
                segments: state.segments.count, memoryRecords: state.memory.count, memoryBytes: state.memory.bytes,
                directory: state.directory)
        }
    }

    func report(_ level: Diagnostics.Event.Level, _ message: String) {
        settings.diagnostics.reportOwnWork(level, message)
    }
}
