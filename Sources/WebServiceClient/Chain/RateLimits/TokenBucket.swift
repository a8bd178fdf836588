import Foundation

/// A token bucket: each call takes a token, and tokens return at a constant rate.
///
/// Callers refill it before they look; no timer does. Fractions of a token are kept, and a clock that steps back adds nothing.
struct TokenBucket: Sendable {
    /// Tokens per nanosecond; infinite for no limit.
    private(set) var rate: Double
    /// The maximum number of tokens.
    private(set) var capacity: Double
    /// The tokens that are there. Negative after calls that didn't wait.
    private(set) var balance: Double
    private var refilled: MonotonicInstant
    /// No token returns before this instant.
    private(set) var closedUntil: MonotonicInstant?
    /// The limit that applies from an instant on, when the service's statement has expired.
    private var later: (from: MonotonicInstant, rate: Double, capacity: Double)?

    /// Creates a full bucket.
    init(rate: Double, capacity: Double, now: MonotonicInstant) {
        self.rate = rate
        self.capacity = capacity
        balance = capacity
        refilled = now
    }

    /// Creates a full bucket of a limit. An invalid value counts as the nearest valid one.
    init(_ limit: RateLimit, now: MonotonicInstant) {
        self.init(rate: Self.rate(of: limit), capacity: Double(max(1, limit.burst)), now: now)
    }

    static func rate(_ count: Double, per period: Duration) -> Double {
        period > .zero ? max(0, count) / Self.nanoseconds(period) : .infinity
    }

    private static func rate(of limit: RateLimit) -> Double { rate(Double(max(1, limit.count)), per: limit.period) }

    static func nanoseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.clampedComponents
        return Double(seconds) * 1e9 + Double(attoseconds) / 1e9
    }

    /// Adds the tokens that have returned.
    mutating func refill(_ now: MonotonicInstant) {
        if let closed = closedUntil, closed <= now {
            closedUntil = nil
            refilled = max(refilled, closed)
        }
        if let later, later.from <= now {
            if closedUntil == nil { add(until: later.from) }
            change(rate: later.rate, capacity: later.capacity)
            // The service allows at least one call from here on.
            balance = max(balance, 1)
            self.later = nil
        }
        if closedUntil == nil { add(until: now) }
    }

    private mutating func add(until now: MonotonicInstant) {
        guard now > refilled else { return }
        let added = Self.nanoseconds(refilled.duration(to: now)) * rate
        refilled = now
        if added > 0 { balance = min(capacity, balance + added) }
    }

    private mutating func change(rate: Double, capacity: Double) {
        self.rate = rate
        self.capacity = capacity
        balance = rate == .infinity ? capacity : min(balance, capacity)
    }

    /// Takes a token if there is one. The bucket must be refilled before.
    mutating func take() -> Bool {
        guard closedUntil == nil else { return false }
        // Rounding must not cost the caller a second wait.
        guard rate == .infinity || balance >= 1 - 1e-6 else { return false }
        if rate != .infinity { balance -= 1 }
        return true
    }

    /// Takes a token that may not be there yet.
    mutating func borrow() {
        if rate != .infinity { balance = max(balance - 1, -1e9) }
    }

    /// Puts a token back that wasn't used.
    mutating func giveBack() {
        balance = min(capacity, balance + 1)
    }

    /// The time until a number of tokens is there. The bucket must be refilled before.
    func wait(for tokens: Int, _ now: MonotonicInstant) -> Duration {
        let closed = closedUntil.map { max(.zero, now.duration(to: $0)) } ?? .zero
        let missing = Double(tokens) - balance
        guard missing > 1e-6, rate != .infinity else { return closed }
        let alone = rate > 0 ? missing / rate : .infinity
        var wait = closed + Self.duration(alone)
        if let later {
            // The later limit may return the tokens earlier.
            let start = max(.zero, now.duration(to: later.from))
            let until = max(0, Self.nanoseconds(start) - Self.nanoseconds(closed)) * rate
            let lacking = max(0, Double(tokens) - max(1, balance + until))
            let rest = later.rate == .infinity || lacking == 0 ? 0 : later.rate > 0 ? lacking / later.rate : .infinity
            wait = min(wait, max(start, closed) + Self.duration(rest))
        }
        return wait
    }

    /// Whether the bucket equals a new one of its limit.
    var isFull: Bool { closedUntil == nil && later == nil && balance >= capacity }

    private static func duration(_ nanoseconds: Double) -> Duration {
        guard nanoseconds < 3e18 else { return .longest }
        return .nanoseconds(Int64(nanoseconds.rounded(.up)))
    }

    // MARK: Changes

    /// Applies a changed limit. The tokens that are there remain, up to the new capacity; an unlimited bucket becomes full.
    mutating func apply(_ limit: RateLimit, _ now: MonotonicInstant) {
        let (rate, capacity) = (Self.rate(of: limit), Double(max(1, limit.burst)))
        guard rate != self.rate || capacity != self.capacity else { return }
        refill(now)
        change(rate: rate, capacity: capacity)
    }

    /// Applies what a service has said.
    ///
    /// - Parameters:
    ///   - remaining: The number of calls that it allows until `reset`.
    ///   - reset: The time until more calls are allowed.
    ///   - policy: The rate of the service's policy, if it is known.
    mutating func learn(remaining: Int, reset: Duration, policy: Double?, isPaced: Bool, _ now: MonotonicInstant) {
        refill(now)
        let isSameWindow = later.map { $0.from.duration(to: now.advanced(by: reset)) < .seconds(1) } ?? false
        let remaining = Double(max(0, remaining))
        let after = policy ?? .infinity
        later = (now.advanced(by: reset), after, max(1, (remaining / 10).rounded(.down)))
        if isPaced {
            change(
                rate: min(Self.rate(remaining, per: reset), after), capacity: max(remaining > 0 ? 1 : 0, (remaining / 10).rounded(.down)))
        } else {
            // A response's count may lack calls still in flight, so it mustn't give their tokens back.
            let left = isSameWindow && rate == 0 ? min(balance, remaining) : remaining
            (rate, capacity, balance) = (0, remaining, left)
        }
        closedUntil = remaining == 0 ? now.advanced(by: reset) : nil
        refilled = max(refilled, now)
    }
}

/// Lets calls pass a token bucket in the order of their arrival, except calls that mustn't wait, which pass at once. A timer runs only
/// while calls wait.
final class RateGate: Sendable {
    private struct State {
        var bucket: TokenBucket
        var waiters: ArraySlice<(id: Int, waiter: CallWaiter)> = []
        var count = 0
        var timer: ClockTimer?
    }

    private let state: Locked<State>
    private let clock: CallClock

    init(_ bucket: TokenBucket, clock: CallClock) {
        state = Locked(State(bucket: bucket))
        self.clock = clock
    }

    /// Whether no call waits and the bucket is full.
    func isIdle(_ now: MonotonicInstant) -> Bool {
        state.withLock { state in
            state.bucket.refill(now)
            return state.waiters.isEmpty && state.bucket.isFull
        }
    }

    /// Changes the bucket.
    func change(_ body: (inout TokenBucket, MonotonicInstant) -> Void) {
        let now = clock.now()
        let isWaiting = state.withLock { state in
            body(&state.bucket, now)
            return !state.waiters.isEmpty
        }
        if isWaiting { advance() }
    }

    /// The limits of a call's wait.
    struct Bounds {
        let longest: Duration?
        let end: MonotonicInstant?
        let error: @Sendable (_ wait: Duration, _ longest: Duration) -> RateLimitError
    }

    /// Takes a token, after a wait for it if need be.
    ///
    /// - Parameter mayWait: Whether the call waits; otherwise it passes at once, and waiting and later calls wait longer.
    /// - Throws: ``RateLimitError`` if the wait would be too long, a timeout if the deadline would pass; ``CallCancelled`` or
    ///   `CancellationError`.
    func pass(_ bounds: Bounds, mayWait: Bool, _ context: CallContext) async throws {
        let now = clock.now()
        let waiter = CallWaiter()
        let timer = ClockTimer()
        let (id, wait, isFirst): (Int?, Duration, Bool) = try state.withLock { state in
            state.bucket.refill(now)
            if state.waiters.isEmpty, state.bucket.take() { return (nil, .zero, false) }
            guard mayWait else {
                state.bucket.borrow()
                return (nil, .zero, false)
            }
            let wait = state.bucket.wait(for: state.waiters.count + 1, now)
            if let longest = bounds.longest, wait > longest { throw bounds.error(wait, longest) }
            if let end = bounds.end, now.advanced(by: wait) > end { throw RateLimitError.deadline(wait: wait) }
            state.count += 1
            state.waiters.append((state.count, waiter))
            guard state.timer == nil else { return (state.count, wait, false) }
            state.timer = timer
            return (state.count, state.bucket.wait(for: 1, now), true)
        }
        guard let id else { return }
        if isFirst { timer.start(clock, until: now.advanced(by: wait)) { [weak self] in self?.advance() } }
        // The service may change its limits while the call waits, so the wait is bounded again, a second later than the limit, to allow a
        // wait of exactly that length.
        let longest = bounds.longest.map { $0.bounded + .seconds(1) }
        let remaining = bounds.end.map { now.duration(to: $0) }
        let isDeadline = remaining.map { $0 < longest ?? .longest } ?? false
        let cancelBound = (isDeadline ? remaining : longest).map { bound in
            clock.schedule(bound) {
                waiter.end(.failure(isDeadline ? RateLimitError.deadline(wait: bound) : bounds.error(bound, bounds.longest ?? bound)))
            }
        }
        defer {
            cancelBound?()
            context.record.noteWait(
                CallRecord.Wait(reason: .rateLimit, duration: now.duration(to: clock.now()), attempt: context.attempt, cause: ""))
        }
        do {
            try await waiter.wait(unless: context.record.cancellation)
        } catch {
            leave(id)
            throw error
        }
    }

    private func leave(_ id: Int) {
        let timer: ClockTimer? = state.withLock { state in
            if let index = state.waiters.firstIndex(where: { $0.id == id }) { state.waiters.remove(at: index) }
            guard state.waiters.isEmpty else { return nil }
            defer { state.timer = nil }
            return state.timer
        }
        timer?.cancel()
    }

    /// Lets as many calls pass as there are tokens, and starts the timer for the next one.
    private func advance() {
        var unused = 0
        while true {
            let now = clock.now()
            let next = ClockTimer()
            let (passing, old, start): ([CallWaiter], ClockTimer?, MonotonicInstant?) = state.withLock { state in
                state.bucket.refill(now)
                for _ in 0..<unused { state.bucket.giveBack() }
                var passing: [CallWaiter] = []
                while !state.waiters.isEmpty, state.bucket.take() {
                    if let first = state.waiters.popFirst() { passing.append(first.waiter) }
                }
                let old = state.timer
                state.timer = state.waiters.isEmpty ? nil : next
                return (passing, old, state.waiters.isEmpty ? nil : now.advanced(by: state.bucket.wait(for: 1, now)))
            }
            old?.cancel()
            if let start { next.start(clock, until: start) { [weak self] in self?.advance() } }
            // A call that was cancelled in the meantime leaves its token to the next one.
            unused = passing.count { !$0.end(.success(())) }
            if unused == 0 { return }
        }
    }
}
