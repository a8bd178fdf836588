import WebServiceClient

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
