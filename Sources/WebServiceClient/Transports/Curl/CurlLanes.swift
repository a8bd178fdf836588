/// Exchanges that wait for their turn: first in, first out of one origin, and the origins by turns. A bound for each leaves room for the
/// others, also where one of them doesn't answer.
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
    private var lanes: [Origin: Lane] = [:]
    /// The one that was last asked for, as it most likely will be again.
    private var last: (origin: Origin, lane: Lane)?
    /// Those with exchanges whose turn may come.
    private var listed = CurlQueue<Lane>()
    /// From so many on, those without exchanges are let go.
    private var tidiesAt = 256
    /// How many exchanges wait.
    private(set) var count = 0

    init(mostOfOne: Int) {
        self.mostOfOne = mostOfOne
    }

    /// Whether none waits.
    var isEmpty: Bool { count == 0 }

    /// Whether one may begin that nothing but a bound for all keeps from it.
    var hasNext: Bool { !listed.isEmpty }

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
        while let lane = listed.popFirst() {
            lane.isListed = false
            guard lane.waitingForHead < mostOfOne, let exchange = lane.queue.popFirst() else { continue }
            count -= 1
            list(lane)
            return exchange
        }
        return nil
    }

    /// Nobody wants one of those any more that wait for their turn. An origin that doesn't answer may never come to it: so it isn't kept there
    /// for long.
    mutating func left(_ lane: Lane, isWanted: (Exchange) -> Bool) {
        lane.unwanted += 1
        guard lane.unwanted > 32, lane.unwanted > lane.queue.count / 2 else { return }
        let before = lane.queue.count
        lane.queue.keep(isWanted)
        count -= before - lane.queue.count
        lane.unwanted = 0
    }

    /// One has begun.
    func began(_ lane: Lane) { lane.waitingForHead += 1 }

    /// One that had begun waits no more.
    mutating func arrived(_ lane: Lane) {
        lane.waitingForHead -= 1
        list(lane)
    }

    private mutating func list(_ lane: Lane) {
        guard !lane.isListed, !lane.queue.isEmpty, lane.waitingForHead < mostOfOne else { return }
        lane.isListed = true
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
