/// The content of a spool and its destinations: all state that changes together, under one lock that is never held during disk I/O.
///
/// A record is held for every destination whose level it reaches. The record is removed when all of them have acknowledged it, or when it
/// is lost. A loss counts for each destination that hasn't acknowledged the record.
struct SpoolState: Sendable {
    /// The records that aren't on disk yet. Those that a destination has read are pinned.
    var memory = RecordBuffer()
    /// The records of `memory` that are being written.
    var staged = StagedRecords()
    /// The segment files, oldest first; all their records are older than those in memory.
    var segments: [Segment] = []
    /// The bytes of files that are left unchanged.
    var otherBytes = 0
    /// The directory in use; `nil` if there is none.
    var directory: String?
    /// The time of the next disk retry; `nil` while the disk works.
    var retryAt: UInt64?
    /// The unreadable segment, and the time of the first failure.
    var unreadable: (name: SegmentName, since: UInt64)?
    /// Whether work is already enqueued on the writing queue.
    var isScheduled = false
    var isClosed = false
    /// The position of the last record.
    var last: RecordPosition = 0
    /// The position of the last record of an earlier run.
    var foundThrough: RecordPosition = 0
    var destinations: [String: DestinationState] = [:]
    /// Whether any destination has a filter.
    var hasFilters = false
    private var recent = RecentRecords()

    // MARK: Adding and removing records

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
                state.addEvents(to: &outcome)
            }
            return outcome
        }
        // Each filter is called once per record: it may be random or count its calls.
        let excluded = claim?.excluded ?? exclusions(of: record)
        // Other destinations append the record themselves.
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
            if name == destination {
                state.addEvents(to: &outcome)
            } else {
                state.takeNews { news.append(SpoolNews(destination: name, news: $0)) }
            }
        }
        losses.forEach { loss in
            staged.noteLoss(at: loss.item.position)
            if loss.item.position == last { outcome.isLost = true }
        }
        return outcome
    }

    /// Counts a lost record for all destinations that haven't read it; the other destinations deliver the record or report its loss
    /// themselves.
    ///
    /// - Parameter isExcluded: Whether a destination's filter excludes it.
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

    /// The position up to which no destination needs a record; `nil` without destinations.
    var acknowledgedByAll: RecordPosition? { destinations.values.map(\.acknowledged).min() }

    /// Advances the destinations that hold no records to the last position.
    mutating func advanceIdle() {
        destinations.changeEach { [last] _, destination in
            guard destination.held == 0 else { return }
            destination.acknowledged = last
            destination.read = last
        }
    }

    /// The records of one level in one segment, which can be dropped to make room.
    struct Victim: Sendable, Hashable {
        let name: SegmentName
        let level: LogLevel
    }

    /// Returns the lowest level on disk and the oldest segment with records of that level.
    func lowest(except tried: Set<Victim>) -> Victim? {
        for level in LogLevel.allCases {
            let victims = segments.lazy.filter { $0.counts[Int(level.rawValue)] > 0 }.map { Victim(name: $0.name, level: level) }
            if let victim = victims.first(where: { !tried.contains($0) }) { return victim }
        }
        return nil
    }

    /// Returns the lowest level of the records that can be dropped; `nil` if all are in flight.
    func lowestLevel(of items: ArraySlice<RecordBuffer.Item>) -> LogLevel? {
        items.reduce(nil) { isPinned($1.position) ? $0 : min($0 ?? .critical, $1.record.level) }
    }

    /// Returns whether a record is in flight.
    func isPinned(_ position: RecordPosition) -> Bool {
        destinations.values.contains { position > $0.acknowledged && position <= $0.read }
    }
}

extension SpoolState {
    /// Compares the records found in a segment with the expected ones, and counts missing ones as lost for destinations that haven't read
    /// them.
    mutating func recount(_ name: SegmentName, found: [Segment.Found]) {
        guard let index = segments.firstIndex(where: { $0.name == name }) else { return }
        let segment = segments[index]
        var counts = LogLevel.allCases.map { _ in 0 }
        for record in found { counts[Int(record.level.rawValue)] += 1 }
        guard counts != segment.counts else { return }
        for (name, destination) in destinations where destination.read < segment.last {
            let level = destination.minimumLevel
            let excluded = segment.excluded[name]
            var expected = segment.count(for: name, destination)
            if destination.read >= segment.first {
                let behind = segments[(index + 1)...].reduce(memoryCount(for: name, destination)) { $0 + $1.count(for: name, destination) }
                expected = destination.unread - behind
            }
            let there = found.count { record in
                let position = record.frame.position
                return position > destination.read && record.level >= level && !(excluded?.contains(position) ?? false)
            }
            if expected > there {
                destinations[name]?.lose(expected - there, from: max(destination.read + 1, segment.first), .damaged)
            }
        }
        segments[index].counts = counts
        var there = Exclusions()
        for record in found { there.insert(record.frame.position) }
        segments[index].found = there
        segments[index].keepReports(found.lazy.map(\.frame.position))
        for name in segment.excluded.keys { segments[index].excluded[name]?.keep(only: found.lazy.map(\.frame.position)) }
    }

    /// Returns the number of records in memory that a destination hasn't read.
    func memoryCount(for name: String, _ destination: DestinationState) -> Int {
        memory.count(from: destination.minimumLevel, after: destination.read, for: name)
    }
}

extension SpoolState {
    /// Returns the load of a destination.
    func load(of name: String) -> StoreLoad {
        guard let destination = destinations[name] else { return StoreLoad() }
        var load = StoreLoad(records: destination.held + destination.lost, bytes: diskBytes + memory.bytes)
        load.unread = destination.unread
        load.unreadBytes = destination.unreadBytes
        load.found = destination.found
        load.last = last
        if destination.unread > 0 {
            let onDisk = segments.first { $0.last > destination.read }.map { max($0.first, destination.read + 1) }
            load.firstUnread = onDisk ?? memory.first(after: destination.read) ?? last
            load.firstUnreadSince = destination.since
        }
        load.first = destination.handed.first ?? load.firstUnread
        load.firstSince = destination.handedSince ?? load.firstUnreadSince
        return load
    }

    /// Returns the load of a destination, including the number of records on disk: those held that aren't in memory.
    func census(of name: String) -> StoreLoad {
        var load = load(of: name)
        guard let destination = destinations[name] else { return load }
        load.spooled = destination.held - memory.count(from: destination.minimumLevel, after: destination.acknowledged, for: name)
        return load
    }

    /// Discards a destination's records in memory, and the whole memory if no destination is open.
    ///
    /// - Returns: The number of records that the destination loses.
    mutating func abandonMemory(of name: String) -> Int {
        guard let destination = destinations[name] else { return 0 }
        let lost = memory.count(from: destination.minimumLevel, after: destination.acknowledged, for: name)
        destinations[name]?.abandon(lost)
        if !destinations.values.contains(where: \.isOpen) { memory = RecordBuffer() }
        return lost
    }
}

/// Replacement and merging of segments.
extension SpoolState {
    /// Returns the previous segment; `nil` if there is none with records, or if a filter must still judge either segment.
    func segment(before segment: Segment) -> Segment? {
        guard let index = segments.firstIndex(where: { $0.isLike(segment) }), index > 0, segments[index - 1].first > 0,
            !isUnjudged(segments[index - 1].name), !isUnjudged(segment.name)
        else { return nil }
        return segments[index - 1]
    }

    /// Returns the next segment if its file has copies of the records of the given one.
    func copies(of name: SegmentName) -> Segment? {
        guard let index = segments.firstIndex(where: { $0.name == name }), index + 1 < segments.count else { return nil }
        return segments[index + 1].hasCopies ? segments[index + 1] : nil
    }

    private func isUnjudged(_ name: SegmentName) -> Bool {
        destinations.values.contains { $0.unjudged.contains(name) }
    }

    /// Returns whether a segment can be replaced by its thinned version: a reader may have read some of the dropped records since the
    /// selection.
    func allows(_ thinned: ThinnedSegment, after before: ThinnedSegment?) -> Bool {
        segments.contains { $0.isLike(thinned.segment) } && !thinned.dropped.contains { isPinned($0.frame.position) }
            && before.map { canAbsorb($0, by: thinned.segment.name) } ?? true
    }

    /// Returns whether a segment still precedes another one and is unchanged.
    func canAbsorb(_ before: ThinnedSegment, by name: SegmentName) -> Bool {
        guard let index = segments.firstIndex(where: { $0.name == name }), index > 0 else { return false }
        let now = segments[index - 1]
        // The positions found in the next segment's file don't include copies.
        return segments[index].found == nil && now.isLike(before.segment) && now.count(from: .trace) == before.count
            && !isUnjudged(now.name) && !isUnjudged(name)
    }

    /// Records that a file of that length with fewer records has replaced a segment.
    mutating func shorten(_ thinned: ThinnedSegment, length: Int) {
        guard let index = segments.firstIndex(where: { $0.name == thinned.segment.name }) else { return }
        let excluded = segments[index].excluded
        for found in thinned.dropped {
            let position = found.frame.position
            lose(position, found.level, .overflow) { excluded[$0]?.contains(position) ?? false }
        }
        if thinned.isEmpty { segments.remove(at: index) } else { segments[index].thin(to: thinned, length: length) }
    }

    /// Records that the next segment's file contains all records of a segment, whose own file is gone.
    mutating func absorb(_ before: SegmentName, by name: SegmentName) {
        guard let index = segments.firstIndex(where: { $0.name == name }), index > 0, segments[index - 1].name == before else { return }
        segments[index].absorb(segments[index - 1])
        segments.remove(at: index - 1)
    }
}

/// Writing the records in memory.
extension SpoolState {
    /// Returns the next records to write: at least one if there are any, within the limits.
    mutating func stage(through position: RecordPosition, within limits: BufferLimits) -> [RecordBuffer.Item] {
        releaseMemory()
        let items = memory.oldest(through: position, within: limits)
        staged = StagedRecords(through: items.last?.position ?? 0)
        return items
    }

    /// Applies a new destination's filter to all records in memory.
    mutating func judgeMemory(for name: String, _ excludes: (LogRecord) -> Bool) {
        memory.judge(for: name, excludes)
        staged.noteJudgement()
    }

    /// Removes the records that were dropped after staging.
    func removeDropped(from items: inout ArraySlice<RecordBuffer.Item>) {
        guard staged.hasLosses else { return }
        items = items.filter { !staged.isLost(at: $0.position) }[...]
    }

    /// Notes that records are on disk. Those dropped during the write are skipped when the segment is read.
    ///
    /// - Returns: Whether the segment still exists; otherwise the records stay in memory.
    mutating func commit(_ items: ArraySlice<RecordBuffer.Item>, in name: SegmentName, length: Int) -> Bool {
        guard let index = segments.lastIndex(where: { $0.name == name }), let last = items.last else { return false }
        let judged = staged.isJudged ? memory.exclusions(through: last.position) : nil
        for item in items {
            // The record was acknowledged by every destination before a new one registered, so it doesn't count for the new one.
            let isGone = judged.map { $0[item.position] == nil } ?? false
            if staged.isLost(at: item.position) || isGone {
                segments[index].dropped.insert(item.position)
            } else {
                segments[index].note(level: item.record.level, position: item.position)
                segments[index].noteReport(item.record, at: item.position)
                for name in judged?[item.position] ?? item.excluded where item.record.level >= destinations[name]?.minimumLevel ?? .trace {
                    segments[index].excluded[name, default: Exclusions()].insert(item.position)
                }
            }
        }
        segments[index].length = length
        segments[index].fileBytes = length
        memory.removeAll(through: last.position)
        return true
    }

    /// Counts the loss of a record that is being written.
    mutating func lose(_ item: RecordBuffer.Item, _ reason: DropReason) {
        // The record may have been acknowledged or dropped since.
        guard let item = memory.remove(item) else { return }
        lose(item, because: reason)
    }
}
