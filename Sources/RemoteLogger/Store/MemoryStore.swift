import HTTPTransport

/// A store in memory with the limits of a ``RecordBuffer``. Records in flight are pinned.
package final class MemoryStore: RecordStore {
    private let limits: BufferLimits
    private let state = Locked(State())

    package init(limits: BufferLimits) {
        self.limits = limits
    }

    package func append(_ record: LogRecord, now: UInt64) -> AppendOutcome {
        let size = record.footprint
        return state.withLock { state in
            var outcome = state.append(record, size: size, now: now, limits: limits)
            outcome.mustWake = state.wake.take(state.unread, state.unreadBytes)
            return outcome
        }
    }

    package func read(after cursor: RecordPosition, limits: BatchLimits) async -> [StoredRecord] {
        state.withLock { $0.read(after: cursor, limits: limits) }
    }

    package func acknowledge(through position: RecordPosition) {
        state.withLock { $0.acknowledge(through: position) }
    }

    package func close() -> Int {
        state.withLock { state in
            let records = state.load.records
            state = State()
            return records
        }
    }

    package var load: StoreLoad {
        state.withLock { $0.load }
    }

    package func sleep(until condition: WakeCondition) -> Bool {
        state.withLock { state in
            state.wake = condition
            return !state.wake.take(state.unread, state.unreadBytes)
        }
    }
}

extension MemoryStore {
    private struct State: Sendable {
        /// The records. Those that were read are pinned.
        private var buffer = RecordBuffer()
        private var last: RecordPosition = 0
        /// The condition that wakes the reader.
        var wake = WakeCondition.never

        var unread: Int { buffer.unpinned }
        var unreadBytes: Int { buffer.unpinnedBytes }

        mutating func append(_ record: LogRecord, size: Int, now: UInt64, limits: BufferLimits) -> AppendOutcome {
            last += 1
            let dropped = buffer.append(RecordBuffer.Item(position: last, record: record, size: size, since: now), limits: limits)
            var outcome = AppendOutcome(position: last)
            for loss in dropped {
                outcome.losses.append(RecordLoss(count: 1, first: loss.item.position, reason: loss.reason))
                if loss.item.position == last { outcome.isLost = true }
            }
            return outcome
        }

        mutating func read(after cursor: RecordPosition, limits: BatchLimits) -> [StoredRecord] {
            var batch = RecordBatch(cursor: cursor, limits: limits)
            buffer.read(into: &batch)
            return batch.records
        }

        mutating func acknowledge(through position: RecordPosition) {
            buffer.removePinned(through: position)
        }

        var load: StoreLoad {
            var load = StoreLoad(records: buffer.count, bytes: buffer.bytes, unread: unread, unreadBytes: unreadBytes)
            load.last = last
            if let oldest = buffer.oldestUnpinned {
                load.firstUnread = oldest.position
                load.firstUnreadSince = oldest.since
            }
            load.first = buffer.pinned.first?.position ?? load.firstUnread
            load.firstSince = buffer.pinned.first?.since ?? load.firstUnreadSince
            return load
        }
    }
}
