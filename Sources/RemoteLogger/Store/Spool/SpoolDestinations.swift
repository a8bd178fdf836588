import HTTPTransport

/// How a destination begins: while others append, write, read and delete, and without waiting for a disk that writes. What is there is read, and
/// then taken if nothing of it has changed meanwhile.
extension SpoolCore {
    /// How often it is tried beside the writer. After that the writer is waited for.
    private static let attempts = 8

    /// Begins a destination's use.
    ///
    /// - Returns: whether nobody else uses it.
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

    /// The cursor's file is made before the destination's first record is written, by who writes that.
    private func createCursorSoon() {
        if state.withLock({ $0.directory != nil && ($0.retryAt == nil || leftover != nil) }) { tidyUp() }
    }

    /// Counts what a destination has that nobody uses, for the writer.
    func begin(_ name: String) {
        var judged = JudgedSegments()
        while begin(name, nil, &judged) == nil {}
    }

    /// Counts what a destination has behind its cursor.
    ///
    /// Where the segment in the middle of which the cursor stands can't be read now, the destination begins before that segment: what comes
    /// twice isn't lost, and a count of nothing would have it deleted.
    ///
    /// - Parameters:
    ///   - selection: what it gets; `nil` when nobody uses it.
    ///   - judged: what its filter has said.
    /// - Returns: whether nobody else uses it; `nil` when something has changed meanwhile.
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
            beginning.unjudged = judge(before.segments, behind: beginning.acknowledged, for: selection, directory, &judged)
            beginning.judged = judged.exclusions
        }
        // Who exchanges or deletes a file notes that before this is free again.
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

/// What a destination that begins has seen.
private struct DestinationOutlook {
    let directory: String?
    let isOpen: Bool
    let acknowledged: RecordPosition
    /// Those behind what is acknowledged.
    let segments: [Segment]
    /// The one in the middle of which the cursor stands.
    let straddled: Segment?

    init(_ state: SpoolState, _ name: String) {
        let destination = state.destinations[name] ?? DestinationState()
        directory = state.directory
        isOpen = destination.isOpen
        acknowledged = destination.acknowledged
        segments = state.segments.filter { $0.last > destination.acknowledged }
        straddled = segments.first { $0.first > 0 && $0.first <= destination.acknowledged }
    }

    /// Whether what was read is still what there is.
    func holds(in state: SpoolState, _ name: String, isFiltered: Bool) -> Bool {
        let now = DestinationOutlook(state, name)
        guard now.directory == directory, now.isOpen == isOpen, now.acknowledged == acknowledged,
            now.straddled?.isLike(straddled) ?? (straddled == nil)
        else { return false }
        return !isFiltered || now.segments.elementsEqual(segments) { $0.isLike($1) }
    }
}

/// How a destination begins.
struct DestinationBeginning {
    /// What it gets; `nil` when nobody uses it.
    let selection: RecordSelection?
    var acknowledged: RecordPosition
    /// What is in the segment in the middle of which the cursor stands.
    var straddled = FoundRecords()
    var judged: [SegmentName: Exclusions] = [:]
    var unjudged: Set<SegmentName> = []
}

extension SpoolState {
    /// Begins with a destination anew, behind what it has acknowledged.
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
    /// How long it is tried to read what the medium can't read, in nanoseconds.
    private static let patience: UInt64 = 10_000_000_000

    /// The next records for a destination, from disk as far as they are there, then from memory: on the reading queue.
    func collect(for name: String, after cursor: RecordPosition, limits: BatchLimits) -> [StoredRecord] {
        // Others may lose what is found damaged.
        defer { tellNews() }
        var batch = RecordBatch(cursor: cursor, limits: limits)
        batch.destination = name
        while !batch.isFull, exchange.withLock({ _ in step(for: name, &batch) }) {}
        return batch.records
    }

    /// Reads a piece of a segment, or of the memory.
    ///
    /// - Returns: whether there may be more.
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
            // What was read of it isn't handed out, since it counts as lost.
            batch.removeLast(to: start)
            noteMissing(piece.segment.name)
            return true
        } catch {
            // Not now. What can't be read for long is given up.
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

    /// Somebody has deleted a segment's file: what was in it is lost for those who haven't read it.
    func noteMissing(_ name: SegmentName) {
        state.withLock { state in
            state.recount(name, found: FoundRecords())
            state.segments.removeAll { $0.name == name }
        }
    }

    /// Counts anew what is in a damaged segment. What is appended to it meanwhile would be counted, but not be found: then it is looked again,
    /// as often as that happens, which the segment's bound bounds.
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
