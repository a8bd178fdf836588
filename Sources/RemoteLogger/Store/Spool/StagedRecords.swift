/// What becomes of records while they are being written: they may be dropped like any other, since the disk may fail.
struct StagedRecords: Sendable {
    /// The place of the last one; 0 while nothing is being written.
    private let last: RecordPosition
    /// Those that were dropped.
    private var lost: Set<RecordPosition> = []
    /// A destination has begun since: whom their copies are kept from isn't the last word.
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

/// The records that came last, to know one again that another destination brings, too.
struct RecentRecords: Sendable {
    private struct Entry: Sendable {
        /// `nil` as long as only destinations have brought it whose filters keep it out.
        var position: RecordPosition?
        var destinations: Set<String>
        /// Those whose filters keep it out.
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

    /// A record that came before has a place now.
    mutating func place(_ id: LogRecordID, at position: RecordPosition) {
        entries[id]?.position = position
    }

    /// The place of a record that another destination has brought, if it has one, and whose filters keep it out; `nil` when it is new.
    mutating func claim(_ id: LogRecordID, by destination: String) -> (position: RecordPosition?, excluded: [String])? {
        guard let entry = entries[id], entries[id]?.destinations.insert(destination).inserted == true else { return nil }
        return (entry.position, entry.excluded)
    }
}

/// When records came, by a bounded number of marks: those from a mark's place on came at its time or later.
struct ArrivalMarks: Sendable {
    private struct Mark {
        let position: RecordPosition
        let time: UInt64
    }

    /// The most marks. Where there are more, every second one goes.
    private static let most = 64
    /// Nanoseconds between marks that are set, at first.
    private static let spacing: UInt64 = 50_000_000

    private var marks: [Mark] = []
    private var spacing = Self.spacing

    /// When the oldest came of those that aren't passed, or an older one; 0 where nobody knows.
    var oldest: UInt64 { marks.first?.time ?? 0 }

    /// A record has come.
    mutating func take(_ position: RecordPosition, at now: UInt64) {
        if let last = marks.last, now < last.time &+ spacing { return }
        if marks.count >= Self.most {
            marks = marks.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            spacing = spacing > UInt64.max / 2 ? spacing : spacing * 2
        }
        marks.append(Mark(position: position, time: now))
    }

    /// The records up to here are passed.
    mutating func pass(_ position: RecordPosition) {
        let passed = marks.dropFirst().prefix { $0.position <= position + 1 }.count
        if passed > 0 { marks.removeFirst(passed) }
    }

    /// All are passed.
    mutating func passAll() {
        guard !marks.isEmpty else { return }
        marks.removeAll(keepingCapacity: true)
        spacing = Self.spacing
    }
}
