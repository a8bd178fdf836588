import HTTPTransport

/// What the filter of a destination that begins has said of segments, as they were then.
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

/// Asks the filters of destinations for records that are there already.
extension SpoolCore {
    /// Asks for the records of all segments behind what a destination has acknowledged.
    ///
    /// - Parameter judged: what was said already, and what is said now.
    /// - Returns: the segments that can't be read now: they are asked for before they are read.
    func judge(
        _ segments: [Segment], behind acknowledged: RecordPosition, for selection: RecordSelection, _ directory: String,
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
                // What can't be decoded is damage, which is found when it is read.
                if let record, selection.excludes(record) { exclusions.insert(found.frame.position) }
            }
        }
        return exclusions
    }

    /// Asks for the records of a segment that couldn't be read when the destination began, before it is read.
    ///
    /// - Returns: whether there may be more to read: that is done, or the segment's file is gone, which counts as lost.
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
    /// The destinations whose filters keep a new record out.
    func exclusions(of record: LogRecord) -> [String] {
        guard hasFilters || record.isLossReport else { return [] }
        return destinations.compactMap { $0.value.selection.excludes(record) ? $0.key : nil }
    }

    /// Notes what a filter has said of a segment's records, which count as held till then.
    fileprivate mutating func exclude(_ exclusions: Exclusions, in name: SegmentName, for destination: String) {
        guard let index = segments.firstIndex(where: { $0.name == name }), var changed = destinations[destination] else { return }
        // What has come since then is there already.
        let before = segments[index].excluded[destination] ?? Exclusions()
        var all = exclusions
        all.formUnion(before)
        segments[index].excluded[destination] = all
        changed.unjudged.remove(name)
        changed.exclude(all.count(after: changed.read) - before.count(after: changed.read))
        destinations[destination] = changed
    }
}

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

/// Which records a destination gets.
package struct RecordSelection: Sendable {
    /// The destination's name.
    var destination = ""
    /// Those from this level on.
    package var minimumLevel = LogLevel.trace
    /// Of these, those for which it says yes; all without it.
    package var includes: (@Sendable (LogRecord) -> Bool)?

    /// Whether the filter keeps a record out. Of reports of losses each destination gets its own, whatever the filter says: what others have lost
    /// would be wrong of it.
    func excludes(_ record: LogRecord) -> Bool {
        guard record.level >= minimumLevel else { return false }
        if record.isLossReport { return record.lossDestination.map { $0 != destination } ?? false }
        return includes.map { !$0(record) } ?? false
    }
}

/// The records that are found in a segment, in order. There may be thousands, whose memory is to go back to the system: see
/// ``SystemPages``.
struct FoundRecords: Sendable, RandomAccessCollection {
    private static let stride = MemoryLayout<Segment.Found>.stride

    private var memory = ByteBuffer()

    let startIndex = 0
    var endIndex: Int { memory.count / Self.stride }

    subscript(index: Int) -> Segment.Found {
        precondition(indices.contains(index))
        return memory.withUnsafeBytes { $0.load(fromByteOffset: index * Self.stride, as: Segment.Found.self) }
    }

    mutating func append(_ found: Segment.Found) {
        UnsafeMutableRawPointer(memory.room(Self.stride)).storeBytes(of: found, as: Segment.Found.self)
        memory.advance(by: Self.stride)
    }
}

/// A place in a segment's file before which everything was read.
struct ReadingMark: Sendable {
    let name: SegmentName
    let generation: Int
    let offset: Int
    /// The last record before it.
    let position: RecordPosition
}
