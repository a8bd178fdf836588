import HTTPTransport

#if canImport(Glibc)
import Glibc
#endif

/// A store in memory with the bounds of a ``RecordBuffer``. Records that are on their way to the receiver are pinned.
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
        /// The records; pinned are those that were read.
        private var buffer = RecordBuffer()
        private var last: RecordPosition = 0
        /// What ends the reader's sleep.
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

/// Memory that is taken from the system before it is needed, many pages at once.
///
/// glibc lets a thread's heap grow page by page: for each the kernel is asked for access to it, and asked again, by a fault, when it is
/// first written to, which takes 5 µs together. While a queue of records grows that is one call of ten. Other allocators take their
/// memory in larger parts.
enum MemoryAhead {
    /// What is larger glibc doesn't take from the thread's heap (`M_MMAP_THRESHOLD`).
    private static var most: Int { 96 << 10 }

    /// Sees to it that this thread can allocate so many bytes, in small parts, without asking the system. What it takes it has given back
    /// to the allocator when it returns.
    static func provide(_ bytes: Int) {
        #if canImport(Glibc)
        let size = min(bytes, most)
        guard let block = malloc(size) else { return }
        // A function that the optimiser doesn't know: it would leave out what is written to memory that nobody reads.
        for offset in stride(from: 0, to: size, by: 4_096) { explicit_bzero(block + offset, 1) }
        free(block)
        #endif
    }
}
