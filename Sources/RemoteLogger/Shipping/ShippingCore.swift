import Foundation
import WebServiceClient

/// What the front of a shipper and its loop share: settings, store, accounts, and the alarm by which the front wakes the loop.
final class ShippingCore: Sendable {
    let format: any LogFormat
    let sender: any PayloadSender
    let settings: ShippingSettings
    let store: any RecordStore
    let alarm = Alarm()
    let pace: ReceiverPace

    let ledger = Locked(ShippingLedger())
    private let task = Locked<Task<Void, Never>?>(nil)

    init(format: any LogFormat, sender: any PayloadSender, settings: ShippingSettings, store: any RecordStore) {
        self.format = format
        self.sender = sender
        self.settings = settings
        self.store = store
        pace = ReceiverPace(settings: settings)
    }

    /// Starts the loop, which holds the core until it is closed.
    func start() {
        let loop = Task.detached(priority: .utility) { [self] in
            await OwnWork.$isShipping.withValue(true) {
                await ShippingLoop(core: self).run()
            }
        }
        task.withLock { $0 = loop }
        store.onNews { [alarm] in alarm.ring() }
    }

    func write(_ record: LogRecord) {
        let now = settings.clock.uptime
        // A spool asks the filter for all that come, this shipper's and others'.
        if settings.spool == nil, settings.selection.excludes(record) { return }
        let mustWake = ledger.withLock { ledger in
            guard !ledger.isRefusing else {
                if settings.spool != nil, settings.selection.excludes(record) { return false }
                ledger.counts.emitted += 1
                ledger.drop(ledger.last + 1, .shutdown)
                return false
            }
            let outcome = store.append(record, now: now)
            guard !outcome.isExcluded else { return false }
            ledger.counts.emitted += 1
            ledger.last = outcome.position
            outcome.losses.forEach { ledger.drop($0.count, from: $0.first, $0.reason) }
            let hasLosses = outcome.mayHaveLosses && takeLosses(&ledger) || !outcome.losses.isEmpty
            if ledger.hasWaiters, hasLosses { ledger.settleWaiters(first: store.load.first) }
            // The loop looks at the store before it waits; it has to be told only of what ends a wait, and that once.
            guard !ledger.isLoopWoken, outcome.unread == 1 || isDue(outcome.unread, outcome.unreadBytes) else { return false }
            ledger.isLoopWoken = true
            return true
        }
        if mustWake { alarm.ring() }
    }

    /// Counts what the store has lost by itself.
    ///
    /// - Returns: whether it was anything.
    @discardableResult func takeLosses(_ ledger: inout ShippingLedger) -> Bool {
        let losses = store.takeLosses()
        for loss in losses { ledger.drop(loss.count, from: loss.first, loss.reason) }
        return !losses.isEmpty
    }

    /// Whether there is enough for a request. A buffer that is smaller than a batch must not wait for one.
    func isDue(_ records: Int, _ bytes: Int) -> Bool {
        records >= min(settings.batch.records, settings.buffer.records) || bytes >= min(settings.batch.bytes, settings.buffer.bytes / 2)
    }

    func flush(within limit: Duration) async -> Bool {
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

    /// Waits until what is left is as safe as it can be, or the time is over, but for a moment in any case.
    func persist(until end: UInt64) async {
        let now = settings.clock.uptime
        let left = Duration.nanoseconds(Int64(clamping: end > now ? end - now : 0))
        let isDone = Alarm()
        Task {
            await store.persist()
            isDone.ring()
        }
        await isDone.wait(for: max(left, .milliseconds(50)), clock: settings.clock)
    }

    /// Ends everything: what the store doesn't keep for another run is counted as dropped.
    func close() {
        let lost = ledger.withLock { ledger in
            guard !ledger.isClosed else { return 0 }
            ledger.isRefusing = true
            ledger.isClosed = true
            takeLosses(&ledger)
            let first = store.load.first
            let lost = store.close()
            ledger.drop(lost, from: first ?? 0, .shutdown)
            ledger.settleWaiters(first: nil)
            return lost
        }
        task.withLock { $0 }?.cancel()
        pace.close()
        alarm.ring()
        sender.close()
        if lost > 0 { report(.warning, "\(lost) log records were not delivered before the shutdown.") }
    }

    var statistics: LogStatistics {
        let now = settings.clock.uptime
        return ledger.withLock { ledger in
            takeLosses(&ledger)
            var counts = ledger.counts
            counts.dropped = ledger.losses.byReason
            let load = store.load
            counts.emitted += UInt64(clamping: load.found)
            counts.found = UInt64(clamping: load.found)
            counts.buffered = UInt64(clamping: load.records)
            counts.bufferedBytes = load.bytes
            counts.oldestAge = load.first == nil ? nil : .nanoseconds(Int64(clamping: now &- min(now, load.firstSince)))
            counts.receiverClockOffset = sender.clockOffset.map { .nanoseconds($0) }
            counts.nextAttempt = pace.nextAttempt(at: now)
            counts.concurrency = pace.limit
            return counts
        }
    }
}
