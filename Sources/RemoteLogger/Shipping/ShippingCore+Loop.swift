import WebServiceClient

/// What the loop asks and tells.
extension ShippingCore {
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
            ledger.isLoopWoken = false
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

    /// The losses so far, and how they come about.
    var losses: (total: UInt64, text: String) {
        let dropped = ledger.withLock { $0.losses.byReason }
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
        var metadata = LogMetadata(losses.map { ("dropped.\($0.reason)", .int(Int64(clamping: $0.count))) })
        metadata["receiver.clock_offset_s"] = sender.clockOffset.map { .int($0 / 1_000_000_000) }
        write(
            LogRecord(
                id: LogRecordID(high: generator.next(), low: generator.next()), sequence: 0, time: settings.clock.time,
                uptime: settings.clock.uptime, level: max(.warning, settings.minimumLevel), label: LogRecord.ownLabel,
                message: "Log records were dropped: \(text).", metadata: metadata))
    }

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
        settings.diagnostics.reportOwnWork(level, message)
    }
}
