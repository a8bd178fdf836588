import WebServiceClient

extension SpoolCore {
    /// Opens the directory and takes what is in it; in case of a fault it is tried again later.
    func openDirectory(_ writer: inout SpoolWriter) {
        // What is there from an earlier run counts only for destinations that begin after it was found: later, it is left to the next run.
        let isLate = state.withLock { $0.last > 0 || !$0.destinations.isEmpty }
        do throws(SpoolFault) {
            // `??` can't pass a typed error on.
            let directory = if let leftover { leftover } else { try SpoolDirectory.open(below: root, mustBeEmpty: isLate, files: files) }
            writer.directory = directory
            writer.epoch = directory.epoch &+ 1
            writer.number = 0
            state.withLock { $0.adopt(directory) }
            // Those that nobody uses yet keep their records, too.
            for (name, destination) in state.withLock({ $0.destinations }) where !destination.isOpen {
                begin(destination, as: name, writer)
            }
            for remark in directory.remarks { report(.warning, remark) }
            state.withLock { $0.retryAt = nil }
            if writer.hasComplained { report(.notice, "The log spool's disk works again.") }
            writer.hasComplained = false
            for tell in news.withLock({ Array($0.values) }) { tell(.records) }
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

    // MARK: Destinations

    /// Begins a destination's use.
    ///
    /// - Returns: whether nobody else uses it.
    func register(_ name: String, _ selection: RecordSelection) -> Bool {
        writer.withLock { writer in
            var destination = state.withLock { $0.destinations[name] } ?? DestinationState()
            guard !destination.isOpen else { return false }
            destination.isOpen = true
            destination.selection = selection
            // Nothing else changes segments, or the cursor of a destination that isn't open, while the writer is locked.
            begin(destination, as: name, writer)
            do throws(SpoolFault) {
                try createCursors(writer)
            } catch {
                fail(error, &writer)
            }
            return true
        }
    }

    /// Counts what a destination has behind its cursor.
    ///
    /// Where the segment in the middle of which the cursor stands can't be read now, the destination begins before that segment: what comes
    /// twice isn't lost, and a count of nothing would have it deleted.
    private func begin(_ destination: DestinationState, as name: String, _ writer: SpoolWriter) {
        var destination = destination
        var straddled: [Segment.Found] = []
        let segment = state.withLock { state in
            state.segments.first { $0.last > destination.acknowledged && $0.first <= destination.acknowledged }
        }
        if let segment, let directory = writer.directory {
            do throws(SpoolFault) {
                let bytes = try files.with(directory.path + "/\(segment.name)", .read) { file throws(SpoolFault) in
                    try files.readAll(file, 0..<segment.length, salvages: true)
                }
                straddled = segment.frames(in: bytes)
            } catch {
                destination.acknowledged = max(segment.first, 1) - 1
                report(.warning, "\(directory.path)/\(segment.name) can't be read now (\(error)): some of its records may be sent twice.")
            }
        }
        var judged: [SegmentName: Exclusions] = [:]
        if let directory = writer.directory { (judged, destination.unjudged) = judge(for: destination, directory) }
        state.withLock { $0.install(destination, as: name, straddled: straddled, judged) }
    }

    // MARK: Cursors

    /// Gives each destination its file.
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

    /// Writes a destination's cursor if it can; it is written again after the next acknowledgement.
    func writeCursor(of name: String, sync: Bool) {
        do throws(SpoolFault) {
            try writeCursorFile(of: name, sync: sync)
        } catch {
            // A cursor that is behind costs duplicates only; nothing is deleted before it is written and synced.
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
    /// Begins with a destination anew, behind what it has acknowledged.
    mutating func install(
        _ destination: DestinationState, as name: String, straddled: [Segment.Found], _ judged: [SegmentName: Exclusions]
    ) {
        var destination = destination
        let since = destination.handedSince ?? (destination.unread > 0 ? destination.since : 0)
        destination.forget()
        let level = destination.minimumLevel
        for index in segments.indices {
            let exclusions = segments[index].exclusions(judged[segments[index].name], for: name, from: level)
            segments[index].excluded[name] = exclusions.count > 0 ? exclusions : nil
        }
        memory.judge(for: name, destination.selection.excludes)
        let whole = segments.filter { $0.first > destination.acknowledged }.reduce(0) { $0 + $1.count(for: name, destination) }
        let excluded = segments.first { $0.last > destination.acknowledged && $0.first <= destination.acknowledged }?.excluded[name]
        let part = straddled.count { found in
            let position = found.frame.position
            return position > destination.acknowledged && found.level >= level && !(excluded?.contains(position) ?? false)
        }
        destination.find(whole + part + memoryCount(for: name, destination), since: since)
        destinations[name] = destination
        hasFilters = destinations.values.contains { $0.selection.includes != nil }
    }

    /// Takes what a directory has.
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
