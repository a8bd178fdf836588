import HTTPTransport

/// Reads batches from a store, in order, and sends as many concurrently as the receiver's pace allows: one by default.
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
                case .wait(let end): await core.signal.wait(until: end, clock: clock)
                case .send where !window.hasRoom: await window.change.wait(until: nil, clock: clock)
                case .send:
                    let records = await core.store.read(after: cursor, limits: core.settings.batch)
                    guard let last = records.last else {
                        // The store has records but returns none, because it is faulty: don't spin.
                        await core.signal.wait(until: clock.uptime &+ core.settings.batch.interval.wholeNanoseconds, clock: clock)
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
