/// The known state of a segment file.
struct Segment: Sendable {
    let name: SegmentName
    let salt: UInt64
    /// The length that is written and synced, in bytes. Bytes after this length are ignored.
    var length: Int
    /// The size of the file, including bytes after ``length``.
    var fileBytes: Int
    /// The number of records of each level.
    var counts = LogLevel.allCases.map { _ in 0 }
    /// The position of the first record; 0 without records.
    var first: RecordPosition = 0
    /// The position of the last record.
    var last: RecordPosition = 0
    /// Records in the file that were dropped, and counted as dropped, during the write.
    var dropped: Set<RecordPosition> = []
    /// The records that filters exclude, by destination.
    var excluded: [String: Exclusions] = [:]
    /// The loss reports, each for one destination.
    private(set) var reports: [Report] = []
    /// The records found after damage: all other records count as lost, even if the medium returns them later. `nil` without damage.
    var found: Exclusions?
    /// Whether the file also starts with the records of the previous segment, whose file couldn't be removed yet.
    var hasCopies = false
    /// The number of times the file was replaced by a shorter one.
    var generation = 0

    /// Creates an empty segment.
    init(name: SegmentName, salt: UInt64) {
        self.name = name
        self.salt = salt
        length = SegmentHeader.size
        fileBytes = SegmentHeader.size
    }

    /// Counts the next record.
    mutating func note(level: LogLevel, position: RecordPosition) {
        counts[Int(level.rawValue)] += 1
        found?.insert(position)
        if first == 0 { first = position }
        last = position
    }

    /// Returns whether a position belongs to this segment. Other records in the segment's file are counted for another segment, or not at
    /// all.
    func has(_ position: RecordPosition) -> Bool {
        first > 0 && position >= first && position <= last && found?.contains(position) ?? true
    }

    /// Returns the number of records of a level or above.
    func count(from level: LogLevel) -> Int {
        counts[Int(level.rawValue)...].reduce(0, +)
    }

    /// Returns the number of records for a destination.
    func count(for name: String, _ destination: DestinationState) -> Int {
        count(from: destination.minimumLevel) - (excluded[name]?.count ?? 0)
    }

    /// A loss report among the records.
    struct Report: Sendable {
        let position: RecordPosition
        let level: LogLevel
        let destination: String
    }

    /// Notes the next record if it is a loss report.
    mutating func noteReport(_ record: LogRecord, at position: RecordPosition) {
        guard let destination = record.lossDestination else { return }
        reports.append(Report(position: position, level: record.level, destination: destination))
    }

    /// Removes all reports except those at the given positions.
    mutating func keepReports(_ positions: some Sequence<RecordPosition>) {
        guard !reports.isEmpty else { return }
        let positions = Set(positions)
        reports.removeAll { !positions.contains($0.position) }
    }

    /// Prepends the reports of the previous segment.
    mutating func takeReports(of before: Segment) {
        reports = before.reports + reports
    }

    /// Returns whether another value describes the same bytes. Within a generation a file only grows, so the same length means the same
    /// bytes.
    func isLike(_ other: Segment?) -> Bool {
        name == other?.name && length == other?.length && generation == other?.generation
    }

    /// Returns the records that a destination doesn't receive: those that the destination's filter excludes, and loss reports of other
    /// destinations.
    func exclusions(_ judged: Exclusions?, for name: String, from level: LogLevel) -> Exclusions {
        var exclusions = judged ?? Exclusions()
        for report in reports where report.destination != name && report.level >= level { exclusions.insert(report.position) }
        return exclusions
    }

    enum Scan {
        case segment(Segment, damages: Int)
        /// The file has never had a record.
        case empty
        case unreadable
        case newer(UInt32)
    }

    /// Scans a file.
    ///
    /// - Parameters:
    ///   - previous: The last record of earlier segments; records up to it aren't counted.
    ///   - bound: The first record of a later segment; records from it on aren't counted.
    static func scan(
        _ name: SegmentName, _ bytes: ByteBuffer, after previous: RecordPosition = 0, before bound: RecordPosition = .max
    ) -> Scan {
        bytes.withUnsafeBytes { bytes in
            // The version is checked first: a later version may define everything after the first 32 bytes differently, or end the file
            // there.
            let header = SegmentHeader(bytes)
            if let header, header.version != SegmentHeader.version { return .newer(header.version) }
            // The header is synced before the rename, so such a short file was truncated and has no records left.
            guard bytes.count > SegmentHeader.size else { return .empty }
            guard let header else { return .unreadable }
            var segment = Segment(name: name, salt: header.salt)
            segment.length = bytes.count
            segment.fileBytes = bytes.count
            var scanner = SegmentScanner(bytes, from: SegmentHeader.size, salt: header.salt)
            var decoder = RecordDecoder()
            while let frame = scanner.next() {
                guard frame.position < bound else {
                    segment.length = frame.start
                    break
                }
                guard frame.position > max(segment.last, previous), let level = frame.level(in: bytes) else { continue }
                segment.note(level: level, position: frame.position)
                let payload = UnsafeRawBufferPointer(rebasing: bytes[frame.payload])
                // Records with a sequence can't be loss reports, so they needn't be decoded.
                if RecordEncoder.lacksSequence(payload), let record = decoder.record(in: payload) {
                    segment.noteReport(record, at: frame.position)
                }
            }
            return .segment(segment, damages: scanner.damages)
        }
    }
}

extension SegmentFrame {
    /// Returns the level of the record; `nil` if the frame has no record.
    func level(in bytes: UnsafeRawBufferPointer) -> LogLevel? {
        payload.isEmpty ? nil : LogLevel(rawValue: bytes[payload.lowerBound])
    }
}

extension Segment {
    /// A record in a segment's file.
    struct Found: Sendable {
        let frame: SegmentFrame
        let level: LogLevel
    }

    /// Returns the records in the file, each once, without those dropped during the write. Returns none if other segments contain all of
    /// them.
    func frames(in bytes: ByteBuffer) -> [Segment.Found] {
        bytes.withUnsafeBytes { bytes in
            var found: [Segment.Found] = []
            var scanner = SegmentScanner(bytes, from: min(bytes.count, SegmentHeader.size), salt: salt)
            while let frame = scanner.next() {
                guard has(frame.position), frame.position > found.last?.frame.position ?? 0, !dropped.contains(frame.position),
                    let level = frame.level(in: bytes)
                else { continue }
                found.append(Found(frame: frame, level: level))
            }
            return found
        }
    }
}

/// Replacement and merging of segments.
extension Segment {
    /// Switches to the thinned file of the given length, which may start with copies of the previous segment's records.
    mutating func thin(to thinned: ThinnedSegment, length: Int) {
        hasCopies = length > thinned.fileBytes
        counts = LogLevel.allCases.map { _ in 0 }
        found = nil
        first = 0
        for record in thinned.kept { note(level: record.level, position: record.frame.position) }
        dropped = []
        self.length = length
        fileBytes = length
        let positions = thinned.kept.lazy.map(\.frame.position)
        keepReports(positions)
        for name in excluded.keys { excluded[name]?.keep(only: positions) }
        generation += 1
    }

    /// Adds the records of the previous segment, which the file already starts with.
    mutating func absorb(_ before: Segment) {
        for index in counts.indices { counts[index] += before.counts[index] }
        first = before.first
        hasCopies = false
        takeReports(of: before)
        for (name, exclusions) in before.excluded where exclusions.count > 0 { excluded[name, default: Exclusions()].formUnion(exclusions) }
        generation += 1
    }
}

/// A segment without some of its records.
struct ThinnedSegment: Sendable {
    /// The original segment.
    let segment: Segment
    private let source: ByteBuffer
    private let records: [Segment.Found]
    /// For each record, whether it is dropped.
    private let isDropped: [Bool]
    /// The bytes of the kept records.
    let bytes: Int

    /// Creates a thinned segment.
    ///
    /// - Parameters:
    ///   - source: The bytes of the segment file.
    ///   - records: The records in them.
    ///   - isDropped: For each record, whether it is dropped.
    init(_ segment: Segment, _ source: ByteBuffer, _ records: [Segment.Found], dropping isDropped: [Bool]) {
        self.segment = segment
        self.source = source
        self.records = records
        self.isDropped = isDropped
        bytes = zip(records, isDropped).reduce(0) { $1.1 ? $0 : $0 + $1.0.frame.range.count }
    }

    /// The size of a file with only these records.
    var fileBytes: Int { SegmentHeader.size + bytes }

    /// The number of kept records.
    var count: Int { isDropped.count { !$0 } }
    /// The kept records.
    var kept: some Sequence<Segment.Found> { records(dropped: false) }
    /// The dropped records.
    var dropped: some Sequence<Segment.Found> { records(dropped: true) }
    /// Whether no record is left.
    var isEmpty: Bool { bytes == 0 }

    private func records(dropped: Bool) -> some Sequence<Segment.Found> {
        zip(records, isDropped).lazy.filter { $0.1 == dropped }.map(\.0)
    }

    /// Returns the content of the thinned file, with the records of the previous segment first if it is given.
    func content(after before: ThinnedSegment? = nil) -> ByteBuffer {
        var content = ByteBuffer()
        content.reserve(fileBytes + (before?.bytes ?? 0))
        SegmentHeader(salt: segment.salt).bytes.withUnsafeBufferPointer { content.append($0) }
        before?.write(salt: segment.salt, into: &content)
        write(salt: segment.salt, into: &content)
        return content
    }

    private func write(salt: UInt64, into output: inout ByteBuffer) {
        source.withUnsafeBytes { source in
            for found in kept { found.frame.copy(from: source, salt: salt == segment.salt ? nil : salt, into: &output) }
        }
    }
}
