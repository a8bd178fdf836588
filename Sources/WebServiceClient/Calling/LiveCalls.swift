import Foundation

/// The calls of a client that haven't ended.
final class LiveCalls: Sendable {
    /// A call's place in the list.
    struct Place: Sendable {
        fileprivate let slot: Int
    }

    private struct State {
        /// Freed slots are reused, so that a call doesn't allocate memory here.
        var slots: [LiveCall?] = []
        var free: [Int] = []
        var count: UInt64 = 0
        /// The calls that have an identifier, in the order of their start.
        var identified: [String: [LiveCall]] = [:]
        var isClosed = false
        /// Called when the last call has ended.
        var emptied: [CallWaiter] = []
        var shutdown: Task<ShutdownReport, Never>?
        /// Whether the time for running calls is over.
        var isOver = false
        /// Called when the time for running calls is over.
        var closing: [@Sendable (CallCancelled) -> Void] = []

        /// Called after each change of the number of calls; mostly empty.
        var observers: [Int: @Sendable () -> Void] = [:]
        var observerCount = 0
        /// Whether the client was released.
        var isReleased = false

        var isEmpty: Bool { slots.count == free.count }
        /// The observers to call.
        var signals: [@Sendable () -> Void] { observers.isEmpty ? [] : Array(observers.values) }
    }

    private let clock: CallClock
    private let state = Locked(State())

    init(clock: CallClock) {
        self.clock = clock
    }

    /// Every call, in the order of their start.
    var all: [LiveCall] {
        state.withLock { $0.slots.compactMap(\.self) }.sorted { $0.id < $1.id }
    }

    /// The call with an identifier that was started last.
    func call(identifier: String) -> LiveCall? {
        state.withLock { $0.identified[identifier]?.last }
    }

    /// Adds a call, and cancels those that it replaces.
    ///
    /// - Throws: ``CallCancelled`` if the client is shut down.
    func begin(_ record: CallRecord, started: MonotonicInstant) throws -> Place {
        let (place, replaced, signals) = try state.withLock { state throws -> (Place, [LiveCall], [@Sendable () -> Void]) in
            guard !state.isClosed else { throw Self.closed }
            state.count += 1
            let call = LiveCall(id: state.count, record: record, beginning: started)
            let slot: Int
            if let free = state.free.popLast() {
                slot = free
                state.slots[slot] = call
            } else {
                slot = state.slots.count
                state.slots.append(call)
            }
            guard let identifier = record.identifier else { return (Place(slot: slot), [], state.signals) }
            let earlier = state.identified[identifier.text] ?? []
            state.identified[identifier.text] = earlier + [call]
            return (Place(slot: slot), identifier.policy == .replace ? earlier : [], state.signals)
        }
        for signal in signals { signal() }
        for call in replaced {
            call.record.cancellation.cancel(
                CallCancelled(.replaced, reason: "A later call with the identifier \"\(call.identifier ?? "")\" replaced it."))
        }
        return place
    }

    /// Removes a call.
    func end(_ place: Place) {
        let (ended, waiters, signals) = state.withLock { state -> (LiveCall?, [CallWaiter], [@Sendable () -> Void]) in
            let call = state.slots[place.slot]
            state.slots[place.slot] = nil
            state.free.append(place.slot)
            if let call, let identifier = call.identifier {
                // Compared by number: a later call with the identifier stays.
                state.identified[identifier]?.removeAll { $0.id == call.id }
                if state.identified[identifier]?.isEmpty == true { state.identified[identifier] = nil }
            }
            guard state.isEmpty, !state.emptied.isEmpty else { return (call, [], state.signals) }
            defer { state.emptied = [] }
            return (call, state.emptied, state.signals)
        }
        // Released outside the lock.
        _ = ended
        for waiter in waiters { waiter.end(.success(())) }
        for signal in signals { signal() }
    }

    /// Cancels every call.
    ///
    /// - Returns: The calls that this cancelled.
    @discardableResult
    func cancelAll(_ cause: CallCancelled) -> [LiveCall] {
        all.filter { $0.record.cancellation.cancel(cause) }
    }

    private static let closed = CallCancelled(.shutdown, reason: "The client was shut down before the call: make a new client.")
}

// Observers of the number of calls.
extension LiveCalls {
    /// The number of calls that haven't ended.
    var count: Int { state.withLock { $0.slots.count - $0.free.count } }

    /// The number of calls that have begun so far.
    var started: UInt64 { state.withLock { $0.count } }

    /// Whether the client was released.
    var isReleased: Bool { state.withLock { $0.isReleased } }

    /// Calls an action after each change of ``count``. Concurrent changes may call it at once, or in another order.
    ///
    /// - Returns: A number for ``removeObserver(_:)``.
    func addObserver(_ action: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.observerCount += 1
            state.observers[state.observerCount] = action
            return state.observerCount
        }
    }

    func removeObserver(_ number: Int) {
        // Released outside the lock.
        _ = state.withLock { $0.observers.removeValue(forKey: number) }
    }

    /// Ends all observations with the client.
    func endObservers() {
        let signals = state.withLock { state in
            state.isReleased = true
            return state.signals
        }
        for signal in signals { signal() }
    }
}

// Shutdown.
extension LiveCalls {
    /// Calls an action when the client has been shut down and its calls are cancelled; immediately if that has happened. A stage that holds
    /// calls back, such as a paused queue, then accepts no more calls.
    func onShutdown(_ action: @escaping @Sendable (CallCancelled) -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.closing.append(action) }
            return state.isOver
        }
        if isOver { action(Self.ending) }
    }

    /// Refuses new calls, waits for the running ones, and cancels those that take longer than a limit. All callers get the first one's
    /// report.
    func shutdown(within limit: Duration) async -> ShutdownReport {
        let task = state.withLock { state in
            if let known = state.shutdown { return known }
            state.isClosed = true
            // A separate task, because all calls must end even if the caller is cancelled.
            let task = Task { await self.endCalls(within: limit) }
            state.shutdown = task
            return task
        }
        return await task.value
    }

    private func endCalls(within limit: Duration) async -> ShutdownReport {
        let waiter = CallWaiter()
        let (running, isEmpty) = state.withLock { state in
            if !state.isEmpty { state.emptied.append(waiter) }
            return (state.slots.count - state.free.count, state.isEmpty)
        }
        if !isEmpty, limit > .zero {
            let cancelTimer = clock.schedule(limit) { waiter.end(.success(())) }
            try? await waiter.wait(unless: CallCancellation())
            cancelTimer()
        }
        let cancelled = cancelAll(Self.ending)
        let actions = state.withLock { state in
            state.isOver = true
            defer { state.closing = [] }
            return state.closing
        }
        for action in actions { action(Self.ending) }
        return ShutdownReport(finished: max(0, running - cancelled.count), cancelled: cancelled)
    }

    private static let ending = CallCancelled(
        .shutdown, reason: "The client was shut down, and the call didn't end within the time for it.")
}
