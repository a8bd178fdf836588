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
