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
