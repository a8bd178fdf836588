import Foundation

/// The queue of a client: which calls are active, and which wait for their turn. It doesn't use a task: the code that ends a call, or
/// changes the queue, starts as many pending calls as the limits allow.
///
/// A pending call is resumed once: by its turn, by its deadline, by its cancellation, or by the end of the queue. If its turn comes at the
/// same time as another end, its slot is passed on.
final class CallQueue: Sendable {
    /// The right of a call to be active. It must be released once.
    struct Slot: Sendable {
        /// The origin's lane, if the call is counted there; otherwise -1.
        fileprivate let lane: Int
        /// Whether the call is counted at all.
        fileprivate var isCounted = true

        /// The slot of a call that another call's slot includes.
        static let included = Slot(lane: -1, isCounted: false)
    }

    private struct State {
        var limits = QueueLimits.none
        /// The number of the last change of the limits.
        var limitsNumber = 0
        var isPaused = false
        var closed: CallCancelled?
        var active = 0
        var pending = PendingCalls()
        var pausedLanes = 0
        /// The earliest end of an origin's pause.
        var firstResumption: MonotonicInstant?
        var observers: [Int: AsyncStream<Void>.Continuation] = [:]
        var observerCount = 0
        /// Whether calls start without a look at anything else.
        var isOpen = true

        mutating func update() {
            isOpen =
                limits.active == nil && limits.activePerOrigin == nil && !isPaused && closed == nil && pausedLanes == 0
                && pending.count == 0 && observers.isEmpty
        }
    }

    /// The effects that are performed after the lock is released.
    private struct Effects {
        var started: [(waiter: CallWaiter, slot: Slot)] = []
        var timers: [(timer: ClockTimer, origin: Origin?, end: MonotonicInstant)] = []
        var endedTimers: [ClockTimer] = []
        var signals: [AsyncStream<Void>.Continuation] = []
    }

    private enum Admission {
        case started(Slot)
        case waits(PendingCalls.Ticket, longest: Duration?)
        case refused(any Error)
    }

    private let state = Locked(State())
    private let clock: CallClock

    init(clock: CallClock) {
        self.clock = clock
    }

    // MARK: Calls

    /// Takes a slot if the queue has no limits and no pauses.
    @inline(__always)
    func slotAtOnce() -> Slot? {
        state.withLock { state in
            guard state.isOpen else { return nil }
            state.active += 1
            return Slot(lane: -1)
        }
    }

    /// Takes a slot, after a wait for the call's turn if need be.
    ///
    /// - Throws: ``QueueError``; a timeout if the call's deadline passes; ``CallCancelled`` or `CancellationError`.
    func slot(for request: ServiceRequest, _ context: CallContext) async throws -> Slot {
        let waiter = CallWaiter()
        let priority = context.attributes[CallPriority.self] ?? .normal
        let (origin, now) = (request.origin, clock.now())
        let admission = change { state, effects in
            Self.admit(waiter, context.record, priority, origin, now, &state, &effects)
        }
        let (ticket, longest): (PendingCalls.Ticket, Duration?)
        switch admission {
        case .started(let slot): return slot
        case .refused(let error): throw error
        case .waits(let ticketOfCall, let longestWait): (ticket, longest) = (ticketOfCall, longestWait)
        }
        let remaining = request.end.map { now.duration(to: $0) }
        let isDeadline = remaining.map { $0 < longest ?? .longest } ?? false
        var cancelTimer: (@Sendable () -> Void)?
        if let bound = isDeadline ? remaining : longest {
            cancelTimer = clock.schedule(bound) { [weak self] in
                let reason = self?.reason(of: ticket)
                let error: any Error =
                    isDeadline ? QueueError.deadline(after: max(.zero, bound), reason) : QueueError.waitedTooLong(bound, reason)
                waiter.end(.failure(error))
            }
        }
        defer {
            cancelTimer?()
            context.record.noteWait(
                CallRecord.Wait(reason: .queue, duration: now.duration(to: clock.now()), attempt: context.attempt, cause: ""))
        }
        do {
            try await waiter.wait(unless: context.record.cancellation)
        } catch {
            _ = change { state, effects in Self.remove(ticket, &state, &effects) }
            throw error
        }
        // The turn came, so the slot is counted by origin.
        return Slot(lane: lane(of: origin))
    }

    /// Releases a slot. It must be called once for each slot.
    @inline(__always)
    func release(_ slot: Slot) {
        guard slot.isCounted else { return }
        let isDone = state.withLock { state in
            guard state.isOpen, slot.lane < 0 else { return false }
            state.active -= 1
            return true
        }
        if !isDone { releaseAndStart(slot) }
    }

    private func releaseAndStart(_ slot: Slot) {
        change { state, effects in Self.release(slot, &state, &effects) }
    }

    /// The lane of an origin that has active calls.
    private func lane(of origin: Origin?) -> Int {
        state.withLock { $0.pending.knownLane(of: origin) ?? -1 }
    }

    private func reason(of ticket: PendingCalls.Ticket) -> PendingCall.Reason? {
        let now = clock.now()
        return state.withLock { state in state.pending.entry(of: ticket).map { Self.reason(of: $0, state, now) } }
    }

    // MARK: Control

    /// Applies limits, also to the pending calls. Active calls continue, even if there are more than the new limit. Limits with faults
    /// change nothing: such a client makes no calls.
    ///
    /// - Parameter number: The number of the change; an earlier one than the last is ignored.
    func apply(_ limits: QueueLimits, number: Int) {
        guard limits.faults.isEmpty else { return }
        change { state, effects in
            guard number >= state.limitsNumber else { return }
            state.limitsNumber = number
            guard limits != state.limits else { return }
            state.limits = limits
            for lane in state.pending.usedLanes { Self.settle(lane, &state, &effects) }
        }
    }

    /// Starts no more calls; active ones continue.
    func pause() {
        change { state, _ in state.isPaused = true }
    }

    /// Starts as many pending calls as the limits allow.
    func resume() {
        change { state, _ in state.isPaused = false }
    }

    /// Starts no more calls to an origin before an instant. Of two pauses, the later end counts.
    ///
    /// - Parameter error: The error of the calls that wait for the origin; if `nil`, they continue to wait.
    func pause(_ origin: Origin?, until end: MonotonicInstant, refusing error: (any Error)? = nil) {
        let now = clock.now()
        guard end > now else { return }
        let refused: [PendingCalls.Entry] = change { state, effects in
            let lane = state.pending.lane(of: origin)
            if let earlier = state.pending[lane: lane].pausedUntil {
                state.pending[lane: lane].pausedUntil = max(earlier, end)
            } else {
                state.pending[lane: lane].pausedUntil = end
                state.pausedLanes += 1
            }
            state.firstResumption = min(state.firstResumption ?? end, end)
            let refused = error == nil ? [] : state.pending.removeAll(ofLane: lane)
            Self.settle(lane, &state, &effects)
            return refused
        }
        if let error { for entry in refused { entry.waiter?.end(.failure(error)) } }
    }

    /// Ends the pause of an origin.
    func resume(_ origin: Origin?) {
        change { state, effects in
            guard let lane = state.pending.knownLane(of: origin) else { return }
            Self.endPause(lane, &state, &effects)
        }
    }

    /// The end of an origin's pause; `nil` if it isn't paused.
    func pauseEnd(of origin: Origin?) -> MonotonicInstant? {
        let now = clock.now()
        return state.withLock { state in
            guard state.pausedLanes > 0, let lane = state.pending.knownLane(of: origin), let end = state.pending[lane: lane].pausedUntil,
                end > now
            else { return nil }
            return end
        }
    }

    /// The pending calls by priority and arrival.
    var pending: [PendingCall] {
        let now = clock.now()
        return state.withLock { state in Self.snapshots(of: state.pending.all, state, now) }
    }

    /// Cancels a pending call.
    ///
    /// - Returns: Whether the call was pending.
    func cancel(_ id: Int, _ cause: CallCancelled) -> Bool {
        let entry: PendingCalls.Entry? = change { state, effects in
            guard let ticket = state.pending.ticket(of: id) else { return nil }
            return Self.remove(ticket, &state, &effects)
        }
        guard let entry else { return false }
        entry.record?.cancellation.cancel(cause)
        entry.waiter?.end(.failure(cause))
        return true
    }

    /// Changes the priority of a pending call, which keeps the place of its arrival.
    ///
    /// - Returns: Whether the call was pending.
    func setPriority(_ priority: CallPriority, of id: Int) -> Bool {
        change { state, effects in
            guard let ticket = state.pending.ticket(of: id), let lane = state.pending.move(ticket, to: priority) else { return false }
            Self.settle(lane, &state, &effects)
            return true
        }
    }

    /// Ends the queue: cancels all pending calls, and refuses later ones with the same error. Active calls continue.
    ///
    /// - Returns: The calls that were pending.
    @discardableResult
    func close(with error: CallCancelled) -> [PendingCall] {
        let now = clock.now()
        let (entries, snapshots, observers) = change { state, effects in
            state.closed = state.closed ?? error
            let snapshots = Self.snapshots(of: state.pending.all, state, now)
            let entries = state.pending.removeAll()
            for lane in state.pending.usedLanes { Self.settle(lane, &state, &effects) }
            defer { state.observers = [:] }
            return (entries, snapshots, Array(state.observers.values))
        }
        for entry in entries {
            entry.record?.cancellation.cancel(error)
            entry.waiter?.end(.failure(error))
        }
        for observer in observers { observer.finish() }
        return snapshots
    }

    /// A stream that has an element after each change, or after several.
    func signals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number: Int? = change { state, _ in
            guard state.closed == nil else { return nil }
            state.observerCount += 1
            state.observers[state.observerCount] = continuation
            return state.observerCount
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.change { state, _ in state.observers[number] = nil }
        }
        return stream
    }

    /// The queue's state.
    var status: QueueStatus {
        state.withLock { QueueStatus(activeCount: $0.active, pendingCount: $0.pending.count, isPaused: $0.isPaused, limits: $0.limits) }
    }
}

// Methods that run while the lock is held.
extension CallQueue {
    /// Changes the state, starts what can start, and then does what must not be done while the lock is held.
    private func change<Result>(_ body: (inout State, inout Effects) -> Result) -> Result {
        let (result, effects) = state.withLock { state in
            var effects = Effects()
            let result = body(&state, &effects)
            Self.start(&state, &effects)
            state.update()
            effects.signals = Array(state.observers.values)
            return (result, effects)
        }
        perform(effects)
        return result
    }

    private func perform(_ effects: Effects) {
        var effects = effects
        while true {
            for timer in effects.endedTimers { timer.cancel() }
            for (timer, origin, end) in effects.timers {
                timer.start(clock, until: end) { [weak self] in self?.endsPause(of: origin) }
            }
            for signal in effects.signals { signal.yield() }
            // The task or its call may have been cancelled in the meantime: then the slot is the next one's.
            let unused = effects.started.filter { !$0.waiter.end(.success(())) }
            if unused.isEmpty { return }
            effects = state.withLock { state in
                var effects = Effects()
                for start in unused { Self.release(start.slot, &state, &effects) }
                Self.start(&state, &effects)
                state.update()
                effects.signals = Array(state.observers.values)
                return effects
            }
        }
    }

    private static func admit(
        _ waiter: CallWaiter, _ record: CallRecord, _ priority: CallPriority, _ origin: Origin?, _ now: MonotonicInstant,
        _ state: inout State, _ effects: inout Effects
    ) -> Admission {
        if let closed = state.closed { return .refused(closed) }
        endPauses(now, &state, &effects)
        start(&state, &effects)
        let lane = state.pending.lane(of: origin)
        let isFree =
            !state.isPaused && state.active < state.limits.active ?? .max && state.pending[lane: lane].pausedUntil == nil
            && state.pending[lane: lane].pending == 0 && state.pending[lane: lane].active < state.limits.activePerOrigin ?? .max
        if isFree {
            state.active += 1
            state.pending[lane: lane].active += 1
            return .started(Slot(lane: lane))
        }
        if let limit = state.limits.pending, state.pending.count >= limit {
            settle(lane, &state, &effects)
            return .refused(QueueError.full(limit))
        }
        let ticket = state.pending.append(waiter, record, priority, lane: lane, now: now)
        settle(lane, &state, &effects)
        return .waits(ticket, longest: state.limits.wait)
    }

    private static func remove(_ ticket: PendingCalls.Ticket, _ state: inout State, _ effects: inout Effects) -> PendingCalls.Entry? {
        guard let entry = state.pending.remove(ticket) else { return nil }
        settle(entry.lane, &state, &effects)
        return entry
    }

    private static func release(_ slot: Slot, _ state: inout State, _ effects: inout Effects) {
        state.active -= 1
        guard slot.lane >= 0 else { return }
        state.pending[lane: slot.lane].active -= 1
        settle(slot.lane, &state, &effects)
    }

    /// Starts as many pending calls as the limits allow.
    private static func start(_ state: inout State, _ effects: inout Effects) {
        guard state.pending.count > 0, !state.isPaused else { return }
        while state.active < state.limits.active ?? .max, let entry = state.pending.next(perOrigin: state.limits.activePerOrigin ?? .max) {
            state.active += 1
            state.pending[lane: entry.lane].active += 1
            settle(entry.lane, &state, &effects)
            if let waiter = entry.waiter { effects.started.append((waiter, Slot(lane: entry.lane))) }
        }
    }

    /// Updates a lane after a change: its place in the rounds, and the timer of its pause, which runs only while calls wait for it.
    private static func settle(_ lane: Int, _ state: inout State, _ effects: inout Effects) {
        if let end = state.pending[lane: lane].pausedUntil {
            if state.pending[lane: lane].pending == 0 {
                if let timer = state.pending[lane: lane].timer { effects.endedTimers.append(timer) }
                state.pending[lane: lane].timer = nil
            } else if state.pending[lane: lane].timer == nil {
                let timer = ClockTimer()
                state.pending[lane: lane].timer = timer
                effects.timers.append((timer, state.pending[lane: lane].origin, end))
            }
        }
        state.pending.settle(lane)
    }

    /// Ends the pauses whose time has come.
    private static func endPauses(_ now: MonotonicInstant, _ state: inout State, _ effects: inout Effects) {
        guard state.pausedLanes > 0, let first = state.firstResumption, first <= now else { return }
        state.firstResumption = nil
        for lane in state.pending.usedLanes {
            guard let end = state.pending[lane: lane].pausedUntil else { continue }
            if end <= now {
                endPause(lane, &state, &effects)
            } else {
                state.firstResumption = min(state.firstResumption ?? end, end)
            }
        }
    }

    private static func endPause(_ lane: Int, _ state: inout State, _ effects: inout Effects) {
        guard state.pending[lane: lane].pausedUntil != nil else { return }
        state.pending[lane: lane].pausedUntil = nil
        state.pausedLanes -= 1
        if let timer = state.pending[lane: lane].timer { effects.endedTimers.append(timer) }
        state.pending[lane: lane].timer = nil
        settle(lane, &state, &effects)
    }

    /// The timer of a pause has fired.
    private func endsPause(of origin: Origin?) {
        let now = clock.now()
        change { state, effects in
            guard let lane = state.pending.knownLane(of: origin), let end = state.pending[lane: lane].pausedUntil else { return }
            state.pending[lane: lane].timer = nil
            // A later pause may have extended it.
            if end <= now { Self.endPause(lane, &state, &effects) } else { Self.settle(lane, &state, &effects) }
        }
    }

    private static func snapshots(of entries: [PendingCalls.Entry], _ state: State, _ now: MonotonicInstant) -> [PendingCall] {
        let priorities = CallPriority.allCases.sorted { $0.level < $1.level }
        return entries.compactMap { entry in
            guard let record = entry.record else { return nil }
            return PendingCall(
                id: entry.id, identity: record.identity, origin: state.pending[lane: entry.lane].origin, priority: priorities[entry.level],
                age: entry.since.duration(to: now), reason: reason(of: entry, state, now))
        }
    }

    private static func reason(of entry: PendingCalls.Entry, _ state: State, _ now: MonotonicInstant) -> PendingCall.Reason {
        let lane = state.pending[lane: entry.lane]
        if state.isPaused { return .paused }
        if let end = lane.pausedUntil { return .originPaused(max(.zero, now.duration(to: end))) }
        return lane.active >= state.limits.activePerOrigin ?? .max ? .originLimit : .clientLimit
    }
}
