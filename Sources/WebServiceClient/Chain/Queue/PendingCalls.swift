/// The pending calls of a queue in the order of their turns: by priority, between origins by rounds, and first in, first out.
///
/// Removing a call and finding the next one take constant time. All calls are in one array, linked by their indices. The calls of one
/// origin form a lane.
struct PendingCalls {
    /// The number of turns of higher priorities after which a lower priority gets the next turn. With three priorities, each that has
    /// pending calls gets at least one of `patience + 2` turns: the two lower ones can be due at the same time.
    static let patience = 10

    /// A pending call.
    struct Entry {
        var id: Int
        /// `nil` in unused elements.
        var waiter: CallWaiter?
        var record: CallRecord?
        var level: Int
        var lane: Int
        var since: MonotonicInstant
        var previous = -1
        var next = -1
    }

    /// The position of a pending call.
    struct Ticket {
        let index: Int
        let id: Int
    }

    /// The calls of one priority and origin.
    fileprivate struct Line {
        var first = -1
        var last = -1
        /// Whether the round of the priority contains the lane.
        var isInRound = false
        /// The number of the lane's turns since the line's last one.
        var passedOver = 0
    }

    /// An origin with active or pending calls, or with a pause.
    struct Lane {
        fileprivate(set) var origin: Origin?
        /// The number of active calls, if they are counted by origin.
        var active = 0
        /// The number of pending calls.
        fileprivate(set) var pending = 0
        /// The end of the origin's pause.
        var pausedUntil: MonotonicInstant?
        /// Ends the pause if calls wait for it.
        var timer: ClockTimer?
        fileprivate var isUsed = true
        fileprivate var lines = (Line(), Line(), Line())

        fileprivate subscript(level: Int) -> Line {
            get { level == 0 ? lines.0 : level == 1 ? lines.1 : lines.2 }
            set {
                switch level {
                case 0: lines.0 = newValue
                case 1: lines.1 = newValue
                default: lines.2 = newValue
                }
            }
        }
    }

    private var entries: [Entry] = []
    private var unusedEntries: [Int] = []
    private(set) var lanes: [Lane] = []
    private var unusedLanes: [Int] = []
    private var laneOfOrigin: [Origin?: Int] = [:]
    /// The lanes of each priority whose turn comes next, first to last. A lane that can't start a call is dropped when its turn comes.
    private var rounds: (ArraySlice<Int>, ArraySlice<Int>, ArraySlice<Int>) = ([], [], [])
    /// The number of turns since each priority's last one.
    private var passedOver = (0, 0, 0)
    private var lastID = 0
    /// The number of pending calls.
    private(set) var count = 0

    // MARK: Lanes

    /// The lane of an origin, if there is one.
    func knownLane(of origin: Origin?) -> Int? { laneOfOrigin[origin] }

    /// The lane of an origin.
    mutating func lane(of origin: Origin?) -> Int {
        if let known = laneOfOrigin[origin] { return known }
        let index: Int
        if let unused = unusedLanes.popLast() {
            index = unused
            lanes[index] = Lane(origin: origin)
        } else {
            index = lanes.count
            lanes.append(Lane(origin: origin))
        }
        laneOfOrigin[origin] = index
        return index
    }

    /// The lanes in use.
    var usedLanes: [Int] { lanes.indices.filter { lanes[$0].isUsed } }

    subscript(lane index: Int) -> Lane {
        get { lanes[index] }
        _modify { yield &lanes[index] }
    }

    /// Updates the rounds after a change of a lane, and forgets the lane if nothing is left of it.
    mutating func settle(_ lane: Int) {
        guard lanes[lane].isUsed else { return }
        if lanes[lane].pausedUntil == nil {
            for level in 0..<3 where lanes[lane][level].first >= 0 && !lanes[lane][level].isInRound {
                lanes[lane][level].isInRound = true
                round(level) { $0.append(lane) }
            }
        }
        let state = lanes[lane]
        guard state.active == 0, state.pending == 0, state.pausedUntil == nil, (0..<3).allSatisfy({ !state[$0].isInRound }) else { return }
        laneOfOrigin[state.origin] = nil
        lanes[lane].isUsed = false
        lanes[lane].origin = nil
        unusedLanes.append(lane)
    }

    private mutating func round<Result>(_ level: Int, _ body: (inout ArraySlice<Int>) -> Result) -> Result {
        switch level {
        case 0: body(&rounds.0)
        case 1: body(&rounds.1)
        default: body(&rounds.2)
        }
    }

    // MARK: Calls

    /// Adds a call at the end of its line.
    mutating func append(_ waiter: CallWaiter, _ record: CallRecord, _ priority: CallPriority, lane: Int, now: MonotonicInstant) -> Ticket {
        lastID += 1
        let level = priority.level
        let last = lanes[lane][level].last
        let entry = Entry(id: lastID, waiter: waiter, record: record, level: level, lane: lane, since: now, previous: last)
        let index: Int
        if let unused = unusedEntries.popLast() {
            index = unused
            entries[index] = entry
        } else {
            index = entries.count
            entries.append(entry)
        }
        if last >= 0 { entries[last].next = index } else { lanes[lane][level].first = index }
        lanes[lane][level].last = index
        lanes[lane].pending += 1
        count += 1
        settle(lane)
        return Ticket(index: index, id: lastID)
    }

    /// The call of a ticket; `nil` if it doesn't wait any more.
    func entry(of ticket: Ticket) -> Entry? {
        guard ticket.index < entries.count, entries[ticket.index].id == ticket.id else { return nil }
        return entries[ticket.index]
    }

    /// The ticket of a call's number; `nil` if it doesn't wait.
    func ticket(of id: Int) -> Ticket? {
        guard id > 0 else { return nil }
        return entries.firstIndex { $0.id == id }.map { Ticket(index: $0, id: id) }
    }

    /// Removes a call. The lane must be settled afterwards.
    ///
    /// - Returns: The call; `nil` if it doesn't wait any more.
    mutating func remove(_ ticket: Ticket) -> Entry? {
        guard let entry = entry(of: ticket) else { return nil }
        unlink(entry)
        lanes[entry.lane].pending -= 1
        count -= 1
        entries[ticket.index] = Entry(id: 0, level: 0, lane: -1, since: entry.since)
        if count == 0 {
            // A long queue's memory isn't kept.
            entries = []
            unusedEntries = []
        } else {
            unusedEntries.append(ticket.index)
        }
        return entry
    }

    private mutating func unlink(_ entry: Entry) {
        let (lane, level) = (entry.lane, entry.level)
        if entry.previous >= 0 { entries[entry.previous].next = entry.next } else { lanes[lane][level].first = entry.next }
        if entry.next >= 0 { entries[entry.next].previous = entry.previous } else { lanes[lane][level].last = entry.previous }
        if lanes[lane][level].first < 0 { lanes[lane][level].passedOver = 0 }
    }

    /// Moves a call to the line of another priority, to the place of its arrival. The lane must be settled afterwards.
    ///
    /// - Returns: The call's lane; `nil` if the call doesn't wait any more.
    mutating func move(_ ticket: Ticket, to priority: CallPriority) -> Int? {
        guard let entry = entry(of: ticket) else { return nil }
        let (lane, level) = (entry.lane, priority.level)
        guard level != entry.level else { return lane }
        unlink(entry)
        var previous = lanes[lane][level].last
        while previous >= 0, entries[previous].id > entry.id { previous = entries[previous].previous }
        let next = previous >= 0 ? entries[previous].next : lanes[lane][level].first
        entries[ticket.index].level = level
        entries[ticket.index].previous = previous
        entries[ticket.index].next = next
        if previous >= 0 { entries[previous].next = ticket.index } else { lanes[lane][level].first = ticket.index }
        if next >= 0 { entries[next].previous = ticket.index } else { lanes[lane][level].last = ticket.index }
        return lane
    }

    /// The pending calls in the order of priority and arrival.
    var all: [Entry] {
        entries.filter { $0.id > 0 }.sorted { ($0.level, $0.id) < ($1.level, $1.id) }
    }

    /// Removes all calls of a lane, or all.
    mutating func removeAll(ofLane lane: Int? = nil) -> [Entry] {
        let indices = entries.indices.filter { entries[$0].id > 0 && (lane == nil || entries[$0].lane == lane) }
        let tickets = indices.map { Ticket(index: $0, id: entries[$0].id) }
        return tickets.compactMap { remove($0) }.sorted { ($0.level, $0.id) < ($1.level, $1.id) }
    }

    // MARK: Turns

    /// Removes the call whose turn is next. The lane must be settled afterwards.
    ///
    /// - Parameter limit: The maximum number of active calls of an origin.
    /// - Returns: The call; `nil` if none can start.
    mutating func next(perOrigin limit: Int) -> Entry? {
        let ready = (isReady(0, limit), isReady(1, limit), isReady(2, limit))
        let level: Int
        var isDue = true
        if ready.1, passedOver.1 >= Self.patience {
            level = 1
        } else if ready.2, passedOver.2 >= Self.patience {
            level = 2
        } else {
            isDue = false
            guard let first = ready.0 ? 0 : ready.1 ? 1 : ready.2 ? 2 : nil else { return nil }
            level = first
        }
        guard let lane = round(level, { $0.popFirst() }) else { return nil }
        lanes[lane][level].isInRound = false
        // The lane's own lower priorities are passed over by its turns only.
        var own = level
        if !isDue {
            let lower = (1...2).first { $0 > level && lanes[lane][$0].first >= 0 && lanes[lane][$0].passedOver >= Self.patience }
            own = lower ?? level
        }
        for other in 1..<3 where lanes[lane][other].first >= 0 {
            lanes[lane][other].passedOver = other == own ? 0 : lanes[lane][other].passedOver + 1
        }
        passedOver.1 = own == 1 ? 0 : passedOver.1 + (ready.1 ? 1 : 0)
        passedOver.2 = own == 2 ? 0 : passedOver.2 + (ready.2 ? 1 : 0)
        let first = lanes[lane][own].first
        return remove(Ticket(index: first, id: entries[first].id))
    }

    /// Whether a call of a priority can start. Drops lanes from the beginning of the round that can't start any.
    private mutating func isReady(_ level: Int, _ limit: Int) -> Bool {
        while let lane = round(level, { $0.first }) {
            let state = lanes[lane]
            if state.pausedUntil == nil, state.active < limit, state[level].first >= 0 { return true }
            _ = round(level) { $0.popFirst() }
            lanes[lane][level].isInRound = false
            // A lane that is only paused or at its limit comes back later.
            if state.pending == 0 { settle(lane) }
        }
        return false
    }
}
