/// Records in memory, limited in number and bytes.
///
/// A new record that doesn't fit displaces the oldest record of the lowest level; it counts as a candidate itself. Pinned records are never
/// dropped, but count towards the limits. A record that can't fit at all displaces no others.
struct RecordBuffer: Sendable {
    /// A record with its position, its footprint in bytes, and its arrival time.
    struct Item: Sendable {
        let position: RecordPosition
        let record: LogRecord
        let size: Int
        let since: UInt64
        /// The destinations whose filters exclude the record.
        var excluded: [String] = []
    }

    /// A dropped record, with the reason.
    struct Loss: Sendable {
        let item: Item
        let reason: DropReason
    }

    /// The unpinned records, one queue per level, each in the order of arrival.
    private var queues = LogLevel.allCases.map { _ in RecordQueue<Item>() }
    private var queuedBytes = LogLevel.allCases.map { _ in 0 }
    /// The pinned records, in order. All are older than those in the queues.
    private(set) var pinned: [Item] = []
    private(set) var unpinned = 0
    private(set) var unpinnedBytes = 0
    private(set) var pinnedBytes = 0

    var count: Int { unpinned + pinned.count }
    var bytes: Int { unpinnedBytes + pinnedBytes }

    /// Adds a record.
    ///
    /// - Returns: The records dropped to make room, possibly including the new one.
    mutating func append(_ item: Item, limits: BufferLimits) -> ShortList<Loss> {
        guard item.size <= limits.bytes else { return ShortList(Loss(item: item, reason: .oversize)) }
        var dropped = ShortList<Loss>()
        while count >= limits.records || bytes > limits.bytes - item.size {
            guard canMakeRoom(for: item, limits: limits), let lowest = queues.indices.first(where: { !queues[$0].isEmpty }),
                let victim = take(from: lowest)
            else {
                dropped.append(Loss(item: item, reason: .overflow))
                return dropped
            }
            dropped.append(Loss(item: victim, reason: .overflow))
        }
        let level = Int(item.record.level.rawValue)
        queues[level].append(item)
        queuedBytes[level] += item.size
        unpinned += 1
        unpinnedBytes += item.size
        return dropped
    }

    /// Returns whether dropping records of the new one's level or below makes enough room.
    private func canMakeRoom(for item: Item, limits: BufferLimits) -> Bool {
        let above = Int(item.record.level.rawValue) + 1
        let records = queues[above...].reduce(pinned.count) { $0 + $1.count }
        let bytes = queuedBytes[above...].reduce(pinnedBytes, +)
        return records < limits.records && bytes <= limits.bytes - item.size
    }

    private mutating func take(from level: Int) -> Item? {
        guard let item = queues[level].popFirst() else { return nil }
        queuedBytes[level] -= item.size
        unpinned -= 1
        unpinnedBytes -= item.size
        return item
    }

    /// The level of the oldest unpinned record.
    private var oldestQueue: Int? {
        var oldest: (level: Int, position: RecordPosition)?
        for (level, queue) in queues.enumerated() {
            guard let first = queue.first, first.position < oldest?.position ?? .max else { continue }
            oldest = (level, first.position)
        }
        return oldest?.level
    }

    /// The oldest unpinned record.
    var oldestUnpinned: Item? { oldestQueue.flatMap { queues[$0].first } }

    /// Pins the oldest unpinned record.
    mutating func pinNext() -> Item? {
        guard let level = oldestQueue, let item = take(from: level) else { return nil }
        pinned.append(item)
        pinnedBytes += item.size
        return item
    }

    /// Removes the pinned records up to a position.
    mutating func removePinned(through position: RecordPosition) {
        let count = pinned.firstIndex { $0.position > position } ?? pinned.count
        pinnedBytes -= pinned[..<count].reduce(0) { $0 + $1.size }
        pinned.removeFirst(count)
    }

    /// Removes all records up to a position, pinned or not.
    mutating func removeAll(through position: RecordPosition) {
        removePinned(through: position)
        for level in queues.indices {
            while let first = queues[level].first, first.position <= position { _ = take(from: level) }
        }
    }

    /// Removes a record.
    ///
    /// - Returns: The removed record; `nil` if it wasn't found.
    mutating func remove(_ item: Item) -> Item? {
        if let index = pinned.firstIndex(where: { $0.position == item.position }) {
            pinnedBytes -= pinned[index].size
            return pinned.remove(at: index)
        }
        let level = Int(item.record.level.rawValue)
        guard let removed = queues[level].removeFirst(where: { $0.position == item.position }) else { return nil }
        queuedBytes[level] -= removed.size
        unpinned -= 1
        unpinnedBytes -= removed.size
        return removed
    }

    /// Returns the oldest records up to a position: at least one if there are any, within the limits. They stay in the buffer.
    func oldest(through position: RecordPosition, within limits: BufferLimits) -> [Item] {
        var items: [Item] = []
        var bytes = 0
        func takes(_ item: Item) -> Bool {
            guard item.position <= position, items.isEmpty || items.count < limits.records && bytes + item.size <= limits.bytes else {
                return false
            }
            items.append(item)
            bytes += item.size
            return true
        }
        for item in pinned where !takes(item) { return items }
        // For each level, the index of the next record in its queue, and that record's position.
        var heads = queues.map { (index: 0, position: $0.first?.position ?? .max) }
        while let level = heads.indices.min(by: { heads[$0].position < heads[$1].position }), heads[level].position < .max {
            // Usually only one level has records, so a queue is read until another one has an older record.
            let end = heads.indices.reduce(.max) { $1 == level ? $0 : min($0, heads[$1].position) }
            while heads[level].position < end, let item = queues[level][heads[level].index] {
                guard takes(item) else { return items }
                heads[level].index += 1
                heads[level].position = queues[level][heads[level].index]?.position ?? .max
            }
        }
        return items
    }
}

extension RecordBuffer {
    /// Returns the number of records of a level or above, after a position, that a destination doesn't exclude.
    func count(from level: LogLevel, after position: RecordPosition, for destination: String) -> Int {
        let isCounted = { (item: Item) in
            item.record.level >= level && item.position > position && (item.excluded.isEmpty || !item.excluded.contains(destination))
        }
        return queues.reduce(pinned.count(where: isCounted)) { $0 + $1.count(where: isCounted) }
    }

    /// Returns the position of the first record after the given one.
    func first(after position: RecordPosition) -> RecordPosition? {
        pinned.first { $0.position > position }?.position ?? oldestUnpinned?.position
    }
}

extension RecordBuffer {
    /// Reapplies a destination's filter.
    mutating func judge(for destination: String, _ excludes: (LogRecord) -> Bool) {
        func judge(_ item: inout Item) {
            item.excluded.removeAll { $0 == destination }
            if excludes(item.record) { item.excluded.append(destination) }
        }
        for index in pinned.indices { judge(&pinned[index]) }
        for level in queues.indices { queues[level].changeEach(judge) }
    }

    /// Returns the destinations that exclude each record up to a position, by position.
    func exclusions(through position: RecordPosition) -> [RecordPosition: [String]] {
        let all = BufferLimits(records: .max, bytes: .max)
        return Dictionary(oldest(through: position, within: all).map { ($0.position, $0.excluded) }) { first, _ in first }
    }

    /// The oldest record.
    var oldest: Item? { pinned.first ?? oldestUnpinned }
}

/// The memory limits for records while a receiver is slow or unreachable.
public struct BufferLimits: Sendable, Hashable {
    /// The maximum number of records. Default 50,000.
    public var records: Int
    /// The approximate maximum of their memory in bytes (``LogRecord/footprint``). Default 4 MiB.
    public var bytes: Int

    /// Creates limits; numbers below 1 count as 1.
    public init(records: Int = 50_000, bytes: Int = 4 << 20) {
        self.records = max(1, records)
        self.bytes = max(1, bytes)
    }
}
