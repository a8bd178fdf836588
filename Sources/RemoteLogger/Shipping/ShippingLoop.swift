import Foundation
import WebServiceClient

/// Sends what a store holds, one request at a time, in order.
struct ShippingLoop {
    private let core: ShippingCore
    private let delivery: Delivery
    private var cursor: RecordPosition = 0
    /// The failures since the last answer that settled something; it belongs to the receiver, not to a batch.
    private var failures = 0
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
        let batch = await core.store.read(after: cursor, limits: core.settings.batch)
        guard let last = batch.last else {
            // A store that has records and gives none is at fault; don't spin.
            return await core.alarm.wait(for: core.settings.batch.interval, clock: core.settings.clock)
        }
        cursor = last.position
        // What is still to be sent, the next piece last.
        var pieces = [batch[...]]
        while let piece = pieces.popLast(), !core.isClosed {
            guard await send(piece) == .split else { continue }
            let middle = piece.startIndex + piece.count / 2
            pieces.append(piece[middle...])
            pieces.append(piece[..<middle])
        }
    }

    private enum Outcome { case settled, split }

    /// Sends a piece of a batch until it is settled: delivered, dropped, or to be split.
    private mutating func send(_ piece: ArraySlice<StoredRecord>) async -> Outcome {
        let payload: Payload
        switch delivery.payload(of: piece) {
        case .made(let made):
            payload = made
            reporter.noteCompression(of: made)
        case .failed(let reason, let message):
            return splitOrDrop(piece, reason, message)
        }
        var isRepeat = false
        while !core.isClosed {
            core.countRequest(isRepeat: isRepeat)
            isRepeat = true
            switch await delivery.attempt(payload) {
            case .failure(let message):
                await rest(because: message, atLeast: nil)
            case .verdict(.retry, let status, let retryAfter):
                await rest(because: "status \(status)", atLeast: retryAfter)
            case .verdict(.pause(let reason), let status, let retryAfter):
                await pause(status: status, reason: reason, atLeast: retryAfter)
            case .verdict(.split, let status, _):
                return splitOrDrop(piece, .oversize, "The receiver answers \(status): it is too large for it.")
            case .verdict(let verdict, let status, _):
                settle(piece, verdict, status: status)
                return .settled
            }
        }
        return .settled
    }

    /// Settles a piece by a verdict that is final.
    private mutating func settle(_ piece: ArraySlice<StoredRecord>, _ verdict: DeliveryVerdict, status: Int) {
        failures = 0
        reporter.noteAnswer()
        switch verdict {
        case .partiallyRejected(let count, let reason):
            reporter.noteRejection(of: count, status: status, reason: reason)
            core.settle(piece, dropped: count, reason: .rejected)
        case .reject(let reason):
            reporter.noteRejection(of: piece.count, status: status, reason: reason)
            core.settle(piece, dropped: piece.count, reason: .rejected)
        case .delivered(let remark):
            if let remark { reporter.noteRemark(remark) }
            core.settle(piece)
        case .retry, .split, .pause:
            break
        }
    }

    /// Asks for the halves of a piece, or drops its only record.
    private mutating func splitOrDrop(_ piece: ArraySlice<StoredRecord>, _ reason: DropReason, _ message: String) -> Outcome {
        guard piece.count == 1 else { return .split }
        reporter.noteDrop(reason, message)
        core.settle(piece, dropped: 1, reason: reason)
        return .settled
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
    private mutating func pause(status: Int, reason: String, atLeast retryAfter: Duration?) async {
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
