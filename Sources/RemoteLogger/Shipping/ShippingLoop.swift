import Foundation
import WebServiceClient

/// Sends what a store holds, one request at a time, in order.
struct ShippingLoop {
    private let core: ShippingCore
    private let delivery: Delivery
    private var cursor: RecordPosition = 0
    /// The failures since the last answer that settled something; it belongs to the receiver, not to a batch.
    private var failures = 0
    /// How many more halves of the batch may be sent to find records that are refused.
    private var isolations = 0
    private var generator = SystemRandomNumberGenerator()
    private var reporter: ShippingReporter

    init(core: ShippingCore) {
        self.core = core
        delivery = Delivery(core: core)
        reporter = ShippingReporter(core: core)
    }

    mutating func run() async {
        while !Task.isCancelled {
            reporter.reportLosses()
            switch core.nextStep {
            case .end: return
            case .wait(let duration): await core.alarm.wait(for: duration, clock: core.settings.clock)
            case .send: await sendBatch()
            }
        }
    }

    private mutating func sendBatch() async {
        let records = await core.store.read(after: cursor, limits: core.settings.batch)
        guard let last = records.last else {
            // A store that has records and gives none is at fault; don't spin.
            return await core.alarm.wait(for: core.settings.batch.interval, clock: core.settings.clock)
        }
        cursor = last.position
        var batch = PendingBatch(records)
        // Two halves for each step down to a bad record, and that for two of them.
        isolations = 4 * (Int.bitWidth - records.count.leadingZeroBitCount)
        await dropExpired(in: &batch)
        // What is still to be sent, the next piece last.
        var pieces = Array(batch.open.pieces(of: core.format.maximumRecords).reversed())
        while let piece = pieces.popLast(), !core.isClosed {
            pieces += await send(piece, of: &batch).reversed()
            core.settle(batch.takeSettled())
        }
        core.settle(batch.takeSettled())
    }

    /// Sends a piece of a batch until it is settled, delivered or dropped.
    ///
    /// - Returns: what of it is to be sent in other pieces.
    private mutating func send(_ piece: [Int], of batch: inout PendingBatch) async -> [[Int]] {
        let payload: Payload
        switch delivery.payload(of: piece.map { batch.records[$0].record }) {
        case .made(let made):
            payload = made
            reporter.noteCompression(of: made)
        case .failed(let reason, let message):
            return await splitOrDrop(piece, of: &batch, reason, message)
        }
        var isRepeat = false
        while !core.isClosed {
            core.countRequest(isRepeat: isRepeat)
            isRepeat = true
            let attempt = await core.sender.attempt(payload)
            guard case .verdict(let verdict, let status, let retryAfter) = attempt else {
                if case .failure(let message) = attempt { await rest(because: message, atLeast: nil) }
                continue
            }
            if let status { core.note(status: status) }
            switch verdict {
            case .retry:
                await rest(because: Self.text(of: status), atLeast: retryAfter)
            case .pause(let reason):
                await pause(status: status, reason: reason, atLeast: retryAfter)
            case .accepted(let ticket):
                guard await isAcknowledged(ticket) else { continue }
                noteAnswer()
                batch.note(.delivered, for: piece)
                return []
            case .split:
                return await splitOrDrop(
                    piece, of: &batch, .oversize, "The receiver answers \(Self.text(of: status)): it is too large for it.")
            case .isolate(let reason):
                return await isolate(piece, of: &batch, status: status, reason: reason)
            case .each(let verdicts):
                return await settle(piece, of: &batch, verdicts, status: status, retryAfter: retryAfter)
            case .delivered, .partiallyRejected, .reject:
                await settle(piece, of: &batch, verdict, status: status)
                return []
            }
        }
        return []
    }

    // MARK: Verdicts

    /// Settles a piece by a verdict that is final.
    private mutating func settle(
        _ piece: [Int], of batch: inout PendingBatch, _ verdict: DeliveryVerdict, status: Int?
    ) async {
        noteAnswer()
        switch verdict {
        case .partiallyRejected(let count, let reason):
            reporter.noteRejection(of: count, status: status, reason: reason)
            // Which they are isn't known; the count is.
            batch.note(.delivered, for: piece)
            batch.note(.dropped(.rejected), for: piece.prefix(max(0, count)))
        case .reject(let reason):
            await reject(piece, of: &batch, status: status, reason: reason)
        case .delivered(let remark):
            if let remark { reporter.noteRemark(remark) }
            batch.note(.delivered, for: piece)
        default:
            break
        }
    }

    /// Settles a piece record by record.
    ///
    /// - Returns: those that are to be sent again, after the wait.
    private mutating func settle(
        _ piece: [Int], of batch: inout PendingBatch, _ verdicts: [RecordVerdict], status: Int?, retryAfter: Duration?
    ) async -> [[Int]] {
        guard verdicts.count == piece.count else {
            return await isolate(
                piece, of: &batch, status: status, reason: "it tells the fate of \(verdicts.count) records of \(piece.count)")
        }
        // A receiver that wants all of it later is as busy as one that says so once: the waits have to grow.
        if verdicts.contains(where: { if case .retry = $0 { false } else { true } }) { noteAnswer() }
        var refused: [String: [Int]] = [:]
        var again: [Int] = []
        for (place, verdict) in zip(piece, verdicts) {
            switch verdict {
            case .delivered: batch.note(.delivered, for: [place])
            case .retry: again.append(place)
            case .rejected(let reason): refused[reason, default: []].append(place)
            }
        }
        for (reason, places) in refused.sorted(by: { $0.key < $1.key }) {
            await reject(places, of: &batch, status: status, reason: reason)
        }
        guard !again.isEmpty else { return [] }
        core.settle(batch.takeSettled())
        await rest(because: "\(again.count) of \(piece.count) records later", atLeast: retryAfter)
        return [again]
    }

    /// Asks for the halves of a piece in which some record is refused, or drops it.
    private mutating func isolate(_ piece: [Int], of batch: inout PendingBatch, status: Int?, reason: String) async -> [[Int]] {
        noteAnswer()
        guard piece.count > 1, isolations > 1 else {
            await reject(piece, of: &batch, status: status, reason: reason)
            return []
        }
        isolations -= 2
        return piece.halves
    }

    private mutating func reject(_ places: [Int], of batch: inout PendingBatch, status: Int?, reason: String) async {
        reporter.noteRejection(of: places.count, status: status, reason: reason)
        await drop(places, of: &batch, .rejected, reason)
    }

    /// Asks for the halves of a piece, or drops its only record.
    private mutating func splitOrDrop(
        _ piece: [Int], of batch: inout PendingBatch, _ reason: DropReason, _ message: String
    ) async -> [[Int]] {
        guard piece.count == 1 else { return piece.halves }
        reporter.noteDrop(reason, message)
        await drop(piece, of: &batch, reason, message)
        return []
    }

    /// Drops records, into the dead-letter file if there is one.
    private func drop(_ places: [Int], of batch: inout PendingBatch, _ reason: DropReason, _ message: String) async {
        await core.bury(places.map { batch.records[$0].record }, reason, message)
        batch.note(.dropped(reason), for: places)
    }

    /// Drops what the receiver doesn't take any more, by its own clock.
    private mutating func dropExpired(in batch: inout PendingBatch) async {
        guard let limit = core.format.maximumAge?.wholeNanoseconds, let offset = core.sender.clockOffset else { return }
        let now = Int64(clamping: core.settings.clock.time).addingReportingOverflow(offset).partialValue
        let expired = batch.open.filter { place in
            let (age, overflows) = now.subtractingReportingOverflow(Int64(clamping: batch.records[place].record.time))
            return !overflows && age > 0 && UInt64(age) > limit
        }
        guard !expired.isEmpty else { return }
        reporter.noteDrop(.expired, "The receiver takes none that is older than \(core.format.maximumAge ?? .zero): \(expired.count) are.")
        await drop(expired, of: &batch, .expired, "too old for the receiver")
    }

    private mutating func noteAnswer() {
        failures = 0
        reporter.noteAnswer()
    }

    private static func text(of status: Int?) -> String {
        status.map { "status \($0)" } ?? "no"
    }

    // MARK: Waits

    /// Asks the receiver until it has stored the batch of a ticket, or the time for it is over.
    private mutating func isAcknowledged(_ ticket: String) async -> Bool {
        guard let format = core.format as? any AcknowledgingLogFormat else { return true }
        let clock = core.settings.clock
        let start = clock.uptime
        while !core.isClosed, !Task.isCancelled {
            await wait(for: format.acknowledgementInterval, endsByFlush: false)
            if core.isClosed { return false }
            if await core.sender.isAcknowledged(ticket) { return true }
            guard clock.uptime &- start < format.acknowledgementTimeout.wholeNanoseconds else {
                await rest(because: "it took a batch and didn't acknowledge it", atLeast: nil)
                return false
            }
        }
        return false
    }

    /// Waits after a failure: as long as the back-off says, or longer if the receiver asks for it. A flush ends a wait that is only ours.
    private mutating func rest(because message: String, atLeast retryAfter: Duration?) async {
        failures += 1
        let own = core.settings.backoff.delay(afterFailures: failures, using: &generator)
        let duration = max(own, retryAfter ?? .zero)
        reporter.noteFailure(message, next: duration)
        await wait(for: duration, endsByFlush: retryAfter == nil)
    }

    /// Waits for minutes, since the settings have to be put right.
    private mutating func pause(status: Int?, reason: String, atLeast retryAfter: Duration?) async {
        failures += 1
        let duration = max(core.settings.pause, retryAfter ?? .zero)
        reporter.notePause(status: status, reason: reason, next: duration)
        await wait(for: duration, endsByFlush: false)
    }

    private func wait(for duration: Duration, endsByFlush: Bool) async {
        let clock = core.settings.clock
        let end = clock.uptime &+ duration.wholeNanoseconds
        let flushes = core.flushes
        core.note(nextAttempt: end)
        while !Task.isCancelled, !core.isClosed {
            let now = clock.uptime
            guard now < end, !(endsByFlush && core.flushes != flushes) else { return }
            await core.alarm.wait(for: .nanoseconds(Int64(clamping: end - now)), clock: clock)
        }
    }
}

extension [Int] {
    /// The first half and the other one.
    fileprivate var halves: [[Int]] {
        let middle = count / 2
        return [Array(self[..<middle]), Array(self[middle...])]
    }

    /// The elements in pieces of at most so many.
    fileprivate func pieces(of size: Int) -> [[Int]] {
        guard count > size else { return isEmpty ? [] : [self] }
        return stride(from: 0, to: count, by: Swift.max(1, size)).map { start in
            Array(self[start..<Swift.min(count, start + Swift.max(1, size))])
        }
    }
}
