import HTTPTransport

/// Reads batches from a store, in order, and sends as many at once as the receiver's pace allows: one unless set.
struct ShippingLoop {
    private let core: ShippingCore
    private let reporter: ShippingReporter
    private let window: ShippingWindow

    init(core: ShippingCore) {
        self.core = core
        reporter = ShippingReporter(core: core)
        window = ShippingWindow(core: core)
    }

    func run() async {
        let clock = core.settings.clock
        await withDiscardingTaskGroup { group in
            var cursor: RecordPosition = 0
            var number: UInt64 = 0
            group.addTask { await core.reportLosses() }
            while !Task.isCancelled {
                switch core.nextStep {
                case .end: return
                case .again: continue
                case .wait(let duration): await core.alarm.wait(for: duration, clock: clock)
                case .send where !window.hasRoom: await window.change.wait(for: nil, clock: clock)
                case .send:
                    let records = await core.store.read(after: cursor, limits: core.settings.batch)
                    guard let last = records.last else {
                        // A store that has records and gives none is at fault; don't spin.
                        await core.alarm.wait(for: core.settings.batch.interval, clock: clock)
                        continue
                    }
                    cursor = last.position
                    number += 1
                    window.append(number)
                    let shipment = BatchShipment(number, of: records, core: core, window: window, reporter: reporter)
                    group.addTask {
                        var shipment = shipment
                        await shipment.run()
                    }
                }
            }
        }
    }
}

/// Wakes the one task that waits for it. A ring while nobody waits is kept for the next wait, so that none is lost.
final class Alarm: Sendable {
    private struct State {
        var hasRung = false
        var sleeper: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    func ring() {
        state.withLock { state in
            if state.sleeper == nil { state.hasRung = true }
            defer { state.sleeper = nil }
            return state.sleeper
        }?.resume()
    }

    /// Waits for a ring, for the end of the time, or for the task to be cancelled. It may also end early: look again what there is to do.
    func wait(for duration: Duration?, clock: any LogClock) async {
        let timer = duration.map { duration in
            Task {
                try await clock.sleep(for: duration)
                ring()
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasRung = state.withLock { state in
                    defer { state.hasRung = false }
                    if !state.hasRung { state.sleeper = continuation }
                    return state.hasRung
                }
                if hasRung { continuation.resume() }
            }
        } onCancel: {
            ring()
        }
        timer?.cancel()
    }
}

/// What ends the sleep of the one who reads a store. It is met once: who has woken him need not do it again, nor need the next one.
package struct WakeCondition: Sendable {
    /// From so many records on that were not read.
    var records: Int
    /// From so many bytes of these on.
    var bytes: Int

    /// Nobody sleeps.
    static var never: WakeCondition { WakeCondition(records: .max, bytes: .max) }
    /// Whatever is there.
    static var anything: WakeCondition { WakeCondition(records: 1, bytes: .max) }

    /// Whether so much is enough.
    func isMet(by records: Int, _ bytes: Int) -> Bool {
        records >= self.records || bytes >= self.bytes
    }

    /// Whether so much is enough; then the sleeper is woken, and nothing is enough any more.
    mutating func take(_ records: Int, _ bytes: Int) -> Bool {
        guard isMet(by: records, bytes) else { return false }
        self = .never
        return true
    }
}
