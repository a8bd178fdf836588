import Foundation
import HTTPTransport

/// The state that a shipper's front end and its loop share: settings, store, accounts, and the signal by which the front end wakes the
/// loop.
final class ShippingCore: Sendable {
    let format: any LogFormat
    let sender: any PayloadSender
    let settings: ShippingSettings
    let store: any RecordStore
    /// Wakes the loop when it has work.
    let signal = Signal()
    /// Wakes ``reportLosses()`` when there are losses to report.
    let lossSignal = Signal()
    let pace: ReceiverPace
    let coding = ContentCodingMemory()

    let ledger = Locked(ShippingLedger())
    /// Held while losses are reported: see ``reportNewLosses(atOnce:)``.
    let lossReporting = Locked(())
    private let selection: RecordSelection
    /// The start time on the clock.
    private let started: UInt64
    private let task = Locked<Task<Void, Never>?>(nil)

    init(format: any LogFormat, sender: any PayloadSender, settings: ShippingSettings, store: any RecordStore) {
        self.format = format
        self.sender = sender
        self.settings = settings
        self.store = store
        selection = settings.selection
        started = settings.clock.uptime
        pace = ReceiverPace(settings: settings)
    }

    /// Starts the loop, which retains the core until it is closed.
    func start() {
        // Set before the loop starts, so that records arriving after its first look are reported.
        store.onNews { [signal, lossSignal] news in
            switch news {
            case .records: signal.send()
            case .losses: lossSignal.send()
            }
        }
        let loop = Task.detached(priority: .utility) { [self] in
            await OwnWork.$isShipping.withValue(true) {
                await ShippingLoop(core: self).run()
            }
        }
        task.withLock { $0 = loop }
    }

    /// Appends a record.
    ///
    /// - Returns: Whether the record is kept.
    @discardableResult func write(_ record: LogRecord) -> Bool {
        let now = settings.clock.uptime
        // A spool applies the filter to all records, including those of other shippers.
        if settings.spool == nil, selection.excludes(record) { return false }
        let (isKept, wakesLoop, wakesReport) = ledger.withLock { ledger in
            guard !ledger.isRefusing else {
                if settings.spool != nil, selection.excludes(record) { return (false, false, false) }
                ledger.counts.emitted += 1
                ledger.drop(ledger.last + 1, .shutdown)
                return (false, false, false)
            }
            let outcome = store.append(record, now: now)
            guard !outcome.isExcluded else { return (false, false, false) }
            ledger.counts.emitted += 1
            ledger.last = outcome.position
            outcome.losses.forEach { ledger.drop($0.count, from: $0.first, $0.reason) }
            let hasLosses = outcome.mayHaveLosses && takeLosses(&ledger) || !outcome.losses.isEmpty
            if ledger.hasWaiters, hasLosses { ledger.settleWaiters(first: store.load.first) }
            return (!outcome.isLost, outcome.mustWake, hasLosses && ledger.takeLossWake())
        }
        if wakesLoop { signal.send() }
        if wakesReport { lossSignal.send() }
        return isKept
    }

    /// Counts the losses that the store reports, and wakes the loss reporter, which the store may not have done yet.
    ///
    /// - Returns: Whether there were any.
    @discardableResult func takeLosses(_ ledger: inout ShippingLedger) -> Bool {
        let losses = store.takeLosses()
        for loss in losses { ledger.drop(loss.count, from: loss.first, loss.reason) }
        // Ringing only schedules a task, which is safe under the lock.
        if !losses.isEmpty, ledger.takeLossWake() { lossSignal.send() }
        return !losses.isEmpty
    }

    func flush(within limit: Duration) async -> Bool {
        // The loss report is flushed with the other records.
        reportNewLosses(atOnce: false)
        let ticket = ledger.withLock { $0.beginFlush(store.load) }
        pace.noteFlush()
        signal.send()
        let limit = settings.clock.uptime &+ limit.wholeNanoseconds
        let timer = Task {
            try await settings.clock.sleep(until: limit)
            end(ticket)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ledger.withLock { $0.attach(continuation, to: ticket) }
            }
        } onCancel: {
            end(ticket)
        }
    }

    private func end(_ ticket: UInt64) {
        ledger.withLock { $0.end(ticket, delivered: false) }
    }

    /// Stops accepting records.
    func refuse() {
        ledger.withLock { $0.isRefusing = true }
    }

    /// Returns the part of a shutdown's time that is reserved for the disk: at most half of it, and none without a spool.
    func persistTime(within limit: Duration) -> Duration {
        settings.spool == nil ? .zero : min(limit / 2, .milliseconds(200))
    }

    /// Waits until the remaining records are as durable as possible or the time is over, but always for a moment.
    func persist(until end: UInt64) async {
        let end = max(end, settings.clock.uptime &+ Duration.milliseconds(20).wholeNanoseconds)
        let isDone = Signal()
        Task {
            await store.persist()
            isDone.send()
        }
        await isDone.wait(until: end, clock: settings.clock)
    }

    /// Closes the shipper and counts the records that the store doesn't keep for another run as dropped.
    func close() {
        let lost = ledger.withLock { ledger in
            guard !ledger.isClosed else { return 0 }
            ledger.isRefusing = true
            ledger.isClosed = true
            takeLosses(&ledger)
            let first = store.load.first
            ledger.settleWaiters(first: first)
            let lost = store.close()
            ledger.drop(lost, from: first ?? 0, .shutdown)
            _ = accounts(of: ledger, store.load)
            // Records that stay in the spool aren't delivered.
            ledger.endWaiters()
            return lost
        }
        task.withLock { $0 }?.cancel()
        pace.close()
        signal.send()
        lossSignal.send()
        sender.close()
        if lost > 0 { report(.warning, "\(lost) log records were not delivered before the shutdown.") }
    }

    var statistics: LogStatistics {
        let now = settings.clock.uptime
        return ledger.withLock { ledger in
            takeLosses(&ledger)
            let load = store.census
            var counts = accounts(of: ledger, load)
            counts.spooled = UInt64(clamping: load.spooled)
            counts.bufferedBytes = load.bytes
            // This run's clock doesn't know the arrival times of an earlier run's records.
            let since = min(now, load.firstSince > 0 ? load.firstSince : started)
            counts.oldestAge = load.first == nil ? nil : .nanoseconds(Int64(clamping: now - since))
            counts.receiverClockOffset = sender.clockOffset.map { .nanoseconds($0) }
            counts.nextAttempt = pace.nextAttempt(at: now)
            counts.concurrency = pace.limit
            return counts
        }
    }

    /// Returns the accounts of all records. Requires the ledger's lock, and asserts in every test that the sum is correct.
    private func accounts(of ledger: ShippingLedger, _ load: StoreLoad) -> LogStatistics {
        var counts = ledger.counts
        counts.dropped = ledger.losses.byReason
        counts.emitted += UInt64(clamping: load.found)
        counts.found = UInt64(clamping: load.found)
        counts.buffered = UInt64(clamping: load.records)
        assert(counts.emitted == counts.delivered + counts.droppedInAll + counts.buffered, "\(settings.destination): \(counts)")
        return counts
    }
}

/// The loop's queries and reports.
extension ShippingCore {
    /// The loop's next step.
    enum Step: Sendable {
        /// Read a batch and send it.
        case send
        /// Wait until a moment on the clock or until the signal is sent.
        case wait(until: UInt64?)
        /// Check again, because something has just arrived.
        case again
        /// End the loop.
        case end
    }

    /// Determines the loop's next step.
    ///
    /// No wake-up is lost, because checking and going to sleep are one step: ``RecordStore/sleep(until:)`` refuses if its condition is
    /// already met. After that, everything that makes records readable or due for this shipper (its own front end, another shipper on the
    /// same spool, the spool itself) checks the condition in the store, under the lock that protects the records. The first one that meets
    /// it sends the signal and clears the condition, so each sleep ends with one wake-up, however many records arrive. Other events that
    /// end a sleep (a flush, the close) send the signal themselves, and the signal is kept if it is sent before the loop waits.
    var nextStep: Step {
        let now = settings.clock.uptime
        let interval = settings.batch.interval.wholeNanoseconds
        return ledger.withLock { ledger in
            guard !ledger.isClosed else { return .end }
            let hasLosses = takeLosses(&ledger)
            let load = store.load
            if ledger.hasWaiters, hasLosses { ledger.settleWaiters(first: load.first) }
            guard let first = load.firstUnread else { return store.sleep(until: .anything) ? .wait(until: nil) : .again }
            let age = now > load.firstUnreadSince ? now - load.firstUnreadSince : 0
            guard age < interval, !due.isMet(by: load.unread, load.unreadBytes), first > ledger.flushThrough else { return .send }
            return store.sleep(until: due) ? .wait(until: load.firstUnreadSince &+ interval) : .again
        }
    }

    /// The condition for a request. A buffer that is smaller than a batch must not wait for a full one.
    private var due: WakeCondition {
        WakeCondition(
            records: min(settings.batch.records, settings.buffer.records), bytes: min(settings.batch.bytes, settings.buffer.bytes / 2))
    }

    var isClosed: Bool { ledger.withLock { $0.isClosed } }

    /// Counts a request, before the request is sent.
    func countRequest(isRepeat: Bool) {
        ledger.withLock { ledger in
            // The counts are final after the close.
            guard !ledger.isClosed else { return }
            ledger.counts.requests += 1
            if isRepeat { ledger.counts.repeats += 1 }
        }
    }

    func note(status: Int) {
        ledger.withLock { ledger in
            if !ledger.isClosed { ledger.counts.lastStatus = status }
        }
    }

    /// Settles records by their outcomes. Does nothing after the close, which has settled all records.
    func settle(_ settled: [(record: StoredRecord, outcome: PendingBatch.Outcome)]) {
        guard let last = settled.last else { return }
        let wakesReport = ledger.withLock { ledger in
            guard !ledger.isClosed else { return false }
            for (record, outcome) in settled {
                switch outcome {
                case .delivered: ledger.counts.delivered += 1
                case .dropped(let reason): ledger.drop(record.position, reason)
                }
            }
            store.acknowledge(through: last.record.position)
            if ledger.hasWaiters { ledger.settleWaiters(first: store.load.first) }
            return ledger.takeLossWake()
        }
        if wakesReport { lossSignal.send() }
    }

    /// Writes records that are about to be dropped to the dead-letter file, if there is one.
    func writeDeadLetters(_ records: [LogRecord], _ reason: DropReason, _ message: String) async {
        await settings.deadLetters?.write(records, reason, message, receiver: sender.receiver)
    }

    /// Reports a diagnostic, with secrets masked.
    func report(_ level: Diagnostics.Event.Level, _ message: String) {
        settings.diagnostics.reportOwnWork(level, message)
    }
}

/// Reports losses: all losses to the diagnostics, and the losses that the receiver can't know also to the receiver. The first report is
/// immediate; others follow once a minute.
extension ShippingCore {
    /// The time between two reports, in nanoseconds.
    private static var interval: UInt64 { 60 * 1_000_000_000 }

    private enum ReportStep {
        case report
        case wait(until: UInt64?)
        case end
    }

    /// Reports until the shipper is closed, in a separate task: the loop may wait long for the receiver or the disk.
    ///
    /// While it sleeps indefinitely, the next counted loss wakes it, once: see ``ShippingLedger/isLossAwaited``.
    func reportLosses() async {
        while !Task.isCancelled {
            switch nextReport {
            case .end: return
            case .wait(let end): await lossSignal.wait(until: end, clock: settings.clock)
            case .report: reportNewLosses(atOnce: false)
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
                if let due = ledger.reportDue { return due > now ? .wait(until: due) : .report }
            } while !store.awaitLosses()
            ledger.isLossAwaited = true
            return .wait(until: nil)
        }
    }

    /// Counts the losses that the store reports, also for waiting flushes.
    private func countLosses(_ ledger: inout ShippingLedger) {
        let hasLosses = takeLosses(&ledger)
        if ledger.hasWaiters, hasLosses { ledger.settleWaiters(first: store.load.first) }
    }

    /// Reports the losses since the last report, if there were any.
    ///
    /// - Parameter atOnce: Whether to ignore the interval between reports.
    func reportNewLosses(atOnce: Bool) {
        let losses = lossReporting.withLock { _ in takeReport(atOnce: atOnce) }
        guard !losses.isEmpty else { return }
        let text = losses.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        report(.warning, "\(losses.values.reduce(0, +)) log records were dropped so far: \(text).")
    }

    /// Takes the unreported losses and writes their report in one step: a flush in between would find no losses and miss the report.
    ///
    /// - Returns: All losses, for the diagnostics; empty if no report is due.
    private func takeReport(atOnce: Bool) -> [DropReason: UInt64] {
        let now = settings.clock.uptime
        let (dropped, unreported) = ledger.withLock { ledger -> ([DropReason: UInt64], [(reason: DropReason, count: UInt64)]) in
            countLosses(&ledger)
            guard !ledger.isClosed, let due = ledger.reportDue, atOnce || due <= now else { return ([:], []) }
            ledger.noteReport(next: now &+ Self.interval)
            return (ledger.losses.byReason, settings.reportsLosses && !ledger.isRefusing ? ledger.takeUnreportedLosses() : [])
        }
        guard !unreported.isEmpty else { return dropped }
        let record = LogRecord(
            losses: unreported, for: settings.destination, clockOffset: sender.clockOffset, level: max(.warning, settings.minimumLevel),
            clock: settings.clock)
        // If there is no room for this report, the next one includes these losses and the loss of this report.
        if !write(record) { ledger.withLock { $0.markUnreported(unreported) } }
        return dropped
    }
}
