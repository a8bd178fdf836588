/// The records that are being written. They may still be dropped, because the write may fail.
struct StagedRecords: Sendable {
    /// The position of the last record; 0 while nothing is being written.
    private let last: RecordPosition
    /// The records that were dropped.
    private var lost: Set<RecordPosition> = []
    /// Whether a destination has registered since staging. If so, the exclusions in the copies are outdated.
    private(set) var isJudged = false

    init(through last: RecordPosition = 0) {
        self.last = last
    }

    var hasLosses: Bool { !lost.isEmpty }

    func isLost(at position: RecordPosition) -> Bool { hasLosses && lost.contains(position) }

    mutating func noteLoss(at position: RecordPosition) {
        if position <= last { lost.insert(position) }
    }

    mutating func noteJudgement() {
        isJudged = last > 0
    }
}

/// The most recent records, to detect those that another destination also appends.
struct RecentRecords: Sendable {
    private struct Entry: Sendable {
        /// The position; `nil` while only destinations that exclude the record have appended it.
        var position: RecordPosition?
        var destinations: Set<String>
        /// The destinations whose filters exclude the record.
        let excluded: [String]
    }

    private static let limit = 1_024
    private var entries: [LogRecordID: Entry] = [:]
    private var order = RecordQueue<LogRecordID>()

    mutating func add(_ id: LogRecordID, at position: RecordPosition?, by destination: String, excluded: [String]) {
        entries[id] = Entry(position: position, destinations: [destination], excluded: excluded)
        order.append(id)
        if order.count > Self.limit, let oldest = order.popFirst(), oldest != id { entries[oldest] = nil }
    }

    /// Sets the position of an earlier record.
    mutating func place(_ id: LogRecordID, at position: RecordPosition) {
        entries[id]?.position = position
    }

    /// Returns the position, if any, and the exclusions of a record that another destination has appended; `nil` if the record is new.
    mutating func claim(_ id: LogRecordID, by destination: String) -> (position: RecordPosition?, excluded: [String])? {
        guard let entry = entries[id], entries[id]?.destinations.insert(destination).inserted == true else { return nil }
        return (entry.position, entry.excluded)
    }
}

/// The arrival times of records, in a bounded number of marks: records from a mark's position on arrived at its time or later.
struct ArrivalMarks: Sendable {
    private struct Mark {
        let position: RecordPosition
        let time: UInt64
    }

    /// The maximum number of marks. Beyond it, every second mark is removed.
    private static let most = 64
    /// The initial interval between marks, in nanoseconds.
    private static let spacing: UInt64 = 50_000_000

    private var marks: [Mark] = []
    private var spacing = Self.spacing

    /// A lower bound of the arrival time of the oldest remaining record; 0 if unknown.
    var oldest: UInt64 { marks.first?.time ?? 0 }

    /// Notes the arrival of a record.
    mutating func take(_ position: RecordPosition, at now: UInt64) {
        if let last = marks.last, now < last.time &+ spacing { return }
        if marks.count >= Self.most {
            marks = marks.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            spacing = spacing > UInt64.max / 2 ? spacing : spacing * 2
        }
        marks.append(Mark(position: position, time: now))
    }

    /// Removes the records up to a position.
    mutating func pass(_ position: RecordPosition) {
        let passed = marks.dropFirst().prefix { $0.position <= position + 1 }.count
        if passed > 0 { marks.removeFirst(passed) }
    }

    /// Removes all records.
    mutating func passAll() {
        guard !marks.isEmpty else { return }
        marks.removeAll(keepingCapacity: true)
        spacing = Self.spacing
    }
}
