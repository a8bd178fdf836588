/// A piece of a segment file that is being read.
struct SpoolPiece: Sendable {
    let path: String
    let segment: Segment
    private var offset = SegmentHeader.size
    private let cursor: RecordPosition
    /// Whether unreadable data is skipped.
    let salvages: Bool
    private(set) var isDamaged = false
    /// The start of the next piece.
    private(set) var nextMark: ReadingMark?

    private static let size = 256 << 10

    init(path: String, segment: Segment, mark: ReadingMark?, cursor: RecordPosition, salvages: Bool) {
        self.salvages = salvages
        self.path = path
        self.segment = segment
        self.cursor = cursor
        if let mark, mark.name == segment.name, mark.generation == segment.generation, mark.position <= cursor { offset = mark.offset }
    }

    /// Reads the records after the batch's cursor, until the batch is full or the piece ends.
    mutating func read(_ files: SpoolFileSystem, into batch: inout RecordBatch) throws(SpoolFault) {
        var size = min(Self.size, segment.length - offset)
        while true {
            let end = offset + size >= segment.length
            let bytes = try files.with(path, .read) { file throws(SpoolFault) in
                try files.readAll(file, offset..<offset + size, salvages: salvages)
            }
            // The file has become shorter.
            if bytes.count < size { isDamaged = true }
            let needed = scan(bytes, isEnd: end || bytes.count < size, &batch)
            guard needed > 0, batch.cursor == cursor, !batch.isFull, size < segment.length - offset else { return }
            // The piece doesn't contain a complete record.
            size = min(max(needed, size * 2), segment.length - offset)
        }
    }

    /// - Returns: The number of bytes required to continue; 0 if not needed.
    private mutating func scan(_ bytes: ByteBuffer, isEnd: Bool, _ batch: inout RecordBatch) -> Int {
        bytes.withUnsafeBytes { bytes in
            var scanner = SegmentScanner(bytes, salt: segment.salt, isEnd: isEnd)
            var decoder = RecordDecoder()
            var consumed = 0
            let excluded = batch.destination.flatMap { segment.excluded[$0] }
            while let frame = scanner.next() {
                if frame.position > batch.cursor, segment.has(frame.position), !segment.dropped.contains(frame.position),
                    let level = frame.level(in: bytes)
                {
                    if level < batch.level || excluded?.contains(frame.position) ?? false {
                        batch.cursor = frame.position
                    } else {
                        if let record = decoder.record(in: UnsafeRawBufferPointer(rebasing: bytes[frame.payload])) {
                            guard batch.take(record, at: frame.position, size: record.footprint) else {
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
            // Damage that was skipped isn't scanned again.
            note(offset + max(consumed, scanner.offset), batch.cursor, scanner)
            return scanner.needed
        }
    }

    private mutating func note(_ offset: Int, _ position: RecordPosition, _ scanner: SegmentScanner) {
        if scanner.damages > 0 { isDamaged = true }
        nextMark = ReadingMark(name: segment.name, generation: segment.generation, offset: offset, position: position)
    }
}
