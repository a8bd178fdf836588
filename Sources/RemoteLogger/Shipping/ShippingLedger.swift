import HTTPTransport

/// The accounts of a shipper: the outcomes of records, and the flushes that wait for them. All changes happen under one lock, together with
/// those of the store, so that the sums are always correct.
struct ShippingLedger: Sendable {
    /// A flush that waits for the records up to a position.
    private struct Waiter: Sendable {
        let target: RecordPosition
        var hasLosses = false
        var result: Bool?
        var continuation: CheckedContinuation<Bool, Never>?
    }

    /// The counts, without losses (see ``losses``) and buffered records, which come from the store.
    var counts = LogStatistics()
    private(set) var losses = LossCounts()
    /// Whether new records are refused.
    var isRefusing = false
    /// Whether the loss reporter sleeps indefinitely, so that the next loss must wake it.
    var isLossAwaited = false
    /// Whether all records are settled permanently; requests in flight no longer count.
    var isClosed = false
    /// The position of the last record.
    var last: RecordPosition = 0
    /// The position up to which records are sent without waiting for more.
    private(set) var flushThrough: RecordPosition = 0
    /// The number of flushes.
    private var flushes: UInt64 = 0

    /// The losses that the receiver knows.
    private var lossesKnownToReceiver: [DropReason: UInt64] = [:]
    /// The number of losses in the last report.
    private var reported: UInt64 = 0
    /// The earliest time of the next report, on the monotonic clock.
    private var nextReport: UInt64 = 0

    private var waiters: [UInt64: Waiter] = [:]

    // MARK: Records

    /// Counts a lost record.
    mutating func drop(_ position: RecordPosition, _ reason: DropReason) {
        drop(1, from: position, reason)
    }

    /// Counts lost records; `position` is that of the first one.
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

    /// Ends the flushes whose records are all settled.
    ///
    /// - Parameter first: The position of the oldest held record.
    mutating func settleWaiters(first: RecordPosition?) {
        for (ticket, waiter) in waiters where waiter.target < first ?? .max {
            end(ticket, delivered: !waiter.hasLosses)
        }
    }

    /// Ends the remaining flushes as not delivered.
    mutating func endWaiters() {
        for ticket in waiters.keys { end(ticket, delivered: false) }
    }

    var hasWaiters: Bool { !waiters.isEmpty }

    /// The time of the next report, on the monotonic clock; `nil` if all losses are reported.
    var reportDue: UInt64? { losses.total > reported ? nextReport : nil }

    /// Marks all losses as reported.
    mutating func noteReport(next: UInt64) {
        reported = losses.total
        nextReport = next
    }

    /// Returns whether the loss reporter must be woken now.
    mutating func takeLossWake() -> Bool {
        guard isLossAwaited, reportDue != nil else { return false }
        isLossAwaited = false
        return true
    }

    /// Returns the local losses that the receiver doesn't know, and marks them as known.
    mutating func takeUnreportedLosses() -> [(reason: DropReason, count: UInt64)] {
        let reasons: [DropReason] = [.overflow, .oversize, .unencodable, .damaged, .expired]
        return reasons.compactMap { reason in
            let count = losses[reason]
            let unreported = count - lossesKnownToReceiver[reason, default: 0]
            lossesKnownToReceiver[reason] = count
            return unreported > 0 ? (reason, unreported) : nil
        }
    }

    /// Marks losses as unknown to the receiver again.
    mutating func markUnreported(_ losses: [(reason: DropReason, count: UInt64)]) {
        for loss in losses {
            let known = lossesKnownToReceiver[loss.reason, default: 0]
            lossesKnownToReceiver[loss.reason] = known - min(loss.count, known)
        }
    }

    // MARK: Waiters

    /// Registers a flush of all records so far, including those found in the store.
    mutating func beginFlush(_ load: StoreLoad) -> UInt64 {
        flushes += 1
        flushThrough = max(last, load.last)
        waiters[flushes] = Waiter(target: flushThrough)
        settleWaiters(first: load.first)
        if isClosed { endWaiters() }
        return flushes
    }

    /// Attaches a flush's continuation; the result may already be there.
    mutating func attach(_ continuation: CheckedContinuation<Bool, Never>, to ticket: UInt64) {
        guard let waiter = waiters[ticket], waiter.result == nil else {
            let result = waiters.removeValue(forKey: ticket)?.result
            return continuation.resume(returning: result ?? false)
        }
        waiters[ticket]?.continuation = continuation
    }

    /// Ends a flush that hasn't ended. Resuming a continuation only schedules its task, which is safe under the lock.
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

/// The tickets of a receiver that acknowledges asynchronously. One query asks for all open tickets, regardless of which batch makes it.
///
/// A receiver may confirm a ticket only once, so the answer is kept until its batch asks.
struct AcknowledgementTracker: Sendable {
    /// The next step for a ticket.
    enum Step: Sendable, Equatable {
        /// The receiver has confirmed the ticket.
        case acknowledged
        /// The ticket was queried just now.
        case notYet
        /// The given tickets, including this one, must be queried.
        case ask([String])
    }

    /// The time of each ticket's last request.
    private var wanted: [String: UInt64] = [:]
    /// The confirmation times of tickets whose batches haven't asked since.
    private var acknowledged: [String: UInt64] = [:]
    private var asked: Set<String> = []
    private var askedAt: UInt64?

    /// Returns the next step for a ticket.
    ///
    /// - Parameters:
    ///   - now: The monotonic time in nanoseconds.
    ///   - interval: The time between two queries for a batch, in nanoseconds.
    mutating func step(for ticket: String, now: UInt64, interval: UInt64) -> Step {
        guard acknowledged.removeValue(forKey: ticket) == nil else { return .acknowledged }
        wanted[ticket] = now
        // A batch that has stopped asking has given up, so its ticket is removed.
        let (product, overflows) = interval.multipliedReportingOverflow(by: 10)
        let limit = overflows ? .max : max(product, 1_000_000_000)
        wanted = wanted.filter { now &- $0.value <= limit }
        acknowledged = acknowledged.filter { now &- $0.value <= limit }
        if let askedAt, now &- askedAt < interval, asked.contains(ticket) { return .notYet }
        asked = Set(wanted.keys)
        askedAt = now
        return .ask(wanted.keys.sorted())
    }

    /// Notes the tickets that the receiver has confirmed in a query for one of them.
    mutating func note(_ tickets: Set<String>, askedFor ticket: String, now: UInt64) {
        for other in tickets {
            wanted[other] = nil
            if other != ticket { acknowledged[other] = now }
        }
    }
}

/// The batches in flight, in order. A store takes acknowledgements in order, so the outcome of a batch waits for those before it.
final class ShippingWindow: Sendable {
    private struct Entry: Sendable {
        let number: UInt64
        var settled: [(record: StoredRecord, outcome: PendingBatch.Outcome)] = []
        var isDone = false
        /// Whether the receiver has accepted the batch but not acknowledged it yet.
        var isUnacknowledged = false
    }

    private let core: ShippingCore
    private let entries = Locked<[Entry]>([])
    /// Signals that another batch may fit.
    let change = Signal()

    init(core: ShippingCore) {
        self.core = core
    }

    /// Whether another batch may be sent.
    var hasRoom: Bool {
        let (limit, maximum) = (core.pace.limit, max(1, core.settings.maximumUnacknowledgedBatches))
        return entries.withLock { entries in
            let unacknowledged = entries.count { $0.isUnacknowledged }
            let sending = entries.count { !$0.isUnacknowledged && !$0.isDone }
            // Limits the number of settled batches that wait for one that never ends. The sum of the two limits may overflow.
            return sending < limit && unacknowledged < maximum && entries.count - limit < maximum
        }
    }

    /// Adds a batch at the end.
    func append(_ number: UInt64) {
        entries.withLock { $0.append(Entry(number: number)) }
    }

    /// Adds outcomes of a batch; `isDone` if they are the last ones.
    func settle(_ number: UInt64, _ settled: [(record: StoredRecord, outcome: PendingBatch.Outcome)], isDone: Bool) {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
            entries[index].settled += settled
            entries[index].isDone = isDone
            // Settled under the lock, to keep the order of batches that end at the same time.
            while let first = entries.first {
                core.settle(first.settled)
                entries[0].settled = []
                guard first.isDone else { break }
                entries.removeFirst()
            }
        }
        change.send()
    }

    /// Changes whether a batch waits for its acknowledgement, during which another one may be sent.
    func setUnacknowledged(_ number: UInt64, _ isUnacknowledged: Bool) {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
            entries[index].isUnacknowledged = isUnacknowledged
        }
        change.send()
    }
}
