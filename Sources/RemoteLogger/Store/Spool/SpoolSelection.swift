import HTTPTransport

/// The filter results of a new destination, by the state of the segments they apply to.
struct JudgedSegments {
    private(set) var exclusions: [SegmentName: Exclusions] = [:]
    private var judged: [SegmentName: Segment] = [:]

    func has(_ segment: Segment) -> Bool { segment.isLike(judged[segment.name]) }

    mutating func note(_ segment: Segment, _ exclusions: Exclusions) {
        judged[segment.name] = segment
        self.exclusions[segment.name] = exclusions
    }

    mutating func forget(_ segment: Segment) {
        judged[segment.name] = nil
        exclusions[segment.name] = nil
    }
}

/// Applies the filters of destinations to existing records.
extension SpoolCore {
    /// Applies a filter to all segments after the acknowledged position.
    ///
    /// - Parameter judged: The filter results so far; receives the new ones.
    /// - Returns: The segments that can't be read now; they are judged before they are read.
    func judge(
        _ segments: [Segment], after acknowledged: RecordPosition, for selection: RecordSelection, _ directory: String,
        _ judged: inout JudgedSegments
    ) -> Set<SegmentName> {
        var unjudged: Set<SegmentName> = []
        guard selection.includes != nil else { return unjudged }
        for segment in segments where segment.last > acknowledged && !judged.has(segment) {
            do throws(SpoolFault) {
                judged.note(segment, try exclusions(in: segment, directory, for: selection))
            } catch {
                judged.forget(segment)
                unjudged.insert(segment.name)
            }
        }
        return unjudged
    }

    private func exclusions(in segment: Segment, _ directory: String, for selection: RecordSelection) throws(SpoolFault) -> Exclusions {
        let bytes = try files.with(directory + "/\(segment.name)", .read) { file throws(SpoolFault) in
            try files.readAll(file, 0..<segment.length, salvages: true)
        }
        var exclusions = Exclusions()
        let frames = segment.frames(in: bytes)
        bytes.withUnsafeBytes { bytes in
            var decoder = RecordDecoder()
            for found in frames where found.level >= selection.minimumLevel {
                let record = decoder.record(in: UnsafeRawBufferPointer(rebasing: bytes[found.frame.payload]))
                // A record that can't be decoded is damage, which is found when it is read.
                if let record, selection.excludes(record) { exclusions.insert(found.frame.position) }
            }
        }
        return exclusions
    }

    /// Applies a destination's filter to a segment that couldn't be read at registration.
    ///
    /// - Returns: Whether reading can continue: the segment is judged, or its file is missing, which counts as a loss.
    func judgeLate(_ name: SegmentName, for destination: String) -> Bool {
        let (segment, selection, directory) = state.withLock { state in
            (state.segments.first { $0.name == name }, state.destinations[destination]?.selection, state.directory)
        }
        guard let segment, let selection, let directory else { return false }
        do throws(SpoolFault) {
            let exclusions = try exclusions(in: segment, directory, for: selection)
            state.withLock { $0.exclude(exclusions, in: name, for: destination) }
            return true
        } catch let fault where fault.isMissing {
            noteMissing(name)
            return true
        } catch {
            return false
        }
    }
}

extension SpoolState {
    /// Returns the destinations whose filters exclude a new record.
    func exclusions(of record: LogRecord) -> [String] {
        guard hasFilters || record.isLossReport else { return [] }
        return destinations.compactMap { $0.value.selection.excludes(record) ? $0.key : nil }
    }

    /// Stores the filter result for a segment, whose records counted as held until now.
    fileprivate mutating func exclude(_ exclusions: Exclusions, in name: SegmentName, for destination: String) {
        guard let index = segments.firstIndex(where: { $0.name == name }), var changed = destinations[destination] else { return }
        // Records appended since registration are already judged.
        let before = segments[index].excluded[destination] ?? Exclusions()
        var all = exclusions
        all.formUnion(before)
        segments[index].excluded[destination] = all
        changed.unjudged.remove(name)
        changed.exclude(all.count(after: changed.read) - before.count(after: changed.read))
        destinations[destination] = changed
    }
}

/// Removes records of the lowest level from segments, and merges small segments. Without merging, rare levels would leave little in each
/// segment, and an hour of outage could leave tens of thousands of files, which take more blocks than bytes and are slow to scan.
///
/// Every step replaces one file by another. If the process ends between two steps, records are in two files; the later one counts.
extension SpoolCore {
    /// Removes a segment's records of a level, and the records that no destination needs.
    ///
    /// - Returns: Whether the segment is shorter now.
    func reclaim(_ name: SegmentName, _ level: LogLevel, _ writer: inout SpoolWriter) throws(SpoolFault) -> Bool {
        let found = state.withLock { state in state.segments.first { $0.name == name } }
        guard let directory = writer.directory, let segment = found else { return false }
        // If the next file has copies of these records, the next run would find them there, so that file is replaced first.
        if let next = state.withLock({ $0.copies(of: name) }) {
            guard let whole = whole(next, in: directory) else { return false }
            return try replace(whole, after: nil, in: directory)
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
        if let before = predecessor(of: thinned, in: directory), try replace(thinned, after: before, in: directory) { return true }
        return try replace(thinned, after: nil, in: directory)
    }

    private func read(_ segment: Segment, in directory: SpoolDirectory) throws(SpoolFault) -> ByteBuffer {
        try files.with(directory.path + "/\(segment.name)", .read) { file throws(SpoolFault) in
            try files.readAll(file, 0..<segment.length)
        }
    }

    /// Returns the small previous segment that can be merged with the thinned one; `nil` if there is none or it can't be read.
    private func predecessor(of thinned: ThinnedSegment, in directory: SpoolDirectory) -> ThinnedSegment? {
        // While both copies exist, even across a crash, the disk must not hold more than before.
        guard !thinned.isEmpty, let before = state.withLock({ $0.segment(before: thinned.segment) }),
            before.length <= settings.segmentBytes / 2,
            before.length + thinned.bytes < thinned.segment.fileBytes, let whole = whole(before, in: directory), !whole.isEmpty
        else { return nil }
        return whole
    }

    /// Returns a segment with all of its records, recounted; `nil` if it can't be read.
    private func whole(_ segment: Segment, in directory: SpoolDirectory) -> ThinnedSegment? {
        guard let bytes = try? read(segment, in: directory) else { return nil }
        let frames = segment.frames(in: bytes)
        state.withLock { $0.recount(segment.name, found: frames) }
        return ThinnedSegment(segment, bytes, frames, dropping: frames.map { _ in false })
    }

    /// Writes a thinned segment, after the records of the previous one if given, to a new file that replaces the old one.
    private func replace(
        _ thinned: ThinnedSegment, after before: ThinnedSegment?, in directory: SpoolDirectory
    ) throws(SpoolFault) -> Bool {
        let temporary = directory.path + "/" + SpoolDirectory.temporary
        let path = directory.path + "/\(thinned.segment.name)"
        let content = thinned.content(after: before)
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
                guard state.withLock({ $0.allows(thinned, after: before) }) else {
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

    /// Removes the file of a segment whose records are also in the next one.
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

/// The records that a destination receives.
package struct RecordSelection: Sendable {
    /// The destination's name.
    var destination = ""
    /// The minimum level.
    package var minimumLevel = LogLevel.trace
    /// The filter on records of that level or higher; `nil` includes all.
    package var includes: (@Sendable (LogRecord) -> Bool)?

    /// Returns whether a record is excluded. Loss reports ignore the filter: each destination receives only its own, because the reports of
    /// other destinations would be wrong for it.
    func excludes(_ record: LogRecord) -> Bool {
        guard record.level >= minimumLevel else { return false }
        if record.isLossReport { return record.lossDestination.map { $0 != destination } ?? false }
        return includes.map { !$0(record) } ?? false
    }
}

/// A position in a segment file up to which everything has been read.
struct ReadingMark: Sendable {
    let name: SegmentName
    let generation: Int
    let offset: Int
    /// The last record before the offset.
    let position: RecordPosition
}
