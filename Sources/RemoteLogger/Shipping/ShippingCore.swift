import Foundation
import WebServiceClient

/// What the front of a shipper and its loop share: settings, store, accounts, and the alarm by which the front wakes the loop.
final class ShippingCore: Sendable {
    let endpoint: URL
    let format: any LogFormat
    let transport: any Transport
    let settings: ShippingSettings
    let store: any RecordStore
    let alarm = Alarm()

    private let ledger = Locked(ShippingLedger())
    private let task = Locked<Task<Void, Never>?>(nil)

    init(endpoint: URL, format: any LogFormat, transport: any Transport, settings: ShippingSettings, store: any RecordStore) {
        self.endpoint = endpoint
        self.format = format
        self.transport = transport
        self.settings = settings
        self.store = store
    }

    /// Starts the loop, which holds the core until it is closed.
    func start() {
        let loop = Task.detached(priority: .utility) { [self] in
            await OwnWork.$isShipping.withValue(true) {
                var loop = ShippingLoop(core: self)
                await loop.run()
            }
        }
        task.withLock { $0 = loop }
    }

    // MARK: The front's side

    func write(_ record: LogRecord) {
        let now = settings.clock.uptime
        let mustWake = ledger.withLock { ledger in
            ledger.counts.emitted += 1
            guard !ledger.isRefusing else {
                ledger.drop(ledger.last + 1, .shutdown)
                return false
            }
            let outcome = store.append(record, now: now)
            ledger.last = outcome.position
            for loss in outcome.dropped { ledger.drop(loss.position, loss.reason) }
            if ledger.hasWaiters, !outcome.dropped.isEmpty { ledger.settleWaiters(first: store.load.first) }
            // The loop looks at the store before it waits; it has to be told only of what ends a wait.
            return outcome.unread == 1 || isDue(outcome.unread, outcome.unreadBytes)
        }
        if mustWake { alarm.ring() }
    }

    /// Whether there is enough for a request. A buffer that is smaller than a batch must not wait for one.
    private func isDue(_ records: Int, _ bytes: Int) -> Bool {
        records >= min(settings.batch.records, settings.buffer.records) || bytes >= min(settings.batch.bytes, settings.buffer.bytes / 2)
    }

    func flush(within limit: Duration) async -> Bool {
        let ticket = ledger.withLock { $0.beginFlush(first: store.load.first) }
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

    /// Ends everything: what the store doesn't keep for another run is counted as dropped.
    func close() {
        let lost = ledger.withLock { ledger in
            guard !ledger.isClosed else { return 0 }
            ledger.isRefusing = true
            ledger.isClosed = true
            let first = store.load.first
            let lost = store.close()
            ledger.drop(lost, from: first ?? 0, .shutdown)
            ledger.settleWaiters(first: nil)
            return lost
        }
        task.withLock { $0 }?.cancel()
        alarm.ring()
        if lost > 0 { report(.warning, "\(lost) log records were not delivered before the shutdown.") }
    }

    var statistics: LogStatistics {
        let now = settings.clock.uptime
        return ledger.withLock { ledger in
            var counts = ledger.counts
            let load = store.load
            counts.buffered = UInt64(load.records)
            counts.bufferedBytes = load.bytes
            counts.nextAttempt = ledger.nextAttempt.map { .nanoseconds(Int64(clamping: $0 > now ? $0 - now : 0)) }
            return counts
        }
    }

    // MARK: The loop's side

    /// What the loop is to do.
    enum Step: Sendable {
        /// Read a batch and send it.
        case send
        /// Wait, for a time or until the alarm rings.
        case wait(Duration?)
        /// Return.
        case end
    }

    var nextStep: Step {
        let now = settings.clock.uptime
        let interval = settings.batch.interval.wholeNanoseconds
        return ledger.withLock { ledger in
            guard !ledger.isClosed else { return .end }
            let load = store.load
            guard let first = load.firstUnread else { return .wait(nil) }
            let age = now > load.firstUnreadSince ? now - load.firstUnreadSince : 0
            guard age < interval, !isDue(load.unread, load.unreadBytes), first > ledger.flushThrough else { return .send }
            return .wait(.nanoseconds(Int64(clamping: interval - age)))
        }
    }

    var isClosed: Bool { ledger.withLock { $0.isClosed } }

    /// How often somebody asked to flush.
    var flushes: UInt64 { ledger.withLock { $0.flushes } }

    /// The losses so far, and how they come about.
    var losses: (total: UInt64, text: String) {
        let dropped = ledger.withLock { $0.counts.dropped }
        let text = dropped.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return (dropped.values.reduce(0, +), text)
    }

    /// Counts a request that is about to be sent.
    func countRequest(isRepeat: Bool) {
        ledger.withLock { ledger in
            ledger.counts.requests += 1
            if isRepeat { ledger.counts.repeats += 1 }
            ledger.nextAttempt = nil
        }
    }

    func note(status: Int) {
        ledger.withLock { $0.counts.lastStatus = status }
    }

    func note(nextAttempt: UInt64) {
        ledger.withLock { $0.nextAttempt = nextAttempt }
    }

    /// Settles records that were sent: all of them are delivered but for some that are dropped. Nothing happens after the close, which
    /// has settled them.
    func settle(_ records: ArraySlice<StoredRecord>, dropped: Int = 0, reason: DropReason = .rejected) {
        guard let first = records.first, let last = records.last else { return }
        ledger.withLock { ledger in
            guard !ledger.isClosed else { return }
            let lost = min(records.count, max(0, dropped))
            ledger.counts.delivered += UInt64(records.count - lost)
            ledger.drop(lost, from: first.position, reason)
            store.acknowledge(through: last.position)
            if ledger.hasWaiters { ledger.settleWaiters(first: store.load.first) }
        }
    }

    /// Says something, without a secret.
    func report(_ level: Diagnostics.Event.Level, _ message: String) {
        OwnWork.$isShipping.withValue(true) {
            settings.diagnostics.report(Diagnostics.Event(level, message, call: OwnWork.identity))
        }
    }
}
