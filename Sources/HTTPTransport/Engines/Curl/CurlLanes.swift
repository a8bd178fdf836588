/// Exchanges that wait for their turn: first in, first out of one origin, and the origins by turns.
///
/// Each origin has a bound of its own, and all have one together. When half of that is taken, the rest is shared: an origin gets another slot
/// only while it has less than an eighth of what is free. So a few origins that don't answer can't take all slots, and one more origin still
/// gets some: 128 remain to share by default, and 10 silent origins leave 44 of them.
struct CurlLanes<Exchange> {
    /// The exchanges of one origin: those that wait for their turn, and how many wait for their heads.
    ///
    /// A class, since each exchange tells its own when its head has come. For who has the loop's turn only.
    final class Lane {
        /// Those that wait for their turn.
        fileprivate(set) var queue = CurlQueue<Exchange>()
        /// How many have begun and wait for their heads.
        fileprivate(set) var waitingForHead = 0
        /// How many of those that wait for their turn nobody wants any more, about.
        fileprivate var unwanted = 0
        /// Whether it stands among those that come to their turn.
        fileprivate var isListed = false

        fileprivate var isUsed: Bool { waitingForHead > 0 || !queue.isEmpty }
    }

    /// The most exchanges of an origin that wait for their heads.
    private let mostOfOne: Int
    /// The most of all origins.
    private let most: Int
    /// How many may begin before the others have to share what is left.
    private let unshared: Int
    /// How many have begun and wait for their heads, of all origins.
    private var running = 0
    /// Whether none of the listed ones may begin before another one's head has come.
    private var isBlocked = false
    private var lanes: [Origin: Lane] = [:]
    /// The one that was last asked for, as it most likely will be again.
    private var last: (origin: Origin, lane: Lane)?
    /// Those with exchanges whose turn may come.
    private var listed = CurlQueue<Lane>()
    /// From so many on, those without exchanges are let go.
    private var tidiesAt = 256
    /// How many exchanges wait.
    private(set) var count = 0

    init(mostOfOne: Int, most: Int = .max) {
        self.mostOfOne = mostOfOne
        self.most = most
        unshared = max(most - most / 2, mostOfOne)
    }

    /// Whether none waits.
    var isEmpty: Bool { count == 0 }

    /// Whether one may begin now.
    var hasNext: Bool { !listed.isEmpty && !isBlocked && running < most }

    /// Those that wait.
    var waiting: some Sequence<Exchange> { lanes.values.lazy.flatMap(\.queue.waiting) }

    /// Adds one behind the others of its origin.
    ///
    /// - Returns: where it belongs.
    mutating func append(_ exchange: Exchange, to origin: Origin) -> Lane {
        let lane = lane(of: origin)
        lane.queue.append(exchange)
        count += 1
        list(lane)
        return lane
    }

    /// Takes the one whose turn it is; `nil` when none may begin.
    mutating func popFirst() -> Exchange? {
        guard hasNext else { return nil }
        // Each lane at most once: those that have their share already go behind the others.
        for _ in 0..<listed.count {
            guard let lane = listed.popFirst() else { break }
            guard lane.waitingForHead < mostOfOne, !lane.queue.isEmpty else {
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

    /// Nobody wants one of those any more that wait for their turn. An origin that doesn't answer may never come to it: so it isn't kept there
    /// for long.
    mutating func left(_ lane: Lane, isWanted: (Exchange) -> Bool) {
        lane.unwanted += 1
        guard lane.unwanted > 32, lane.unwanted > lane.queue.count / 2 else { return }
        tidy(lane, isWanted)
    }

    /// Whether as many as that wait for their turn to an origin.
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

    /// One has begun.
    mutating func began(_ lane: Lane) {
        lane.waitingForHead += 1
        running += 1
    }

    /// One that had begun waits no more.
    mutating func arrived(_ lane: Lane) {
        lane.waitingForHead -= 1
        running -= 1
        isBlocked = false
        list(lane)
    }

    /// Whether the bound for all lets another one of that origin begin.
    private func mayBegin(_ lane: Lane) -> Bool {
        running < unshared || lane.waitingForHead < (most - running + 7) / 8
    }

    private mutating func list(_ lane: Lane) {
        guard !lane.isListed, !lane.queue.isEmpty, lane.waitingForHead < mostOfOne else { return }
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

/// Exchanges that wait for their turn: first in, first out. Its memory is kept while it is empty, as it is between most exchanges.
struct CurlQueue<Exchange> {
    private var exchanges: [Exchange?] = []
    private var first = 0

    /// Whether none waits.
    var isEmpty: Bool { first == exchanges.count }

    /// Those that wait, in their order.
    var waiting: some Sequence<Exchange> { exchanges[first...].lazy.compactMap(\.self) }

    /// How many wait.
    var count: Int { exchanges.count - first }

    /// Takes those out that aren't to stay.
    mutating func keep(_ stays: (Exchange) -> Bool) {
        exchanges = exchanges[first...].filter { $0.map(stays) ?? false }
        first = 0
    }

    /// Adds one behind the others.
    mutating func append(_ exchange: Exchange) {
        // A queue that never gets empty moves up now and then.
        if first > 64, first > exchanges.count / 2 {
            exchanges.removeFirst(first)
            first = 0
        }
        exchanges.append(exchange)
    }

    /// Takes the one that has waited longest; `nil` when none waits.
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
