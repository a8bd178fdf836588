import Foundation
import HTTPTransport

/// What the front of a shipper and its loop share: settings, store, accounts, and the alarm by which the front wakes the loop.
final class ShippingCore: Sendable {
    let format: any LogFormat
    let sender: any PayloadSender
    let settings: ShippingSettings
    let store: any RecordStore
    /// Rings when there is something for the loop to do.
    let alarm = Alarm()
    /// Rings when there is something for ``reportLosses()`` to do.
    let lossAlarm = Alarm()
    let pace: ReceiverPace
    let coding = ContentCodingMemory()

    let ledger = Locked(ShippingLedger())
    /// Held while losses are told: see ``tellLosses(atOnce:)``.
    let telling = Locked(())
    private let selection: RecordSelection
    /// When it began, on the clock.
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

    /// Starts the loop, which holds the core until it is closed.
    func start() {
        // Before the loop begins: what comes once it has looked is told then.
        store.onNews { [alarm, lossAlarm] news in
            switch news {
            case .records: alarm.ring()
            case .losses: lossAlarm.ring()
            }
        }
        let loop = Task.detached(priority: .utility) { [self] in
            await OwnWork.$isShipping.withValue(true) {
                await ShippingLoop(core: self).run()
            }
        }
        task.withLock { $0 = loop }
    }

    /// - Returns: whether the record is kept.
    @discardableResult func write(_ record: LogRecord) -> Bool {
        let now = settings.clock.uptime
        // A spool asks the filter for all that come, this shipper's and others'.
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
        if wakesLoop { alarm.ring() }
        if wakesReport { lossAlarm.ring() }
        return isKept
    }

    /// Counts what the store has lost by itself, and wakes who reports it: the store may not have come to that yet.
    ///
    /// - Returns: whether it was anything.
    @discardableResult func takeLosses(_ ledger: inout ShippingLedger) -> Bool {
        let losses = store.takeLosses()
        for loss in losses { ledger.drop(loss.count, from: loss.first, loss.reason) }
        // To ring only schedules a task, which may be done under the lock.
        if !losses.isEmpty, ledger.takeLossWake() { lossAlarm.ring() }
        return !losses.isEmpty
    }

    func flush(within limit: Duration) async -> Bool {
        // What is to be told goes with what is flushed.
        tellLosses(atOnce: false)
        let ticket = ledger.withLock { $0.beginFlush(store.load) }
        pace.noteFlush()
        alarm.ring()
        let timer = Task {
            try await settings.clock.sleep(for: limit)
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

    /// Takes no more records.
    func refuse() {
        ledger.withLock { $0.isRefusing = true }
    }

    /// What of a shutdown's time is the disk's: half of it at most, and none of it without a spool.
    func persistTime(within limit: Duration) -> Duration {
        settings.spool == nil ? .zero : min(limit / 2, .milliseconds(200))
    }

    /// Waits until what is left is as safe as it can be, or the time is over, but for a moment in any case.
    func persist(until end: UInt64) async {
        let now = settings.clock.uptime
        let left = Duration.nanoseconds(Int64(clamping: end > now ? end - now : 0))
        let isDone = Alarm()
        Task {
            await store.persist()
            isDone.ring()
        }
        await isDone.wait(for: max(left, .milliseconds(20)), clock: settings.clock)
    }

    /// Ends everything: what the store doesn't keep for another run is counted as dropped.
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
            // What a spool keeps isn't delivered.
            ledger.endWaiters()
            return lost
        }
        task.withLock { $0 }?.cancel()
        pace.close()
        alarm.ring()
        lossAlarm.ring()
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
            // What an earlier run has left came at times that this run's clock doesn't know.
            let since = min(now, load.firstSince > 0 ? load.firstSince : started)
            counts.oldestAge = load.first == nil ? nil : .nanoseconds(Int64(clamping: now - since))
            counts.receiverClockOffset = sender.clockOffset.map { .nanoseconds($0) }
            counts.nextAttempt = pace.nextAttempt(at: now)
            counts.concurrency = pace.limit
            return counts
        }
    }

    /// What became of all records, to be asked with the ledger's lock held. That the sum is right is asserted, in every test.
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

/// What the loop asks and tells.
extension ShippingCore {
    /// What the loop is to do.
    enum Step: Sendable {
        /// Read a batch and send it.
        case send
        /// Wait, for a time or until the alarm rings.
        case wait(Duration?)
        /// Something has come just now: look again.
        case again
        /// Return.
        case end
    }

    /// Looks what there is to do.
    ///
    /// No wake-up is lost, since the loop looks and lies down in one step: ``RecordStore/sleep(until:)`` refuses where what the loop would wait for
    /// is there already. From then on whoever makes something readable or due for this shipper (its own front, another shipper on the same spool,
    /// the spool itself) finds the condition in the store, under the lock under which it changes what is there; the first one who meets it
    /// rings the alarm, and takes the condition away. That is one wake for each sleep, however many records come. What else ends a sleep
    /// (a flush, the close) rings the alarm by itself, and the alarm keeps a ring that comes before the loop waits.
    var nextStep: Step {
        let now = settings.clock.uptime
        let interval = settings.batch.interval.wholeNanoseconds
        return ledger.withLock { ledger in
            guard !ledger.isClosed else { return .end }
            let hasLosses = takeLosses(&ledger)
            let load = store.load
            if ledger.hasWaiters, hasLosses { ledger.settleWaiters(first: load.first) }
            guard let first = load.firstUnread else { return store.sleep(until: .anything) ? .wait(nil) : .again }
            let age = now > load.firstUnreadSince ? now - load.firstUnreadSince : 0
            guard age < interval, !due.isMet(by: load.unread, load.unreadBytes), first > ledger.flushThrough else { return .send }
            return store.sleep(until: due) ? .wait(.nanoseconds(Int64(clamping: interval - age))) : .again
        }
    }

    /// What is enough for a request. A buffer that is smaller than a batch must not wait for one.
    private var due: WakeCondition {
        WakeCondition(
            records: min(settings.batch.records, settings.buffer.records), bytes: min(settings.batch.bytes, settings.buffer.bytes / 2))
    }

    var isClosed: Bool { ledger.withLock { $0.isClosed } }

    /// Counts a request that is about to be sent.
    func countRequest(isRepeat: Bool) {
        ledger.withLock { ledger in
            // After the close the counts stand.
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

    /// Settles records by what became of them. Nothing happens after the close, which has settled them.
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
        if wakesReport { lossAlarm.ring() }
    }

    /// Puts records that are about to be dropped into the dead-letter file, if there is one.
    func bury(_ records: [LogRecord], _ reason: DropReason, _ message: String) async {
        await settings.deadLetters?.bury(records, reason, message, receiver: sender.receiver)
    }

    /// Says something, without a secret.
    func report(_ level: Diagnostics.Event.Level, _ message: String) {
        settings.diagnostics.reportOwnWork(level, message)
    }
}

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
