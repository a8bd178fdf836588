import WebServiceClient

extension SpoolCore {
    /// Opens the directory and takes what is in it; in case of a fault it is tried again later.
    func openDirectory(_ writer: inout SpoolWriter) {
        // What is there from an earlier run counts only for destinations that begin after it was found: later, it is left to the next run.
        let isLate = state.withLock { $0.last > 0 || !$0.destinations.isEmpty }
        do throws(SpoolFault) {
            // `??` can't pass a typed error on.
            let directory = if let leftover { leftover } else { try SpoolDirectory.open(below: root, mustBeEmpty: isLate, files: files) }
            let isTaken = state.withLock { state in
                guard isLate || state.last == 0 && state.destinations.isEmpty else { return false }
                state.adopt(directory)
                return true
            }
            // A destination has begun meanwhile.
            guard isTaken else {
                directory.close(files)
                return openDirectory(&writer)
            }
            writer.directory = directory
            writer.epoch = directory.epoch &+ 1
            writer.number = 0
            // Those that nobody uses yet keep their records, too.
            for (name, destination) in state.withLock({ $0.destinations }) where !destination.isOpen { begin(name) }
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
