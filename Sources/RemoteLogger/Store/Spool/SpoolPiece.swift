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
    mutating func read(_ files: SpoolFileSystem, into batch: inout RecordBatch) throws(SpoolFault) {
        var size = min(Self.size, segment.length - offset)
        while true {
            let end = offset + size >= segment.length
            let bytes = try files.with(path, .read) { file throws(SpoolFault) in
                try files.readAll(file, offset..<offset + size, salvages: salvages)
            }
            // It was longer once.
            if bytes.count < size { isDamaged = true }
            let needed = scan(bytes, isEnd: end || bytes.count < size, &batch)
            guard needed > 0, batch.cursor == cursor, !batch.isFull, size < segment.length - offset else { return }
            // Not even one record is there to its end.
            size = min(max(needed, size * 2), segment.length - offset)
        }
    }

    /// - Returns: how many bytes there must be to read on, 0 when there is no need.
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
