import WebServiceClient

/// The batches that are on their way, in order. A store takes acknowledgements in order, hence what becomes of a batch waits for those
/// before it.
final class ShippingWindow: Sendable {
    private struct Entry: Sendable {
        let number: UInt64
        var settled: [(record: StoredRecord, outcome: PendingBatch.Outcome)] = []
        var isDone = false
        /// The receiver has it, and hasn't acknowledged it yet.
        var isUnacknowledged = false
    }

    private let core: ShippingCore
    private let entries = Locked<[Entry]>([])
    /// Rings when there may be room for another batch.
    let change = Alarm()

    init(core: ShippingCore) {
        self.core = core
    }

    /// Whether another batch may be sent.
    var hasRoom: Bool {
        let (limit, maximum) = (core.pace.limit, max(1, core.settings.maximumUnacknowledgedBatches))
        return entries.withLock { entries in
            let unacknowledged = entries.count { $0.isUnacknowledged }
            let sending = entries.count { !$0.isUnacknowledged && !$0.isDone }
            // One that comes to no end mustn't let those pile up that have ended behind it.
            return sending < limit && unacknowledged < maximum && entries.count < limit + maximum
        }
    }

    /// A batch begins, behind all others.
    func append(_ number: UInt64) {
        entries.withLock { $0.append(Entry(number: number)) }
    }

    /// Something of a batch is settled; `isDone` when that was the last of it.
    func settle(_ number: UInt64, _ settled: [(record: StoredRecord, outcome: PendingBatch.Outcome)], isDone: Bool) {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
            entries[index].settled += settled
            entries[index].isDone = isDone
            // Under the lock, for the order of those that end at once.
            while let first = entries.first {
                core.settle(first.settled)
                entries[0].settled = []
                guard first.isDone else { break }
                entries.removeFirst()
            }
        }
        change.ring()
    }

    /// A batch waits for its acknowledgement, or not any more: meanwhile another one may be sent.
    func setUnacknowledged(_ number: UInt64, _ isUnacknowledged: Bool) {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
            entries[index].isUnacknowledged = isUnacknowledged
        }
        change.ring()
    }
}
