/// Queued exchanges: first in, first out for each origin, and round robin between origins.
///
/// Each origin has a limit, and all have a common one. Once half of that is in use, the rest is shared: an origin gets another slot only
/// while it has fewer than an eighth of the free ones. So a few origins that don't answer can't take all slots, and another origin still
/// gets some: by default 128 are shared, and 10 silent origins leave 44 of them.
struct CurlLanes<Exchange> {
    /// The exchanges of one origin: the queued ones, and the number of those that wait for their heads.
    ///
    /// A class, because each exchange refers to its lane when its head arrives. Only the loop's owner uses it.
    final class Lane {
        /// The queued exchanges.
        fileprivate(set) var queue = CurlQueue<Exchange>()
        /// The number of started exchanges that wait for their heads.
        fileprivate(set) var waitingForHead = 0
        /// The approximate number of queued exchanges that are no longer wanted.
        fileprivate var unwanted = 0
        /// Whether it is in the list of lanes that may start exchanges.
        fileprivate var isListed = false

        fileprivate var isUsed: Bool { waitingForHead > 0 || !queue.isEmpty }
    }

    /// The maximum number of exchanges of one origin that wait for their heads.
    private let limitPerOrigin: Int
    /// The maximum number for all origins.
    private let most: Int
    /// The number that may start before origins have to share the rest.
    private let unshared: Int
    /// The number of started exchanges of all origins that wait for their heads.
    private var running = 0
    /// Whether no listed lane may start an exchange until another head arrives.
    private var isBlocked = false
    private var lanes: [Origin: Lane] = [:]
    /// The last lane asked for, which will probably be asked for again.
    private var last: (origin: Origin, lane: Lane)?
    /// The lanes with queued exchanges.
    private var listed = CurlQueue<Lane>()
    /// The number of lanes above which idle ones are removed.
    private var tidiesAt = 256
    /// The number of queued exchanges.
    private(set) var count = 0

    init(limitPerOrigin: Int, most: Int = .max) {
        self.limitPerOrigin = limitPerOrigin
        self.most = most
        unshared = max(most - most / 2, limitPerOrigin)
    }

    /// Whether none are queued.
    var isEmpty: Bool { count == 0 }

    /// Whether an exchange may start now.
    var hasNext: Bool { !listed.isEmpty && !isBlocked && running < most }

    /// The queued exchanges.
    var waiting: some Sequence<Exchange> { lanes.values.lazy.flatMap(\.queue.waiting) }

    /// Appends an exchange to the queue of its origin.
    ///
    /// - Returns: Its lane.
    mutating func append(_ exchange: Exchange, to origin: Origin) -> Lane {
        let lane = lane(of: origin)
        lane.queue.append(exchange)
        count += 1
        list(lane)
        return lane
    }

    /// Removes the next exchange to start; `nil` if none may start.
    mutating func popFirst() -> Exchange? {
        guard hasNext else { return nil }
        // Visits each lane at most once: those that already have their share move to the end.
        for _ in 0..<listed.count {
            guard let lane = listed.popFirst() else { break }
            guard lane.waitingForHead < limitPerOrigin, !lane.queue.isEmpty else {
                lane.isListed = false
                continue
            }
            guard mayBegin(lane), let exchange = lane.queue.popFirst() else {
                listed.append(lane)
                continue
            }
            lane.isListed = false
            count -= 1
            list(lane)
            return exchange
        }
        isBlocked = true
        return nil
    }

    /// Called when a queued exchange is no longer wanted. An origin that doesn't answer may never reach it, so it is removed soon.
    mutating func left(_ lane: Lane, isWanted: (Exchange) -> Bool) {
        lane.unwanted += 1
        guard lane.unwanted > 32, lane.unwanted > lane.queue.count / 2 else { return }
        tidy(lane, isWanted)
    }

    /// Returns whether at least this number of exchanges is queued for an origin.
    mutating func areWaiting(_ most: Int, to origin: Origin, isWanted: (Exchange) -> Bool) -> Bool {
        guard let lane = lanes[origin], lane.queue.count >= most else { return false }
        if lane.unwanted > 0 { tidy(lane, isWanted) }
        return lane.queue.count >= most
    }

    private mutating func tidy(_ lane: Lane, _ isWanted: (Exchange) -> Bool) {
        let before = lane.queue.count
        lane.queue.keep(isWanted)
        count -= before - lane.queue.count
        lane.unwanted = 0
    }

    /// Called when an exchange has started.
    mutating func began(_ lane: Lane) {
        lane.waitingForHead += 1
        running += 1
    }

    /// Called when a started exchange no longer waits for its head.
    mutating func arrived(_ lane: Lane) {
        lane.waitingForHead -= 1
        running -= 1
        isBlocked = false
        list(lane)
    }

    /// Returns whether the common limit allows another exchange of an origin to start.
    private func mayBegin(_ lane: Lane) -> Bool {
        running < unshared || lane.waitingForHead < (most - running + 7) / 8
    }

    private mutating func list(_ lane: Lane) {
        guard !lane.isListed, !lane.queue.isEmpty, lane.waitingForHead < limitPerOrigin else { return }
        lane.isListed = true
        isBlocked = false
        listed.append(lane)
    }

    private mutating func lane(of origin: Origin) -> Lane {
        if let last, last.origin == origin { return last.lane }
        let lane = lanes[origin] ?? added(origin)
        last = (origin, lane)
        return lane
    }

    private mutating func added(_ origin: Origin) -> Lane {
        if lanes.count >= tidiesAt {
            lanes = lanes.filter { $0.value.isUsed }
            tidiesAt = max(256, 2 * lanes.count)
        }
        let lane = Lane()
        lanes[origin] = lane
        return lane
    }
}

/// A first-in, first-out queue of exchanges. It keeps its memory while it is empty, because it is empty between most exchanges.
struct CurlQueue<Exchange> {
    private var exchanges: [Exchange?] = []
    private var first = 0

    /// Whether it is empty.
    var isEmpty: Bool { first == exchanges.count }

    /// The queued exchanges, in order.
    var waiting: some Sequence<Exchange> { exchanges[first...].lazy.compactMap(\.self) }

    /// The number of queued exchanges.
    var count: Int { exchanges.count - first }

    /// Removes the exchanges that don't satisfy the predicate.
    mutating func keep(_ stays: (Exchange) -> Bool) {
        exchanges = exchanges[first...].filter { $0.map(stays) ?? false }
        first = 0
    }

    /// Appends an exchange.
    mutating func append(_ exchange: Exchange) {
        // A queue that never becomes empty is compacted now and then.
        if first > 64, first > exchanges.count / 2 {
            exchanges.removeFirst(first)
            first = 0
        }
        exchanges.append(exchange)
    }

    /// Removes the oldest exchange; `nil` if there is none.
    mutating func popFirst() -> Exchange? {
        guard first < exchanges.count else { return nil }
        let exchange = exchanges[first]
        exchanges[first] = nil
        first += 1
        if first == exchanges.count {
            exchanges.removeAll(keepingCapacity: true)
            first = 0
        }
        return exchange
    }
}
