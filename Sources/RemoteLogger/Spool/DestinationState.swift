/// How far a destination is.
struct DestinationState: Sendable {
    /// It gets these records.
    var selection = RecordSelection()
    /// Segments of whose records nobody knows yet whether it gets them.
    var unjudged: Set<SegmentName> = []
    /// A shipper uses it.
    var isOpen = false
    /// Everything up to here is acknowledged, or not for this destination.
    var acknowledged: RecordPosition = 0
    /// Everything up to here was handed out.
    var read: RecordPosition = 0
    /// What was handed out and isn't acknowledged.
    private(set) var handed: [RecordPosition] = []
    /// For what was handed out at once: its last place, and when the oldest of it came, or an older one.
    private var handings: [(last: RecordPosition, since: UInt64)] = []
    /// How many records are held for it, those that were handed out included.
    private(set) var held = 0
    /// The bytes of what wasn't handed out, as they take in memory, about.
    private(set) var unreadBytes = 0
    /// When these came.
    private var arrivals = ArrivalMarks()
    /// How many of its records somebody else has put here.
    var found = 0
    /// What was lost and not told yet, by reason.
    private(set) var losses = ShortList<RecordLoss>()
    /// The cursor as it was written last.
    var cursor = DestinationCursor()
    /// Whether the cursor has its file.
    var hasFile = false
    /// Where to read on.
    var mark: ReadingMark?
    /// What ends the sleep of the shipper that uses it.
    var wake = WakeCondition.never
    /// The shipper waits for a loss.
    var isLossAwaited = false

    var minimumLevel: LogLevel { selection.minimumLevel }
    /// When the oldest came of what wasn't handed out, or an older one.
    var since: UInt64 { arrivals.oldest }
    /// When the oldest came of what was handed out, or an older one.
    var handedSince: UInt64? { handings.first?.since }
    var unread: Int { held - handed.count }
    /// How many these are.
    var lost: Int { losses.reduce(0) { $0 + $1.count } }

    /// A record has come to that place; `isFound` when somebody else has brought it.
    mutating func take(_ level: LogLevel, at position: RecordPosition, size: Int, now: UInt64, isFound: Bool) {
        guard level >= minimumLevel else { return }
        if unread == 0 {
            arrivals.passAll()
            unreadBytes = 0
        }
        arrivals.take(position, at: now)
        held += 1
        unreadBytes += size
        if isFound { found += 1 }
    }

    /// Begins anew behind what is acknowledged.
    mutating func forget() {
        read = acknowledged
        handed = []
        handings = []
        held = 0
        found = 0
        losses = ShortList()
        unreadBytes = 0
        arrivals.passAll()
        mark = nil
    }

    /// Records are there that an earlier run has left, or another shipper of this one.
    ///
    /// - Parameter since: when the oldest of them came; 0 where this run's clock doesn't know.
    mutating func find(_ count: Int, since: UInt64) {
        if count > 0 { arrivals.take(0, at: since) }
        held += count
        found += count
    }

    /// Records that were left by an earlier run turn out not to be for it.
    mutating func exclude(_ count: Int) {
        held -= count
        found -= count
    }

    /// A record is lost. One that it doesn't get, or that was handed out, isn't lost for it.
    mutating func lose(_ position: RecordPosition, _ level: LogLevel, _ reason: DropReason) {
        if level >= minimumLevel, position > read { lose(1, from: position, reason) }
    }

    mutating func lose(_ count: Int, from position: RecordPosition, _ reason: DropReason) {
        held -= count
        guard let index = losses.firstIndex(where: { $0.reason == reason }) else {
            return losses.append(RecordLoss(count: count, first: position, reason: reason))
        }
        losses[index].count += count
        losses[index].first = min(position, losses[index].first)
    }

    /// Lets go of the last records, some of which may be handed out.
    mutating func abandon(_ count: Int) {
        let fromHanded = max(0, count - unread)
        handed.removeLast(min(handed.count, fromHanded))
        if handed.isEmpty { handings = [] }
        held -= count
    }

    /// Tells how it is after a record has come, and what is lost.
    mutating func tell(_ outcome: inout AppendOutcome) {
        outcome.mustWake = wake.take(unread, unreadBytes)
        if !losses.isEmpty { outcome.losses = takeLosses() }
    }

    /// Tells what the shipper waits for and hasn't brought itself.
    mutating func takeNews(_ tell: (StoreNews) -> Void) {
        if wake.take(unread, unreadBytes) { tell(.records) }
        guard isLossAwaited, !losses.isEmpty else { return }
        isLossAwaited = false
        tell(.losses)
    }

    mutating func takeLosses() -> ShortList<RecordLoss> {
        defer { losses = ShortList() }
        if losses.count > 1 { losses.sort { $0.reason.rawValue < $1.reason.rawValue } }
        return losses
    }

    /// Records are handed out; those that were before don't count again.
    mutating func hand(_ records: ArraySlice<StoredRecord>, through position: RecordPosition) {
        for record in records where record.position > read {
            handed.append(record.position)
            unreadBytes -= record.record.footprint
        }
        if let last = records.last, last.position > read { handings.append((last.position, since)) }
        unreadBytes = max(0, unreadBytes)
        read = max(read, position)
        arrivals.pass(read)
    }

    mutating func acknowledge(through position: RecordPosition) {
        let count = handed.firstIndex { $0 > position } ?? handed.count
        handed.removeFirst(count)
        handings.removeAll { $0.last <= position }
        held -= count
        acknowledged = max(acknowledged, handed.isEmpty && position >= acknowledged ? max(position, read) : position)
    }
}
