import Foundation
import WebServiceClient

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
