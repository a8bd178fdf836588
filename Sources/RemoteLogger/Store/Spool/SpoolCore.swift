import Dispatch
import HTTPTransport

/// The parts of a spool: the shared state, the writing queue, the reading queue, and the timer task.
///
/// The writing queue's work is in `SpoolWriter.swift` and `SpoolThinning.swift`, the filters of destinations in `SpoolSelection.swift`.
///
/// Lock order: `writer`, `exchange`, `cursors`, `news`, `state`. Logging threads never take a lock that is held during disk I/O.
final class SpoolCore: Sendable {
    let root: String
    let settings: SpoolSettings
    let files: SpoolFileSystem
    /// The directory of an ended process, which is only drained; `nil` for this process's own spool.
    let leftover: SpoolDirectory?
    let state = Locked(SpoolState())
    let writer = Locked(SpoolWriter())
    /// Held while a file is read, replaced or deleted.
    let exchange = Locked(())
    /// Held while a cursor file is written.
    let cursors = Locked(())
    /// The callback of each destination, for records that arrive, or are lost, without an append by that destination.
    let news = Locked<[String: @Sendable (StoreNews) -> Void]>([:])

    private let writing = DispatchQueue(label: "RemoteLogger.Spool.writing", qos: .utility)
    private let reading = DispatchQueue(label: "RemoteLogger.Spool.reading", qos: .utility)
    private let signal = Signal()
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
                    let due = due
                    if let due, due <= settings.clock.uptime { await run() } else { await signal.wait(until: due, clock: settings.clock) }
                }
            }
        }
    }

    /// The time of the next write, on the clock; `nil` while nothing is waiting.
    private var due: UInt64? {
        let now = settings.clock.uptime
        let interval = settings.syncInterval.wholeNanoseconds
        return state.withLock { state in
            guard state.memory.count > 0 || state.retryAt != nil else { return nil }
            return state.retryAt ?? (state.memory.oldest?.since ?? now) &+ interval
        }
    }

    // MARK: Calls of destinations

    func append(_ record: LogRecord, now: UInt64, for destination: String) -> AppendOutcome {
        let size = record.footprint
        let urgent = record.level >= .error
        var (isFirst, isDue) = (false, false)
        // An empty array doesn't allocate.
        var news: [SpoolNews] = []
        let outcome = state.withLock { state in
            isFirst = state.memory.count == 0
            let outcome = state.append(record, size: size, now: now, for: destination, limits: settings.memory, &news)
            isDue = (urgent || state.memory.bytes >= settings.syncBytes) && state.retryAt == nil && !state.isScheduled
            if isDue { state.isScheduled = true }
            return outcome
        }
        if isDue { writing.async { [self] in work() } } else if isFirst { signal.send() }
        if !news.isEmpty { notify(news) }
        return outcome
    }

    func acknowledge(through position: RecordPosition, by destination: String) {
        let canFree = state.withLock { state in
            state.acknowledge(through: position, by: destination)
            // The last segment of this process is still being written.
            guard !state.isClosed, !state.isScheduled, state.segments.count > 1 || leftover != nil || state.retryAt != nil else {
                return false
            }
            guard let first = state.segments.first, let all = state.acknowledgedByAll, first.last <= all else { return false }
            state.isScheduled = true
            return true
        }
        // The queue is serial, so the cursor is written before the next read: after a crash, at most one batch is sent again.
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

    /// Writes a destination's cursor and waits until it is synced.
    func syncCursor(of destination: String) async {
        await withCheckedContinuation { continuation in
            reading.async { [self] in
                writeCursor(of: destination, sync: true)
                continuation.resume()
            }
        }
    }

    /// Creates missing cursors and deletes acknowledged segments. A leftover may contain only acknowledged segments.
    func cleanUp() {
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

    /// Closes a destination.
    ///
    /// - Returns: The number of records lost; 0 unless the disk fails.
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

    /// Writes the remaining records and closes the spool.
    func close() {
        state.withLock { $0.isClosed = true }
        task.withLock { $0 }?.cancel()
        signal.send()
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

extension SpoolCore {
    /// Makes room on the disk: removes acknowledged segments first, then records of the lowest level, oldest first, one segment at a time.
    /// Records that are about to be written count as the newest.
    ///
    /// - Parameter items: The records to be written. Records with a lower level than all records on disk are dropped.
    /// - Returns: Whether there is room. If not, the state has changed, and the caller must check again.
    /// - Throws: `SpoolFault.full` if every record is in flight; another `SpoolFault` if the disk fails.
    func makeRoom(
        for need: Int, _ items: inout ArraySlice<RecordBuffer.Item>, _ writer: inout SpoolWriter
    ) throws(SpoolFault) -> Bool {
        var tried: Set<SpoolState.Victim> = []
        while true {
            let missing = state.withLock { $0.diskBytes } + need + settings.reservedBytes - settings.boundedDiskBytes
            guard missing > 0 else { return true }
            let active = writer.active?.name
            if try deleteAcknowledged(&writer) {
                // The caller's segment may be deleted now, and its file closed.
                guard writer.active?.name == active else { return false }
                continue
            }
            let lowest = state.withLock { $0.lowest(except: tried) }
            let newcomer = state.withLock { $0.lowestLevel(of: items) }
            if let newcomer, newcomer < lowest?.level ?? .trace {
                reportFull(&writer)
                drop(newcomer, missing, &items)
                return false
            }
            guard let lowest else { throw SpoolFault.full }
            reportFull(&writer)
            let wasActive = writer.active?.name == lowest.name
            if wasActive { seal(&writer) }
            if try !reclaim(lowest.name, lowest.level, &writer) { tried.insert(lowest) }
            // The caller's segment is sealed now.
            if wasActive { return false }
        }
    }

    private func reportFull(_ writer: inout SpoolWriter) {
        guard !writer.hasReportedFull else { return }
        writer.hasReportedFull = true
        report(
            .warning,
            "The log spool has reached its limit of \(settings.boundedDiskBytes) bytes. It drops the records of the lowest level first, "
                + "oldest first.")
    }

    /// Drops new records of a level, oldest first, until about `missing` bytes are saved.
    private func drop(_ level: LogLevel, _ missing: Int, _ items: inout ArraySlice<RecordBuffer.Item>) {
        var encoder = RecordEncoder()
        var saved = 0
        var kept: [RecordBuffer.Item] = []
        for item in items {
            let isPinned = state.withLock { $0.isPinned(item.position) }
            guard item.record.level == level, saved < missing, !isPinned else {
                kept.append(item)
                continue
            }
            encoder.removeAll()
            encoder.write(item.record)
            saved += encoder.count + SegmentFrame.overhead
            state.withLock { $0.lose(item, .overflow) }
        }
        items = kept[...]
    }

    /// Deletes the segments that every destination has acknowledged, after syncing the cursors.
    ///
    /// - Returns: Whether there were such segments. A segment that a new destination needs is kept.
    @discardableResult func deleteAcknowledged(_ writer: inout SpoolWriter) throws(SpoolFault) -> Bool {
        guard let directory = writer.directory else { return false }
        let active = writer.active?.name
        let (names, destinations) = state.withLock { state in
            state.advanceIdle()
            guard let acknowledged = state.acknowledgedByAll else { return ([SegmentName](), [String]()) }
            // Replacing an active segment pays off only above a certain size.
            let names = state.segments.filter {
                $0.last <= acknowledged && ($0.name != active || $0.length > settings.segmentBytes / 2)
            }
            return (names.map(\.name), Array(state.destinations.keys))
        }
        guard !names.isEmpty else { return false }
        for destination in destinations { try writeCursorFile(of: destination, sync: true) }
        for name in names {
            if name == active { seal(&writer) }
            let result = exchange.withLock { _ in
                Result { () throws(SpoolFault) in
                    // A destination may have registered in the meantime and still need the segment.
                    let isNeeded = state.withLock { state in
                        state.segments.contains { $0.name == name && $0.last > state.acknowledgedByAll ?? 0 }
                    }
                    if isNeeded { return }
                    try files.removeIfThere(directory.path + "/\(name)")
                    state.withLock { state in state.segments.removeAll { $0.name == name } }
                }
            }
            try result.get()
        }
        return true
    }
}

extension SpoolCore {
    /// Opens the directory and loads its content; retries later after a fault.
    func openDirectory(_ writer: inout SpoolWriter) {
        // If a destination has already registered, records of an earlier run aren't loaded. The next run loads them.
        let isLate = state.withLock { $0.last > 0 || !$0.destinations.isEmpty }
        do throws(SpoolFault) {
            // `??` can't rethrow a typed error.
            let directory = if let leftover { leftover } else { try SpoolDirectory.open(below: root, mustBeEmpty: isLate, files: files) }
            let isTaken = state.withLock { state in
                guard isLate || state.last == 0 && state.destinations.isEmpty else { return false }
                state.adopt(directory)
                return true
            }
            // A destination has registered in the meantime.
            guard isTaken else {
                directory.close(files)
                return openDirectory(&writer)
            }
            writer.directory = directory
            writer.epoch = directory.epoch &+ 1
            writer.number = 0
            // Destinations that aren't in use keep their records, too.
            for (name, destination) in state.withLock({ $0.destinations }) where !destination.isOpen { begin(name) }
            for remark in directory.remarks { report(.warning, remark) }
            state.withLock { $0.retryAt = nil }
            if writer.hasReportedFailure { report(.notice, "The log spool's disk works again.") }
            writer.hasReportedFailure = false
            for notify in news.withLock({ Array($0.values) }) { notify(.records) }
        } catch {
            fail(error, &writer)
        }
    }

    func closeDirectory(_ writer: inout SpoolWriter) {
        seal(&writer)
        writer.directory?.close(files)
        writer.directory = nil
        state.withLock { $0.directory = nil }
    }

    // MARK: Cursors

    /// Creates the missing cursor files.
    func createCursors(_ writer: SpoolWriter) throws(SpoolFault) {
        guard let directory = writer.directory else { return }
        for (name, destination) in state.withLock({ $0.destinations }) where !destination.hasFile {
            let cursor = DestinationCursor(writes: 0, position: destination.acknowledged)
            let content = cursor.slot + [UInt8](repeating: 0, count: DestinationCursor.size - cursor.slot.count)
            try files.replace(directory.path + "/" + DestinationCursor.file(of: name), in: directory.path, by: content)
            state.withLock { state in
                state.destinations[name]?.cursor = cursor
                state.destinations[name]?.hasFile = true
            }
        }
    }

    /// Writes a destination's cursor if possible; the next acknowledgement writes it again.
    func writeCursor(of name: String, sync: Bool) {
        do throws(SpoolFault) {
            try writeCursorFile(of: name, sync: sync)
        } catch {
            // An outdated cursor costs only duplicates; no segment is deleted before the cursors are written and synced.
        }
    }

    func writeCursorFile(of name: String, sync: Bool) throws(SpoolFault) {
        let result = cursors.withLock { _ in
            Result { () throws(SpoolFault) in
                let (directory, destination) = state.withLock { ($0.directory, $0.destinations[name]) }
                guard let directory, let destination, destination.hasFile else { return }
                let isNew = destination.acknowledged != destination.cursor.position
                guard isNew || sync else { return }
                let next = DestinationCursor(writes: destination.cursor.writes + 1, position: destination.acknowledged)
                try files.with(directory + "/" + DestinationCursor.file(of: name), .update) { file throws(SpoolFault) in
                    if isNew { try files.writeAll(file, next.offset, next.slot) }
                    if sync { try files.sync(file) }
                }
                if isNew { state.withLock { $0.destinations[name]?.cursor = next } }
            }
        }
        try result.get()
    }
}

extension SpoolState {
    /// Loads the content of a directory.
    mutating func adopt(_ opened: SpoolDirectory) {
        directory = opened.path
        otherBytes = opened.otherBytes
        segments = opened.segments
        foundThrough = opened.segments.last?.last ?? 0
        last = max(last, opened.lastPosition)
        for (name, cursor) in opened.cursors {
            var destination = destinations[name] ?? DestinationState()
            destination.selection.destination = name
            destination.cursor = cursor
            destination.hasFile = true
            destination.acknowledged = max(destination.acknowledged, cursor.position)
            destination.read = max(destination.read, cursor.position)
            destinations[name] = destination
        }
    }
}
