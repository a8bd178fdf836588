import WebServiceClient

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
