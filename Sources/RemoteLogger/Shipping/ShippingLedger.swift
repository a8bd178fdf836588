import HTTPTransport

/// The accounts of a shipper: what became of the records, and who waits for which. Everything in it changes under one lock together
/// with the store, so that the sums are right at any moment.
struct ShippingLedger: Sendable {
    /// Someone who waits for the records up to a place.
    private struct Waiter: Sendable {
        let target: RecordPosition
        var hasLosses = false
        var result: Bool?
        var continuation: CheckedContinuation<Bool, Never>?
    }

    /// The counts; what is lost is in ``losses``, and what is buffered is filled in from the store.
    var counts = LogStatistics()
    private(set) var losses = LossCounts()
    /// No more records are taken.
    var isRefusing = false
    /// Who reports losses sleeps without a time: the first one wakes him.
    var isLossAwaited = false
    /// Everything is settled for good; a request that is still on its way counts for nothing.
    var isClosed = false
    /// The place of the last record.
    var last: RecordPosition = 0
    /// Records up to here are sent without waiting for more.
    private(set) var flushThrough: RecordPosition = 0
    /// How often somebody asked to flush.
    private var flushes: UInt64 = 0

    /// The losses that the receiver was told of.
    private var toldLosses: [DropReason: UInt64] = [:]
    /// How many losses were reported.
    private var reported: UInt64 = 0
    /// When losses may be reported again, on the monotonic clock.
    private var nextReport: UInt64 = 0

    private var waiters: [UInt64: Waiter] = [:]

    // MARK: Records

    /// Counts a lost record.
    mutating func drop(_ position: RecordPosition, _ reason: DropReason) {
        drop(1, from: position, reason)
    }

    /// Counts lost records, the first of which stands at a place.
    mutating func drop(_ count: Int, from position: RecordPosition, _ reason: DropReason) {
        guard count > 0 else { return }
        losses.add(UInt64(count), reason)
        noteLoss(from: position)
    }

    private mutating func noteLoss(from position: RecordPosition) {
        guard hasWaiters else { return }
        for (ticket, waiter) in waiters where waiter.target >= position {
            waiters[ticket]?.hasLosses = true
        }
    }

    /// Ends the waits for records of which none is held any more.
    ///
    /// - Parameter first: the place of the oldest record that is still held.
    mutating func settleWaiters(first: RecordPosition?) {
        for (ticket, waiter) in waiters where waiter.target < first ?? .max {
            end(ticket, delivered: !waiter.hasLosses)
        }
    }

    /// Ends the waits for what isn't delivered.
    mutating func endWaiters() {
        for ticket in waiters.keys { end(ticket, delivered: false) }
    }

    var hasWaiters: Bool { !waiters.isEmpty }

    /// When losses are to be reported, on the monotonic clock; `nil` while there are none to report.
    var reportDue: UInt64? { losses.total > reported ? nextReport : nil }

    /// The losses so far are reported.
    mutating func noteReport(next: UInt64) {
        reported = losses.total
        nextReport = next
    }

    /// Whether who reports losses is to be woken now.
    mutating func takeLossWake() -> Bool {
        guard isLossAwaited, reportDue != nil else { return false }
        isLossAwaited = false
        return true
    }

    /// What the receiver can't know: the losses on this side that it wasn't told of. They count as told from now on.
    mutating func takeUntoldLosses() -> [(reason: DropReason, count: UInt64)] {
        let reasons: [DropReason] = [.overflow, .oversize, .unencodable, .damaged, .expired]
        return reasons.compactMap { reason in
            let count = losses[reason]
            let untold = count - toldLosses[reason, default: 0]
            toldLosses[reason] = count
            return untold > 0 ? (reason, untold) : nil
        }
    }

    /// The receiver doesn't come to know of these after all.
    mutating func untell(_ losses: [(reason: DropReason, count: UInt64)]) {
        for loss in losses { toldLosses[loss.reason, default: 0] -= min(loss.count, toldLosses[loss.reason, default: 0]) }
    }

    // MARK: Waiters

    /// Registers someone who waits for everything up to now, what the store has found included.
    mutating func beginFlush(_ load: StoreLoad) -> UInt64 {
        flushes += 1
        flushThrough = max(last, load.last)
        waiters[flushes] = Waiter(target: flushThrough)
        settleWaiters(first: load.first)
        if isClosed { endWaiters() }
        return flushes
    }

    /// Connects who waits; the answer may be there already.
    mutating func attach(_ continuation: CheckedContinuation<Bool, Never>, to ticket: UInt64) {
        guard let waiter = waiters[ticket], waiter.result == nil else {
            let result = waiters.removeValue(forKey: ticket)?.result
            return continuation.resume(returning: result ?? false)
        }
        waiters[ticket]?.continuation = continuation
    }

    /// Ends a wait, if it hasn't ended. To resume a continuation only schedules its task, which may be done under the lock.
    mutating func end(_ ticket: UInt64, delivered: Bool) {
        guard let waiter = waiters[ticket], waiter.result == nil else { return }
        guard let continuation = waiter.continuation else {
            waiters[ticket]?.result = delivered
            return
        }
        waiters[ticket] = nil
        continuation.resume(returning: delivered)
    }
}

/// The tickets of a receiver that acknowledges later, so that one question asks for all of them, whichever batch is the first to want to know.
///
/// An answer that says yes may say so only once, hence it is kept for the batch that hasn't asked yet.
struct TicketBook: Sendable {
    /// What is to be done for a ticket.
    enum Step: Sendable, Equatable {
        /// The receiver has said yes.
        case acknowledged
        /// It was asked for the ticket just now.
        case notYet
        /// It is to be asked for these, this one among them.
        case ask([String])
    }

    /// When each was wanted last.
    private var wanted: [String: UInt64] = [:]
    /// When the receiver has said yes to those whose batches haven't asked since.
    private var acknowledged: [String: UInt64] = [:]
    private var asked: Set<String> = []
    private var askedAt: UInt64?

    /// Wants to know of a ticket.
    ///
    /// - Parameters:
    ///   - now: the time in nanoseconds, which never goes back.
    ///   - interval: how long it is between two questions of a batch, in nanoseconds.
    mutating func step(for ticket: String, now: UInt64, interval: UInt64) -> Step {
        guard acknowledged.removeValue(forKey: ticket) == nil else { return .acknowledged }
        wanted[ticket] = now
        // A batch that wants to know no more has given up.
        let (product, overflows) = interval.multipliedReportingOverflow(by: 10)
        let limit = overflows ? .max : max(product, 1_000_000_000)
        wanted = wanted.filter { now &- $0.value <= limit }
        acknowledged = acknowledged.filter { now &- $0.value <= limit }
        if let askedAt, now &- askedAt < interval, asked.contains(ticket) { return .notYet }
        asked = Set(wanted.keys)
        askedAt = now
        return .ask(wanted.keys.sorted())
    }

    /// Notes for which of them the receiver has said yes to a question for a ticket.
    mutating func note(_ tickets: Set<String>, askedFor ticket: String, now: UInt64) {
        for other in tickets {
            wanted[other] = nil
            if other != ticket { acknowledged[other] = now }
        }
    }
}

/// The batches that are on their way, in order. A store takes acknowledgements in order, hence what becomes of a batch waits for those
/// before it.
final class ShippingWindow: Sendable {
    private struct Entry: Sendable {
        let number: UInt64
        var settled: [(record: StoredRecord, outcome: PendingBatch.Outcome)] = []
        var isDone = false
        /// The receiver has it, and hasn't acknowledged it yet.
        var isUnacknowledged = false
    }

    private let core: ShippingCore
    private let entries = Locked<[Entry]>([])
    /// Rings when there may be room for another batch.
    let change = Alarm()

    init(core: ShippingCore) {
        self.core = core
    }

    /// Whether another batch may be sent.
    var hasRoom: Bool {
        let (limit, maximum) = (core.pace.limit, max(1, core.settings.maximumUnacknowledgedBatches))
        return entries.withLock { entries in
            let unacknowledged = entries.count { $0.isUnacknowledged }
            let sending = entries.count { !$0.isUnacknowledged && !$0.isDone }
            // One that comes to no end mustn't let those pile up that have ended behind it.
            return sending < limit && unacknowledged < maximum && entries.count < limit + maximum
        }
    }

    /// A batch begins, behind all others.
    func append(_ number: UInt64) {
        entries.withLock { $0.append(Entry(number: number)) }
    }

    /// Something of a batch is settled; `isDone` when that was the last of it.
    func settle(_ number: UInt64, _ settled: [(record: StoredRecord, outcome: PendingBatch.Outcome)], isDone: Bool) {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
            entries[index].settled += settled
            entries[index].isDone = isDone
            // Under the lock, for the order of those that end at once.
            while let first = entries.first {
                core.settle(first.settled)
                entries[0].settled = []
                guard first.isDone else { break }
                entries.removeFirst()
            }
        }
        change.ring()
    }

    /// A batch waits for its acknowledgement, or not any more: meanwhile another one may be sent.
    func setUnacknowledged(_ number: UInt64, _ isUnacknowledged: Bool) {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
            entries[index].isUnacknowledged = isUnacknowledged
        }
        change.ring()
    }
}
