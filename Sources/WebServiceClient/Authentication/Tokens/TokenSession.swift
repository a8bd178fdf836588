import Foundation

/// The token of a ``BearerTokenProvider`` and the way it is replaced: by one refresh at a time, for all calls that wait.
///
/// A refresh runs in a separate task, so that no call's cancellation ends it while others wait. The next one doesn't begin before it has
/// ended, even if it is cancelled: a second use of a refresh token can end the session.
final class TokenSession: Sendable {
    /// A token in use.
    struct Held: Sendable {
        var token: BearerToken
        /// Counts the tokens, so that a late refusal of an old token doesn't discard the new one.
        let number: Int
        /// The time when the token was obtained.
        let since: MonotonicInstant
        /// The time from which it is replaced in the background; `nil` if its lifetime is unknown.
        let refreshAt: MonotonicInstant?
        /// The time from which it isn't sent any more.
        let expiresAt: MonotonicInstant?
        /// Whether the server has refused it.
        var isRefused = false
        var isAccepted = false

        func isUsable(at now: MonotonicInstant) -> Bool {
            guard !isRefused else { return false }
            guard let expiresAt else { return true }
            return now < expiresAt
        }
    }

    /// A call that waits for a refresh.
    private struct Waiter: Sendable {
        let waiter = CallWaiter()
        /// The refresh's token; `nil` if the refresh was given up and the call looks again.
        let held = Locked<Held?>(nil)
    }

    /// A refresh.
    private struct Flight {
        let number: Int
        /// Whether a call waited for it from its start on; otherwise it renews a token that is still valid.
        let isAwaited: Bool
        var task: Task<Void, Never>?
        var waiters: [Int: Waiter] = [:]
        /// Whether its task has been cancelled: because no call waits any more, or the time limit has passed.
        var isAbandoned = false
        /// Whether its token must not be used: it belongs to a session that was ended.
        var isStale = false
    }

    private struct State {
        var held: Held?
        var flight: Flight?
        /// The number of tokens so far.
        var tokens = 0
        /// The number of refreshes and waiting calls so far.
        var numbers = 0
        /// The last failure, which calls get for a short time instead of another refresh.
        var failure: (error: any Error, until: MonotonicInstant)?
        /// The earliest time of the next refresh in the background, after a failed one.
        var retryAt: MonotonicInstant?
        /// The access token that was last read from or written to the store.
        var stored: String?
        /// Whether the stored token belongs to a session that was ended, and couldn't be removed.
        var ignoresStore = false
        /// The number of tokens in sequence that were refused without having been accepted.
        var unaccepted = 0
        var isOpened = false
    }

    /// For this time, calls get the last failure instead of another refresh, and a second token in sequence that is refused unused isn't
    /// replaced: whatever is wrong, more refreshes don't help.
    private static let pause = Duration.seconds(1)
    /// The longest time for which calls get the last failure because the authorization server asks to wait.
    private static let longestPause = Duration.seconds(300)
    /// The time before its expiry from which a token isn't sent any more, because requests take time.
    private static let reserve = Duration.seconds(5)

    let source: any TokenSource
    private let store: any TokenStore
    private let line: TokenStoreLine
    private let refreshAhead: Duration?
    private let clock = CallClock.current
    private let state = Locked(State())

    init(_ source: any TokenSource, store: any TokenStore, refreshAhead: Duration?) {
        self.source = source
        self.store = store
        line = TokenStoreLine(store)
        self.refreshAhead = refreshAhead
        // A fixed token needs no task that obtains it.
        guard let fixed = source as? FixedTokenSource else { return }
        let now = clock.now()
        state.withLock { _ = hold(fixed.token, elapsed: .zero, started: now, &$0) }
    }

    // MARK: The token

    /// The token in use, if it is usable or a call can't wait for another.
    var held: Held? { state.withLock { $0.held } }

    /// The sign-in of the token in use, or of any that the source obtains; `nil` if it is unknown.
    var signIn: String? { (source as? OAuthGrant)?.ownSignIn ?? held?.token.signIn }

    /// The sign-in of the token in use or, without one, of the stored token.
    func knownSignIn() async -> String? {
        if let signIn { return signIn }
        func usesStore() -> Bool { state.withLock { $0.held == nil && !$0.ignoresStore } }
        guard usesStore() else { return signIn }
        let stored = try? await store.load()
        // The session may have ended, or another begun, while the store was read.
        return usesStore() ? stored?.signIn : signIn
    }

    var isOpened: Bool { state.withLock { $0.isOpened } }

    /// The number of calls that wait.
    var waiting: Int { state.withLock { $0.flight?.waiters.count ?? 0 } }

    private enum Step {
        case use(Held, startsFlight: Int?)
        case fail(any Error)
        case wait(Waiter, number: Int, startsFlight: Int?, isAbandoned: Bool)
    }

    /// Returns a usable token: the current one, or the result of a refresh that the call waits for.
    ///
    /// - Parameter end: When the call ends.
    /// - Throws: The error of the refresh; ``TransportError`` at the call's end; ``CallCancelled`` or `CancellationError`.
    func token(until end: MonotonicInstant?, unless cancellation: CallCancellation, _ diagnostics: Diagnostics) async throws -> Held {
        while true {
            switch state.withLock({ step(&$0) }) {
            case .use(let held, let flight):
                if let flight { start(flight, diagnostics) }
                return held
            case .fail(let error):
                throw error
            case .wait(let waiter, let number, let flight, let isAbandoned):
                if let flight { start(flight, diagnostics) }
                do {
                    try await wait(for: waiter, until: end, isAbandoned: isAbandoned, unless: cancellation)
                } catch {
                    leave(number)
                    throw error
                }
                if let held = waiter.held.withLock({ $0 }) { return held }
            }
        }
    }

    private func step(_ state: inout State) -> Step {
        let now = clock.now()
        if let held = state.held, held.isUsable(at: now) {
            guard let refreshAt = held.refreshAt, now >= refreshAt, state.flight == nil, state.retryAt.map({ now >= $0 }) ?? true else {
                return .use(held, startsFlight: nil)
            }
            return .use(held, startsFlight: newFlight(&state, isAwaited: false))
        }
        if let failure = state.failure, now < failure.until { return .fail(failure.error) }
        let flight = state.flight == nil ? newFlight(&state, isAwaited: true) : nil
        state.numbers += 1
        let waiter = Waiter()
        state.flight?.waiters[state.numbers] = waiter
        return .wait(waiter, number: state.numbers, startsFlight: flight, isAbandoned: state.flight?.isAbandoned ?? false)
    }

    private func newFlight(_ state: inout State, isAwaited: Bool) -> Int {
        state.numbers += 1
        state.flight = Flight(number: state.numbers, isAwaited: isAwaited)
        return state.numbers
    }

    private func wait(
        for waiter: Waiter, until end: MonotonicInstant?, isAbandoned: Bool, unless cancellation: CallCancellation
    ) async throws {
        var timers: [@Sendable () -> Void] = []
        defer { for cancel in timers { cancel() } }
        if let end {
            timers.append(
                clock.schedule(clock.now().duration(to: end)) {
                    waiter.waiter.end(
                        .failure(
                            TransportError(
                                .timedOutTotal,
                                "The call's total time passed while it waited for an access token: raise timeouts.total, or find out why "
                                    + "the token takes so long.")))
                })
        }
        // The limit of the refresh has passed or doesn't count any more.
        if isAbandoned { timers.append(clock.schedule(source.timeLimit) { waiter.waiter.end(.failure(Self.timeout)) }) }
        try await waiter.waiter.wait(unless: cancellation)
    }

    /// Removes a call that doesn't wait any more. If it was the last one, the refresh is cancelled.
    private func leave(_ number: Int) {
        let task: Task<Void, Never>? = state.withLock { state in
            guard let flight = state.flight, flight.waiters[number] != nil else { return nil }
            state.flight?.waiters[number] = nil
            guard flight.waiters.count == 1, flight.isAwaited, !flight.isAbandoned else { return nil }
            state.flight?.isAbandoned = true
            return flight.task
        }
        task?.cancel()
    }

    private static let timeout = AuthenticationError(
        .tokenUnavailable,
        message: "No access token was obtained within the time limit: check the token source, or raise its timeLimit.")

    // MARK: Responses of servers

    /// Records that the server accepted a token.
    func accept(_ number: Int) {
        state.withLock { state in
            state.isOpened = true
            guard state.held?.number == number else { return }
            state.held?.isAccepted = true
            state.unaccepted = 0
        }
    }

    /// Records that the server refused a token.
    ///
    /// - Returns: Whether another token may help.
    func refuse(_ number: Int) -> Bool {
        state.withLock { state in
            state.isOpened = false
            guard let held = state.held, held.number == number, !held.isRefused else { return true }
            if !held.isAccepted { state.unaccepted += 1 }
            if state.unaccepted > 1, clock.now() < held.since.advanced(by: Self.pause) { return false }
            state.held?.isRefused = true
            return true
        }
    }

    /// Ends the session: discards the token, also in the store, and the token of a refresh that is active.
    ///
    /// - Returns: The token of the session, which another process may have renewed in the store; the error of a store that keeps its token.
    @discardableResult
    func invalidate() async -> (token: BearerToken?, failure: (any Error)?) {
        let (held, seen, task, removal) = state.withLock { state in
            defer {
                state.held = nil
                state.failure = nil
                state.retryAt = nil
                state.unaccepted = 0
                state.isOpened = false
                state.ignoresStore = true
                state.flight?.isAbandoned = true
                state.flight?.isStale = true
            }
            // The removal takes its place before another sign-in can begin, and goes on if the caller is cancelled.
            let removal = line.begin { store -> (BearerToken?, (any Error)?) in
                let stored = try? await store.load()
                do {
                    try await self.remove(in: store)
                    return (stored, nil)
                } catch {
                    return (stored, error)
                }
            }
            return (state.held, state.stored, state.flight?.task, removal)
        }
        task?.cancel()
        do {
            let (stored, failure) = try await removal.value
            return (stored.flatMap { $0.value != seen || held == nil ? $0 : nil } ?? held?.token, failure)
        } catch {
            return (held?.token, error)
        }
    }

    /// Removes the stored token.
    private func remove(in store: any TokenStore) async throws {
        do {
            try await store.save(nil)
            state.withLock { $0.ignoresStore = false }
        } catch {
            state.withLock { $0.ignoresStore = true }
            throw error
        }
    }

    // MARK: The refresh

    private func start(_ number: Int, _ diagnostics: Diagnostics) {
        let cancelTimer = clock.schedule(source.timeLimit) { [weak self] in self?.giveUp(number) }
        let started = clock.now()
        // Detached: the task-local values of the first call that waits aren't for the others.
        let task = Task.detached {
            let result: Result<(BearerToken, elapsed: Duration), any Error>
            do {
                result = .success(try await self.obtain(number, diagnostics))
            } catch {
                result = .failure(error)
            }
            cancelTimer()
            self.finish(number, result, started: started, diagnostics)
        }
        let isAbandoned = state.withLock { state in
            guard state.flight?.number == number else { return false }
            state.flight?.task = task
            return state.flight?.isAbandoned ?? false
        }
        if isAbandoned { task.cancel() }
    }

    /// Ends the wait of all calls for a refresh that takes too long.
    private func giveUp(_ number: Int) {
        let flight: Flight? = state.withLock { state in
            guard let flight = state.flight, flight.number == number else { return nil }
            state.flight?.isAbandoned = true
            state.flight?.waiters = [:]
            return flight
        }
        flight?.task?.cancel()
        for waiter in flight?.waiters.values.map(\.waiter) ?? [] { waiter.end(.failure(Self.timeout)) }
    }

    /// Obtains a token from the store or the source.
    private func obtain(_ number: Int, _ diagnostics: Diagnostics) async throws -> (BearerToken, elapsed: Duration) {
        try await store.exclusively {
            var (old, seen) = self.state.withLock { ($0.held?.token, $0.stored) }
            let stored = try await self.line.run { store in
                if self.state.withLock({ $0.ignoresStore }) { try await self.remove(in: store) }
                return try await store.load()
            }
            // Another process may have refreshed the token. Without one in use, the stored one has the refresh token, also after a refresh
            // that failed.
            if let other = stored, other.value != seen || old == nil {
                self.state.withLock { $0.stored = other.value }
                if let elapsed = self.elapsedIfUsable(other) { return (other, elapsed) }
                old = other
            }
            let token: BearerToken
            do {
                token = try await self.source.token(replacing: old)
            } catch let error as OAuthError where error.code == .invalidGrant {
                // A process that doesn't take the lock may have used the refresh token.
                guard let other = try await self.line.run({ try await $0.load() }), let used = old, other.refreshToken != used.refreshToken
                else {
                    await self.forgetRefreshToken(of: old)
                    throw error
                }
                self.state.withLock { $0.stored = other.value }
                if let elapsed = self.elapsedIfUsable(other) { return (other, elapsed) }
                token = try await self.source.token(replacing: other)
            }
            // The place in the line is taken while the session hasn't ended, so that the removal at its end comes later.
            let saving = try self.state.withLock { state in
                try Self.checkSession(of: number, state)
                return self.line.begin { try await $0.save(token) }
            }
            do {
                try await self.line.wait(for: saving)
                self.state.withLock { $0.stored = token.value }
            } catch {
                // The old refresh token may be used up: without the new one, the session would be lost.
                diagnostics.report(.init(.warning, "The new access token is used, but isn't stored: \(Self.text(of: error))"))
            }
            try self.state.withLock { try Self.checkSession(of: number, $0) }
            return (token, .zero)
        }
    }

    /// The time since a stored token was requested, if the token is still usable. The clock may have been set back since.
    private func elapsedIfUsable(_ token: BearerToken) -> Duration? {
        let elapsed = max(.zero, BearerToken.lifetime(ofSeconds: clock.date().timeIntervalSince(token.issuedAt)) ?? .zero)
        guard let lifetime = token.boundedLifetime else { return elapsed }
        return elapsed < lifetime - ahead(of: lifetime) ? elapsed : nil
    }

    private func forgetRefreshToken(of old: BearerToken?) async {
        state.withLock { $0.held?.token.refreshToken = nil }
        guard old?.refreshToken != nil else { return }
        // If the store can't be written, the next process learns from the server that the token isn't valid.
        try? await line.run { try await $0.save(nil) }
    }

    private static func checkSession(of number: Int, _ state: State) throws {
        guard let flight = state.flight, flight.number == number, !flight.isStale else { throw CancellationError() }
    }

    private func finish(
        _ number: Int, _ result: Result<(BearerToken, elapsed: Duration), any Error>, started: MonotonicInstant, _ diagnostics: Diagnostics
    ) {
        var ends: [(Waiter, Result<Held?, any Error>)] = []
        var note: String?
        state.withLock { state in
            guard let flight = state.flight, flight.number == number else { return }
            state.flight = nil
            let outcome: Result<Held?, any Error>
            switch result {
            case .success(let (token, elapsed)) where !flight.isStale:
                let held = hold(token, elapsed: elapsed, started: started, &state)
                outcome = .success(held)
            case .failure(let error) where !flight.isAbandoned:
                let error = Self.shown(error)
                let now = clock.now()
                let pause = min(max(Self.pause, (error as? OAuthError)?.retryAfter ?? .zero), Self.longestPause)
                state.failure = (error, until: now.advanced(by: pause))
                state.retryAt = now.advanced(by: max(pause, retryPause(state.held)))
                if !flight.isAwaited { note = "The access token can't be renewed ahead of its expiry: \(Self.text(of: error))" }
                outcome = .failure(error)
            default:
                outcome = .success(nil)
            }
            ends = flight.waiters.values.map { ($0, outcome) }
        }
        if let note { diagnostics.report(.init(.warning, note)) }
        for (waiter, outcome) in ends {
            if case .success(let held) = outcome { waiter.held.withLock { $0 = held } }
            waiter.waiter.end(outcome.map { _ in () })
        }
    }

    private func hold(_ token: BearerToken, elapsed: Duration, started: MonotonicInstant, _ state: inout State) -> Held {
        state.tokens += 1
        var (refreshAt, expiresAt): (MonotonicInstant?, MonotonicInstant?) = (nil, nil)
        if let lifetime = token.boundedLifetime {
            let ahead = ahead(of: lifetime)
            let end = started.advanced(by: lifetime - elapsed)
            refreshAt = end.advanced(by: .zero - ahead)
            expiresAt = end.advanced(by: .zero - min(ahead, Self.reserve))
        }
        let held = Held(token: token, number: state.tokens, since: clock.now(), refreshAt: refreshAt, expiresAt: expiresAt)
        state.held = held
        state.failure = nil
        state.retryAt = nil
        return held
    }

    /// The time before its expiry at which a token is replaced. It is at most half the lifetime, or every token would be too old.
    private func ahead(of lifetime: Duration) -> Duration {
        max(.zero, min(refreshAhead ?? min(lifetime / 10, .seconds(60)), lifetime / 2))
    }

    /// The pause after a failure in the background: a tenth of the time that is left for it.
    private func retryPause(_ held: Held?) -> Duration {
        guard let held, let refreshAt = held.refreshAt, let expiresAt = held.expiresAt else { return .zero }
        return refreshAt.duration(to: expiresAt) / 10
    }

    private static func text(of error: any Error) -> String {
        SecretMask.text(DecodingErrorText.text(of: error))
    }

    /// The error that the calls get: a cancellation of the source isn't theirs.
    private static func shown(_ error: any Error) -> any Error {
        guard error is CancellationError else { return error }
        return AuthenticationError(
            .tokenUnavailable, message: "The token source was cancelled before it returned an access token. The next call asks it again.")
    }
}
