import HTTPTransport

/// The state of the writing queue. The work of this queue is in the extension of ``SpoolCore`` below.
struct SpoolWriter: Sendable {
    var directory: SpoolDirectory?
    /// The segment that is being written.
    var active: (file: Int32, name: SegmentName)?
    var epoch: UInt64 = 0
    var number: UInt64 = 0
    /// Whether the current disk failure has been reported.
    var hasReportedFailure = false
    /// Whether it has been reported that the spool is full.
    var hasReportedFull = false
    var encoder = RecordEncoder()
    var generator = SystemRandomNumberGenerator()
}

extension SpoolCore {
    /// Writes and syncs the records in memory, and deletes unneeded segments. Runs on the writing queue.
    func work() {
        defer { notifyShippers() }
        writer.withLock { writer in
            let target = state.withLock { state in
                state.isScheduled = false
                return state.last
            }
            if writer.directory == nil, leftover == nil, !state.withLock({ $0.isClosed }) { openDirectory(&writer) }
            guard writer.directory != nil else { return }
            do throws(SpoolFault) {
                try writer.directory?.syncParents(files)
                try createCursors(writer)
                try deleteAcknowledged(&writer)
                try drain(through: target, &writer)
                state.withLock { $0.retryAt = nil }
                if writer.hasReportedFailure { report(.notice, "The log spool's disk works again.") }
                writer.hasReportedFailure = false
            } catch {
                fail(error, &writer)
            }
        }
    }

    /// Falls back to memory until the next retry.
    func fail(_ fault: SpoolFault, _ writer: inout SpoolWriter) {
        let retry = settings.clock.uptime &+ max(1, settings.retryInterval.wholeNanoseconds)
        state.withLock { state in
            state.staged = StagedRecords()
            state.retryAt = retry
        }
        guard !writer.hasReportedFailure else { return }
        writer.hasReportedFailure = true
        report(.warning, "The log spool can't use its disk: \(fault). Records wait in memory, and the disk is retried.")
    }

    /// The maximum number and size of the records that are staged together. A sync takes about as long for many records as for few.
    private static let piece = BufferLimits(records: 2_048, bytes: 1 << 20)

    /// Writes the records up to a position, piece by piece.
    private func drain(through target: RecordPosition, _ writer: inout SpoolWriter) throws(SpoolFault) {
        while true {
            let items = state.withLock { $0.stage(through: target, within: Self.piece) }
            guard !items.isEmpty else { return }
            // A destination that has registered since the last write needs a cursor file before the records are written. Without the file,
            // the next run doesn't know which records the destination hasn't acknowledged.
            try createCursors(writer)
            var rest = items[...]
            while !rest.isEmpty { try write(&rest, &writer) }
        }
    }

    /// Writes as many of the records as fit in the active segment, in one write with one sync, and removes them from `items`.
    private func write(_ items: inout ArraySlice<RecordBuffer.Item>, _ writer: inout SpoolWriter) throws(SpoolFault) {
        state.withLock { $0.removeDropped(from: &items) }
        guard let first = items.first else { return }
        guard let active = try activeSegment(&writer) else { throw SpoolFault.full }
        guard let segment = state.withLock({ $0.segments.last { $0.name == active.name } }) else {
            // A reader has found that the file was deleted externally: continue in a new segment.
            return seal(&writer)
        }
        writer.encoder.removeAll()
        var count = 0
        for item in items {
            let before = writer.encoder.count
            SegmentFrame.write(item.record, at: item.position, salt: segment.salt, into: &writer.encoder)
            if segment.length + writer.encoder.count > settings.segmentBytes {
                writer.encoder.truncate(to: before)
                break
            }
            count += 1
        }
        guard count > 0 else {
            // The first record doesn't fit in the segment. If the segment is empty, no segment can hold the record, and it is dropped;
            // otherwise a new segment is started.
            if segment.length == SegmentHeader.size {
                state.withLock { $0.lose(first, .oversize) }
                items.removeFirst()
            } else {
                seal(&writer)
            }
            return
        }
        guard try makeRoom(for: writer.encoder.count, &items, &writer) else { return }
        if try append(items.prefix(count), to: segment, file: active.file, &writer) { items.removeFirst(count) }
    }

    /// Appends encoded records to a segment.
    ///
    /// - Returns: Whether the segment still exists.
    private func append(
        _ items: ArraySlice<RecordBuffer.Item>, to segment: Segment, file: Int32, _ writer: inout SpoolWriter
    ) throws(SpoolFault) -> Bool {
        let end = segment.length + writer.encoder.count
        do throws(SpoolFault) {
            try files.writeAll(file, segment.length, writer.encoder.written)
            try files.sync(file)
        } catch {
            cut(file, of: segment, writtenTo: end)
            seal(&writer)
            throw error
        }
        return state.withLock { $0.commit(items, in: segment.name, length: end) }
    }

    /// Truncates a segment to its length before a failed write, because it is unknown what the medium holds after that length. The caller
    /// seals the segment, so nothing is appended to it even if the truncation fails.
    ///
    /// - Parameter end: The offset at which the write would have ended.
    private func cut(_ file: Int32, of segment: Segment, writtenTo end: Int) {
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

    /// Returns the active segment, creating one if needed; `nil` if there is no room for one.
    private func activeSegment(_ writer: inout SpoolWriter) throws(SpoolFault) -> (file: Int32, name: SegmentName)? {
        if let active = writer.active { return active }
        guard let directory = writer.directory else { return nil }
        var none: ArraySlice<RecordBuffer.Item> = []
        guard try makeRoom(for: SegmentHeader.size, &none, &writer) else { return nil }
        let name = SegmentName(epoch: writer.epoch, number: writer.number + 1)
        let header = SegmentHeader(salt: writer.generator.next())
        try files.replace(directory.path + "/\(name)", in: directory.path, by: header.bytes)
        writer.number += 1
        let segment = Segment(name: name, salt: header.salt)
        state.withLock { $0.segments.append(segment) }
        let file = try files.open(directory.path + "/\(name)", .update)
        writer.active = (file, name)
        return (file, name)
    }

    /// Closes the active segment for writing.
    func seal(_ writer: inout SpoolWriter) {
        guard let active = writer.active else { return }
        files.close(active.file)
        writer.active = nil
    }
}
