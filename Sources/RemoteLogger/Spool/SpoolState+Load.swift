extension SpoolState {
    /// What a destination has.
    func load(of name: String) -> StoreLoad {
        guard let destination = destinations[name] else { return StoreLoad() }
        var load = StoreLoad(records: destination.held + destination.lost, bytes: diskBytes + memory.bytes)
        load.unread = destination.unread
        load.unreadBytes = destination.unreadBytes
        load.found = destination.found
        load.last = last
        if destination.unread > 0 {
            let onDisk = segments.first { $0.last > destination.read }.map { max($0.first, destination.read + 1) }
            load.firstUnread = onDisk ?? memory.first(after: destination.read) ?? last
            load.firstUnreadSince = destination.since
        }
        load.first = destination.handed.first ?? load.firstUnread
        load.firstSince = destination.handedSince ?? load.firstUnreadSince
        return load
    }

    /// What a destination has, and how much of it is on disk: what it holds and memory doesn't.
    func census(of name: String) -> StoreLoad {
        var load = load(of: name)
        guard let destination = destinations[name] else { return load }
        load.spooled = destination.held - memory.count(from: destination.minimumLevel, after: destination.acknowledged, for: name)
        return load
    }

    /// Gives up for a destination what is in memory, and altogether when nobody else is there.
    ///
    /// - Returns: how many records the destination loses.
    mutating func abandonMemory(of name: String) -> Int {
        guard let destination = destinations[name] else { return 0 }
        let lost = memory.count(from: destination.minimumLevel, after: destination.acknowledged, for: name)
        destinations[name]?.abandon(lost)
        if !destinations.values.contains(where: \.isOpen) { memory = RecordBuffer() }
        return lost
    }
}
