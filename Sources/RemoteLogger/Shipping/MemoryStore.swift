import WebServiceClient

/// A store in memory with bounds in records and in bytes.
///
/// When a record comes that doesn't fit, the lowest level goes first, and of that level the oldest; the newcomer counts as one of
/// them. Records that are on their way to the receiver stay, but count. A record that could not fit anyhow drops nothing but itself.
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
            outcome.unread = state.unread
            outcome.unreadBytes = state.unreadBytes
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
}

extension MemoryStore {
    /// A record in a box of its own: what moves through the queues then is one reference.
    private final class Item: Sendable {
        let position: RecordPosition
        let record: LogRecord
        let size: Int
        let since: UInt64

        init(position: RecordPosition, record: LogRecord, size: Int, since: UInt64) {
            self.position = position
            self.record = record
            self.size = size
            self.since = since
        }
    }

    private struct State: Sendable {
        /// The records that were not read yet, one queue for each level. Each is in the order of arrival.
        private var queues = LogLevel.allCases.map { _ in RecordQueue<Item>() }
        private var queuedBytes = LogLevel.allCases.map { _ in 0 }
        /// The records that were read and aren't acknowledged yet, in order.
        private var pinned: [Item] = []
        private var last: RecordPosition = 0
        private(set) var unread = 0
        private(set) var unreadBytes = 0
        private var pinnedBytes = 0

        mutating func append(_ record: LogRecord, size: Int, now: UInt64, limits: BufferLimits) -> AppendOutcome {
            last += 1
            let item = Item(position: last, record: record, size: size, since: now)
            var outcome = AppendOutcome(position: last)
            guard item.size <= limits.bytes else {
                outcome.dropped = [(last, .oversize)]
                return outcome
            }
            let level = Int(item.record.level.rawValue)
            while unread + pinned.count >= limits.records || unreadBytes + pinnedBytes > limits.bytes - item.size {
                guard canMakeRoom(for: item, limits: limits), let lowest = queues.indices.first(where: { !queues[$0].isEmpty }),
                    let victim = take(from: lowest)
                else {
                    outcome.dropped.append((last, .overflow))
                    return outcome
                }
                outcome.dropped.append((victim.position, .overflow))
            }
            queues[level].append(item)
            queuedBytes[level] += item.size
            unread += 1
            unreadBytes += item.size
            return outcome
        }

        /// Whether dropping what is of the newcomer's level or below would be enough.
        private func canMakeRoom(for item: Item, limits: BufferLimits) -> Bool {
            let above = Int(item.record.level.rawValue) + 1
            let records = queues[above...].reduce(pinned.count) { $0 + $1.count }
            let bytes = queuedBytes[above...].reduce(pinnedBytes, +)
            return records < limits.records && bytes <= limits.bytes - item.size
        }

        private mutating func take(from level: Int) -> Item? {
            guard let item = queues[level].popFirst() else { return nil }
            queuedBytes[level] -= item.size
            unread -= 1
            unreadBytes -= item.size
            return item
        }

        /// The level whose first record is the oldest of all that were not read yet.
        private var oldestQueue: Int? {
            var oldest: (level: Int, position: RecordPosition)?
            for (level, queue) in queues.enumerated() {
                guard let first = queue.first, first.position < oldest?.position ?? .max else { continue }
                oldest = (level, first.position)
            }
            return oldest?.level
        }

        mutating func read(after cursor: RecordPosition, limits: BatchLimits) -> [StoredRecord] {
            var batch: [StoredRecord] = []
            var bytes = 0
            for item in pinned where item.position > cursor {
                guard batch.isEmpty || batch.count < limits.records && bytes + item.size <= limits.bytes else { return batch }
                batch.append(StoredRecord(position: item.position, record: item.record))
                bytes += item.size
            }
            while let level = oldestQueue, let next = queues[level].first {
                guard batch.isEmpty || batch.count < limits.records && bytes + next.size <= limits.bytes else { break }
                guard let item = take(from: level) else { break }
                pinned.append(item)
                pinnedBytes += item.size
                guard item.position > cursor else { continue }
                batch.append(StoredRecord(position: item.position, record: item.record))
                bytes += item.size
            }
            return batch
        }

        mutating func acknowledge(through position: RecordPosition) {
            let count = pinned.firstIndex { $0.position > position } ?? pinned.count
            pinnedBytes -= pinned[..<count].reduce(0) { $0 + $1.size }
            pinned.removeFirst(count)
        }

        var load: StoreLoad {
            var load = StoreLoad(
                records: unread + pinned.count, bytes: unreadBytes + pinnedBytes, unread: unread, unreadBytes: unreadBytes)
            if let level = oldestQueue, let oldest = queues[level].first {
                load.firstUnread = oldest.position
                load.firstUnreadSince = oldest.since
            }
            load.first = pinned.first?.position ?? load.firstUnread
            return load
        }
    }
}
