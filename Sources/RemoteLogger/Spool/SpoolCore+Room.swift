import WebServiceClient

extension SpoolCore {
    /// Makes room on the disk: what is acknowledged goes, then the lowest level, of that the oldest, a segment at a time. What is about to
    /// be written counts as the newest.
    ///
    /// - Parameter items: what is about to be written; loses those that are lower than all on disk.
    /// - Returns: whether there is room; otherwise something has changed, and is to be looked at again.
    /// - Throws: `SpoolFault.full` when everything is on its way to a receiver.
    func makeRoom(
        for need: Int, _ items: inout ArraySlice<RecordBuffer.Item>, _ writer: inout SpoolWriter
    ) throws(SpoolFault) -> Bool {
        var tried: Set<SpoolState.Victim> = []
        while true {
            let missing = state.withLock { $0.diskBytes } + need + settings.reservedBytes - settings.boundedDiskBytes
            guard missing > 0 else { return true }
            if try deleteAcknowledged(&writer) { continue }
            let lowest = state.withLock { $0.lowest(except: tried) }
            let newcomer = state.withLock { $0.lowestLevel(of: items) }
            if let newcomer, newcomer < lowest?.level ?? .trace {
                drop(newcomer, missing, &items)
                return false
            }
            guard let lowest else { throw SpoolFault.full }
            sayFull(&writer)
            let wasActive = writer.active?.name == lowest.name
            if wasActive { seal(&writer) }
            if try !reclaim(lowest.name, lowest.level, &writer) { tried.insert(lowest) }
            // The caller's segment is closed now.
            if wasActive { return false }
        }
    }

    private func sayFull(_ writer: inout SpoolWriter) {
        guard !writer.saidFull else { return }
        writer.saidFull = true
        report(
            .warning, "The log spool is full (\(settings.boundedDiskBytes) bytes): the lowest level goes first, then the oldest records.")
    }

    /// Drops newcomers of a level, the oldest first, until about so many bytes are saved.
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

    /// Deletes the segments that every destination has acknowledged, once the cursors that say so are synced.
    ///
    /// - Returns: whether there was one.
    @discardableResult func deleteAcknowledged(_ writer: inout SpoolWriter) throws(SpoolFault) -> Bool {
        guard let directory = writer.directory else { return false }
        let active = writer.active?.name
        let (names, destinations) = state.withLock { state in
            state.advanceIdle()
            guard let acknowledged = state.acknowledgedByAll else { return ([SegmentName](), [String]()) }
            // An active segment is begun anew only when it is worth it.
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
                    // A destination may have begun meanwhile, which begins with it.
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
