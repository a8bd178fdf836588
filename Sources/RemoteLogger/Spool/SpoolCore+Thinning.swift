import WebServiceClient

/// How segments lose records of the lowest level, and small ones become one: of a level that is rare little is left of each, and an hour of an
/// outage would leave files by the ten thousand, which take more blocks than bytes, and time to look through.
///
/// Every step is one file in the place of another. Where the process ends between two of them, records stand in two files; the later one counts.
extension SpoolCore {
    /// Removes the records of a level from a segment, and with them those that nobody needs.
    ///
    /// - Returns: whether it is shorter now.
    func reclaim(_ name: SegmentName, _ level: LogLevel, _ writer: inout SpoolWriter) throws(SpoolFault) -> Bool {
        let found = state.withLock { state in state.segments.first { $0.name == name } }
        guard let directory = writer.directory, let segment = found else { return false }
        // What goes here would be found in the next file by the next run.
        if let next = state.withLock({ $0.copies(of: name) }) {
            guard let whole = whole(next, in: directory) else { return false }
            return try replace(whole, behind: nil, in: directory)
        }
        let bytes: ByteBuffer
        do throws(SpoolFault) {
            bytes = try read(segment, in: directory)
        } catch let fault where fault.isMissing {
            exchange.withLock { _ in noteMissing(name) }
            return true
        } catch let fault where fault.isUnreadable {
            return false
        }
        let frames = segment.frames(in: bytes)
        let isDropped = state.withLock { state in
            state.recount(name, found: frames)
            let acknowledged = state.acknowledgedByAll ?? 0
            return frames.map { found in
                let position = found.frame.position
                return position <= acknowledged || found.level == level && !state.isPinned(position)
            }
        }
        guard isDropped.contains(true) else { return false }
        let thinned = ThinnedSegment(segment, bytes, frames, dropping: isDropped)
        guard thinned.fileBytes < segment.fileBytes else { return false }
        if let before = predecessor(of: thinned, in: directory), try replace(thinned, behind: before, in: directory) { return true }
        return try replace(thinned, behind: nil, in: directory)
    }

    private func read(_ segment: Segment, in directory: SpoolDirectory) throws(SpoolFault) -> ByteBuffer {
        try files.with(directory.path + "/\(segment.name)", .read) { file throws(SpoolFault) in
            try files.readAll(file, 0..<segment.length)
        }
    }

    /// The small segment before, which what is left of one can become one with; `nil` without one, or where it can't be read.
    private func predecessor(of thinned: ThinnedSegment, in directory: SpoolDirectory) -> ThinnedSegment? {
        // While both are there, and should the process end then, the disk has no more than before.
        guard !thinned.isEmpty, let before = state.withLock({ $0.segment(before: thinned.segment) }),
            before.length <= settings.segmentBytes / 2,
            before.length + thinned.bytes < thinned.segment.fileBytes, let whole = whole(before, in: directory), !whole.isEmpty
        else { return nil }
        return whole
    }

    /// A segment with all of its records, which are counted as they are found; `nil` where it can't be read.
    private func whole(_ segment: Segment, in directory: SpoolDirectory) -> ThinnedSegment? {
        guard let bytes = try? read(segment, in: directory) else { return nil }
        let frames = segment.frames(in: bytes)
        state.withLock { $0.recount(segment.name, found: frames) }
        return ThinnedSegment(segment, bytes, frames, dropping: frames.map { _ in false })
    }

    /// Writes what is left of a segment, behind all of the one before if it is given, into another file, which takes its place.
    private func replace(
        _ thinned: ThinnedSegment, behind before: ThinnedSegment?, in directory: SpoolDirectory
    ) throws(SpoolFault) -> Bool {
        let temporary = directory.path + "/" + SpoolDirectory.temporary
        let path = directory.path + "/\(thinned.segment.name)"
        let content = thinned.content(behind: before)
        do throws(SpoolFault) {
            try files.with(temporary, .create) { file throws(SpoolFault) in
                try files.writeAll(file, 0, content)
                try files.sync(file)
            }
        } catch {
            try? files.remove(temporary)
            throw error
        }
        let result = exchange.withLock { _ -> Result<Bool, SpoolFault> in
            do throws(SpoolFault) {
                guard state.withLock({ $0.allows(thinned, behind: before) }) else {
                    try files.remove(temporary)
                    return .success(false)
                }
                if thinned.isEmpty {
                    try files.remove(temporary)
                    try files.removeIfThere(path)
                } else {
                    try files.rename(temporary, path)
                }
            } catch {
                try? files.remove(temporary)
                return .failure(error)
            }
            state.withLock { $0.shorten(thinned, length: content.count) }
            return .success(true)
        }
        guard try result.get() else { return false }
        try files.syncDirectory(directory.path)
        if let before { try absorb(before, by: thinned.segment, in: directory) }
        return true
    }

    /// Removes the file of a segment whose records stand in the next one, too.
    private func absorb(_ before: ThinnedSegment, by next: Segment, in directory: SpoolDirectory) throws(SpoolFault) {
        try exchange.withLock { _ in
            Result { () throws(SpoolFault) in
                guard state.withLock({ $0.canAbsorb(before, by: next.name) }) else { return }
                try files.removeIfThere(directory.path + "/\(before.segment.name)")
                state.withLock { $0.absorb(before.segment.name, by: next.name) }
            }
        }.get()
        try files.syncDirectory(directory.path)
    }
}
