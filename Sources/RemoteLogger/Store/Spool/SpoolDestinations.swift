import HTTPTransport

/// Registration of destinations. It doesn't wait for disk writes: other destinations continue to append and read, and the writer continues
/// to write and delete. Registration counts the existing records from a snapshot of the state, and commits the result only if the state
/// hasn't changed since.
extension SpoolCore {
    /// The maximum number of attempts while the writer runs. After these, registration takes the writer's lock, which stops the writer.
    private static let attempts = 8

    /// Opens a destination for a shipper.
    ///
    /// - Returns: Whether no other shipper uses the destination.
    func register(_ name: String, _ selection: RecordSelection) -> Bool {
        var judged = JudgedSegments()
        for _ in 0..<Self.attempts {
            guard let isFree = begin(name, selection, &judged) else { continue }
            if isFree { createCursorSoon() }
            return isFree
        }
        return writer.withLock { _ in
            while true {
                guard let isFree = begin(name, selection, &judged) else { continue }
                if isFree { createCursorSoon() }
                return isFree
            }
        }
    }

    /// Creates the cursor file on the writing queue before the destination's first record is written.
    private func createCursorSoon() {
        if state.withLock({ $0.directory != nil && ($0.retryAt == nil || leftover != nil) }) { cleanUp() }
    }

    /// Counts the records of a destination that no shipper uses. Called by the writer.
    func begin(_ name: String) {
        var judged = JudgedSegments()
        while begin(name, nil, &judged) == nil {}
    }

    /// Counts the records of a destination after its cursor.
    ///
    /// If the cursor points into a segment that can't be read now, the destination starts before that segment. Its records may then be sent
    /// twice; if none of them were counted, the spool would delete the segment.
    ///
    /// - Parameters:
    ///   - selection: The records that the destination receives; `nil` if no shipper uses it.
    ///   - judged: The results of the destination's filter so far; receives the new ones.
    /// - Returns: Whether no other shipper uses the destination; `nil` if the state has changed in the meantime.
    private func begin(_ name: String, _ selection: RecordSelection?, _ judged: inout JudgedSegments) -> Bool? {
        let before = state.withLock { DestinationOutlook($0, name) }
        guard !before.isOpen else { return false }
        var beginning = DestinationBeginning(selection: selection, acknowledged: before.acknowledged)
        var remark: String?
        if let segment = before.straddled, let directory = before.directory {
            do throws(SpoolFault) {
                let bytes = try files.with(directory + "/\(segment.name)", .read) { file throws(SpoolFault) in
                    try files.readAll(file, 0..<segment.length, salvages: true)
                }
                beginning.straddled = segment.frames(in: bytes)
            } catch {
                beginning.acknowledged = max(segment.first, 1) - 1
                remark = "\(directory)/\(segment.name) can't be read now (\(error)): some of its records may be sent twice."
            }
        }
        if let directory = before.directory, let selection {
            beginning.unjudged = judge(before.segments, after: beginning.acknowledged, for: selection, directory, &judged)
            beginning.judged = judged.exclusions
        }
        // Code that replaces or deletes files holds `exchange` until it has updated the state, so this comparison detects each such change.
        let isDone = exchange.withLock { _ in
            state.withLock { state in
                guard before.holds(in: state, name, isFiltered: selection?.includes != nil) else { return false }
                state.install(beginning, as: name)
                return true
            }
        }
        guard isDone else { return nil }
        if let remark { report(.warning, remark) }
        return true
    }
}

/// The state on which a registration is based.
private struct DestinationOutlook {
    let directory: String?
    let isOpen: Bool
    let acknowledged: RecordPosition
    /// The segments after the acknowledged position.
    let segments: [Segment]
    /// The segment that the cursor points into.
    let straddled: Segment?

    init(_ state: SpoolState, _ name: String) {
        let destination = state.destinations[name] ?? DestinationState()
        directory = state.directory
        isOpen = destination.isOpen
        acknowledged = destination.acknowledged
        segments = state.segments.filter { $0.last > destination.acknowledged }
        straddled = segments.first { $0.first > 0 && $0.first <= destination.acknowledged }
    }

    /// Returns whether the relevant parts of the state are unchanged.
    func holds(in state: SpoolState, _ name: String, isFiltered: Bool) -> Bool {
        let now = DestinationOutlook(state, name)
        guard now.directory == directory, now.isOpen == isOpen, now.acknowledged == acknowledged,
            now.straddled?.isLike(straddled) ?? (straddled == nil)
        else { return false }
        return !isFiltered || now.segments.elementsEqual(segments) { $0.isLike($1) }
    }
}

/// The initial state of a destination.
struct DestinationBeginning {
    /// The records that the destination receives; `nil` if no shipper uses it.
    let selection: RecordSelection?
    var acknowledged: RecordPosition
    /// The records of the segment that the cursor points into.
    var straddled: [Segment.Found] = []
    var judged: [SegmentName: Exclusions] = [:]
    var unjudged: Set<SegmentName> = []
}

extension SpoolState {
    /// Resets a destination to its acknowledged position.
    fileprivate mutating func install(_ beginning: DestinationBeginning, as name: String) {
        var destination = destinations[name] ?? DestinationState()
        if let selection = beginning.selection {
            destination.isOpen = true
            destination.selection = selection
        }
        destination.selection.destination = name
        destination.unjudged = beginning.unjudged
        destination.acknowledged = beginning.acknowledged
        let since = destination.handedSince ?? (destination.unread > 0 ? destination.since : 0)
        destination.forget()
        let level = destination.minimumLevel
        for index in segments.indices {
            let exclusions = segments[index].exclusions(beginning.judged[segments[index].name], for: name, from: level)
            segments[index].excluded[name] = exclusions.count > 0 ? exclusions : nil
        }
        judgeMemory(for: name, destination.selection.excludes)
        let whole = segments.filter { $0.first > destination.acknowledged }.reduce(0) { $0 + $1.count(for: name, destination) }
        let excluded = segments.first { $0.first > 0 && $0.last > destination.acknowledged && $0.first <= destination.acknowledged }?
            .excluded[name]
        let part = beginning.straddled.count { found in
            let position = found.frame.position
            return position > destination.acknowledged && found.level >= level && !(excluded?.contains(position) ?? false)
        }
        destination.find(whole + part + memoryCount(for: name, destination), since: since)
        destinations[name] = destination
        hasFilters = destinations.values.contains { $0.selection.includes != nil }
    }
}

extension SpoolCore {
    /// The time during which an unreadable segment is read again, in nanoseconds. After that, its unreadable data is skipped.
    private static let patience: UInt64 = 10_000_000_000

    /// Returns the next records for a destination, from disk first, then from memory. Runs on the reading queue.
    func collect(for name: String, after cursor: RecordPosition, limits: BatchLimits) -> [StoredRecord] {
        // Damage that is found while reading may cause losses for other destinations, whose shippers must be notified.
        defer { notifyShippers() }
        var batch = RecordBatch(cursor: cursor, limits: limits)
        batch.destination = name
        while !batch.isFull, exchange.withLock({ _ in step(for: name, &batch) }) {}
        return batch.records
    }

    /// Reads the next piece of a segment, or the records in memory.
    ///
    /// - Returns: Whether there may be more records.
    private func step(for name: String, _ batch: inout RecordBatch) -> Bool {
        let now = settings.clock.uptime
        let (piece, isJudged) = state.withLock { state -> (SpoolPiece?, Bool) in
            guard let destination = state.destinations[name] else { return (nil, true) }
            batch.level = destination.minimumLevel
            batch.cursor = max(batch.cursor, destination.acknowledged)
            guard let segment = state.segments.first(where: { $0.last > batch.cursor }), let directory = state.directory else {
                let start = batch.records.count
                state.memory.read(into: &batch)
                state.destinations[name]?.hand(batch.records[start...], through: batch.cursor)
                return (nil, true)
            }
            let salvages = state.unreadable.map { $0.name == segment.name && now >= $0.since &+ Self.patience } ?? false
            let piece = SpoolPiece(
                path: directory + "/\(segment.name)", segment: segment, mark: destination.mark, cursor: batch.cursor, salvages: salvages)
            return (piece, !destination.unjudged.contains(segment.name))
        }
        guard var piece else { return false }
        guard isJudged else { return judgeLate(piece.segment.name, for: name) }
        let start = batch.records.count
        do throws(SpoolFault) {
            try piece.read(files, into: &batch)
            if piece.isDamaged { try recount(piece.segment.name, path: piece.path, salvages: piece.salvages) }
        } catch let fault where fault.isMissing {
            // The segment's records count as lost, so those read from it must not be delivered.
            batch.removeLast(to: start)
            noteMissing(piece.segment.name)
            return true
        } catch {
            // The segment is read again later. After `patience`, its unreadable data is skipped.
            if error.isUnreadable {
                state.withLock { state in
                    if state.unreadable?.name != piece.segment.name { state.unreadable = (piece.segment.name, now) }
                }
            }
            batch.removeLast(to: start)
            return false
        }
        state.withLock { state in
            state.destinations[name]?.hand(batch.records[start...], through: batch.cursor)
            state.destinations[name]?.mark = piece.nextMark
        }
        return true
    }

    /// Counts the records of a deleted segment file as lost for destinations that haven't read them.
    func noteMissing(_ name: SegmentName) {
        state.withLock { state in
            state.recount(name, found: [])
            state.segments.removeAll { $0.name == name }
        }
    }

    /// Recounts the records of a damaged segment. If records are appended to the segment during the count, it is counted again; the size
    /// limit of segments bounds the number of repetitions.
    private func recount(_ name: SegmentName, path: String, salvages: Bool) throws(SpoolFault) {
        var isCounted = false
        while !isCounted {
            guard let segment = state.withLock({ state in state.segments.first { $0.name == name } }) else { return }
            let bytes = try files.with(path, .read) { file throws(SpoolFault) in
                try files.readAll(file, 0..<segment.length, salvages: salvages)
            }
            let found = segment.frames(in: bytes)
            isCounted = state.withLock { state in
                guard state.segments.contains(where: { $0.name == name && $0.length == segment.length }) else { return false }
                state.recount(name, found: found)
                return true
            }
        }
    }
}
