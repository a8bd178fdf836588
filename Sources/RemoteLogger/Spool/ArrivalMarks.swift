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
