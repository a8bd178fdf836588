import WebServiceClient

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
