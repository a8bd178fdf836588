import HTTPTransport

#if canImport(Glibc)
import Glibc
#endif

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

/// Memory that is requested from the system in advance, many pages at once.
///
/// glibc grows a thread's heap page by page. Each page costs a system call and a page fault, 5 µs together; while a queue of records grows,
/// that affects one call in ten. Other allocators request larger chunks.
enum MemoryAhead {
    /// The maximum size in bytes. glibc takes larger blocks from outside the thread's heap (`M_MMAP_THRESHOLD`).
    private static var most: Int { 96 << 10 }

    /// Ensures that this thread can allocate a number of bytes, in small parts, without a system call. The memory is returned to the
    /// allocator before this function returns.
    static func provide(_ bytes: Int) {
        #if canImport(Glibc)
        let size = min(bytes, most)
        guard let block = malloc(size) else { return }
        // Opaque to the optimizer, which would remove other writes to memory that is never read.
        for offset in stride(from: 0, to: size, by: 4_096) { explicit_bzero(block + offset, 1) }
        free(block)
        #endif
    }
}
