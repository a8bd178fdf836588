/// Reads batches from a store, and sends one after the other, in order.
struct ShippingLoop {
    private let core: ShippingCore
    private let pace: ReceiverPace
    private let reporter: ShippingReporter
    private var cursor: RecordPosition = 0

    init(core: ShippingCore) {
        self.core = core
        reporter = ShippingReporter(core: core)
        pace = ReceiverPace(core: core, reporter: reporter)
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
        var shipment = BatchShipment(of: records, core: core, pace: pace, reporter: reporter)
        await shipment.run()
    }
}
