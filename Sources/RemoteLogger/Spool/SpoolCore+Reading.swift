import WebServiceClient

extension SpoolCore {
    /// How long it is tried to read what the medium can't read, in nanoseconds.
    private static let patience: UInt64 = 10_000_000_000

    /// The next records for a destination, from disk as far as they are there, then from memory: on the reading queue.
    func collect(for name: String, after cursor: RecordPosition, limits: BatchLimits) -> [StoredRecord] {
        var batch = SpoolBatch(cursor: cursor, limits: limits)
        while !batch.isFull, exchange.withLock({ _ in step(for: name, &batch) }) {}
        return batch.records
    }

    /// Reads a piece of a segment, or of the memory.
    ///
    /// - Returns: whether there may be more.
    private func step(for name: String, _ batch: inout SpoolBatch) -> Bool {
        let now = settings.clock.uptime
        let piece = state.withLock { state -> SpoolPiece? in
            guard let destination = state.destinations[name] else { return nil }
            batch.level = destination.minimumLevel
            batch.cursor = max(batch.cursor, destination.acknowledged)
            guard let segment = state.segments.first(where: { $0.last > batch.cursor }), let directory = state.directory else {
                let start = batch.records.count
                state.takeFromMemory(&batch)
                state.destinations[name]?.hand(batch.records[start...], through: batch.cursor)
                return nil
            }
            let salvages = state.unreadable.map { $0.name == segment.name && now >= $0.since &+ Self.patience } ?? false
            return SpoolPiece(
                path: directory + "/\(segment.name)", segment: segment, mark: destination.mark, cursor: batch.cursor, salvages: salvages)
        }
        guard var piece else { return false }
        let start = batch.records.count
        do throws(SpoolFault) {
            try piece.read(files, into: &batch)
            if piece.isDamaged { try recount(piece) }
        } catch where error.isMissing {
            // Somebody has deleted the file.
            state.withLock { state in
                state.recount(piece.segment.name, found: [])
                state.segments.removeAll { $0.name == piece.segment.name }
            }
            return true
        } catch {
            // Not now. What can't be read for long is given up.
            if error.isUnreadable {
                state.withLock { state in
                    if state.unreadable?.name != piece.segment.name { state.unreadable = (piece.segment.name, now) }
                }
            }
            batch.removeLast(to: start)
            return false
        }
        state.withLock { state in
            state.destinations[name]?.hand(batch.records[start...], through: batch.cursor)
            state.destinations[name]?.mark = piece.nextMark
        }
        return true
    }

    private func recount(_ piece: SpoolPiece) throws(SpoolFault) {
        let bytes = try files.with(piece.path, .read) { file throws(SpoolFault) in
            try files.readAll(file, 0..<piece.segment.length, salvages: piece.salvages)
        }
        let found = piece.segment.frames(in: bytes).map { (position: $0.frame.position, level: $0.level) }
        state.withLock { $0.recount(piece.segment.name, found: found) }
    }
}

/// A batch that is being collected.
struct SpoolBatch: Sendable {
    private(set) var records: [StoredRecord] = []
    private var bytes = 0
    /// Everything up to here was looked at.
    var cursor: RecordPosition
    /// Records below aren't wanted.
    var level = LogLevel.trace
    let limits: BatchLimits
    private(set) var isFull = false

    init(cursor: RecordPosition, limits: BatchLimits) {
        self.cursor = cursor
        self.limits = limits
    }

    /// Takes a record, or nothing more.
    mutating func take(_ record: LogRecord, at position: RecordPosition) -> Bool {
        let size = record.footprint
        guard records.isEmpty || records.count < limits.records && bytes + size <= limits.bytes else {
            isFull = true
            return false
        }
        records.append(StoredRecord(position: position, record: record))
        bytes += size
        cursor = position
        return true
    }

    mutating func removeLast(to count: Int) {
        records.removeLast(max(0, records.count - count))
    }
}

/// A piece of a segment's file that is being read.
struct SpoolPiece: Sendable {
    let path: String
    let segment: Segment
    private var offset = SegmentHeader.size
    private let cursor: RecordPosition
    /// Whether what the medium can't read is passed over.
    let salvages: Bool
    private(set) var isDamaged = false
    /// Where the next piece begins.
    private(set) var nextMark: ReadingMark?

    private static let size = 256 << 10

    init(path: String, segment: Segment, mark: ReadingMark?, cursor: RecordPosition, salvages: Bool) {
        self.salvages = salvages
        self.path = path
        self.segment = segment
        self.cursor = cursor
        if let mark, mark.name == segment.name, mark.generation == segment.generation, mark.position <= cursor { offset = mark.offset }
    }

    /// Reads what is behind the batch's cursor, until the batch is full or the piece ends.
    mutating func read(_ files: SpoolFileSystem, into batch: inout SpoolBatch) throws(SpoolFault) {
        var size = min(Self.size, segment.length - offset)
        while true {
            let end = offset + size >= segment.length
            let bytes = try files.with(path, .read) { file throws(SpoolFault) in try files.readAll(file, offset..<offset + size, salvages: salvages) }
            // It was longer once.
            if bytes.count < size { isDamaged = true }
            let needed = scan(bytes, isEnd: end || bytes.count < size, &batch)
            guard needed > 0, batch.cursor == cursor, !batch.isFull, size < segment.length - offset else { return }
            // Not even one record is there to its end.
            size = min(max(needed, size * 2), segment.length - offset)
        }
    }

    /// - Returns: how many bytes there must be to read on, 0 when there is no need.
    private mutating func scan(_ bytes: [UInt8], isEnd: Bool, _ batch: inout SpoolBatch) -> Int {
        bytes.withUnsafeBytes { bytes in
            var scanner = SegmentScanner(bytes, salt: segment.salt, isEnd: isEnd)
            var consumed = 0
            while let frame = scanner.next() {
                if frame.position > batch.cursor, let level = frame.level(in: bytes) {
                    if level < batch.level {
                        batch.cursor = frame.position
                    } else {
                        var decoder = RecordDecoder(UnsafeRawBufferPointer(rebasing: bytes[frame.payload]))
                        if let record = decoder.record() {
                            guard batch.take(record, at: frame.position) else {
                                note(offset + frame.start, batch.cursor, scanner)
                                return 0
                            }
                        } else {
                            isDamaged = true
                        }
                    }
                }
                consumed = scanner.offset
            }
            if isEnd { batch.cursor = max(batch.cursor, segment.last) }
            // What was passed over in search of a record needs no second look either.
            note(offset + max(consumed, scanner.offset), batch.cursor, scanner)
            return scanner.needed
        }
    }

    private mutating func note(_ offset: Int, _ position: RecordPosition, _ scanner: SegmentScanner) {
        if scanner.damages > 0 { isDamaged = true }
        nextMark = ReadingMark(name: segment.name, generation: segment.generation, offset: offset, position: position)
    }
}

extension SpoolState {
    /// Puts what is in memory into a batch; it is pinned from then on.
    mutating func takeFromMemory(_ batch: inout SpoolBatch) {
        for item in memory.pinned where item.position > batch.cursor && !take(item, &batch) { return }
        while let next = memory.oldestUnpinned {
            guard next.position <= batch.cursor || take(next, &batch), memory.pinNext() != nil else { return }
        }
    }

    /// - Returns: whether there is room for more.
    private func take(_ item: RecordBuffer.Item, _ batch: inout SpoolBatch) -> Bool {
        guard item.record.level >= batch.level else {
            batch.cursor = item.position
            return true
        }
        return batch.take(item.record, at: item.position)
    }
}
