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
