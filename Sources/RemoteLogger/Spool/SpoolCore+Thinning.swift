import WebServiceClient

/// How segments lose records of the lowest level, and small ones become one: of a level that is rare little is left of each, and an hour of an
/// outage would leave files by the ten thousand, which take more blocks than bytes, and time to look through.
extension SpoolCore {
    /// Removes the records of a level from a segment, and with them those that nobody needs.
    ///
    /// - Returns: whether it is shorter now.
    func reclaim(_ name: SegmentName, _ level: LogLevel, _ writer: inout SpoolWriter) throws(SpoolFault) -> Bool {
        let found = state.withLock { state in state.segments.first { $0.name == name } }
        guard let directory = writer.directory, let segment = found else { return false }
        let path = directory.path + "/\(name)"
        let bytes: ByteBuffer
        do throws(SpoolFault) {
            bytes = try files.with(path, .read) { file throws(SpoolFault) in try files.readAll(file, 0..<segment.length) }
        } catch let fault where fault.isMissing {
            noteMissing(name)
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
        let thinned = ThinnedSegment(bytes, frames, dropping: isDropped)
        guard thinned.fileBytes < segment.fileBytes else { return false }
        let before = state.withLock { $0.segment(before: name, withRoomFor: thinned.bytes, within: settings.segmentBytes) }
        if let before, !thinned.isEmpty { return try join(segment, as: thinned, to: before, in: directory) }
        return try replace(segment, in: directory, by: thinned)
    }

    /// Writes what is left of a segment into another file, which takes its place.
    private func replace(_ segment: Segment, in directory: SpoolDirectory, by thinned: ThinnedSegment) throws(SpoolFault) -> Bool {
        let temporary = directory.path + "/" + SpoolDirectory.temporary
        let path = directory.path + "/\(segment.name)"
        do throws(SpoolFault) {
            try files.with(temporary, .create) { file throws(SpoolFault) in
                try files.writeAll(file, 0, thinned.content(salt: segment.salt))
                try files.sync(file)
            }
        } catch {
            try? files.remove(temporary)
            throw error
        }
        let result = exchange.withLock { _ -> Result<Bool, SpoolFault> in
            let isFree = state.withLock { $0.isFree(thinned) }
            do throws(SpoolFault) {
                guard isFree else {
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
            state.withLock { $0.shorten(segment.name, to: thinned) }
            return .success(true)
        }
        let isDone = try result.get()
        if isDone { try files.syncDirectory(directory.path) }
        return isDone
    }

    /// Writes what is left of a segment behind the one before. Where the process ends in between, both have it, and the second is passed over.
    private func join(
        _ segment: Segment, as thinned: ThinnedSegment, to before: Segment, in directory: SpoolDirectory
    ) throws(SpoolFault) -> Bool {
        do throws(SpoolFault) {
            let isDone = try files.with(directory.path + "/\(before.name)", .update) { file throws(SpoolFault) -> Bool in
                var isDone = false
                defer { if !isDone { cut(file, of: before, writtenTo: before.length + thinned.bytes) } }
                try files.writeAll(file, before.length, thinned.frames(salt: before.salt))
                try files.sync(file)
                let result = exchange.withLock { _ in
                    Result { () throws(SpoolFault) -> Bool in
                        guard state.withLock({ $0.isFree(thinned) && $0.canJoin(segment, to: before) }) else { return false }
                        try files.removeIfThere(directory.path + "/\(segment.name)")
                        state.withLock { $0.join(segment.name, as: thinned, to: before.name) }
                        return true
                    }
                }
                isDone = try result.get()
                return isDone
            }
            if isDone { try files.syncDirectory(directory.path) }
            return isDone
        } catch let fault where fault.isMissing {
            noteMissing(before.name)
            return true
        }
    }

    /// Takes back what was written behind a segment: nobody knows what of it is on the medium, and nothing comes behind it where that fails.
    ///
    /// - Parameter end: how far it was to be written.
    func cut(_ file: Int32, of segment: Segment, writtenTo end: Int) {
        var size = end
        do throws(SpoolFault) {
            try files.truncate(file, segment.length)
            size = segment.length
        } catch {
            size = (try? files.size(file)) ?? end
        }
        state.withLock { state in
            guard let index = state.segments.lastIndex(where: { $0.name == segment.name }) else { return }
            state.segments[index].fileBytes = size
        }
    }
}
