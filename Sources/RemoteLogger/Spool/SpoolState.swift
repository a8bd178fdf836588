/// What a spool holds, and for whom: everything that changes together, under one lock, none of it by waiting for a disk.
///
/// A record is held for every destination whose level it reaches. It leaves when each of them has acknowledged it, or when it is
/// lost, which is counted for each that hadn't.
struct SpoolState: Sendable {
    /// What isn't on disk yet; pinned are those that a destination has read.
    var memory = RecordBuffer()
    /// What of it is being written.
    var staged = StagedRecords()
    /// The files, oldest first; all their records are older than those in memory.
    var segments: [Segment] = []
    /// The bytes of files that are left alone.
    var otherBytes = 0
    /// The directory in use; `nil` while there is none.
    var directory: String?
    /// When the disk is tried again; `nil` while it works.
    var retryAt: UInt64?
    /// The segment that can't be read, and since when.
    var unreadable: (name: SegmentName, since: UInt64)?
    /// Work is on its way to the writing queue already.
    var isScheduled = false
    var isClosed = false
    /// The place of the last record.
    var last: RecordPosition = 0
    /// The place of the last record that an earlier run has left.
    var foundThrough: RecordPosition = 0
    var destinations: [String: DestinationState] = [:]
    /// Whether some destination has a filter.
    var hasFilters = false
    private var recent = RecentRecords()

    // MARK: Records that come and go

    mutating func append(
        _ record: LogRecord, size: Int, now: UInt64, for destination: String, limits: BufferLimits, _ news: inout [SpoolNews]
    ) -> AppendOutcome {
        var outcome = AppendOutcome(position: last)
        let claim = destinations.count > 1 ? recent.claim(record.id, by: destination) : nil
        if let claim, let position = claim.position {
            outcome.position = position
            outcome.isExcluded = claim.excluded.contains(destination)
            guard !outcome.isExcluded else { return outcome }
            _ = destinations.change(destination) { state in
                state.found -= 1
                state.tell(&outcome)
            }
            return outcome
        }
        // Each filter is asked once: it may draw lots, or count.
        let excluded = claim?.excluded ?? exclusions(of: record)
        // The others bring it themselves.
        guard !excluded.contains(destination) else {
            if claim == nil, destinations.count > 1 { recent.add(record.id, at: nil, by: destination, excluded: excluded) }
            outcome.isExcluded = true
            return outcome
        }
        last += 1
        outcome.position = last
        if claim != nil {
            recent.place(record.id, at: last)
        } else if destinations.count > 1 {
            recent.add(record.id, at: last, by: destination, excluded: excluded)
        }
        let item = RecordBuffer.Item(position: last, record: record, size: size, since: now, excluded: excluded)
        let losses = memory.append(item, limits: limits)
        destinations.changeEach { [last] name, state in
            if excluded.isEmpty || !excluded.contains(name) {
                state.take(record.level, at: last, size: size, now: now, isFound: name != destination)
            }
            losses.forEach { loss in
                guard loss.item.excluded.isEmpty || !loss.item.excluded.contains(name) else { return }
                state.lose(loss.item.position, loss.item.record.level, loss.reason)
            }
            if name == destination { state.tell(&outcome) } else { state.takeNews { news.append(SpoolNews(destination: name, news: $0)) } }
        }
        losses.forEach { loss in
            staged.noteLoss(at: loss.item.position)
            if loss.item.position == last { outcome.isLost = true }
        }
        return outcome
    }

    /// Counts a record that is lost, for all who haven't read it: who has will deliver it, or say what became of it.
    ///
    /// - Parameter isExcluded: whether a destination's filter keeps it out.
    mutating func lose(_ position: RecordPosition, _ level: LogLevel, _ reason: DropReason, isExcluded: (String) -> Bool) {
        destinations.changeEach { name, destination in
            if !isExcluded(name) { destination.lose(position, level, reason) }
        }
    }

    mutating func lose(_ item: RecordBuffer.Item, because reason: DropReason) {
        lose(item.position, item.record.level, reason) { item.excluded.contains($0) }
    }

    mutating func acknowledge(through position: RecordPosition, by destination: String) {
        destinations[destination]?.acknowledge(through: position)
        releaseMemory()
    }

    mutating func releaseMemory() {
        guard let first = memory.pinned.first, let acknowledged = acknowledgedByAll, first.position <= acknowledged else { return }
        memory.removePinned(through: acknowledged)
    }

    /// The bytes of all files.
    var diskBytes: Int {
        guard directory != nil else { return 0 }
        return segments.reduce(otherBytes) { $0 + $1.fileBytes } + destinations.values.count { $0.hasFile } * DestinationCursor.size
    }

    /// The place up to which nobody needs anything any more; `nil` without destinations.
    var acknowledgedByAll: RecordPosition? { destinations.values.map(\.acknowledged).min() }

    /// Destinations for which nothing is held are through with everything.
    mutating func advanceIdle() {
        destinations.changeEach { [last] _, destination in
            guard destination.held == 0 else { return }
            destination.acknowledged = last
            destination.read = last
        }
    }

    /// The records of a level in a segment, which can go to make room.
    struct Victim: Sendable, Hashable {
        let name: SegmentName
        let level: LogLevel
    }

    /// The lowest level on disk, and the oldest segment that has records of it.
    func lowest(except tried: Set<Victim>) -> Victim? {
        for level in LogLevel.allCases {
            let victims = segments.lazy.filter { $0.counts[Int(level.rawValue)] > 0 }.map { Victim(name: $0.name, level: level) }
            if let victim = victims.first(where: { !tried.contains($0) }) { return victim }
        }
        return nil
    }

    /// The lowest level of records that can go to make room; `nil` when each is on its way to a destination.
    func lowestLevel(of items: ArraySlice<RecordBuffer.Item>) -> LogLevel? {
        items.reduce(nil) { isPinned($1.position) ? $0 : min($0 ?? .critical, $1.record.level) }
    }

    /// Whether a record is on its way to a destination.
    func isPinned(_ position: RecordPosition) -> Bool {
        destinations.values.contains { position > $0.acknowledged && position <= $0.read }
    }
}
