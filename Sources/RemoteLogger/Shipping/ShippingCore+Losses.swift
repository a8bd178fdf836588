import WebServiceClient

/// Tells of losses: the diagnostics of all there were, the receiver of those that it can't know. At once when it begins, then once a minute.
extension ShippingCore {
    /// The time between two reports.
    private static var interval: UInt64 { 60 * 1_000_000_000 }

    private enum ReportStep {
        case report
        case wait(Duration?)
        case end
    }

    /// Reports until the shipper is closed, in a task of its own: the loop may wait long for the receiver, or for the disk.
    ///
    /// While it sleeps without a time, whoever counts a loss wakes it, and once only: see ``ShippingLedger/isLossAwaited``.
    func reportLosses() async {
        while !Task.isCancelled {
            switch nextReport {
            case .end: return
            case .wait(let duration): await lossAlarm.wait(for: duration, clock: settings.clock)
            case .report: tellLosses(atOnce: false)
            }
        }
    }

    private var nextReport: ReportStep {
        let now = settings.clock.uptime
        return ledger.withLock { ledger in
            guard !ledger.isClosed else { return .end }
            ledger.isLossAwaited = false
            repeat {
                countLosses(&ledger)
                if let due = ledger.reportDue { return due > now ? .wait(.nanoseconds(Int64(clamping: due - now))) : .report }
            } while !store.awaitLosses()
            ledger.isLossAwaited = true
            return .wait(nil)
        }
    }

    /// Counts what the store has lost by itself, for those who wait, too.
    private func countLosses(_ ledger: inout ShippingLedger) {
        let hasLosses = takeLosses(&ledger)
        if ledger.hasWaiters, hasLosses { ledger.settleWaiters(first: store.load.first) }
    }

    /// Tells of the losses since the last time, if there were any.
    ///
    /// - Parameter atOnce: whether it may be sooner than the interval says.
    func tellLosses(atOnce: Bool) {
        let told = telling.withLock { _ in tell(atOnce: atOnce) }
        guard !told.isEmpty else { return }
        let text = told.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        report(.warning, "\(told.values.reduce(0, +)) log records were dropped so far: \(text).")
    }

    /// Takes the losses that nobody was told of, and writes the record of them, in one step: a flush that comes between would find nothing left to
    /// tell, and go without it.
    ///
    /// - Returns: all losses, for the diagnostics; none if nothing is to be told now.
    private func tell(atOnce: Bool) -> [DropReason: UInt64] {
        let now = settings.clock.uptime
        let (dropped, untold) = ledger.withLock { ledger -> ([DropReason: UInt64], [(reason: DropReason, count: UInt64)]) in
            countLosses(&ledger)
            guard !ledger.isClosed, let due = ledger.reportDue, atOnce || due <= now else { return ([:], []) }
            ledger.noteReport(next: now &+ Self.interval)
            return (ledger.losses.byReason, settings.reportsLosses && !ledger.isRefusing ? ledger.takeUntoldLosses() : [])
        }
        guard !untold.isEmpty else { return dropped }
        let record = LogRecord(
            losses: untold, for: settings.destination, clockOffset: sender.clockOffset, level: max(.warning, settings.minimumLevel),
            clock: settings.clock)
        // Where there is no room for it the next one tells these, too, and the loss of this one.
        if !write(record) { ledger.withLock { $0.untell(untold) } }
        return dropped
    }
}
