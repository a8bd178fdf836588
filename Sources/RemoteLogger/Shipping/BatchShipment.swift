/// Sends a batch, in pieces if necessary, until each of its records is delivered or dropped.
struct BatchShipment: Sendable {
    /// The batch's sequence number.
    private let number: UInt64
    let core: ShippingCore
    private let window: ShippingWindow
    let reporter: ShippingReporter
    var batch: PendingBatch
    /// The search for refused records.
    var search: RefusalSearch

    init(_ number: UInt64, of records: [StoredRecord], core: ShippingCore, window: ShippingWindow, reporter: ShippingReporter) {
        self.number = number
        self.core = core
        self.window = window
        self.reporter = reporter
        batch = PendingBatch(records)
        search = RefusalSearch(records: records.count)
    }

    mutating func run() async {
        await dropExpired(of: batch.open)
        // The pieces still to be sent, in reverse order.
        var pieces = Array(batch.open.pieces(of: core.format.maximumRecords).reversed())
        while !core.isClosed {
            pieces += search.takeSuspects().reversed()
            guard let piece = pieces.popLast() else { break }
            let rest = await send(piece)
            pieces += await continueSearch(after: piece).reversed() + rest.reversed()
            window.settle(number, batch.takeSettled(), isDone: false)
        }
        if !core.isClosed {
            for suspect in search.giveUp() { await reject(suspect) }
        }
        window.settle(number, batch.takeSettled(), isDone: true)
    }

    /// Sends a piece of the batch until its records are delivered or dropped.
    ///
    /// - Returns: The parts to be sent as other pieces.
    private mutating func send(_ piece: [Int]) async -> [[Int]] {
        let records = piece.map { batch.records[$0].record }
        let payload: BatchBody
        switch BatchEncoder(core: core).payload(of: records) {
        case .made(let made):
            payload = made
            reporter.noteCompression(of: made)
        case .failed(let reason, let message):
            return await splitOrDrop(piece, reason, message)
        }
        var isRepeat = false
        var unacknowledged = 0
        var plain: BatchBody?
        while let turn = await core.pace.begin(number) {
            // The wait may have taken hours.
            guard await !dropExpired(of: piece) else {
                core.pace.end(turn, isAnswered: false)
                return [batch.open(of: piece)].filter { !$0.isEmpty }
            }
            core.countRequest(isRepeat: isRepeat)
            isRepeat = true
            let sent = plain ?? payload
            plain = nil
            let attempt = await core.sender.attempt(sent)
            core.pace.end(turn, isAnswered: attempt.isAnswer)
            switch attempt {
            case .failure(let message):
                noteFailure(of: turn, message, retryAfter: nil)
            case .verdict(let verdict, let status, let retryAfter):
                if let status { core.note(status: status) }
                reporter.noteClock(core.sender.clockOffset)
                // The records may be valid: retry them once, uncompressed.
                if core.coding.mayBeRefused(sent, status: status, verdict),
                    case .made(let made) = BatchEncoder(core: core).payload(of: records, isCompressed: false)
                {
                    plain = made
                    isRepeat = false
                    continue
                }
                if core.coding.note(verdict, of: sent) { reporter.noteRefusedCompression() }
                if case .accepted(let ticket) = verdict {
                    guard await isAcknowledged(ticket, after: unacknowledged) else {
                        unacknowledged += 1
                        noteFailure(of: turn, "it accepted a batch but didn't acknowledge it", retryAfter: nil)
                        continue
                    }
                    noteAnswer(to: turn)
                    batch.note(.delivered, for: piece)
                    return []
                }
                if let rest = await settle(piece, verdict, of: turn, status: status, retryAfter: retryAfter) { return rest }
            }
        }
        return []
    }

    // MARK: Verdicts

    /// Applies a verdict.
    ///
    /// - Returns: The pieces to be sent instead; `nil` if the same bytes must be sent again.
    private mutating func settle(
        _ piece: [Int], _ verdict: DeliveryVerdict, of turn: ReceiverPace.Turn, status: Int?, retryAfter: Duration?
    ) async -> [[Int]]? {
        switch verdict {
        case .retry:
            noteFailure(of: turn, Self.text(of: status), retryAfter: retryAfter)
            return nil
        case .pause(let reason):
            notePause(of: turn, reason, status: status, retryAfter: retryAfter)
            return nil
        case .split:
            return await splitOrDrop(piece, .oversize, "The receiver rejected the record as too large (\(Self.text(of: status))).")
        case .isolate(let reason):
            noteAnswer(to: turn)
            return await isolate(piece, status: status, reason: reason)
        case .each(let verdicts):
            return await settle(piece, verdicts, of: turn, status: status, retryAfter: retryAfter)
        case .partiallyRejected(let count, let reason):
            noteAnswer(to: turn)
            reporter.noteRejection(of: count, status: status, reason: reason)
            // The rejected records are unknown; only their number is known.
            batch.note(.delivered, for: piece)
            batch.note(.dropped(.rejected), for: piece.prefix(max(0, count)))
        case .reject(let reason):
            noteAnswer(to: turn)
            await reject(piece, status: status, reason: reason)
        case .delivered(let remark):
            noteAnswer(to: turn)
            if let remark { reporter.noteRemark(remark) }
            batch.note(.delivered, for: piece)
        case .accepted:
            // `send` has already waited for the acknowledgement.
            batch.note(.delivered, for: piece)
        }
        return []
    }

    /// Settles a piece record by record.
    ///
    /// - Returns: The records to be sent again.
    private mutating func settle(
        _ piece: [Int], _ verdicts: [RecordVerdict], of turn: ReceiverPace.Turn, status: Int?, retryAfter: Duration?
    ) async -> [[Int]] {
        guard verdicts.count == piece.count else {
            noteAnswer(to: turn)
            return await halve(piece, status: status, reason: "it returned \(verdicts.count) results for \(piece.count) records")
        }
        var refused: [String: [Int]] = [:]
        var again: [Int] = []
        var pause: String?
        for (index, verdict) in zip(piece, verdicts) {
            switch verdict {
            case .delivered: batch.note(.delivered, for: [index])
            case .retry: again.append(index)
            case .pause(let reason):
                again.append(index)
                pause = pause ?? reason
            case .rejected(let reason): refused[reason, default: []].append(index)
            }
        }
        // If the receiver defers all records, it is as busy as after a deferred batch, so the waits must grow. If the receiver requests a
        // pause for some records, it lasts even if other records were accepted.
        if again.count < piece.count, pause == nil { noteAnswer(to: turn) }
        for (reason, indices) in refused.sorted(by: { $0.key < $1.key }) { await reject(indices, status: status, reason: reason) }
        guard !again.isEmpty else { return [] }
        if let pause {
            notePause(of: turn, pause, status: status, retryAfter: retryAfter)
            return [again]
        }
        noteFailure(of: turn, "it deferred \(again.count) of \(piece.count) records", retryAfter: retryAfter)
        return [again]
    }

    /// Polls the receiver until it has stored the batch of a ticket or the timeout ends. Other batches are sent in the meantime.
    ///
    /// Only time in which the receiver answers "not yet" counts. While the receiver can't be queried, the batch isn't sent again, because
    /// resending would never end.
    ///
    /// - Parameter before: The number of unacknowledged attempts so far. Each doubles the timeout, because a lost batch and a late
    ///   acknowledgement look the same.
    private func isAcknowledged(_ ticket: String, after before: Int) async -> Bool {
        guard let format = core.format as? any AcknowledgingLogFormat else { return true }
        window.setUnacknowledged(number, true)
        defer { window.setUnacknowledged(number, false) }
        let timeout = format.acknowledgementTimeout.wholeNanoseconds
        let (limit, overflows) = timeout.multipliedReportingOverflow(by: 1 << UInt64(min(before, 40)))
        var waited: UInt64 = 0
        var wait = format.acknowledgementInterval
        var isTroubled = false
        while true {
            let start = core.settings.clock.uptime
            guard await core.pace.sleep(number, for: wait) else { return false }
            let turn = core.pace.queryTurn
            let answer = await core.sender.acknowledgement(of: ticket)
            if isTroubled, answer.isAnswered {
                noteAnswer(to: turn)
                isTroubled = false
            }
            // A longer wait had another reason; only the usual interval counts.
            let interval = format.acknowledgementInterval
            let elapsed = wait == interval ? core.settings.clock.uptime &- start : interval.wholeNanoseconds
            wait = interval
            switch answer {
            case .stored: return true
            case .pending: waited &+= elapsed
            case .unasked: if nextAttempt == nil { waited &+= elapsed }
            case .busy(let message, let status, let retryAfter):
                if let status { core.note(status: status) }
                isTroubled = true
                wait = max(wait, noteFailure(of: turn, message, retryAfter: retryAfter) ?? nextAttempt ?? .zero)
            case .refused(let reason, let status, let retryAfter):
                if let status { core.note(status: status) }
                isTroubled = true
                wait = max(wait, notePause(of: turn, reason, status: status, retryAfter: retryAfter) ?? nextAttempt ?? .zero)
            }
            guard overflows || waited < limit else { return false }
        }
    }

    private var nextAttempt: Duration? { core.pace.nextAttempt(at: core.settings.clock.uptime) }

    private func noteAnswer(to turn: ReceiverPace.Turn) {
        if core.pace.noteAnswer(to: turn) { reporter.noteAnswer() }
    }

    @discardableResult private func noteFailure(of turn: ReceiverPace.Turn, _ message: String, retryAfter: Duration?) -> Duration? {
        guard let wait = core.pace.noteFailure(of: turn, retryAfter: retryAfter) else { return nil }
        reporter.noteFailure(message, next: wait)
        return wait
    }

    @discardableResult private func notePause(
        of turn: ReceiverPace.Turn, _ reason: String, status: Int?, retryAfter: Duration?
    ) -> Duration? {
        guard let wait = core.pace.notePause(of: turn, retryAfter: retryAfter) else { return nil }
        reporter.notePause(status: status, reason: reason, next: wait)
        return wait
    }

    private static func text(of status: Int?) -> String {
        status.map { "status \($0)" } ?? "no status"
    }
}

/// Handling of refused records.
extension BatchShipment {
    /// Searches a refused piece for the bad record. The search is postponed if too many pieces in a row have been refused.
    ///
    /// - Returns: The pieces to be sent now.
    mutating func isolate(_ piece: [Int], status: Int?, reason: String) async -> [[Int]] {
        await follow(search.refuse(Suspect(piece: piece, status: status, reason: reason)))
    }

    /// Returns the search's next pieces after a piece is settled.
    mutating func continueSearch(after piece: [Int]) async -> [[Int]] {
        if batch.hasDelivered(of: piece) { search.renew() }
        return await follow(search.next(after: piece, isTaken: batch.hasDeliveredAll(of: piece)))
    }

    private mutating func follow(_ step: RefusalSearch.Step) async -> [[Int]] {
        if let found = step.found { await reject(found) }
        return step.pieces
    }

    /// Returns the halves of a piece whose response can't be interpreted, or none now if too many pieces in a row have been refused. Drops
    /// a single record.
    mutating func halve(_ piece: [Int], status: Int?, reason: String) async -> [[Int]] {
        let suspect = Suspect(piece: piece, status: status, reason: reason)
        guard piece.count == 1 else { return search.halves(of: suspect) }
        await reject(suspect)
        return []
    }

    mutating func reject(_ suspect: Suspect) async {
        await reject(suspect.piece, status: suspect.status, reason: suspect.reason)
    }

    mutating func reject(_ indices: [Int], status: Int?, reason: String) async {
        reporter.noteRejection(of: indices.count, status: status, reason: reason)
        await drop(indices, .rejected, reason)
    }

    /// Splits a piece, or drops its only record.
    mutating func splitOrDrop(_ piece: [Int], _ reason: DropReason, _ message: String) async -> [[Int]] {
        guard piece.count == 1 else { return reason == .oversize ? parts(of: piece) : piece.halves }
        reporter.noteDrop(reason, message)
        await drop(piece, reason, message)
        return []
    }

    /// Returns the parts of an oversize piece: halves, or, if one record is larger than all others together, that record and those before
    /// and after it. Only such a record can be too large while the others aren't; halving down to it would take a request per step.
    private func parts(of piece: [Int]) -> [[Int]] {
        let records = piece.map { batch.records[$0].record }
        guard let largest = records.indices.max(by: { records[$0].footprint < records[$1].footprint }),
            let size = try? core.format.encode([records[largest]]).count,
            let others = try? core.format.encode(Array(records[..<largest] + records[(largest + 1)...])).count, size > others
        else { return piece.halves }
        return [Array(piece[..<largest]), [piece[largest]], Array(piece[(largest + 1)...])].filter { !$0.isEmpty }
    }

    /// Drops records that are too old for the receiver by its own clock. Since the local wall clock may be wrong by days, records of this
    /// run must also be too old by the monotonic clock.
    ///
    /// - Returns: Whether any were dropped.
    @discardableResult
    mutating func dropExpired(of indices: [Int]) async -> Bool {
        guard let limit = core.format.maximumAge, let offset = core.sender.clockOffset else { return false }
        let uptime = core.settings.clock.uptime
        let now = Int64(clamping: core.settings.clock.time).addingReportingOverflow(offset).partialValue
        let (nanoseconds, foundThrough) = (limit.wholeNanoseconds, core.store.foundThrough)
        let expired = indices.filter { index in
            let (position, record) = (batch.records[index].position, batch.records[index].record)
            let (age, overflows) = now.subtractingReportingOverflow(Int64(clamping: record.time))
            guard !overflows, age > 0, UInt64(age) > nanoseconds else { return false }
            return position <= foundThrough || uptime > record.uptime && uptime - record.uptime > nanoseconds
        }
        guard !expired.isEmpty else { return false }
        reporter.noteDrop(.expired, "The receiver accepts no records older than \(limit): \(expired.count) are older.")
        await drop(expired, .expired, "too old for the receiver")
        return true
    }

    /// Drops records, and writes them to the dead-letter file if there is one.
    private mutating func drop(_ indices: [Int], _ reason: DropReason, _ message: String) async {
        await core.writeDeadLetters(indices.map { batch.records[$0].record }, reason, message)
        batch.note(.dropped(reason), for: indices)
    }
}
