import Foundation
import WebServiceClient

/// What the front of a shipper and its loop share: settings, store, accounts, and the alarm by which the front wakes the loop.
final class ShippingCore: Sendable {
    let format: any LogFormat
    let sender: any PayloadSender
    let settings: ShippingSettings
    let store: any RecordStore
    let alarm = Alarm()

    private let ledger = Locked(ShippingLedger())
    private let task = Locked<Task<Void, Never>?>(nil)

    init(format: any LogFormat, sender: any PayloadSender, settings: ShippingSettings, store: any RecordStore) {
        self.format = format
        self.sender = sender
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
        store.onNews { [alarm] in alarm.ring() }
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
            let hasLosses = takeLosses(&ledger) || !outcome.dropped.isEmpty
            if ledger.hasWaiters, hasLosses { ledger.settleWaiters(first: store.load.first) }
            // The loop looks at the store before it waits; it has to be told only of what ends a wait.
            return outcome.unread == 1 || isDue(outcome.unread, outcome.unreadBytes)
        }
        if mustWake { alarm.ring() }
    }

    /// Counts what the store has lost by itself.
    ///
    /// - Returns: whether it was anything.
    @discardableResult private func takeLosses(_ ledger: inout ShippingLedger) -> Bool {
        let losses = store.takeLosses()
        for loss in losses { ledger.drop(loss.count, from: loss.first, loss.reason) }
        return !losses.isEmpty
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
        alarm.ring()
        sender.close()
        if lost > 0 { report(.warning, "\(lost) log records were not delivered before the shutdown.") }
    }

    var statistics: LogStatistics {
        let now = settings.clock.uptime
        return ledger.withLock { ledger in
            takeLosses(&ledger)
            var counts = ledger.counts
            let load = store.load
            counts.emitted += UInt64(clamping: load.found)
            counts.found = UInt64(clamping: load.found)
            counts.buffered = UInt64(load.records)
            counts.bufferedBytes = load.bytes
            counts.oldestAge = load.firstUnread == nil ? nil : .nanoseconds(Int64(clamping: now &- min(now, load.firstUnreadSince)))
            counts.receiverClockOffset = sender.clockOffset.map { .nanoseconds($0) }
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
            let hasLosses = takeLosses(&ledger)
            let load = store.load
            if ledger.hasWaiters, hasLosses { ledger.settleWaiters(first: load.first) }
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

    /// Writes a record that tells the receiver of the losses since the last one. It stands outside of every session: its sequence is 0.
    func writeLossReport() {
        guard settings.reportsLosses else { return }
        let losses = ledger.withLock { $0.isRefusing ? [] : $0.takeUntoldLosses() }
        guard !losses.isEmpty else { return }
        var generator = SystemRandomNumberGenerator()
        let text = losses.map { "\($0.reason) \($0.count)" }.joined(separator: ", ")
        write(
            LogRecord(
                id: LogRecordID(high: generator.next(), low: generator.next()), sequence: 0, time: settings.clock.time,
                uptime: settings.clock.uptime, level: max(.warning, settings.minimumLevel), label: "RemoteLogger",
                message: "Log records were dropped: \(text).",
                metadata: LogMetadata(losses.map { ("dropped.\($0.reason)", .int(Int64(clamping: $0.count))) })))
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

    /// Settles records by what became of them. Nothing happens after the close, which has settled them.
    func settle(_ settled: [(record: StoredRecord, outcome: PendingBatch.Outcome)]) {
        guard let last = settled.last else { return }
        ledger.withLock { ledger in
            guard !ledger.isClosed else { return }
            for (record, outcome) in settled {
                switch outcome {
                case .delivered: ledger.counts.delivered += 1
                case .dropped(let reason): ledger.drop(record.position, reason)
                }
            }
            store.acknowledge(through: last.record.position)
            if ledger.hasWaiters { ledger.settleWaiters(first: store.load.first) }
        }
    }

    /// Puts records that are about to be dropped into the dead-letter file, if there is one.
    func bury(_ records: [LogRecord], _ reason: DropReason, _ message: String) async {
        await settings.deadLetters?.bury(records, reason, message, receiver: sender.receiver)
    }

    /// Says something, without a secret.
    func report(_ level: Diagnostics.Event.Level, _ message: String) {
        OwnWork.$isShipping.withValue(true) {
            settings.diagnostics.report(Diagnostics.Event(level, message, call: OwnWork.identity))
        }
    }
}
