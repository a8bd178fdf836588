/// What is known of a segment's file.
struct Segment: Sendable {
    let name: SegmentName
    let salt: UInt64
    /// How far the file is written and synced: what may stand behind doesn't count.
    var length: Int
    /// The bytes of the file, what may stand behind ``length`` included.
    var fileBytes: Int
    /// The records by level.
    var counts = LogLevel.allCases.map { _ in 0 }
    /// The place of the first record; 0 without records.
    var first: RecordPosition = 0
    /// The place of the last record.
    var last: RecordPosition = 0
    /// Records in the file that were dropped, and counted as that, while they were written.
    var dropped: Set<RecordPosition> = []
    /// The records that filters keep from destinations.
    var excluded: [String: Exclusions] = [:]
    /// The reports of losses, each of which is for one destination.
    private(set) var reports: [Report] = []
    /// Where something was damaged, the records that were found: what the medium gives later was counted as lost. `nil` where nothing was.
    var found: Exclusions?
    /// Whether the file has the records of the segment before in front of its own, where that file couldn't be removed yet.
    var hasCopies = false
    /// How often the file was replaced by a shorter one.
    var generation = 0

    /// An empty one.
    init(name: SegmentName, salt: UInt64) {
        self.name = name
        self.salt = salt
        length = SegmentHeader.size
        fileBytes = SegmentHeader.size
    }

    /// Counts a record that comes next.
    mutating func note(level: LogLevel, position: RecordPosition) {
        counts[Int(level.rawValue)] += 1
        found?.insert(position)
        if first == 0 { first = position }
        last = position
    }

    /// Whether a place is one of its own: what stands in the file before these, or behind, is counted for another one, or for none.
    func has(_ position: RecordPosition) -> Bool {
        first > 0 && position >= first && position <= last && found?.contains(position) ?? true
    }

    /// How many records are of a level or above.
    func count(from level: LogLevel) -> Int {
        counts[Int(level.rawValue)...].reduce(0, +)
    }

    /// How many records are for a destination.
    func count(for name: String, _ destination: DestinationState) -> Int {
        count(from: destination.minimumLevel) - (excluded[name]?.count ?? 0)
    }

    /// A report of losses among the records.
    struct Report: Sendable {
        let position: RecordPosition
        let level: LogLevel
        let destination: String
    }

    /// Notes a record that comes next, if it is a report of losses.
    mutating func noteReport(_ record: LogRecord, at position: RecordPosition) {
        guard let destination = record.lossDestination else { return }
        reports.append(Report(position: position, level: record.level, destination: destination))
    }

    /// Forgets all reports but these.
    mutating func keepReports(_ positions: some Sequence<RecordPosition>) {
        guard !reports.isEmpty else { return }
        let positions = Set(positions)
        reports.removeAll { !positions.contains($0.position) }
    }

    /// Notes the reports of the segment before, whose records come before its own.
    mutating func takeReports(of before: Segment) {
        reports = before.reports + reports
    }

    /// Whether it has the same bytes: within a generation a file only grows.
    func isLike(_ other: Segment?) -> Bool {
        name == other?.name && length == other?.length && generation == other?.generation
    }

    /// What a destination's filter keeps out, and with it the reports of what others have lost.
    func exclusions(_ judged: Exclusions?, for name: String, from level: LogLevel) -> Exclusions {
        var exclusions = judged ?? Exclusions()
        for report in reports where report.destination != name && report.level >= level { exclusions.insert(report.position) }
        return exclusions
    }

    enum Scan {
        case segment(Segment, damages: Int)
        /// No record is in it, nor can have been.
        case empty
        case unreadable
        case newer(UInt32)
    }

    /// Reads a file through.
    ///
    /// - Parameters:
    ///   - previous: the last record that an earlier segment has; what stands up to there isn't counted.
    ///   - bound: the first record that a later segment has; what stands from there on isn't counted.
    static func scan(
        _ name: SegmentName, _ bytes: ByteBuffer, after previous: RecordPosition = 0, before bound: RecordPosition = .max
    ) -> Scan {
        bytes.withUnsafeBytes { bytes in
            // First of all: what stands behind the first 32 bytes, and whether anything has to, a later version decides.
            let header = SegmentHeader(bytes)
            if let header, header.version != SegmentHeader.version { return .newer(header.version) }
            // Headers are there before the name is: so short a file was cut, and nothing is left of it.
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
                // A report is one of few records without a sequence: the others needn't be read.
                if RecordEncoder.lacksSequence(payload), let record = decoder.record(in: payload) {
                    segment.noteReport(record, at: frame.position)
                }
            }
            return .segment(segment, damages: scanner.damages)
        }
    }
}

extension SegmentFrame {
    /// The level of the record; `nil` when there is no record in the frame.
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

    /// The records in the file, each once, without those that were dropped while they were written. Of a file that has nothing but what others
    /// have, none count.
    func frames(in bytes: ByteBuffer) -> FoundRecords {
        bytes.withUnsafeBytes { bytes in
            var found = FoundRecords()
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

/// What becomes of a segment that loses records, and of the one behind it.
extension Segment {
    /// Counts only what is left in the file, which has that length now, maybe with copies of what stands before.
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

    /// Counts the records of the segment before, which the file has before its own.
    mutating func absorb(_ before: Segment) {
        for index in counts.indices { counts[index] += before.counts[index] }
        first = before.first
        hasCopies = false
        takeReports(of: before)
        for (name, exclusions) in before.excluded where exclusions.count > 0 { excluded[name, default: Exclusions()].formUnion(exclusions) }
        generation += 1
    }
}

/// What is left of a segment without some of its records.
struct ThinnedSegment: Sendable {
    /// As it was.
    let segment: Segment
    private let source: ByteBuffer
    private let records: FoundRecords
    /// For each of them, whether it goes.
    private let isDropped: [Bool]
    /// The bytes of the records that stay.
    let bytes: Int

    /// - Parameters:
    ///   - source: the bytes of the segment's file.
    ///   - records: what is found in them.
    ///   - isDropped: for each of these, whether it goes.
    init(_ segment: Segment, _ source: ByteBuffer, _ records: FoundRecords, dropping isDropped: [Bool]) {
        self.segment = segment
        self.source = source
        self.records = records
        self.isDropped = isDropped
        bytes = zip(records, isDropped).reduce(0) { $1.1 ? $0 : $0 + $1.0.frame.range.count }
    }

    /// The bytes of a file with nothing else.
    var fileBytes: Int { SegmentHeader.size + bytes }

    /// How many records stay.
    var count: Int { isDropped.count { !$0 } }
    /// The records that stay.
    var kept: some Sequence<Segment.Found> { records(thatGo: false) }
    /// The records that go.
    var dropped: some Sequence<Segment.Found> { records(thatGo: true) }
    /// Whether no record is left.
    var isEmpty: Bool { bytes == 0 }

    private func records(thatGo: Bool) -> some Sequence<Segment.Found> {
        zip(records, isDropped).lazy.filter { $0.1 == thatGo }.map(\.0)
    }

    /// The file of the segment with what is left of it, behind what is left of the one before, if that is given.
    func content(behind before: ThinnedSegment? = nil) -> ByteBuffer {
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
